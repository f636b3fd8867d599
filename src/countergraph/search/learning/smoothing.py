"""Weights of pairs, smoothed over regions."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, pair_ends, roi_count, to_matrix

RANK = 4
SWEEPS = 3


class Smoother:
    """Replace weights of pairs by what the leading eigenvectors of their matrix keep of them.

    Pairs matter together when they share regions; in a rule on vertex sets each set is one eigenvector. A few sweeps of
    subspace iteration are enough, since each call starts from the eigenvectors of the last.
    """

    def __init__(self, n_pairs: int) -> None:
        self.n_rois = roi_count(n_pairs)
        self.basis = np.random.default_rng(0).standard_normal((self.n_rois, min(RANK, self.n_rois)))

    def __call__(self, weights: Floats) -> Floats:
        """Return the smoothed weights."""
        matrix = to_matrix(weights)
        if not matrix.any():
            return weights
        for _ in range(SWEEPS):
            self.basis = np.linalg.qr(matrix @ self.basis)[0]
        low_rank = self.basis @ (self.basis.T @ matrix @ self.basis) @ self.basis.T
        return np.asarray(low_rank[pair_ends(self.n_rois)])
