"""A rule that is linear in the edges: it counts those inside sets of regions."""

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
    """Count the edges inside vertex sets, weigh the counts, add the intercept: class 1 if the score is above 0.

    Parameters
    ----------
    vertex_sets
        Sets of region numbers.
    weights
        One number for each set.
    intercept
        What is added to the weighted counts.
    n_rois
        The number of regions of the graphs.
    classes
        What is answered for a score of at most 0, and for one above.
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
        sets = tuple(_vertices(each) for each in vertex_sets)
        if len(sets) != len(weights) or not sets:
            raise InputError(f"a rule needs one weight for each vertex set; got {len(sets)} and {len(weights)}")
        for each in sets:
            if each and not 0 <= each[0] <= each[-1] < n_rois:
                raise InputError(f"vertex sets must hold region numbers from 0 to {n_rois - 1}")
        if not np.isfinite([*weights, intercept]).all():
            raise InputError("weights and intercept must be finite")
        object.__setattr__(self, "vertex_sets", sets)
        object.__setattr__(self, "weights", tuple(float(w) for w in weights))
        object.__setattr__(self, "intercept", float(intercept))
        object.__setattr__(self, "n_rois", int(n_rois))
        object.__setattr__(self, "classes", tuple(classes))

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The two answers."""
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
            raise InputError(f"this rule is for {self.n_rois} regions; the graphs have another number")
        return edges_within(edges, self._pairs)

    def decision_function(self, edges: Bits) -> Floats:
        """Return the score of each graph (graphs, pairs); a sum of 0 is not off by 1e-17."""
        return snap_to_zero((self.embed(edges) * self.weights).sum(axis=1) + self.intercept, self.weights)

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
        return [pairs_within(vertices, self.n_rois) for vertices in self.vertex_sets]


def _vertices(given: ArrayLike) -> tuple[int, ...]:
    vertices = np.asarray(given).ravel()
    if vertices.size and vertices.dtype.kind not in "iu":
        raise InputError(f"a vertex set must hold region numbers, not {vertices[0]!r}")
    return tuple(sorted({int(vertex) for vertex in vertices}))
