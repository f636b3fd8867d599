"""Smoothing of the weights of pairs by a low-rank approximation of their matrix."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, pair_ends, roi_count, to_matrix

RANK = 4
"""The rank of the approximation."""
ITERATIONS = 3
"""The number of subspace iterations per call."""


class Smoother:
    """Project the symmetric matrix of the weights on its leading eigenvectors.

    Pairs that share ROIs often have similar weights. In a rule on vertex sets, each set is one eigenvector. A few
    subspace iterations are enough, because each call starts from the eigenvectors of the previous one.

    Parameters
    ----------
    n_pairs
        The number of pairs of a graph.
    """

    def __init__(self, n_pairs: int) -> None:
        self.n_rois = roi_count(n_pairs)
        self.basis = np.random.default_rng(0).standard_normal((self.n_rois, min(RANK, self.n_rois)))

    def __call__(self, weights: Floats) -> Floats:
        """Return the smoothed weights."""
        matrix = to_matrix(weights)
        if not matrix.any():
            return weights
        for _ in range(ITERATIONS):
            self.basis = np.linalg.qr(matrix @ self.basis)[0]
        low_rank = self.basis @ (self.basis.T @ matrix @ self.basis) @ self.basis.T
        return np.asarray(low_rank[pair_ends(self.n_rois)])
