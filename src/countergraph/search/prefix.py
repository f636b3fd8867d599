"""Growing steps and bisection along an order: a crossing at d flips is found in some 1.5 log2(d) questions.

Once a prefix changes the class and a shorter one does not, bisection finds a place in between where one flip more makes
the difference: the first such place, where flips of the order never help the graph's own class.
"""

from __future__ import annotations

from collections.abc import Sequence

from countergraph.search.conversation import Attempt, Flips, Part


def race(orders: Sequence[Flips]) -> Attempt:
    """Ask longer and longer prefixes of all orders by turns; bisect the first that crosses.

    The lengths are 1, 5, 21, 85, ...: all odd, since a black box may care about even and odd.
    """
    runners, size = [order for order in orders if order.size], 1
    while runners:
        for order in runners:
            if (yield order[:size]).flipped:
                return (yield from bisected(order[:size], size // 4))
        runners = [order for order in runners if order.size > size]
        size = 4 * size + 1
    return None


def bisected(order: Flips, low: int = 0) -> Part:
    """Shorten an order that crosses to a prefix that does, while one flip less does not (``low`` flips do not)."""
    high = order.size
    while high - low > 1:
        middle = (low + high) // 2
        if (yield order[:middle]).flipped:
            high = middle
        else:
            low = middle
    return order[:high]


def shortened(order: Flips) -> Part:
    """Shorten an order that crosses, from its end: one flip less, then two, four, ... and back when that fails."""
    step = 1
    while order.size > step:
        if (yield order[:-step]).flipped:
            order, step = order[:-step], 2 * step
        elif step == 1:
            break
        else:
            step //= 2
    return order
