"""Exhaustive search, if the number of candidates is within the budget."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np

from countergraph.search.protocol import Ask, Flips, Search, Task


def enumerate_closer(task: Task, best: Flips | None, is_known: Callable[[Flips], bool]) -> Search:
    """Classify all sets of changes that cost less than the best, smallest first.

    The best counterfactual is then optimal. If all changes have the same cost, the first one found is optimal.
    """
    limits = task.limits
    best = None if best is None or not limits.within_most(best) else best
    for size in _sizes(task, best):
        for chosen in combinations(_pool(task).tolist(), size):
            flips = task.apply_limits(np.array(chosen, dtype=np.intp))
            if not flips.size or (best is not None and limits.cost(flips) >= limits.cost(best)):
                continue
            if not is_known(flips) and (yield Ask(flips)).flipped:
                if limits.costs is None:
                    return
                best = flips


def can_enumerate(task: Task, best: Flips | None, n_calls: int) -> bool:
    """Check whether the budget allows classifying all sets with so few changes that they may cost less than best."""
    best = None if best is None or not task.limits.within_most(best) else best
    pool, remaining = _pool(task), task.max_calls - 1 - n_calls
    for size in _sizes(task, best):
        remaining -= comb(pool.size, size)
        if remaining < 0:
            return False
    return True


def _pool(task: Task) -> Flips:
    return np.flatnonzero(np.ones_like(task.graph) if task.limits.allowed is None else task.limits.allowed)


def _sizes(task: Task, best: Flips | None) -> range:
    pool, most = _pool(task).size, task.limits.most
    return range(1, 1 + (min(pool, most or pool) if best is None else task.limits.max_changes_below(best)))
