"""What a search can change: a network, and the value that each of its pairs takes if it is changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from countergraph.graphs.pairs import Bits, Indices, Label, Values
from countergraph.search.limits import NO_LIMITS, Limits


@dataclass(frozen=True, eq=False)
class Network:
    """A network with one alternative value for each pair. A candidate has the alternatives on some pairs.

    A graph is the special case in which the alternative of an edge is no edge, and the reverse.
    """

    values: Values
    """The values of the original network (pairs,)."""
    alternatives: Values
    """The value of each pair if it is changed (pairs,)."""

    @classmethod
    def of_graph(cls, edges: Bits) -> Network:
        """Return the network of a graph: each change adds or removes an edge."""
        return cls(edges, ~edges)

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


class Problem(NamedTuple):
    """What a search has to solve, once the class of the network is known."""

    network: Network
    limits: Limits = NO_LIMITS
    """The constraints on a counterfactual."""


ProblemOf = Callable[[Label], Problem]
"""Returns the problem of a network, given its class: the alternatives may depend on it."""
