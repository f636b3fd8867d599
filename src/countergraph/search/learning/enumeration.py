"""Asking everything, where everything is little."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from countergraph.search.learning.guide import GuidedTask
from countergraph.search.protocol import Ask, Flips, Search


def all_closer(task: GuidedTask, best: Flips | None) -> Search:
    """Ask about all sets that cost less than the best, smallest first, if the budget allows for all of them.

    What is then the best is a closest counterfactual. Where every change costs the same, so is the first that is found.
    """
    guide, limits, pool = task.guide, task.limits, _pool(task)
    best = None if best is None or not limits.within_most(best) else best
    for size in _sizes(task, best) if affordable(task, best) else ():
        for chosen in combinations(pool.tolist(), size):
            flips = task.apply_limits(np.array(chosen, dtype=np.intp))
            if not flips.size or (best is not None and limits.cost(flips) >= limits.cost(best)):
                continue
            if not guide.knows(flips) and (yield Ask(flips)).flipped:
                if limits.costs is None:
                    return
                best = flips


def affordable(task: GuidedTask, best: Flips | None) -> bool:
    """Tell whether the budget allows to ask about all sets of so few changes that they may cost less than the best."""
    pool, left = _pool(task), task.max_calls - 1 - task.guide.asked
    for size in _sizes(task, best):
        left -= comb(pool.size, size)
        if left < 0:
            return False
    return True


def _pool(task: GuidedTask) -> Flips:
    return np.flatnonzero(np.ones_like(task.graph) if task.limits.allowed is None else task.limits.allowed)


def _sizes(task: GuidedTask, best: Flips | None) -> range:
    pool, most = _pool(task).size, task.limits.most
    return range(1, 1 + (min(pool, most or pool) if best is None else task.limits.room_below(best)))
