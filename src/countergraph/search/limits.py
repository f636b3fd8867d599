"""The constraints on the counterfactuals of one graph, in the form that the driver and the searches use.

The driver applies them to every candidate. A search may read them, to avoid candidates that break them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Indices, pairs_at, to_adjacency

COST_TOLERANCE = 1e-9
"""Relative tolerance of comparisons between costs: the same costs summed in another order differ by rounding."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The constraints for one graph; by default there are none."""

    allowed: Bits | None = None
    """The pairs that may change; None for all."""
    costs: Floats | None = None
    """The cost of changing each pair, above 0; None for 1 each."""
    most: int | None = None
    """The maximum number of changes."""
    keep_edges: bool = False
    """Whether the number of edges stays the same: as many additions as removals."""
    keep_connected: bool = False
    """Whether ROIs that are connected by a path must stay connected."""

    def pool(self, graph: Bits, present: bool) -> Indices:
        """Return the pairs that may be removed (``present``) or added."""
        chosen = graph if present else ~graph
        return np.flatnonzero(chosen if self.allowed is None else chosen & self.allowed)

    def fit(self, graph: Bits, flips: Indices) -> Indices:
        """Return the candidate after the constraints are applied; they drop changes from the end.

        The maximum number of changes is not applied here: a search may pass through larger candidates.
        """
        if self.allowed is not None:
            flips = flips[self.allowed[flips]]
        before = -1
        while flips.size != before and (self.keep_connected or self.keep_edges):
            before = flips.size
            if self.keep_connected:
                flips = _keep_connected(graph, flips)
            if self.keep_edges:
                flips = _keep_edge_count(graph, flips)
        return flips

    def cost(self, flips: Indices) -> float:
        """Return the total cost of a candidate; without costs, its number of changes."""
        return float(flips.size if self.costs is None else self.costs[flips].sum())

    def max_changes_below(self, best: Indices) -> int:
        """Return the largest number of changes that can cost less than ``best``; without costs, one less than it has.

        With costs this is an upper bound, reached by the cheapest pairs.
        """
        if self.costs is None:
            return best.size - 1
        costs = self.costs if self.allowed is None else self.costs[self.allowed]
        n_changes = int((np.cumsum(np.sort(costs)) < self.cost(best)).sum())
        return n_changes if self.most is None else min(n_changes, self.most)

    def within_most(self, flips: Indices) -> bool:
        """Check whether a candidate has at most the maximum number of changes."""
        return self.most is None or flips.size <= self.most

    def prefix_below(self, flips: Indices, best: Indices) -> Indices:
        """Return the longest prefix of ``flips`` that costs less than ``best`` and has at most ``most`` changes."""
        costs = np.ones(flips.size) if self.costs is None else self.costs[flips]
        return flips[np.cumsum(costs) < (1 - COST_TOLERANCE) * self.cost(best)][: self.most]

    def rank(self, flips: Indices) -> tuple[bool, float]:
        """Return the sort key of counterfactuals: the best one has the smallest key."""
        return not self.within_most(flips), self.cost(flips)


NO_LIMITS = Limits()


def _keep_edge_count(graph: Bits, flips: Indices) -> Indices:
    """Drop the last additions, or the last removals, until there are as many of each."""
    present = graph[flips]
    rank = np.where(present, np.cumsum(present), np.cumsum(~present))
    n_each = min(int(present.sum()), int((~present).sum()))
    return flips[rank <= n_each]


def _keep_connected(graph: Bits, flips: Indices) -> Indices:
    """Drop removals that disconnect ROIs, the last ones first, as in Kruskal's spanning tree algorithm."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    removals = np.flatnonzero(graph[flips])
    if not removals.size:
        return flips
    changed = graph.copy()
    changed[flips] ^= True
    n_components, component = connected_components(to_adjacency(changed), directed=False)
    if n_components == 1:
        return flips
    kept = np.ones(flips.size, dtype=np.bool_)
    ends = pairs_at(flips[removals], component.size)
    for position, (i, j) in zip(removals[::-1], reversed(ends), strict=True):
        if component[i] != component[j]:
            component[component == component[j]] = component[i]
            kept[position] = False
    return flips[kept]
