"""How much: shrink the change of a weighted network after its pairs are found.

1. A common factor: the smallest t for which the network with the values x + t (a - x) is still a counterfactual, by
   bisection. x are the original values of the changed pairs, a their alternatives.
2. The same for each pair, or each larger unit, separately; the largest change first.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from countergraph.graphs.pairs import Floats, Indices
from countergraph.search.network import Change, Network, Problem
from countergraph.search.protocol import Flips

COMMON_STEPS = 6
"""The steps of the bisection of the common factor."""
GROUP_STEPS = 2
"""The steps of the bisection for each pair."""


def smaller_amounts(problem: Problem, flips: Flips) -> Generator[Change, bool, None]:
    """Yield the counterfactual of some flips with smaller changes; receive whether it still has the same class."""
    network = problem.network if problem.pair_network is None else problem.pair_network
    groups = [problem.pairs_of(flips[[number]]) for number in range(flips.size)]
    pairs = np.sort(problem.pairs_of(flips))
    factors = np.ones(network.values.size)
    high = yield from _bisect(network, pairs, factors, pairs, COMMON_STEPS)
    factors[pairs] = high
    sizes = [np.abs(network.differences[group]).sum() for group in groups]
    for number in np.argsort(sizes)[::-1]:
        group = groups[number]
        factors[group] *= yield from _bisect(network, pairs, factors, group, GROUP_STEPS)


def _bisect(
    network: Network, pairs: Indices, factors: Floats, group: Indices, steps: int
) -> Generator[Change, bool, float]:
    """Return the smallest share of the change of a group that leaves a counterfactual."""
    low, high = 0.0, 1.0
    for _ in range(steps):
        middle, tried = (low + high) / 2, factors.copy()
        tried[group] *= middle
        if (yield changed_by(network, pairs, tried)):
            high = middle
        else:
            low = middle
    return high


def changed_by(network: Network, pairs: Indices, factors: Floats) -> Change:
    """Return the change of some pairs by a share of the way to their alternatives."""
    before, after = network.values[pairs], network.alternatives[pairs]
    values = (before + factors[pairs] * (after - before)).astype(before.dtype)
    return Change(pairs, np.clip(values, np.minimum(before, after), np.maximum(before, after)))
