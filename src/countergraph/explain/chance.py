"""What chance would do: the changes of counterfactuals, scattered at random over where they could have been made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control

from countergraph.graphs.pairs import Floats, Indices
from countergraph.results.counterfactual import Counterfactuals

AT_ONCE = 100
"""Simulations that are in memory at the same time."""

Pools = list[tuple[Indices, int]]
"""Where some changes could have fallen, and how many of them did."""


class Beside(NamedTuple):
    """What was seen beside chance: what that does on average, and how often it does as much."""

    observed: Floats
    expected: Floats
    p: Floats
    """One-sided."""
    q: Floats
    """The same, with the false discovery rate controlled (Benjamini & Hochberg)."""


def pools_of(results: Counterfactuals) -> Pools:
    """Return where the additions, and the removals, of each counterfactual could have fallen, and how many did."""
    absent: dict[bytes, Indices] = {}
    present: dict[bytes, Indices] = {}
    pools = []
    for each in results:
        key = each.original.tobytes()
        if key not in absent:
            absent[key], present[key] = np.flatnonzero(~each.original), np.flatnonzero(each.original)
        pools += [(absent[key], len(each.added)), (present[key], len(each.removed))]
    return [(pool, count) for pool, count in pools if count]


def against_chance(
    totals: Floats,
    levels: Callable[[Floats], dict[str, Floats]],
    pools: Pools,
    permutations: int,
    rng: np.random.Generator,
) -> dict[str, Beside]:
    """Test how often each pair changes (pairs,), and whatever ``levels`` sums over pairs."""
    observed = levels(totals)
    sums = {level: np.zeros_like(values) for level, values in observed.items()}
    reached = {level: np.zeros_like(values) for level, values in observed.items()}
    for begun in range(0, permutations, AT_ONCE):
        for scattered in _scattered(pools, totals.size, min(AT_ONCE, permutations - begun), rng):
            for level, values in levels(scattered).items():
                sums[level] += values
                reached[level] += values >= observed[level]
    chances = {level: (count + 1) / (permutations + 1) for level, count in reached.items()}
    return {
        level: Beside(values, sums[level] / permutations, chances[level], false_discovery_control(chances[level]))
        for level, values in observed.items()
    }


def _scattered(pools: list[tuple[Indices, int]], n_pairs: int, rounds: int, rng: np.random.Generator) -> Floats:
    """Let the changes of each counterfactual fall at random into its pools; count them by round and pair."""
    rows = n_pairs * np.arange(rounds)[:, None]
    cells = np.concatenate([(pool[_some(pool.size, count, rounds, rng)] + rows).ravel() for pool, count in pools])
    return np.bincount(cells, minlength=rounds * n_pairs).reshape(rounds, n_pairs).astype(np.float64)


def _some(size: int, count: int, rounds: int, rng: np.random.Generator) -> Indices:
    """Draw ``count`` different numbers below ``size``, in each of some rounds."""
    if count**2 > size:
        return np.array([rng.choice(size, count, replace=False, shuffle=False) for _ in range(rounds)])
    drawn = rng.integers(size, size=(rounds, count))
    while (twice := (np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(axis=1)).any():
        drawn[twice] = rng.integers(size, size=(int(twice.sum()), count))
    return drawn
