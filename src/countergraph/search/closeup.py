"""A close look at some changes of one graph: what each does, how sure that is, and how likely sets of them cross.

How far each change carries the graph, and how far it is to the boundary, are a Gaussian. Changes of a kind, additions
or removals, have a mean in common. An answer about a set of changes says whether their sum is more than the distance;
the Gaussian with the mean and the covariances that follow from it takes the place of the one before (assumed density
filtering). All covariances are kept, as one column for each answer: an answer about hundreds of changes says little of
each, and much of their sum.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr

from countergraph.graphs.pairs import Bits, Floats
from countergraph.search.conversation import Flips

TINY = 1e-9
ROOT_OF_TWO_PI = np.sqrt(2 * np.pi)
COLUMNS = 64
"""For how many answers there is room at first."""


class CloseUp:
    """What is known of some changes, which cross together.

    Parameters
    ----------
    flips
        The changes.
    graph
        The graph that they change.
    """

    def __init__(self, flips: Flips, graph: Bits) -> None:
        self.flips = flips
        self._place = np.empty(graph.size, dtype=np.intp)
        self._place[flips] = np.arange(flips.size)
        present = graph[flips]
        self._kinds = np.zeros((flips.size + 1, 2))
        self._kinds[:-1] = np.stack([present, ~present], axis=1)
        self._reach = float(flips.size) ** 2
        self._means = np.zeros(flips.size + 1)
        """Of the changes, and of the distance to the boundary in the last place; so with the variances."""
        self._variances = np.append(np.full(flips.size, 2.0), self._reach)
        self._columns = np.zeros((flips.size + 1, COLUMNS))
        self._told = 0
        self.learn(flips, True)
        self.learn(flips[:0], False)

    @property
    def means(self) -> Floats:
        """How far each change is thought to carry the graph."""
        return self._means[:-1]

    @property
    def doubts(self) -> Floats:
        """How uncertain each of these is, a standard deviation."""
        return np.asarray(np.sqrt(np.maximum(self._variances[:-1], 0)))

    def learn(self, flips: Flips, crossed: bool) -> None:
        """Take in whether some of the changes cross."""
        level, deviation, shared = self._forecast(flips)
        sign = 1 if crossed else -1
        z = sign * level / deviation
        pull = np.exp(-z * z / 2 - log_ndtr(z)) / ROOT_OF_TWO_PI
        self._means += sign * pull / deviation * shared
        self._remember(np.sqrt(pull * (pull + z)) / deviation * shared)

    def _forecast(self, flips: Flips) -> tuple[float, float, Floats]:
        """Return how far beyond the boundary some changes lead, how uncertain that is, and its covariances with all."""
        chosen, known = self._place[flips], self._columns[:, : self._told]
        shared = self._kinds @ self._kinds[chosen].sum(axis=0) - known @ (known[chosen].sum(axis=0) - known[-1])
        shared[chosen] += 1
        shared[-1] -= self._reach
        variance = float(shared[chosen].sum() - shared[-1])
        return float(self._means[chosen].sum() - self._means[-1]), max(variance, TINY) ** 0.5, shared

    def _remember(self, column: Floats) -> None:
        if self._told == self._columns.shape[1]:
            self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)], axis=1)
        self._columns[:, self._told] = column
        self._variances -= column**2
        self._told += 1

    def chance(self, flips: Flips) -> float:
        """Return how likely some of the changes are to cross."""
        level, deviation, _ = self._forecast(flips)
        return float(ndtr(level / deviation))

    def chances(self, order: Flips) -> Floats:
        """Return how likely each beginning of an order is to cross."""
        chosen, known = self._place[order], self._columns[:, : self._told]
        levels = np.cumsum(self._means[chosen]) - self._means[-1]
        kinds, sums = np.cumsum(self._kinds[chosen], axis=0), np.cumsum(known[chosen], axis=0) - known[-1]
        variances = np.arange(1, order.size + 1) + _squares(kinds) + self._reach - _squares(sums)
        return np.asarray(ndtr(levels / np.sqrt(np.maximum(variances, TINY))))

    def forget_but(self, kept: Flips) -> None:
        """Go on with some of the changes; what is known of these stays the same."""
        rows = np.append(self._place[kept], -1)
        self.flips = kept
        self._place[kept] = np.arange(kept.size)
        self._means, self._variances = self._means[rows], self._variances[rows]
        self._kinds, self._columns = self._kinds[rows], self._columns[rows]


def _squares(rows: Floats) -> Floats:
    """Return the sum of squares of each row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
