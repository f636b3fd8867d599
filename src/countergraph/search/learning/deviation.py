"""The deviation of one graph from the shared surrogate.

The pairs that matter to a black box may differ from graph to graph, for example if it compares a graph with its nearest
neighbours. One search has too few answers to learn thousands of weights. But such a black box depends on differences
between the graphs that it was fitted to. So the deviation is restricted to the linear combinations of known graphs,
which have few dimensions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices

Basis = NDArray[np.float32]
MAX_DIRECTIONS = 64
"""The maximum number of dimensions of a deviation."""
BASIS_BYTES = 128 * 2**20
"""The maximum size of the basis in memory; large graphs get fewer directions."""
MAX_GRAPHS = 1000
"""The maximum number of graphs that the directions are computed from: every n-th graph of a larger cohort."""
DISCOUNT, SIGMAS = 0.999, 3.0
"""Deviations are used if they predict better by this many standard deviations of random votes; votes are discounted."""
PRIOR_VARIANCE = 0.4
"""The prior variance of the deviation at one pair; that of a shared weight is 1."""


def principal_directions(edges: Bits) -> Basis:
    """Return the principal directions of variation between graphs, as orthonormal columns (pairs, directions)."""
    max_directions = min(MAX_DIRECTIONS, BASIS_BYTES // (4 * edges.shape[1]))
    edges = edges[:: -(-len(edges) // MAX_GRAPHS)]
    centred = edges - edges.mean(axis=0)
    eigenvalues, eigenvectors = np.linalg.eigh(centred @ centred.T)
    kept = np.flatnonzero(eigenvalues > 1e-9 * edges.size)[::-1][:max_directions]
    return np.asarray(centred.T @ (eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])), dtype=np.float32)


class Deviation:
    """A correction of the shared weights for one graph: a Gaussian over its coordinates in a basis.

    Parameters
    ----------
    basis
        Orthonormal columns (pairs, directions).
    """

    def __init__(self, basis: Basis) -> None:
        n_pairs, n_directions = basis.shape
        self.basis = basis
        self.mean = np.zeros(n_directions)
        self.covariance = np.eye(n_directions) * (PRIOR_VARIANCE * n_pairs / max(n_directions, 1))

    def weights(self, pairs: Indices | slice) -> Floats:
        """Return the correction at some pairs."""
        return np.asarray(self.basis[pairs] @ self.mean.astype(np.float32), dtype=np.float64)

    def covariances(self, pairs: Indices, signs: Floats) -> tuple[Floats, float]:
        """Return the covariance of each coordinate with a signed sum of weights, and the variance of the sum."""
        direction = signs @ self.basis[pairs]
        covariances = self.covariance @ direction
        return covariances, float(direction @ covariances)

    def learn(self, covariances: Floats, step: float, precision: float) -> None:
        """Update mean and covariance after an observation of a signed sum with these ``covariances``."""
        self.mean += step * covariances
        self.covariance -= precision * (covariances[:, None] * covariances)


class DeviationGate:
    """Whether deviations are used: only if they improve the predictions of this run significantly.

    At first they are not. If the black box has one rule for all graphs, they would only fit noise.
    """

    def __init__(self) -> None:
        self.enabled = False
        self._balance = self._decisive = 0.0

    def update(self, shared: float, own: float) -> None:
        """Learn from a comparison of a counterfactual with a candidate that is not one.

        ``shared`` is the margin that the shared weights predict, ``own`` the margin that the deviation adds. A vote
        counts if only one of both predictions, with and without deviation, is right.
        """
        vote = int(shared + own > 0) - int(shared > 0)
        self._balance = DISCOUNT * self._balance + vote
        self._decisive = DISCOUNT * self._decisive + abs(vote)
        self.enabled = self._balance > SIGMAS * math.sqrt(self._decisive)
