"""Units: what a search changes as one step, and what the distance counts.

By default a unit is one pair. A larger unit is a group of pairs with a direction: all pairs of an ROI, or between two
networks, that become stronger, or weaker, if they are changed. A candidate changes the union of its units.

The searches do not know units. They see a small weighted network with one position for each unit: its value is the mean
of the group, and its alternative is the mean of the group after the change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from countergraph.graphs.pairs import Floats, Indices, Values
from countergraph.search.limits import Limits
from countergraph.search.network import Layout, Network, Problem


@dataclass(frozen=True, eq=False)
class Units:
    """Groups of pairs. Position g of a search strengthens group g, position ``n_groups + g`` weakens it."""

    groups: tuple[Indices, ...]
    """The pairs of each group, increasing."""
    words: tuple[str, ...]
    """The groups in texts: "all connections of Insula_L"."""
    ends: tuple[Indices, Indices]
    """The two ROIs or networks of each group; twice the same for the pairs of one."""
    n_pairs: int

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.groups)

    @cached_property
    def layout(self) -> Layout:
        """The ends of each position."""
        first, second = (np.tile(end, 2) for end in self.ends)
        return Layout(first, second)

    @cached_property
    def _averages(self) -> csr_array:
        """The matrix (groups, pairs) that computes means."""
        sizes = np.array([group.size for group in self.groups])
        weights = np.repeat(1 / sizes, sizes)
        pointers = np.concatenate([[0], np.cumsum(sizes)])
        return csr_array((weights, np.concatenate(self.groups), pointers), (self.n_groups, self.n_pairs))

    def means(self, values: Values) -> Values:
        """Return the values of all positions (networks, positions): the mean of each group, twice."""
        means: Floats = (self._averages @ values.T.astype(np.float64)).T
        return np.tile(means, 2).astype(np.float32)

    def members(self, network: Network, limits: Limits) -> tuple[Indices, ...]:
        """Return the pairs that each position changes: those of its group and direction that may change."""
        allowed = np.ones(self.n_pairs, dtype=np.bool_) if limits.allowed is None else limits.allowed
        increases = allowed & ~network.decreases
        decreases = allowed & network.decreases
        return tuple(group[chosen[group]] for chosen in (increases, decreases) for group in self.groups)

    def problem(self, network: Network, limits: Limits) -> Problem:
        """Return what a search over these units has to solve."""
        members = self.members(network, limits)
        [values] = self.means(network.values[None])
        changes = np.array([network.differences[pairs].sum(dtype=np.float64) for pairs in members])
        sizes = np.tile([group.size for group in self.groups], 2)
        unit_network = Network(values, (values + changes / sizes).astype(np.float32), self.layout)
        costs = None if limits.costs is None else np.array([limits.costs[pairs].sum() for pairs in members])
        allowed = np.array([pairs.size > 0 for pairs in members])
        if costs is not None:
            costs[~allowed] = 1.0
        unit_limits = replace(limits, allowed=allowed, costs=costs)
        return Problem(unit_network, unit_limits, network, members)
