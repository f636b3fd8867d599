"""A cohort: graphs on the same regions, with a label and a name for each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import InputError, unknown_name
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Bits, as_edge_vectors, roi_count, to_adjacency


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """Graphs on the same regions, each with a label and a name. Frozen, and checked once, here.

    Parameters
    ----------
    edges
        Shape (graphs, pairs), bool; the pairs are in the order of ``numpy.triu_indices(n, 1)``. A stack of adjacency
        matrices (graphs, n, n) is understood too.
    labels
        For each graph the name of its class, or an index into ``classes``. In two groups 1 is the condition, 0 the
        control.
    names
        One distinct name for each graph; by default "graph 0", "graph 1", ...
    classes
        What the classes are called, by label.
    atlas
        What the vertices mean; by default numbered regions.
    attributes
        One row for each graph: age, sex, site, ... None if nothing is known.
    about
        Where the data came from, as plain values that JSON can hold.
    """

    edges: Bits
    labels: NDArray[np.int64]
    names: tuple[str, ...]
    classes: tuple[str, ...]
    atlas: Atlas
    attributes: pd.DataFrame | None
    about: Mapping[str, Any] = field(repr=False)

    def __init__(
        self,
        edges: ArrayLike,
        labels: ArrayLike,
        names: Sequence[str] | None = None,
        classes: Sequence[str] = ("control", "condition"),
        atlas: Atlas | None = None,
        attributes: pd.DataFrame | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        bits = as_edge_vectors(edges, "edges")
        n = roi_count(bits.shape[1])
        codes = _labels(labels, len(bits), tuple(map(str, classes)))
        titles = tuple(f"graph {i}" for i in range(len(bits))) if names is None else tuple(map(str, names))
        atlas = Atlas.numbered(n) if atlas is None else atlas
        if not isinstance(atlas, Atlas):
            raise InputError(f"atlas must be an Atlas, such as load_atlas('aal116') returns, not {atlas!r}")
        if len(atlas) != n:
            diagonal = "" if n != len(atlas) + 1 else " (vectors with the diagonal look like one region more)"
            raise InputError(
                f"atlas {atlas.name!r} has {len(atlas)} regions, but the graphs have {n}{diagonal}; give the atlas "
                "they come from"
            )
        _check_names(titles, len(bits))
        if len(set(classes)) != len(classes) or len(classes) < 2:
            raise InputError(f"classes must be at least two different names, not {tuple(classes)}")
        if attributes is not None and len(attributes) != len(bits):
            raise InputError(f"attributes must have one row for each of the {len(bits)} graphs, not {len(attributes)}")
        bits.flags.writeable = codes.flags.writeable = False
        object.__setattr__(self, "edges", bits)
        object.__setattr__(self, "labels", codes)
        object.__setattr__(self, "names", titles)
        object.__setattr__(self, "classes", tuple(map(str, classes)))
        object.__setattr__(self, "atlas", atlas)
        object.__setattr__(self, "attributes", None if attributes is None else _own_table(attributes, titles))
        object.__setattr__(self, "about", MappingProxyType(_plain(about or {})))

    def __len__(self) -> int:
        return len(self.edges)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.edges, self.labels, self.names, self.classes, self.atlas, self.attributes, dict(self.about))
        return GraphDataset, parts

    def __repr__(self) -> str:
        groups = ", ".join(f"{count} {name}" for name, count in zip(self.classes, self.class_sizes, strict=True))
        return f"GraphDataset({groups}; {self.n_rois} regions of {self.atlas.name})"

    @property
    def n_rois(self) -> int:
        """The number of regions of every graph."""
        return len(self.atlas)

    @cached_property
    def adjacency(self) -> NDArray[np.uint8]:
        """Symmetric matrices of zeros and ones, shape (graphs, n, n); read-only."""
        matrices = to_adjacency(self.edges)
        matrices.flags.writeable = False
        return matrices

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """How many graphs each class has, by label."""
        return np.bincount(self.labels, minlength=len(self.classes)).astype(np.int64)

    @cached_property
    def edge_frequencies(self) -> NDArray[np.float64]:
        """The share of each class that has each edge, shape (classes, pairs); NaN for a class with no graph."""
        shares = np.full((len(self.classes), self.edges.shape[1]), np.nan)
        for label in np.unique(self.labels):
            shares[label] = self.edges[self.labels == label].mean(axis=0)
        return shares

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of graphs, labels and class names: the same cohort, the same fingerprint."""
        digest = hashlib.sha256(repr((self.edges.shape, self.classes)).encode())
        digest.update(np.packbits(self.edges, axis=1).tobytes())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()[:16]

    def index(self, name: str) -> int:
        """Return the position of the graph called ``name``."""
        try:
            return self.names.index(name)
        except ValueError:
            raise unknown_name("subject", name, self.names) from None

    def subset(self, which: ArrayLike | Iterable[str]) -> GraphDataset:
        """Return some of the graphs: by position, by a boolean mask, or by name or names, in the order given."""
        which = [which] if isinstance(which, str) else which
        chosen = np.asarray(list(which) if isinstance(which, Iterable) else which)
        if chosen.dtype.kind in "UO":
            chosen = np.array([self.index(str(name)) for name in chosen], dtype=np.intp)
        if chosen.dtype == np.bool_ and chosen.shape != (len(self),):
            raise InputError(f"a mask must have one entry for each of the {len(self)} graphs, not {chosen.shape}")
        if chosen.ndim != 1 or chosen.dtype.kind not in "biuf" or (chosen.dtype.kind == "f" and chosen.size):
            raise InputError(f"a subset is chosen by a list of names or positions, or by a mask, not by {which!r}")
        if chosen.dtype != np.bool_ and chosen.size and not 0 <= chosen.min() <= chosen.max() < len(self):
            strange = chosen.max() if chosen.max() >= len(self) else chosen.min()
            raise InputError(f"positions must lie between 0 and {len(self) - 1}, not be {strange}")
        rows = np.arange(len(self))[chosen] if chosen.size else np.empty(0, dtype=np.intp)
        return GraphDataset(
            self.edges[rows],
            self.labels[rows],
            [self.names[i] for i in rows],
            self.classes,
            self.atlas,
            None if self.attributes is None else self.attributes.iloc[rows],
            self.about,
        )

    def save(self, path: str | Path) -> Path:
        """Write the dataset to one .npz file, which `countergraph.load_dataset` reads back equal."""
        from countergraph.graphs.files import save_dataset

        return save_dataset(self, path)

    def summary(self) -> pd.DataFrame:
        """Return one row for each class: its graphs, their edges and density, and what is known of the people."""
        counts = self.edges.sum(axis=1)
        rows = []
        for label, name in enumerate(self.classes):
            own = counts[self.labels == label]
            row: dict[str, Any] = {"class": name, "label": label, "graphs": len(own)}
            if len(own):
                row |= {
                    "edges (mean)": float(own.mean()),
                    "edges (min)": int(own.min()),
                    "edges (max)": int(own.max()),
                    "density": float(own.mean() / self.edges.shape[1]),
                }
                row |= self._attribute_summary(self.labels == label)
            rows.append(row)
        return pd.DataFrame(rows).set_index("class")

    def _attribute_summary(self, rows: Bits) -> dict[str, Any]:
        if self.attributes is None:
            return {}
        table = self.attributes[rows]
        summary: dict[str, Any] = {}
        for name in table:
            column = table[name]
            if pd.api.types.is_numeric_dtype(column):
                summary[f"{name} (mean)"] = float(column.mean())
            elif column.nunique() <= 3 and len(column):
                summary[str(name)] = ", ".join(f"{n} {value}" for value, n in column.value_counts().items())
        return summary


def _plain(about: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(about))))
    except TypeError as error:
        raise InputError(f"about must hold plain values that JSON can hold ({error})") from None


def _own_table(attributes: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a table of one's own, its rows in the order of the graphs if its index says whose they are."""
    if any(isinstance(each, str) for each in attributes.index):
        if set(attributes.index) != set(names):
            raise InputError(
                "the index of attributes must be the names of the graphs, if it is names at all; "
                "reset_index(drop=True) takes the rows as they come"
            )
        attributes = attributes.loc[list(names)]
    table = attributes.reset_index(drop=True).copy()
    table.columns = pd.Index([str(name) for name in table.columns])
    return table


def _labels(labels: ArrayLike, n_graphs: int, classes: tuple[str, ...]) -> NDArray[np.int64]:
    given = np.asarray(labels)
    if given.shape != (n_graphs,):
        raise InputError(f"labels must have one entry for each of the {n_graphs} graphs, not shape {given.shape}")
    if given.size and all(isinstance(label, str) and label in classes for label in given.tolist()):
        return np.array([classes.index(label) for label in given.tolist()], dtype=np.int64)
    right = [label in range(len(classes)) for label in given.tolist()]
    if not all(right):
        wrong = given.tolist()[right.index(False)]
        raise InputError(
            f"labels must be integers from 0 to {len(classes) - 1}, or the names {', '.join(classes)}; "
            f"{wrong!r} is neither"
        )
    return given.astype(np.int64)


def _check_names(names: tuple[str, ...], n_graphs: int) -> None:
    if len(names) != n_graphs:
        raise InputError(f"names must have one entry for each of the {n_graphs} graphs, not {len(names)}")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"subject names must differ; {twice!r} occurs {names.count(twice)} times")
