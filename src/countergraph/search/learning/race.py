"""Orders of changes that race to a first crossing."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from countergraph.search.learning.bandit import Bandit
from countergraph.search.parts.prefix import bisected, longer
from countergraph.search.protocol import Answer, Ask, Flips, Message

ABREAST = 2


def race(
    orders: Sequence[Flips], luck: Bandit, rng: np.random.Generator
) -> Generator[Message, Answer, tuple[Flips | None, int]]:
    """Let orders race to a crossing: at each length the `ABREAST` that luck favours; bisect the first that crosses.

    Also tell which it was.
    """
    failed, size = {runner: 0 for runner, order in enumerate(orders) if order.size}, 1
    while failed:
        for runner in luck.rank(list(failed), len(orders), rng)[:ABREAST]:
            prefix = orders[runner][:size]
            crossed = (yield Ask(prefix)).flipped
            luck.update(runner, crossed)
            if crossed:
                return (yield from bisected(prefix, failed[runner])), runner
            failed[runner] = prefix.size
        failed = {runner: length for runner, length in failed.items() if length < orders[runner].size}
        size = longer(size)
    return None, -1
