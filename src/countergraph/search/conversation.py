"""The words of a search.

A search is a generator that yields *flips*, the positions of the pairs in which a candidate differs from the original
graph, and receives the black box's `Answer`::

    def search(task, start):
        while ...:
            answer = yield flips

It returns nothing: the driver remembers the closest candidate that it saw change the class.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Indices
from countergraph.oracle.answers import Label
from countergraph.search.limits import NO_LIMITS, Limits

Flips = Indices
NO_FLIPS: Flips = np.empty(0, dtype=np.intp)


class Answer(NamedTuple):
    """What the black box said of a candidate."""

    label: Label
    flipped: bool
    """Whether this class makes the candidate a counterfactual."""


Search = Generator[Flips, Answer, None]


@dataclass(frozen=True, eq=False)
class Reference:
    """Labelled graphs that a data-driven search may look at; it asks for nothing but these arrays."""

    edges: Bits
    labels: NDArray[np.int64]

    @cached_property
    def counts(self) -> dict[int, NDArray[np.int64]]:
        """For each label, how many of its graphs have each edge."""
        return {
            int(label): self.edges[self.labels == label].sum(axis=0, dtype=np.int64) for label in np.unique(self.labels)
        }


@dataclass(frozen=True, eq=False)
class Task:
    """What a search is told."""

    graph: Bits
    """The original graph, an edge vector."""
    label: Label
    """Its class."""
    k: int
    """Pairs changed in one step."""
    max_calls: int
    """The most questions of one phase; the driver enforces it, a search may plan with it."""
    rng: np.random.Generator
    """The only source of chance."""
    target: Label | None = None
    """The class to reach; None for any other."""
    reference: Reference | None = None
    limits: Limits = NO_LIMITS
    """What a counterfactual may be."""
    moves: Sequence[Flips] = ()
    """Changes of a whole kind, the smallest first, for a search that speaks in those."""

    @property
    def additions(self) -> Flips:
        """The pairs that may be added."""
        return self.limits.pool(self.graph, present=False)

    @property
    def removals(self) -> Flips:
        """The pairs that may be removed."""
        return self.limits.pool(self.graph, present=True)


SearchFunction = Callable[[Task, Flips], Search]
"""Start a search from flips that are a counterfactual already (backward) or from none (forward)."""
