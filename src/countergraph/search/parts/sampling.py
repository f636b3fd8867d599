"""Weighted sampling without replacement.

Drawing one item after the other, each with probability proportional to its weight among the rest, is equivalent to
drawing an exponential variable for each item, with its weight as the rate, and sorting by it.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, Indices


def weighted_shuffle(pool: Indices, rng: np.random.Generator, weights: Floats | None = None) -> Indices:
    """Return ``pool`` in the order in which its items are drawn. ``weights`` has one entry per pair of the graph."""
    if weights is None:
        return rng.permutation(pool)
    return pool[(rng.standard_exponential(pool.size) / weights[pool]).argsort()]


def weighted_sample(pool: Indices, size: int, rng: np.random.Generator, weights: Floats | None = None) -> Indices:
    """Return a sample of at most ``size`` items, in the order in which they are drawn."""
    if weights is None:
        return rng.choice(pool, size=min(size, pool.size), replace=False)
    return weighted_shuffle(pool, rng, weights)[:size]
