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
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices
from countergraph.oracle.answers import Label
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.luck import Luck
from countergraph.search.views import View

Flips = Indices
Found = TypeVar("Found")
NO_FLIPS: Flips = np.empty(0, dtype=np.intp)
REST: Flips = np.empty(0, dtype=np.intp)
"""What a search yields instead of a question when it wants to go on after all others of the run have asked theirs."""


class Answer(NamedTuple):
    """What the black box said of a candidate."""

    label: Label
    flipped: bool
    """Whether this class makes the candidate a counterfactual."""
    score: float | None = None
    """The probability of a class that makes it one, where the black box gives probabilities and was asked for them."""


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


class Guide(Protocol):
    """What a search can know from answers, its own and those of the other searches of the run."""

    asked: int
    """How many answers the search itself had."""
    starts: Luck
    """Which way of starting pays, in this run."""
    luck: Luck
    """Which way of proposing does."""

    @property
    def share(self) -> float:
        """The part of a run's fruitless questions that is left to this search: all, once any has found something."""

    @property
    def lonely(self) -> bool:
        """Whether there is hardly any other graph to learn from."""

    def aim(self, limits: Limits) -> None:
        """Mind other limits from now on."""

    def alone(self) -> Guide:
        """Return a guide that knows nothing yet, and will know the answers to this search only."""

    def learn(self, flips: Flips, answer: Answer) -> None:
        """Take in one answer."""

    def knows(self, flips: Flips) -> bool:
        """Tell whether the search has asked this before."""

    def hopeless(self, flips: Flips) -> bool:
        """Tell whether asking is in vain: asked before, or ruled out by the scores."""

    def gains(self) -> Floats:
        """Return how far each flip is thought to carry the graph towards another class, for what it costs.

        What may not change gains nothing.
        """

    def doubts(self) -> Floats:
        """Return how uncertain each gain is, a standard deviation."""

    def neighbours(self) -> Floats:
        """Return how much more often each flip leads towards the nearest graphs of another class than of its own."""

    @property
    def components(self) -> View:
        """The view of the leading directions in which the known graphs differ."""

    def walk(self, view: View, size: int, doubts: Floats | float = 0.0) -> Flips:
        """Return flips that lead towards the nearest graphs of another class in a view; ``doubts`` take from gains."""


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
    guide: Guide | None = None
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
        """Return an order of which every beginning may be: where edges are kept, additions and removals by turns."""
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
    learn: Callable[[Flips, Answer], None] = lambda flips, answer: None,
    ask: Callable[[Flips], Flips] = lambda flips: flips,
) -> Generator[Flips, Answer, Found]:
    """Let somebody else learn from the answers to a search, too, or put its questions in other words."""
    try:
        flips = next(search)
        while True:
            answer = yield ask(flips)
            learn(flips, answer)
            flips = search.send(answer)
    except StopIteration as end:
        found: Found = end.value
        return found


SearchFunction = Callable[[Task, Flips], Generator[Flips, Answer, object]]
"""Start a search from flips that are a counterfactual already (backward) or from none (forward)."""
