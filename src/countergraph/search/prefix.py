"""Growing steps and bisection along an order: a crossing at d flips is found in some 1.5 log2(d) questions.

Once a prefix changes the class and a shorter one does not, bisection finds a place in between where one flip more makes
the difference: the first such place, where flips of the order never help the graph's own class.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from countergraph.search.conversation import Answer, Attempt, Flips, Part
from countergraph.search.luck import Luck

ABREAST = 2


def stretched(order: Flips) -> Attempt:
    """Ask longer and longer prefixes of an order; bisect where it crosses.

    The lengths are 1, 5, 21, 85, ...: all odd, since a black box may care about even and odd.
    """
    size = 1
    while order.size:
        if (yield order[:size]).flipped:
            return (yield from bisected(order[:size], size // 4))
        if order.size <= size:
            break
        size = 4 * size + 1
    return None


def race(
    orders: Sequence[Flips], luck: Luck, rng: np.random.Generator
) -> Generator[Flips, Answer, tuple[Flips | None, int]]:
    """Let orders race to a crossing: at each length the `ABREAST` that luck favours; bisect the first that crosses.

    Also tell which it was.
    """
    failed, size = {runner: 0 for runner, order in enumerate(orders) if order.size}, 1
    while failed:
        for runner in luck.line_up(list(failed), len(orders), rng)[:ABREAST]:
            prefix = orders[runner][:size]
            crossed = (yield prefix).flipped
            luck.tell(runner, crossed)
            if crossed:
                return (yield from bisected(prefix, failed[runner])), runner
            failed[runner] = prefix.size
        failed = {runner: length for runner, length in failed.items() if length < orders[runner].size}
        size = 4 * size + 1
    return None, -1


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
