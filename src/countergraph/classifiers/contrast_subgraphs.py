"""Contrast subgraphs: two sets of ROIs that are dense in one class and sparse in the other.

Lanciano, Bonchi & Gionis, KDD'20; the first black box of the paper (section 5.1 and appendix).
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from countergraph.classifiers.dense_subset import (
    local_search,
    round_vectors,
    semidefinite_bound,
    weight_inside,
)
from countergraph.errors import InputError, check_integers
from countergraph.graphs.pairs import Floats, Indices, edges_within, pairs_within, roi_count, to_matrix


class ContrastSubgraphs(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Embed a graph as the numbers of edges inside two contrast subgraphs.

    The first set S maximises the sum over its pairs of (edge frequency in class 0 - edge frequency in class 1 -
    alpha); the second set maximises the same sum with the classes exchanged. The authors of the paper solve and round
    a semidefinite program and then run a local search. This implementation runs the local search from many starting
    sets, random ones and rounded solutions of the semidefinite program. The value of the program is an upper bound of
    the objective.

    Parameters
    ----------
    alpha
        Penalty of each pair; larger values give smaller sets. The paper uses 0.025 (ASD) and 0.01 (ADHD).
    n_starts
        Number of random starting sets of the local search; the same number comes from the semidefinite program.
    random_state
        The random seed. The same seed gives the same sets.

    Attributes
    ----------
    subgraphs_ : tuple of two arrays
        The ROIs of (class 0 - class 1) and of (class 1 - class 0), in increasing order.
    objective_ : array of two
        The objective value of each set.
    upper_bound_ : array of two
        Upper bound of the objective value of any set.
    gap_ : array of two
        ``upper_bound_ - objective_``: the maximal distance to the optimum.
    classes_ : array of two
        The two classes.
    """

    subgraphs_: tuple[Indices, Indices]
    objective_: Floats
    upper_bound_: Floats
    gap_: Floats
    classes_: NDArray[np.generic]

    def __init__(self, alpha: float = 0.025, n_starts: int = 64, random_state: int = 0) -> None:
        self.alpha = alpha
        self.n_starts = n_starts
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the two sets from edge vectors (graphs, pairs) and their labels."""
        edges, labels = validate_data(self, X, y, dtype=np.float64)
        check_integers(n_starts=(self.n_starts, 1), random_state=(self.random_state, 0))
        if not np.isfinite(self.alpha):
            raise InputError(f"alpha must be a finite number, not {self.alpha}")
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            raise InputError(
                f"contrast subgraphs need exactly two classes, not {len(self.classes_)}; use another model, "
                "for example raw-edges"
            )
        frequency = [edges[labels == label].mean(axis=0) for label in self.classes_]
        found = [self._search(to_matrix(frequency[a] - frequency[b] - self.alpha)) for a, b in ((0, 1), (1, 0))]
        self.subgraphs_ = (found[0][0], found[1][0])
        self.objective_ = np.array([objective for _, objective, _ in found])
        self.upper_bound_ = np.array([bound for _, _, bound in found])
        self.gap_ = self.upper_bound_ - self.objective_
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Count the edges of each graph (graphs, pairs) inside the two sets, shape (graphs, 2)."""
        check_is_fitted(self)
        edges = validate_data(self, X, reset=False, dtype=None)
        n_rois = roi_count(edges.shape[1])
        return edges_within(edges, [pairs_within(rois, n_rois) for rois in self.subgraphs_])

    def _search(self, weights: Floats) -> tuple[Indices, float, float]:
        rng = np.random.default_rng(self.random_state)
        bound, vectors = semidefinite_bound(weights, rng)
        density = rng.uniform(0.05, 0.5, (self.n_starts, 1))
        starts = np.vstack(
            [rng.random((self.n_starts, len(weights))) < density, round_vectors(vectors, self.n_starts, rng)]
        )
        vertices = local_search(weights, starts)
        members = np.isin(np.arange(len(weights)), vertices)
        return vertices, float(weight_inside(weights, members)), bound

    @property
    def _n_features_out(self) -> int:
        return 2
