"""The white box: a rule that is linear in the edges.

Any two-class linear classifier of scikit-learn on edge vectors, with ``coef_`` (1, pairs), ``intercept_`` and
``classes_``, is such a rule; `linear_form` finds it inside a pipeline. What derives from one, or was given a
``predict`` of its own, may decide in another way, and is none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.datasets.cohorts import ROOT_VARIABLE, cohort_folder
from countergraph.errors import FileError, InputError, unknown
from countergraph.graphs.pairs import (
    Bits,
    Floats,
    Indices,
    Label,
    pair_count,
    pairs_within,
    region_count,
    settled,
)


class LinearInEdges(Protocol):
    """A two-class classifier whose score is ``edges @ coef_[0] + intercept_``; positive means ``classes_[1]``."""

    @property
    def coef_(self) -> Floats:
        """The weight of every edge, shape (1, pairs)."""
        ...

    @property
    def intercept_(self) -> Floats:
        """What is added, shape (1,)."""
        ...

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The class at most 0 and the class above it."""
        ...


@dataclass(frozen=True, eq=False)
class LinearRule:
    """Count the edges inside vertex sets, weigh the counts, add the intercept: class 1 if the score is above 0.

    Parameters
    ----------
    vertex_sets
        Sets of region numbers.
    weights
        One number for each set.
    intercept
        What is added to the weighted counts.
    n_regions
        The number of regions of the graphs.
    classes
        What is answered for a score of at most 0, and for one above.
    """

    vertex_sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    intercept: float
    n_regions: int
    classes: tuple[Label, Label]

    def __init__(
        self,
        vertex_sets: Sequence[ArrayLike],
        weights: Sequence[float],
        intercept: float,
        n_regions: int,
        classes: Sequence[Label] = (0, 1),
    ) -> None:
        sets = tuple(_vertices(each) for each in vertex_sets)
        if len(sets) != len(weights) or not sets:
            raise InputError(f"a rule needs one weight for each vertex set; got {len(sets)} and {len(weights)}")
        for each in sets:
            if each and not 0 <= each[0] <= each[-1] < n_regions:
                raise InputError(f"vertex sets must hold region numbers from 0 to {n_regions - 1}")
        if not np.isfinite([*weights, intercept]).all():
            raise InputError("weights and intercept must be finite")
        object.__setattr__(self, "vertex_sets", sets)
        object.__setattr__(self, "weights", tuple(float(w) for w in weights))
        object.__setattr__(self, "intercept", float(intercept))
        object.__setattr__(self, "n_regions", int(n_regions))
        object.__setattr__(self, "classes", tuple(classes))

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The two answers."""
        return np.array(self.classes)

    @property
    def coef_(self) -> Floats:
        """The weight of every edge, shape (1, pairs)."""
        coefficients = np.zeros((1, pair_count(self.n_regions)))
        for pairs, weight in zip(self._pairs, self.weights, strict=True):
            coefficients[0, pairs] += weight
        return coefficients

    @property
    def intercept_(self) -> Floats:
        """The intercept, shape (1,)."""
        return np.array([self.intercept])

    def embed(self, edges: Bits) -> Floats:
        """Count the edges of each graph (graphs, pairs) inside each vertex set, shape (graphs, sets)."""
        if edges.shape[1] != pair_count(self.n_regions):
            raise InputError(f"this rule is for {self.n_regions} regions; the graphs have another number")
        return np.stack([edges.take(pairs, axis=1).sum(axis=1, dtype=np.float64) for pairs in self._pairs], axis=1)

    def decision_function(self, edges: Bits) -> Floats:
        """Return the score of each graph (graphs, pairs); a sum of 0 is not off by 1e-17."""
        return settled((self.embed(edges) * self.weights).sum(axis=1) + self.intercept, self.weights)

    def predict(self, edges: Bits) -> NDArray[np.generic]:
        """Return the second class where the score is above 0, else the first."""
        return self.classes_[(self.decision_function(edges) > 0).astype(np.intp)]

    def project(self, points: ArrayLike) -> Floats:
        """Move embedded points (graphs, sets) straight onto the boundary: the paper's optimum (section 4.3)."""
        given, normal = np.asarray(points, dtype=np.float64), np.array(self.weights)
        step = (given @ normal + self.intercept) / (normal @ normal)
        return np.asarray(given - step[..., None] * normal)

    @cached_property
    def _pairs(self) -> list[Indices]:
        return [pairs_within(vertices, self.n_regions) for vertices in self.vertex_sets]


class LinearScores:
    """The scores of a linear rule with a weight of its own for every edge, eight edges at a time.

    Eight edges are a byte, and for each byte of the packed graph a table holds the sum of the weights for all 256 ways
    it can be: a graph costs one look-up for every eight pairs.
    """

    def __init__(self, rule: LinearInEdges) -> None:
        coefficients = np.asarray(rule.coef_, dtype=np.float64).ravel()
        padded = np.zeros((-(-coefficients.size // 8), 8))
        padded.reshape(-1)[: coefficients.size] = coefficients
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
        self.weights = coefficients
        self.table = (padded @ bits.T).ravel()
        self.starts = 256 * np.arange(len(padded))
        self.intercept = float(np.asarray(rule.intercept_).ravel()[0])
        self.classes = np.asarray(rule.classes_)

    def predict(self, edges: Bits) -> NDArray[np.generic]:
        """Return the class of each graph (graphs, pairs)."""
        packed = np.packbits(edges.astype(np.bool_, copy=False), axis=1)
        scores = settled(self.table.take(packed + self.starts).sum(axis=1) + self.intercept, self.weights)
        return np.asarray(self.classes[(scores > 0).astype(np.intp)])


@dataclass(frozen=True, eq=False)
class LinearWeights:
    """A two-class linear classifier on edge vectors, and nothing else about it."""

    coef_: Floats
    intercept_: Floats
    classes_: NDArray[np.generic]


def _unscaled(scaler: StandardScaler, rule: LinearInEdges) -> LinearWeights:
    """Return a rule on edges that says what ``rule`` says of the scaled ones."""
    scale = 1.0 if scaler.scale_ is None else scaler.scale_
    mean = 0.0 if scaler.mean_ is None or not scaler.with_mean else scaler.mean_
    weights = np.atleast_2d(rule.coef_) / scale
    return LinearWeights(weights, np.asarray(rule.intercept_) - (weights * mean).sum(axis=1), rule.classes_)


def linear_form(model: object) -> LinearInEdges | None:
    """Return the linear rule that ``model`` is, or None if it is not one.

    Understands `LinearRule`, linear scikit-learn classifiers of two classes on edge vectors, also behind a
    `StandardScaler`, and the pipeline of `ContrastSubgraphs` and a linear classifier.
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    if not all(_is_plain(each) for each in (model, *steps)):
        return None
    if isinstance(model, Pipeline) and len(model) == 2 and isinstance(model[0], ContrastSubgraphs):
        last = model[1]
        if _is_binary_linear(last):
            n_regions = region_count(model[0].n_features_in_)
            intercept, classes = float(last.intercept_[0]), last.classes_.tolist()
            return LinearRule(model[0].subgraphs_, last.coef_[0], intercept, n_regions, classes)
        return None
    if isinstance(model, Pipeline) and len(model) > 1 and isinstance(model[0], StandardScaler):
        inner = linear_form(model[1:])
        return None if inner is None else _unscaled(model[0], inner)
    if isinstance(model, Pipeline) and len(model) == 1:
        return linear_form(model[0])
    return model if _is_binary_linear(model) else None


def _vertices(given: ArrayLike) -> tuple[int, ...]:
    vertices = np.asarray(given).ravel()
    if vertices.size and vertices.dtype.kind not in "iu":
        raise InputError(f"a vertex set must hold region numbers, not {vertices[0]!r}")
    return tuple(sorted({int(vertex) for vertex in vertices}))


def _is_plain(model: object) -> bool:
    """Tell whether a model is one of scikit-learn or of countergraph, with nothing put in the place of its methods."""
    known = type(model).__module__.startswith(("sklearn.", "countergraph."))
    return known and not {"predict", "decision_function", "transform"} & vars(model).keys()


def _is_binary_linear(model: object) -> TypeGuard[LinearInEdges]:
    """Tell whether a plain model decides by the sign of a sum of weights."""
    if not (hasattr(model, "coef_") and hasattr(model, "intercept_") and hasattr(model, "classes_")):
        return False
    return len(model.classes_) == 2 and len(np.atleast_2d(model.coef_)) == 1


def load_published_rule(cohort: str, root: str | Path | None = None) -> LinearRule:
    """Load the rule that the paper's authors published for ``"asd"`` or ``"adhd"``.

    Parameters
    ----------
    cohort
        The name of the cohort.
    root
        The folder that holds ``published_rules.json``; by default where ``COUNTERGRAPH_DATA`` points.
    """
    path = cohort_folder(cohort, root).parent / "published_rules.json"
    try:
        rules = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read as JSON ({error}); set root= or {ROOT_VARIABLE}") from error
    if cohort not in rules:
        raise unknown("published rule", cohort, rules)
    rule = rules[cohort]
    names = [f"td_{cohort}", f"{cohort}_td"]
    n_regions = {"asd": 116, "adhd": 190}[cohort]
    return LinearRule(
        [rule[name] for name in names],
        [rule[f"{name}_weight"] for name in names],
        rule["intercept"],
        n_regions,
    )
