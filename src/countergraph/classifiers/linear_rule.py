"""A classifier that is linear in the numbers of edges inside sets of ROIs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import InputError
from countergraph.graphs.pairs import Bits, Floats, Indices, Label, edges_within, pair_count, pairs_within, snap_to_zero


@dataclass(frozen=True, eq=False)
class LinearRule:
    """Classify by the weighted numbers of edges inside vertex sets plus an intercept: class 1 if the score is above 0.

    Parameters
    ----------
    vertex_sets
        Sets of ROI numbers.
    weights
        One weight for each set.
    intercept
        The constant that is added to the weighted counts.
    n_rois
        The number of ROIs of the graphs.
    classes
        The class for a score of at most 0, and the class for a score above 0.
    """

    vertex_sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    intercept: float
    n_rois: int
    classes: tuple[Label, Label]

    def __init__(
        self,
        vertex_sets: Sequence[ArrayLike],
        weights: Sequence[float],
        intercept: float,
        n_rois: int,
        classes: Sequence[Label] = (0, 1),
    ) -> None:
        sets = tuple(_as_vertex_set(each) for each in vertex_sets)
        if len(sets) != len(weights) or not sets:
            raise InputError(
                f"weights must have one entry for each vertex set; got {len(sets)} sets and {len(weights)} weights"
            )
        for each in sets:
            if each and not 0 <= each[0] <= each[-1] < n_rois:
                raise InputError(f"vertex_sets must contain ROI numbers from 0 to {n_rois - 1}")
        if not np.isfinite([*weights, intercept]).all():
            raise InputError("weights and intercept must be finite")
        object.__setattr__(self, "vertex_sets", sets)
        object.__setattr__(self, "weights", tuple(float(w) for w in weights))
        object.__setattr__(self, "intercept", float(intercept))
        object.__setattr__(self, "n_rois", int(n_rois))
        object.__setattr__(self, "classes", tuple(classes))

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The two classes."""
        return np.array(self.classes)

    @property
    def coef_(self) -> Floats:
        """The weight of every edge, shape (1, pairs)."""
        coefficients = np.zeros((1, pair_count(self.n_rois)))
        for pairs, weight in zip(self._pairs, self.weights, strict=True):
            coefficients[0, pairs] += weight
        return coefficients

    @property
    def intercept_(self) -> Floats:
        """The intercept, shape (1,)."""
        return np.array([self.intercept])

    def embed(self, edges: Bits) -> Floats:
        """Count the edges of each graph (graphs, pairs) inside each vertex set, shape (graphs, sets)."""
        if edges.shape[1] != pair_count(self.n_rois):
            raise InputError(
                f"this rule is for graphs with {self.n_rois} ROIs ({pair_count(self.n_rois)} pairs); "
                f"got {edges.shape[1]} pairs"
            )
        return edges_within(edges, self._pairs)

    def decision_function(self, edges: Bits) -> Floats:
        """Return the score of each graph (graphs, pairs); rounding errors around 0 are removed."""
        return snap_to_zero((self.embed(edges) * self.weights).sum(axis=1) + self.intercept, self.weights)

    def predict(self, edges: Bits) -> NDArray[np.generic]:
        """Return the class of each graph (graphs, pairs): the second class if the score is above 0, else the first."""
        return self.classes_[(self.decision_function(edges) > 0).astype(np.intp)]

    def project(self, points: ArrayLike) -> Floats:
        """Project embedded points (graphs, sets) onto the decision boundary: the paper's optimum (section 5.3)."""
        embedded, normal = np.asarray(points, dtype=np.float64), np.array(self.weights)
        step = (embedded @ normal + self.intercept) / (normal @ normal)
        return np.asarray(embedded - step[..., None] * normal)

    @cached_property
    def _pairs(self) -> list[Indices]:
        return [pairs_within(vertices, self.n_rois) for vertices in self.vertex_sets]


def _as_vertex_set(numbers: ArrayLike) -> tuple[int, ...]:
    vertices = np.asarray(numbers).ravel()
    if vertices.size and vertices.dtype.kind not in "iu":
        raise InputError(f"vertex_sets must contain ROI numbers, not {vertices[0]!r}")
    return tuple(sorted({int(vertex) for vertex in vertices}))
