"""A close look at some changes of one graph: what each does, how sure that is, and how likely sets of them cross.

How far each change carries the graph, and how far it is to the boundary, are a Gaussian. Changes at a region have
something in common: what a connection more means to it, one less undoes. So have, a little, all additions and all
removals. An answer about a set of changes says whether their sum is more than the distance; the Gaussian with the mean
and the covariances that follow from it takes the place of the one before (assumed density filtering). All covariances
are kept, as one row for each answer: an answer about hundreds of changes says little of each, and much of their sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from countergraph.graphs.pairs import Bits, Floats, pair_ends, roi_count
from countergraph.search.protocol import Flips

TINY = 1e-9
ROOT_OF_TWO_PI = np.sqrt(2 * np.pi)
AT_A_REGION, OF_A_KIND = 0.3, 0.1
"""How far the changes at a region carry in common, and all of a kind; what each does for itself is 1."""
ANSWERS = 64
"""For how many answers there is room at first."""


class _Forecast(NamedTuple):
    """What is thought of a set of changes, less the distance to the boundary."""

    row: Floats
    """The set: ones for its changes and, in the last place, -1 for the distance."""
    common: Floats
    """What it has in common with other changes, at each region and of each kind."""
    known: Floats
    """What it shares with each answer so far."""
    level: float
    """How far beyond the boundary it leads."""
    deviation: float
    """How uncertain that is."""


class ProbitSurrogate:
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
        sides, n_rois = np.where(graph[flips], -1.0, 1.0), roi_count(graph.size)
        self._groups = np.zeros((3, flips.size + 1), dtype=np.intp)
        self._groups[:, :-1] = [*(ends[flips] for ends in pair_ends(n_rois)), n_rois + graph[flips]]
        """The two regions of each change, and its kind; none of the distance."""
        self._shares = np.zeros((3, flips.size + 1))
        self._shares[:, :-1] = [AT_A_REGION * sides, AT_A_REGION * sides, OF_A_KIND * np.ones(flips.size)]
        self._own = np.append(np.ones(flips.size), float(flips.size) ** 2)
        """The variance of each by itself: of the changes and, in the last place, of the distance to the boundary."""
        self._means = np.zeros(flips.size + 1)
        self._variances = self._own + (self._shares**2).sum(axis=0)
        self._answers = np.zeros((ANSWERS, flips.size + 1))
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
        said = self._forecast(flips)
        alike = (self._shares * said.common[self._groups]).sum(axis=0)
        shared = self._own * said.row + alike - said.known @ self._answers[: self._told]
        sign = 1 if crossed else -1
        z = sign * said.level / said.deviation
        pull = np.exp(-z * z / 2 - log_ndtr(z)) / ROOT_OF_TWO_PI
        self._means += sign * pull / said.deviation * shared
        self._remember(np.sqrt(pull * (pull + z)) / said.deviation * shared)

    def _forecast(self, flips: Flips) -> _Forecast:
        row = np.zeros(self._means.size)
        row[self._place[flips]], row[-1] = 1, -1
        common, known = self._in_common(row), self._answers[: self._told] @ row
        variance = self._own @ row**2 + common @ common - known @ known
        return _Forecast(row, common, known, float(row @ self._means), max(float(variance), TINY) ** 0.5)

    def _in_common(self, row: Floats) -> Floats:
        return np.asarray(np.bincount(self._groups.ravel(), (self._shares * row).ravel()), dtype=np.float64)

    def _remember(self, covariances: Floats) -> None:
        if self._told == len(self._answers):
            self._answers = np.concatenate([self._answers, np.zeros_like(self._answers)])
        self._answers[self._told] = covariances
        self._variances -= covariances**2
        self._told += 1

    def chance(self, flips: Flips) -> float:
        """Return how likely some of the changes are to cross."""
        said = self._forecast(flips)
        return float(ndtr(said.level / said.deviation))

    def levels(self, order: Flips) -> Floats:
        """Return how far beyond the boundary each beginning of an order leads; above 0, it is likely to cross."""
        return np.asarray(np.cumsum(self._means[self._place[order]]) - self._means[-1])

    def forget_but(self, kept: Flips) -> None:
        """Go on with some of the changes; what is known of these stays the same."""
        rows = np.append(self._place[kept], -1)
        self.flips = kept
        self._place[kept] = np.arange(kept.size)
        self._means, self._variances, self._own = self._means[rows], self._variances[rows], self._own[rows]
        self._groups, self._shares, self._answers = self._groups[:, rows], self._shares[:, rows], self._answers[:, rows]
