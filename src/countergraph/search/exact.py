"""The exact optimum of a classifier whose score is linear in the values, as a search: usually one call."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.optimum import linear_order
from countergraph.search.parts.prefix import grow_and_bisect
from countergraph.search.protocol import Ask, Flips, Search, Task

MAX_EXTRA = 3
"""Rounding errors of the classifier can make this many more changes necessary."""


class ExactSearch:
    """Change the pairs with the largest effects on the score.

    Parameters
    ----------
    coefficients, intercept
        The score of a network is ``values @ coefficients + intercept``.
    """

    __name__ = "exact"

    def __init__(self, coefficients: Floats, intercept: float) -> None:
        self.coefficients, self.intercept = coefficients, intercept

    def __call__(self, task: Task, start: Flips) -> Search:
        """Classify the optimum; if the classifier disagrees, prefixes of the same order, and of the opposite one.

        The opposite order is needed if rounding errors decide the class of the original network.
        """
        order, size, may_be_smaller = linear_order(task.network, self.coefficients, self.intercept)
        if size is not None:
            for extra in range(-int(may_be_smaller), MAX_EXTRA + 1):
                if (yield Ask(np.sort(order[: size + extra]))).flipped:
                    return
        if (yield from grow_and_bisect(order)) is None:
            opposite = linear_order(task.network, -self.coefficients, -self.intercept).order
            if not np.array_equal(opposite, order):
                yield from grow_and_bisect(opposite)
