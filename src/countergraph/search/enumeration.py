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
    pool = np.flatnonzero(np.ones_like(task.graph) if task.limits.allowed is None else task.limits.allowed)
    pairs = pool.size
    guide, sizes = guide_of(task), range(1, pairs + 1 if best is None else best.size)
    left = task.max_calls - 1 - guide.asked
    for size in sizes:
        left -= comb(pairs, size)
        if left < 0:
            return
    for size in sizes:
        for chosen in combinations(pool.tolist(), size):
            flips = np.array(chosen, dtype=np.intp)
            if not guide.knows(flips) and (yield flips).flipped:
                return
