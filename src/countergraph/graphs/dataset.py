"""`GraphDataset`: the labelled networks of a cohort, graphs or weighted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import InputError, unknown_name
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.measure import Measure, check_measure, detect_measure, diagonal_of
from countergraph.graphs.pairs import Bits, Values, as_value_vectors, roi_count, to_adjacency, to_matrix

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """Networks on the same ROIs, each with a label and a name. Immutable; validated when created.

    If all values are 0 or 1, the networks are graphs, and ``edges`` and ``adjacency`` hold them. Otherwise they are
    weighted (``weighted``): use ``values`` and ``matrices``.

    Parameters
    ----------
    values
        Shape (graphs, pairs); the pairs are in the order of ``numpy.triu_indices(n, 1)``. A stack of symmetric matrices
        (graphs, n, n) is accepted too; the diagonals of weighted matrices are ignored.
    labels
        For each graph the name of its class, or an index into ``classes``. With two classes, 0 is the control group
        and 1 the condition.
    names
        One unique name for each graph; by default "graph 0", "graph 1", ...
    classes
        The names of the classes, by label.
    atlas
        The atlas that defines the ROIs; by default unnamed ROIs (`Atlas.numbered`).
    attributes
        A table with one row for each graph: age, sex, site, ... None if there are no attributes.
    about
        The origin of the data, as JSON-serializable values.
    measure
        What the values of weighted networks are: ``"correlation"``, ``"fisher z"``, ``"count"`` or ``"unknown"``; for
        graphs always ``"edge"``. By default it is detected from the values and the diagonals of matrices.
    """

    values: Values
    """The values of all networks, shape (graphs, pairs): bool for graphs, float32 for weighted networks."""
    labels: NDArray[np.int64]
    names: tuple[str, ...]
    classes: tuple[str, ...]
    atlas: Atlas
    attributes: pd.DataFrame | None
    about: Mapping[str, Any] = field(repr=False)
    measure: Measure

    def __init__(
        self,
        values: ArrayLike,
        labels: ArrayLike,
        names: Sequence[str] | None = None,
        classes: Sequence[str] = ("control", "condition"),
        atlas: Atlas | None = None,
        attributes: pd.DataFrame | None = None,
        about: Mapping[str, Any] | None = None,
        measure: Measure | None = None,
    ) -> None:
        vectors = as_value_vectors(values, "values", weighted=measure not in (None, "edge"))
        measure = detect_measure(values, vectors) if measure is None else measure
        check_measure(measure, vectors)
        n = roi_count(vectors.shape[1])
        codes = _labels(labels, len(vectors), tuple(map(str, classes)))
        graph_names = tuple(f"graph {i}" for i in range(len(vectors))) if names is None else tuple(map(str, names))
        atlas = Atlas.numbered(n) if atlas is None else atlas
        if not isinstance(atlas, Atlas):
            raise InputError(f"atlas must be an Atlas, for example load_atlas('aal116'), not {atlas!r}")
        if len(atlas) != n:
            hint = "" if n != len(atlas) + 1 else " (edge vectors must not contain the diagonal)"
            raise InputError(
                f"atlas {atlas.name!r} has {len(atlas)} ROIs, but the graphs have {n}{hint}; "
                "pass the atlas of these graphs"
            )
        _check_names(graph_names, len(vectors))
        if len(set(classes)) != len(classes) or len(classes) < 2:
            raise InputError(f"classes must be at least two different names, not {tuple(classes)}")
        if attributes is not None and len(attributes) != len(vectors):
            raise InputError(
                f"attributes must have one row for each of the {len(vectors)} graphs, not {len(attributes)}"
            )
        vectors.flags.writeable = codes.flags.writeable = False
        object.__setattr__(self, "values", vectors)
        object.__setattr__(self, "labels", codes)
        object.__setattr__(self, "names", graph_names)
        object.__setattr__(self, "classes", tuple(map(str, classes)))
        object.__setattr__(self, "atlas", atlas)
        object.__setattr__(self, "attributes", None if attributes is None else _copy_table(attributes, graph_names))
        object.__setattr__(self, "about", MappingProxyType(_to_plain(about or {})))
        object.__setattr__(self, "measure", measure)

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.values, self.labels, self.names, self.classes, self.atlas, self.attributes, dict(self.about))
        return GraphDataset, (*parts, self.measure)

    def __repr__(self) -> str:
        groups = ", ".join(f"{count} {name}" for name, count in zip(self.classes, self.class_sizes, strict=True))
        weighted = f"; weighted ({self.measure})" if self.weighted else ""
        return f"GraphDataset({groups}; {self.n_rois} ROIs of {self.atlas.name}{weighted})"

    @property
    def weighted(self) -> bool:
        """Whether the networks have other values than 0 and 1."""
        return self.values.dtype != np.bool_

    @property
    def edges(self) -> Bits:
        """The graphs as edge vectors, shape (graphs, pairs), bool; refused for weighted networks."""
        if self.weighted:
            raise InputError(
                "these networks are weighted, so they have no edges: use data.values or data.matrices, or convert them "
                "with data.binarize('percentile:90')"
            )
        return np.asarray(self.values, dtype=np.bool_)

    @property
    def n_rois(self) -> int:
        """The number of ROIs of every graph."""
        return len(self.atlas)

    @cached_property
    def adjacency(self) -> NDArray[np.uint8]:
        """Symmetric matrices of zeros and ones, shape (graphs, n, n); read-only."""
        matrices = to_adjacency(self.edges)
        matrices.flags.writeable = False
        return matrices

    @cached_property
    def matrices(self) -> NDArray[np.generic]:
        """Symmetric matrices, shape (graphs, n, n); read-only. The diagonal is 1 for correlations, else 0."""
        if not self.weighted:
            return self.adjacency
        matrices = to_matrix(np.asarray(self.values, dtype=np.float32), diagonal_of(self.measure))
        matrices.flags.writeable = False
        return matrices

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """The number of graphs of each class, by label."""
        return np.bincount(self.labels, minlength=len(self.classes)).astype(np.int64)

    @cached_property
    def class_means(self) -> NDArray[np.float64]:
        """The mean of each class, shape (classes, pairs): for graphs, the share with the edge; NaN if it is empty."""
        means = np.full((len(self.classes), self.values.shape[1]), np.nan)
        for label in np.unique(self.labels):
            means[label] = self.values[self.labels == label].mean(axis=0)
        return means

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of networks, labels and class names; equal cohorts have equal fingerprints."""
        digest = hashlib.sha256(repr((self.values.shape, self.classes)).encode())
        digest.update(self.values.tobytes() if self.weighted else np.packbits(self.edges, axis=1).tobytes())
        digest.update(self.labels.tobytes())
        if self.weighted:
            digest.update(self.measure.encode())  # it determines the matrices that a classifier receives
        return digest.hexdigest()[:16]

    def index(self, name: str) -> int:
        """Return the position of the graph with this name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise unknown_name("subject", name, self.names) from None

    def subset(self, which: ArrayLike | Iterable[str]) -> GraphDataset:
        """Return a dataset of the selected graphs: by positions, by a boolean mask, or by names, in the given order."""
        which = [which] if isinstance(which, str) else which
        chosen = np.asarray(list(which) if isinstance(which, Iterable) else which)
        if chosen.dtype.kind in "UO":
            chosen = np.array([self.index(str(name)) for name in chosen], dtype=np.intp)
        if chosen.dtype == np.bool_ and chosen.shape != (len(self),):
            raise InputError(f"a mask must have one entry for each of the {len(self)} graphs, not {chosen.shape}")
        if chosen.ndim != 1 or chosen.dtype.kind not in "biuf" or (chosen.dtype.kind == "f" and chosen.size):
            raise InputError(f"a subset must be a list of names or positions, or a boolean mask, not {which!r}")
        if chosen.dtype != np.bool_ and chosen.size and not 0 <= chosen.min() <= chosen.max() < len(self):
            invalid = chosen.max() if chosen.max() >= len(self) else chosen.min()
            raise InputError(f"positions must be between 0 and {len(self) - 1}, not {invalid}")
        rows = np.arange(len(self))[chosen] if chosen.size else np.empty(0, dtype=np.intp)
        return GraphDataset(
            self.values[rows],
            self.labels[rows],
            [self.names[i] for i in rows],
            self.classes,
            self.atlas,
            None if self.attributes is None else self.attributes.iloc[rows],
            self.about,
            self.measure,
        )

    def binarize(self, rule: str = "percentile:90") -> GraphDataset:
        """Return the graphs of weighted networks (see `countergraph.binarize`)."""
        from countergraph.graphs.binarize import binarize

        if not self.weighted:
            raise InputError("these networks are graphs already: all values are 0 or 1")
        about = {**self.about, "binarize": rule}
        edges = binarize(self.values, rule)
        return GraphDataset(edges, self.labels, self.names, self.classes, self.atlas, self.attributes, about)

    def save(self, path: str | Path) -> Path:
        """Write the dataset to one .npz file, which `countergraph.load_dataset` reads back equal."""
        from countergraph.graphs.files import save_dataset

        return save_dataset(self, path)

    def summary(self) -> pd.DataFrame:
        """Return a table with one row for each class: number of graphs, edges or values, and subject attributes."""
        import pandas as pd  # slow to import

        rows = []
        for label, name in enumerate(self.classes):
            members = self.labels == label
            row: dict[str, Any] = {"class": name, "label": label, "graphs": int(members.sum())}
            if members.any():
                row |= _value_summary(self.values[members]) if self.weighted else _edge_summary(self.edges[members])
                row |= self._attribute_summary(members)
            rows.append(row)
        return pd.DataFrame(rows).set_index("class")

    def _attribute_summary(self, rows: Bits) -> dict[str, Any]:
        if self.attributes is None:
            return {}
        table = self.attributes[rows]
        summary: dict[str, Any] = {}
        for name in table:
            column = table[name]
            if column.dtype.kind in "biufc":
                summary[f"{name} (mean)"] = float(column.mean())
            elif column.nunique() <= 3 and len(column):
                summary[str(name)] = ", ".join(f"{n} {value}" for value, n in column.value_counts().items())
        return summary


def _edge_summary(edges: Bits) -> dict[str, Any]:
    counts = edges.sum(axis=1)
    return {
        "edges (mean)": float(counts.mean()),
        "edges (min)": int(counts.min()),
        "edges (max)": int(counts.max()),
        "density": float(counts.mean() / edges.shape[1]),
    }


def _value_summary(values: Values) -> dict[str, Any]:
    return {
        "value (mean)": float(values.mean(dtype=np.float64)),
        "value (min)": float(values.min()),
        "value (max)": float(values.max()),
        "negative": float((values < 0).mean()),
    }


def _to_plain(about: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(about))))
    except TypeError as error:
        raise InputError(f"about must contain only JSON-serializable values ({error})") from None


def _copy_table(attributes: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a copy of the table; if its index contains names, the rows are sorted in the order of the graphs."""
    if any(isinstance(each, str) for each in attributes.index):
        if set(attributes.index) != set(names):
            raise InputError(
                "the index of attributes must contain the names of the graphs; if the rows are already in the order of "
                "the graphs, pass attributes.reset_index(drop=True)"
            )
        attributes = attributes.loc[list(names)]
    table = attributes.reset_index(drop=True).copy()
    table.columns = table.columns.map(str)
    return table


def _labels(labels: ArrayLike, n_graphs: int, classes: tuple[str, ...]) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.shape != (n_graphs,):
        raise InputError(f"labels must have one entry for each of the {n_graphs} graphs, not shape {array.shape}")
    if array.size and all(isinstance(label, str) and label in classes for label in array.tolist()):
        return np.array([classes.index(label) for label in array.tolist()], dtype=np.int64)
    valid = [label in range(len(classes)) for label in array.tolist()]
    if not all(valid):
        invalid = array.tolist()[valid.index(False)]
        raise InputError(
            f"labels must be integers from 0 to {len(classes) - 1}, or the class names {', '.join(classes)}; "
            f"{invalid!r} is neither"
        )
    return array.astype(np.int64)


def _check_names(names: tuple[str, ...], n_graphs: int) -> None:
    if len(names) != n_graphs:
        raise InputError(f"names must have one entry for each of the {n_graphs} graphs, not {len(names)}")
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(f"subject names must be unique; {repeated!r} occurs {names.count(repeated)} times")
