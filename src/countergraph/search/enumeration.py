"""Asking everything, where everything is little."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from countergraph.search.conversation import Flips, Search, Task
from countergraph.search.memory import guide_of


def all_smaller(task: Task, best: Flips | None) -> Search:
    """Ask about all sets of fewer changes than the best, smallest first, if the budget allows for all of them.

    What it finds is a closest counterfactual; if it finds none, the best is one.
    """
    guide, pool = guide_of(task), _pool(task)
    for size in _sizes(pool, best) if affordable(task, best) else ():
        for chosen in combinations(pool.tolist(), size):
            flips = np.array(chosen, dtype=np.intp)
            if not guide.knows(flips) and (yield flips).flipped:
                return


def affordable(task: Task, best: Flips | None) -> bool:
    """Tell whether the budget allows to ask about all sets of fewer changes than the best, or all there are."""
    pool, left = _pool(task), task.max_calls - 1 - guide_of(task).asked
    for size in _sizes(pool, best):
        left -= comb(pool.size, size)
        if left < 0:
            return False
    return True


def _pool(task: Task) -> Flips:
    return np.flatnonzero(np.ones_like(task.graph) if task.limits.allowed is None else task.limits.allowed)


def _sizes(pool: Flips, best: Flips | None) -> range:
    return range(1, pool.size + 1 if best is None else best.size)
