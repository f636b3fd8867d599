"""Growing steps and bisection along an order: a crossing at d flips is found in some 1.5 log2(d) questions.

Once a prefix changes the class and a shorter one does not, bisection finds a place in between where one flip more makes
the difference: the first such place, where flips of the order never help the graph's own class.
"""

from __future__ import annotations

from countergraph.search.protocol import Ask, Attempt, Flips, Part


def stretched(order: Flips) -> Attempt:
    """Ask longer and longer prefixes of an order; bisect where it crosses."""
    size = 1
    while order.size:
        if (yield Ask(order[:size])).flipped:
            return (yield from bisected(order[:size], size // 4))
        if order.size <= size:
            break
        size = longer(size)
    return None


def longer(size: int) -> int:
    """Return the next length: 1, 5, 21, 85, ...; all odd, since a black box may care about even and odd."""
    return 4 * size + 1


def bisected(order: Flips, low: int = 0) -> Part:
    """Shorten an order that crosses to a prefix that does, while one flip less does not (``low`` flips do not)."""
    high = order.size
    while high - low > 1:
        middle = (low + high) // 2
        if (yield Ask(order[:middle])).flipped:
            high = middle
        else:
            low = middle
    return order[:high]


def shortened(order: Flips) -> Part:
    """Shorten an order that crosses, from its end: one flip less, then two, four, ... and back when that fails."""
    step = 1
    while order.size > step:
        if (yield Ask(order[:-step])).flipped:
            order, step = order[:-step], 2 * step
        elif step == 1:
            break
        else:
            step //= 2
    return order
