"""What a search can change: a network, and the value that each of its pairs takes if it is changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Indices, Label, Values, pair_ends, roi_count
from countergraph.search.limits import NO_LIMITS, Limits

SMALLEST_CHANGE = 1e-6
"""A pair whose alternative differs by a smaller share cannot change."""


class Layout(NamedTuple):
    """The two ends of each position of a search: the ROIs of a pair."""

    first: Indices
    second: Indices

    @classmethod
    def of_pairs(cls, n_pairs: int) -> Layout:
        """Return the layout of a search over pairs."""
        return cls(*pair_ends(roi_count(n_pairs)))

    @property
    def size(self) -> int:
        """The number of positions."""
        return int(self.first.size)

    @property
    def n_ends(self) -> int:
        """The number of ROIs."""
        return 1 + int(max(self.first.max(initial=-1), self.second.max(initial=-1)))

    def sum_at_ends(self, values: Values) -> Floats:
        """Return the sum of the values of all positions at each ROI."""
        n = self.n_ends
        return np.asarray(np.bincount(self.first, values, n) + np.bincount(self.second, values, n))


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one alternative value for each pair. A candidate has the alternatives on some pairs.

    A graph is the special case in which the alternative of an edge is no edge, and the reverse.
    """

    values: Values
    """The values of the original network (pairs,)."""
    alternatives: Values
    """The value of each pair if it is changed (pairs,)."""
    own_layout: Layout | None = None
    """The ends of the positions, if they are not pairs of ROIs."""

    @classmethod
    def of_graph(cls, edges: Bits) -> Network:
        """Return the network of a graph: each change adds or removes an edge."""
        return cls(edges, ~edges)

    @cached_property
    def layout(self) -> Layout:
        """The two ends of each position."""
        return Layout.of_pairs(self.values.size) if self.own_layout is None else self.own_layout

    @property
    def weighted(self) -> bool:
        """Whether the network has other values than 0 and 1."""
        return self.values.dtype != np.bool_

    @cached_property
    def decreases(self) -> Bits:
        """Which pairs become weaker if they are changed; for a graph, its edges."""
        return np.asarray(self.alternatives < self.values if self.weighted else self.values, dtype=np.bool_)

    @cached_property
    def differences(self) -> Values:
        """The change of the value of each pair; for a graph 1 or -1."""
        if self.weighted:
            return np.subtract(self.alternatives, self.values, dtype=np.float32)
        return np.where(self.values, -1, 1).astype(np.int8)

    @cached_property
    def can_change(self) -> Bits:
        """Which pairs have an alternative other than their value."""
        sizes = np.maximum(np.abs(self.values), np.abs(self.alternatives)) if self.weighted else 1
        return np.asarray(np.abs(self.differences) > SMALLEST_CHANGE * sizes)

    def towards(self, others: Values) -> Bits:
        """Return the pairs in which other networks (..., pairs) are nearer to the alternatives than to the values."""
        if not self.weighted:
            return np.asarray(others != self.values)
        return np.asarray(np.abs(others - self.alternatives) < np.abs(others - self.values))

    def after(self, flips: Indices) -> Values:
        """Return the values after some pairs are changed."""
        changed = self.values.copy()
        changed[flips] = self.alternatives[flips]
        return changed


class Change(NamedTuple):
    """A candidate as the driver needs it: the network with other values of some pairs."""

    pairs: Indices
    values: Values


class Problem(NamedTuple):
    """What a search has to solve, once the class of the network is known."""

    network: Network
    """What the search can change; the positions are pairs or larger units."""
    limits: Limits = NO_LIMITS
    """The constraints on a counterfactual."""
    pair_network: Network | None = None
    """The network of the pairs, if the positions are larger units."""
    members: tuple[Indices, ...] = ()
    """The pairs that each unit changes."""

    def pairs_of(self, flips: Indices) -> Indices:
        """Return the pairs that a candidate changes."""
        if self.pair_network is None or not flips.size:
            return flips
        return np.unique(np.concatenate([self.members[unit] for unit in flips.tolist()]))

    def change(self, flips: Indices) -> Change:
        """Return what a candidate changes."""
        pairs, network = self.pairs_of(flips), self.network if self.pair_network is None else self.pair_network
        return Change(pairs, network.alternatives[pairs])

    @property
    def changeable(self) -> Indices:
        """The positions that may change."""
        allowed = self.limits.allowed
        return np.arange(self.network.values.size) if allowed is None else np.flatnonzero(allowed)


ProblemOf = Callable[[Label], Problem]
"""Returns the problem of a network, given its class: the alternatives may depend on it."""
