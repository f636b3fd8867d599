"""The protocol between a search and the driver.

A search is a generator. It yields messages and receives answers; it never sees the classifier::

    def search(task, start):
        answer = yield Ask(flips)

`Ask` requests the class of a candidate, given by its *flips*: the positions of the pairs in which the candidate differs
from the original graph. `Wait` suspends the search until all other searches of the run are finished or waiting. The
return value of a search is ignored: the driver records the best candidate that changes the class.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices, Label, Values
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.network import Network

if TYPE_CHECKING:
    from countergraph.search.options import SearchOptions

Flips = Indices
Value = TypeVar("Value")
NO_FLIPS: Flips = np.empty(0, dtype=np.intp)


class Ask(NamedTuple):
    """Request the class of a candidate."""

    flips: Flips
    """The positions of the pairs in which the candidate differs from the original graph."""


@dataclass(frozen=True)
class Wait:
    """Suspend this search until all other searches of the run are finished or waiting."""


Message = Ask | Wait


class Answer(NamedTuple):
    """The answer of the black box to an `Ask`. The answer to a `Wait` is `NO_ANSWER`."""

    asked: Flips
    """The candidate after the constraints were applied; empty if they left nothing, which is not a call."""
    flipped: bool
    """Whether the candidate is a counterfactual."""
    score: float | None = None
    """The probability of the classes that make it a counterfactual; None unless the search uses scores."""
    label: Label | None = None
    """The class of the candidate."""


NO_ANSWER = Answer(NO_FLIPS, False)
Search = Generator[Message, Answer, None]
Part = Generator[Message, Answer, Flips]
"""A step of a search that returns a counterfactual."""
Attempt = Generator[Message, Answer, Flips | None]
"""A step of a search that returns a counterfactual, or None if it finds none."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The labelled networks that a data-driven search may use."""

    values: Values
    """The values of the positions of a search: of the pairs, or of larger units."""
    labels: NDArray[np.int64]
    pair_values: Values | None = None
    """The values of the pairs, if the positions are larger units."""

    @property
    def networks(self) -> Values:
        """The networks as the black box receives them."""
        return self.values if self.pair_values is None else self.pair_values

    @property
    def edges(self) -> Bits:
        """The labelled graphs as edge vectors; only for graphs, see `relative_to`."""
        assert self.values.dtype == np.bool_
        return np.asarray(self.values, dtype=np.bool_)

    def relative_to(self, network: Network) -> Reference:
        """Return the labelled networks in terms of the changes of a network, as edge vectors.

        A labelled network differs from the network in the pairs whose values are nearer to the alternative than to the
        original value. Graphs stay the same.
        """
        if not network.weighted:
            return self
        return Reference(network.towards(self.values) ^ network.decreases, self.labels)

    @cached_property
    def counts(self) -> dict[int, NDArray[np.int64]]:
        """For each label, the number of its graphs that have each edge."""
        return {
            int(label): self.edges[self.labels == label].sum(axis=0, dtype=np.int64) for label in np.unique(self.labels)
        }


@dataclass(frozen=True, eq=False)
class Task:
    """The input of a search."""

    network: Network
    """The original network, and the alternative value of each pair."""
    label: Label
    """Its class."""
    options: SearchOptions
    """The options of the run."""
    rng: np.random.Generator
    """The only source of randomness."""
    reference: Reference | None = None
    """Labelled graphs, if there are any."""
    limits: Limits = NO_LIMITS
    """The constraints on a counterfactual."""

    @property
    def graph(self) -> Bits:
        """Which pairs become weaker if they are changed; for a graph, its edges.

        A search works with this vector and with sets of pairs, so it does not depend on the values.
        """
        return self.network.decreases

    @property
    def k(self) -> int:
        """The number of pairs changed in one step."""
        return self.options.k

    @property
    def max_calls(self) -> int:
        """The maximum number of calls of one phase. The driver enforces it; a search may plan with it."""
        return self.options.max_calls

    @property
    def target(self) -> Label | None:
        """The class to reach; None for any other class."""
        return self.options.target

    def observe(self, answer: Answer) -> None:
        """Process an answer to any phase of this search; does nothing unless the phase has shared state."""

    def addition_weights(self, weights: Floats | None = None) -> Floats | None:
        """Return the sampling weights for changing a pair, inversely proportional to its cost."""
        if self.limits.costs is None:
            return weights
        return (1.0 if weights is None else weights) / self.limits.costs

    def removal_weights(self, weights: Floats | None = None) -> Floats | None:
        """Return the sampling weights for undoing a change, proportional to its cost."""
        if self.limits.costs is None:
            return weights
        return (1.0 if weights is None else weights) * self.limits.costs

    def apply_limits(self, flips: Flips) -> Flips:
        """Return the candidate after the constraints are applied; they drop changes from the end."""
        return self.limits.fit(self.graph, flips)

    def apply_limits_reversed(self, flips: Flips) -> Flips:
        """Return the candidate after the constraints are applied; they drop changes from the beginning."""
        return self.limits.fit(self.graph, flips[::-1])[::-1]

    def alternate(self, order: Flips) -> Flips:
        """Return the order; under ``keep_edges``, additions and removals in alternation."""
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


class SharedState(Protocol):
    """State that the searches of one run share, for phases that learn from the answers of all graphs.

    The driver creates it once per run by calling ``Phase.shared(layout, reference)``.
    """

    def questions(self, searched: Sequence[Values], limit: int) -> Indices:
        """Return which labelled networks are classified before the searches start, at most ``limit``: shared calls.

        ``searched`` are the networks of the run, which are classified anyway.
        """

    def learn_classes(self, rows: Indices, labels: Sequence[Label]) -> None:
        """Process the classes of these labelled networks."""

    def join(self, task: Task, score: float | None) -> Task:
        """Return the task of one search, extended by its view of the shared state.

        ``score`` is the probability of the classes to reach for the original graph, if scores are used. The driver
        calls ``observe`` of the returned task with every answer to this search.
        """


SearchFunction = Callable[[Any, Flips], Generator[Message, Answer, object]]
"""A search: a function of the task and the start, the flips of a known counterfactual or none.

The task is a `Task`, or the type that `SharedState.join` returns for a phase with shared state.
"""


def observed(
    search: Generator[Message, Answer, Value], callback: Callable[[Answer], None]
) -> Generator[Message, Answer, Value]:
    """Run a search and call ``callback`` with each answer."""
    return _relay(search, lambda message: message, callback)


def translated(
    search: Generator[Message, Answer, Value], to_flips: Callable[[Flips], Flips]
) -> Generator[Message, Answer, Value]:
    """Run a search over other indices than pairs; ``to_flips`` converts its candidates to flips."""
    return _relay(search, lambda message: Ask(to_flips(message.flips)) if isinstance(message, Ask) else message)


def _relay(
    search: Generator[Message, Answer, Value],
    convert: Callable[[Message], Message],
    callback: Callable[[Answer], None] = lambda answer: None,
) -> Generator[Message, Answer, Value]:
    try:
        message = next(search)
        while True:
            answer = yield convert(message)
            if answer.asked.size:
                callback(answer)
            message = search.send(answer)
    except StopIteration as end:
        value: Value = end.value
        return value


def is_counterfactual_class(label: Label, own: Label, target: Label | None) -> bool:
    """Check whether a class is the target, or differs from the graph's own class if there is no target."""
    return label != own if target is None else label == target


def counterfactual_labels(labels: NDArray[np.int64], own: Label, target: Label | None) -> Bits:
    """Check the same for an array of labels."""
    return np.asarray(labels != own if target is None else labels == target)
