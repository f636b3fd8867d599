"""Weighted picks without replacement.

Picking one after the other, each with probability proportional to its weight among those left, is the same as
giving each an exponential waiting time with its weight as the rate, and taking the earliest.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, Indices


def shuffled(pool: Indices, rng: np.random.Generator, weights: Floats | None = None) -> Indices:
    """Return ``pool`` in the order in which its members are picked. ``weights`` are those of all pairs."""
    if weights is None:
        return rng.permutation(pool)
    return pool[(rng.standard_exponential(pool.size) / weights[pool]).argsort()]


def first_picks(pool: Indices, most: int, rng: np.random.Generator, weights: Floats | None = None) -> Indices:
    """Return the first ``most`` members of `shuffled`, for less than the price of all."""
    if weights is None:
        return rng.choice(pool, size=min(most, pool.size), replace=False)
    return shuffled(pool, rng, weights)[:most]
