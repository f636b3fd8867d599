"""Weighted picks without replacement.

Picking one after the other, each with probability proportional to its weight among those left, is the same as
giving each an exponential waiting time with its weight as the rate, and taking the earliest.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, Indices


def split(pool: Indices, k: int, rng: np.random.Generator, weights: Floats | None = None) -> tuple[Indices, Indices]:
    """Pick ``k`` members of ``pool``; return them and the rest, both in no particular order."""
    if weights is None:
        shuffled = rng.permutation(pool)
    else:
        shuffled = pool[(rng.standard_exponential(pool.size) / weights[pool]).argpartition(k - 1)]
    return shuffled[:k], shuffled[k:]


def random_order(pool: Indices, most: int, rng: np.random.Generator, weights: Floats | None = None) -> Indices:
    """Return the first ``most`` members of ``pool`` in the order in which they are picked.

    ``weights`` are those of all pairs.
    """
    most = min(most, pool.size)
    if weights is None:
        return rng.choice(pool, size=most, replace=False)
    times = rng.standard_exponential(pool.size) / weights[pool]
    first = times.argpartition(most - 1)[:most] if 0 < most < pool.size else np.arange(pool.size)
    return pool[first[times[first].argsort()]]
