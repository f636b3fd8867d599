"""Forward search along random orders by growing steps and bisection: a result like that of OFS with few calls."""

from __future__ import annotations

from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import grow_and_bisect
from countergraph.search.protocol import Attempt, Flips, Task

MAX_ORDERS = 8
"""The number of random orders to try; as many as the walks of OFS."""


def bisection(task: Task, start: Flips) -> Attempt:
    """Take growing steps along a random order until the class changes, then bisect; try up to `MAX_ORDERS` orders."""
    for _ in range(MAX_ORDERS):
        found = yield from grow_and_bisect(random_order(task))
        if found is not None:
            return found
    return None
