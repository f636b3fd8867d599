"""The first counterfactual: several orders of flips are tried in parallel until a prefix of one changes the class."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from countergraph.search.learning.bandit import Bandit
from countergraph.search.parts.prefix import bisect, next_size
from countergraph.search.protocol import Answer, Ask, Flips, Message

ORDERS_PER_SIZE = 2
"""The number of orders that are tried at each prefix size."""


def first_success(
    orders: Sequence[Flips], bandit: Bandit, rng: np.random.Generator
) -> Generator[Message, Answer, tuple[Flips | None, int]]:
    """Classify growing prefixes of the orders that the bandit prefers; bisect the first counterfactual.

    Return the counterfactual and the number of its order, or None and -1 if no order leads to one.
    """
    failed_sizes, size = {number: 0 for number, order in enumerate(orders) if order.size}, 1
    while failed_sizes:
        for number in bandit.rank(list(failed_sizes), len(orders), rng)[:ORDERS_PER_SIZE]:
            prefix = orders[number][:size]
            flipped = (yield Ask(prefix)).flipped
            bandit.update(number, flipped)
            if flipped:
                return (yield from bisect(prefix, failed_sizes[number])), number
            failed_sizes[number] = prefix.size
        failed_sizes = {number: failed for number, failed in failed_sizes.items() if failed < orders[number].size}
        size = next_size(size)
    return None, -1
