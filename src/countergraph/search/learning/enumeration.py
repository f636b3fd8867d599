"""Exhaustive search, if the number of candidates is within the budget."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from countergraph.search.learning.guide import GuidedTask
from countergraph.search.protocol import Ask, Flips, Search


def enumerate_closer(task: GuidedTask, best: Flips | None) -> Search:
    """Classify all sets of changes that cost less than the best, smallest first, if the budget is large enough.

    The best counterfactual is then optimal. If all changes have the same cost, the first one found is optimal.
    """
    guide, limits, pool = task.guide, task.limits, _pool(task)
    best = None if best is None or not limits.within_most(best) else best
    for size in _sizes(task, best) if can_enumerate(task, best) else ():
        for chosen in combinations(pool.tolist(), size):
            flips = task.apply_limits(np.array(chosen, dtype=np.intp))
            if not flips.size or (best is not None and limits.cost(flips) >= limits.cost(best)):
                continue
            if not guide.is_known(flips) and (yield Ask(flips)).flipped:
                if limits.costs is None:
                    return
                best = flips


def can_enumerate(task: GuidedTask, best: Flips | None) -> bool:
    """Check whether the budget allows classifying all sets with so few changes that they may cost less than best."""
    pool, remaining = _pool(task), task.max_calls - 1 - task.guide.n_calls
    for size in _sizes(task, best):
        remaining -= comb(pool.size, size)
        if remaining < 0:
            return False
    return True


def _pool(task: GuidedTask) -> Flips:
    return np.flatnonzero(np.ones_like(task.graph) if task.limits.allowed is None else task.limits.allowed)


def _sizes(task: GuidedTask, best: Flips | None) -> range:
    pool, most = _pool(task).size, task.limits.most
    return range(1, 1 + (min(pool, most or pool) if best is None else task.limits.max_changes_below(best)))
