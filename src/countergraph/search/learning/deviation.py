"""How one graph deviates from what all graphs share.

A black box may turn on other pairs for each graph, as one that compares a graph with those near to it does. A search
has too few answers to learn thousands of weights anew. But such a black box looks at differences between graphs that it
knows; so the deviation is sought among the combinations of the known graphs, which are few.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices

Basis = NDArray[np.float32]
DIRECTIONS = 64
BASIS_BYTES = 128 * 2**20
MOST_GRAPHS = 1000
"""Of larger cohorts, directions are taken from every second graph, every third, and so on."""
FADING, SIGMAS = 0.999, 3.0
"""How much better deviations must have told, of late, to count: beyond chance."""
VARIANCE = 0.4
"""How uncertain the deviation is at first, in one pair; a weight that all share begins with 1."""


def directions(edges: Bits) -> Basis:
    """Return the leading directions in which graphs differ, orthonormal columns (pairs, directions)."""
    most = min(DIRECTIONS, BASIS_BYTES // (4 * edges.shape[1]))
    edges = edges[:: -(-len(edges) // MOST_GRAPHS)]
    centred = edges - edges.mean(axis=0)
    sizes, combinations = np.linalg.eigh(centred @ centred.T)
    kept = np.flatnonzero(sizes > 1e-9 * edges.size)[::-1][:most]
    return np.asarray(centred.T @ (combinations[:, kept] / np.sqrt(sizes[kept])), dtype=np.float32)


class Deviation:
    """A correction of the weights for one graph, within a basis; a Gaussian guess of it, with its covariance."""

    def __init__(self, basis: Basis) -> None:
        pairs, size = basis.shape
        self.basis = basis
        self.mean = np.zeros(size)
        self.covariance = np.eye(size) * (VARIANCE * pairs / max(size, 1))

    def weights(self, pairs: Indices | slice) -> Floats:
        """Return the correction at some pairs."""
        return np.asarray(self.basis[pairs] @ self.mean.astype(np.float32), dtype=np.float64)

    def spread(self, pairs: Indices, signs: Floats) -> tuple[Floats, float]:
        """Return the covariance of all coordinates with a signed sum of weights, and the variance of the sum."""
        direction = signs @ self.basis[pairs]
        spread = self.covariance @ direction
        return spread, float(direction @ spread)

    def learn(self, spread: Floats, step: float, trust: float) -> None:
        """Move along what a signed sum says, and be surer of it."""
        self.mean += step * spread
        self.covariance -= trust * (spread[:, None] * spread)


class DeviationGate:
    """Whether deviations count in this run: whether they tell better what crosses than what all graphs share alone.

    They do not at first. Where the black box has one rule for all graphs, they would only follow chance.
    """

    def __init__(self) -> None:
        self.enabled = False
        self.lead = self.decided = 0.0

    def update(self, shared: float, own: float) -> None:
        """Take in what both said of a candidate that crossed, against one that did not."""
        vote = int(shared + own > 0) - int(shared > 0)
        self.lead = FADING * self.lead + vote
        self.decided = FADING * self.decided + abs(vote)
        self.enabled = self.lead > SIGMAS * math.sqrt(self.decided)
