"""Improvement near the boundary: proposals with one change less, in the ways that have paid in this run."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.learning.proposals import TOGETHER, UNAIDED
from countergraph.search.learning.random_shrinking import patience
from countergraph.search.parts.orders import strongest
from countergraph.search.parts.prefix import shortened
from countergraph.search.protocol import Ask, Flips, Part

REPEATS = 10
"""So many proposals that were made before count as one failure."""
PROMISING = 5
"""How many more proposals in a row may fail where almost nothing of the best is thought to be needed."""
FEWER_WAYS = 2
"""How many less for a graph alone: half of the ways to propose something need others to know anything."""


def improved(task: GuidedTask, best: Flips) -> Part:
    """Propose closer counterfactuals until enough proposals in a row have failed, or been made before."""
    guide, ways, failed = task.guide, UNAIDED if task.unaided else TOGETHER, 0.0
    while task.limits.room_below(best) and failed < _endurance(task, best):
        way, guide.lean = guide.luck.pick(len(ways), task.rng), 0.0
        candidate = closer_part(task, ways[way](task, best), best)
        if not candidate.size or guide.knows(candidate):
            failed += 1 / REPEATS
        elif (yield Ask(candidate)).flipped:
            before, failed = task.limits.cost(best), 0
            best = task.apply_limits((yield from shortened(candidate)))
            guide.won()
            guide.luck.update(way, 1 - task.limits.cost(best) / before)
        else:
            guide.luck.update(way, 0)
            failed += 1
    return best


def closer_part(task: GuidedTask, order: Flips, best: Flips) -> Flips:
    """Return as much of an order as may be and as costs less than the best."""
    return task.apply_limits(task.limits.cheaper(task.alternate(order), best))


def _endurance(task: GuidedTask, best: Flips) -> float:
    """Return how many proposals in a row may fail."""
    return patience(best) + PROMISING * _promise(task.guide.gains(), best) - FEWER_WAYS * task.unaided


def _promise(gains: Floats, best: Flips) -> float:
    """Return the share of the best that is thought to be saved by taking the strongest changes instead."""
    return 1 - needed(gains, best) / best.size


def needed(gains: Floats, flips: Flips) -> int:
    """Return how many of the strongest changes are thought to do as much as some others do."""
    reach = np.cumsum(gains[strongest(gains, flips.size)])
    return min(1 + int(np.searchsorted(reach, gains[flips].sum())), flips.size)
