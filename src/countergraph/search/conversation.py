"""The words of a search.

A search is a generator that yields *flips*, the positions of the pairs in which a candidate differs from the original
graph, and receives the black box's `Answer`::

    def search(task, start):
        while ...:
            answer = yield flips

What it returns does not matter: the driver remembers the closest candidate that it saw change the class.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices, Label
from countergraph.search.limits import NO_LIMITS, Limits

Flips = Indices
Found = TypeVar("Found")
NO_FLIPS: Flips = np.empty(0, dtype=np.intp)
REST: Flips = np.empty(0, dtype=np.intp)
"""What a search yields instead of a question when it wants to go on after all others of the run have asked theirs."""


class Answer(NamedTuple):
    """What the black box said of a candidate."""

    asked: Flips
    """As much of the candidate as may be: what was asked about."""
    flipped: bool
    """Whether that is a counterfactual."""
    score: float | None = None
    """The probability of a class that makes it one, where the black box gives probabilities and was asked for them."""
    label: Label | None = None
    """The class that the black box said."""


Search = Generator[Flips, Answer, None]
Part = Generator[Flips, Answer, Flips]
"""A piece of a search that returns the counterfactual it ends with."""
Attempt = Generator[Flips, Answer, Flips | None]
"""A piece of a search that may find none."""


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


class Listener(Protocol):
    """Somebody who learns from the answers to a search, and guides it: see `learning.guide`."""

    def learn(self, answer: Answer) -> None:
        """Take in one answer."""


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
    guide: Listener | None = None
    """What all searches of the run have learned, seen from this graph."""

    def cheaply(self, weights: Floats | None = None) -> Floats | None:
        """Return weights by which to pick what to change: what costs less, rather."""
        if self.limits.costs is None:
            return weights
        return (1.0 if weights is None else weights) / self.limits.costs

    def dearly(self, weights: Floats | None = None) -> Floats | None:
        """Return weights by which to pick what to undo: what costs more, rather."""
        if self.limits.costs is None:
            return weights
        return (1.0 if weights is None else weights) * self.limits.costs

    def leading(self, order: Flips) -> Flips:
        """Return as much of an order as may be, the last changes left out first."""
        return self.limits.fit(self.graph, order)

    def trailing(self, line: Flips) -> Flips:
        """Return as much of a line as may be, the first changes left out first."""
        return self.limits.fit(self.graph, line[::-1])[::-1]

    def by_turns(self, order: Flips) -> Flips:
        """Return an order; where edges are kept, one of additions and removals by turns."""
        if not self.limits.keep_edges:
            return order
        removals, additions = order[self.graph[order]], order[~self.graph[order]]
        n = min(removals.size, additions.size)
        return np.stack([additions[:n], removals[:n]], axis=1).ravel()

    @property
    def additions(self) -> Flips:
        """The pairs that may be added."""
        return self.limits.pool(self.graph, present=False)

    @property
    def removals(self) -> Flips:
        """The pairs that may be removed."""
        return self.limits.pool(self.graph, present=True)


def relayed(
    search: Generator[Flips, Answer, Found],
    learn: Callable[[Answer], None] = lambda answer: None,
    ask: Callable[[Flips], Flips] = lambda flips: flips,
) -> Generator[Flips, Answer, Found]:
    """Let somebody else learn from the answers to a search, too, or put its questions in other words."""
    try:
        flips = next(search)
        while True:
            answer = yield ask(flips)
            if answer.asked.size:
                learn(answer)
            flips = search.send(answer)
    except StopIteration as end:
        found: Found = end.value
        return found


def crosses(label: Label, own: Label, target: Label | None) -> bool:
    """Tell whether a label is one of a counterfactual: the target, or any other than the graph's own."""
    return label != own if target is None else label == target


def wanted_labels(labels: NDArray[np.int64], own: Label, target: Label | None) -> Bits:
    """Tell which of many labels are."""
    return np.asarray(labels != own if target is None else labels == target)


SearchFunction = Callable[[Task, Flips], Generator[Flips, Answer, object]]
"""Start a search from flips that are a counterfactual already (backward) or from none (forward)."""
