"""Random sets of changes, for a graph of which nothing but chance can say anything."""

from __future__ import annotations

import numpy as np

from countergraph.search.learning.degree_bias import contrasted, levelled
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import bisected
from countergraph.search.protocol import Ask, Attempt

WIDER = 1.3
"""How much larger than the one before each set is that chance alone suggests."""
SMALL = 16
"""Sets of up to so many changes are sought at the regions with few connections, and with many."""
TRIES = 1000
"""How many random sets to ask about where nothing else crossed."""


def glimpses(task: GuidedTask) -> Attempt:
    """Ask about random sets, each a little larger than the one before; small ones where they are noticed most.

    Small steps, and a new set each time: a black box that changes its mind easily has then many occasions to do so
    close to the graph, and one that does not costs some ten questions more.
    """
    size = 1.0
    while True:
        for order in (contrasted, levelled) if size <= SMALL else (random_order,):
            flips = order(task)
            if flips.size and (yield Ask(flips[: int(size)])).flipped:
                return flips[: int(size)]
        if flips.size <= size:
            return None
        size = max(WIDER * size, size + 1)


def anywhere(task: GuidedTask) -> Attempt:
    """Ask about random sets of any numbers of additions and removals. A run that never crossed gives up sooner."""
    for _ in range(int(TRIES * task.guide.share)):
        parts = [pool[task.rng.random(pool.size) < task.rng.random()] for pool in (task.additions, task.removals)]
        candidate = task.rng.permutation(np.concatenate(parts))
        if candidate.size and (yield Ask(candidate)).flipped:
            return (yield from bisected(candidate))
    return None
