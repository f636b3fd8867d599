"""Forward search on a random order by growing steps and bisection: what OFS finds, in a few questions."""

from __future__ import annotations

import numpy as np

from countergraph.search.conversation import Attempt, Flips, Task
from countergraph.search.parts.picking import shuffled
from countergraph.search.parts.prefix import stretched

ORDERS = 8


def bisection(task: Task, start: Flips) -> Attempt:
    """Take growing steps along a random order until the class changes, then bisect; up to `ORDERS` orders."""
    for _ in range(ORDERS):
        found = yield from stretched(random_order(task))
        if found is not None:
            return found
    return None


def random_order(task: Task) -> Flips:
    """Return all flips in random order, additions and removals by turns until one side has run dry."""
    additions, removals = (shuffled(pool, task.rng, task.cheaply()) for pool in (task.additions, task.removals))
    n = min(additions.size, removals.size)
    pairs = np.stack([additions[:n], removals[:n]], axis=1)
    mixed = task.rng.permuted(pairs, axis=1).ravel()
    return np.concatenate([mixed, additions[n:], removals[n:]])
