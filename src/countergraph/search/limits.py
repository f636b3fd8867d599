"""What a counterfactual of one graph may be: the pairs that may change, what they cost, what must stay.

The driver holds every candidate of every search to these. A search may look at them, to ask about less in vain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from countergraph.graphs.pairs import Bits, Floats, Indices, pairs_at, to_adjacency

ROUNDING = 1e-9
"""What is less by no more than this share is no less: the same costs in another order add up to almost the same."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of one graph; by default there are none."""

    allowed: Bits | None = None
    """The pairs that may change; None for all."""
    costs: Floats | None = None
    """What changing each pair costs, above 0; None for 1 each."""
    most: int | None = None
    """The most changes."""
    keep_edges: bool = False
    """As many additions as removals."""
    keep_connected: bool = False
    """Nothing may fall apart that was connected."""

    def pool(self, graph: Bits, present: bool) -> Indices:
        """Return the pairs that may be removed (``present``) or added."""
        chosen = graph if present else ~graph
        return np.flatnonzero(chosen if self.allowed is None else chosen & self.allowed)

    def fit(self, graph: Bits, flips: Indices) -> Indices:
        """Return as much of a candidate as may be, the last changes left out first where some must be."""
        if self.allowed is not None:
            flips = flips[self.allowed[flips]]
        before = -1
        while flips.size != before and (self.keep_connected or self.keep_edges):
            before = flips.size
            if self.keep_connected:
                flips = _together(graph, flips)
            if self.keep_edges:
                flips = _balanced(graph, flips)
        return flips

    def cost(self, flips: Indices) -> float:
        """Return what a candidate costs: where nothing else is asked for, its number of changes."""
        return float(flips.size if self.costs is None else self.costs[flips].sum())

    def room_below(self, best: Indices) -> int:
        """Return how many changes there may be at most, for all to cost less than the best: one less, without costs."""
        if self.costs is None:
            return best.size - 1
        costs = self.costs if self.allowed is None else self.costs[self.allowed]
        fewer = int((np.cumsum(np.sort(costs)) < self.cost(best)).sum())
        return fewer if self.most is None else min(fewer, self.most)

    def within_most(self, flips: Indices) -> bool:
        """Tell whether these are not more changes than there may be."""
        return self.most is None or flips.size <= self.most

    def cheaper(self, flips: Indices, best: Indices) -> Indices:
        """Return as many of some changes, from the first on, as there may be and as cost less than the best."""
        costs = np.ones(flips.size) if self.costs is None else self.costs[flips]
        return flips[np.cumsum(costs) < (1 - ROUNDING) * self.cost(best)][: self.most]

    def rank(self, flips: Indices) -> tuple[bool, float]:
        """Return what makes one counterfactual better than another: the smaller the better."""
        return not self.within_most(flips), self.cost(flips)


NO_LIMITS = Limits()


def _balanced(graph: Bits, flips: Indices) -> Indices:
    """Leave out the last additions, or the last removals, until there are as many of each."""
    present = graph[flips]
    rank = np.where(present, np.cumsum(present), np.cumsum(~present))
    fewer = min(int(present.sum()), int((~present).sum()))
    return flips[rank <= fewer]


def _together(graph: Bits, flips: Indices) -> Indices:
    """Leave out removals of edges without which something would fall apart: Kruskal's way, the last ones first."""
    removals = np.flatnonzero(graph[flips])
    if not removals.size:
        return flips
    changed = graph.copy()
    changed[flips] ^= True
    count, part = connected_components(to_adjacency(changed), directed=False)
    if count == 1:
        return flips
    left = np.ones(flips.size, dtype=np.bool_)
    ends = pairs_at(flips[removals], part.size)
    for place, (i, j) in zip(removals[::-1], reversed(ends), strict=True):
        if part[i] != part[j]:
            part[part == part[j]] = part[i]
            left[place] = False
    return flips[left]
