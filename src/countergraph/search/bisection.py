"""Forward search on a random order by growing steps and bisection: what OFS finds, in a few questions."""

from __future__ import annotations

from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import stretched
from countergraph.search.protocol import Attempt, Flips, Task

ORDERS = 8


def bisection(task: Task, start: Flips) -> Attempt:
    """Take growing steps along a random order until the class changes, then bisect; up to `ORDERS` orders."""
    for _ in range(ORDERS):
        found = yield from stretched(random_order(task))
        if found is not None:
            return found
    return None
