"""The state that the driver keeps for each search, and how often it confirms results."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from countergraph.graphs.pairs import Label, Values
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.network import Change, Problem
from countergraph.search.proof import NO_PROOF, Proof
from countergraph.search.protocol import Flips

MAX_PREVIOUS = 32
"""The number of previous results that are kept in case the best is not confirmed."""
MAJORITY = 3
"""The number of agreeing answers that confirm a result once the black box has contradicted itself."""
Stopped = Literal[
    "finished", "not found", "max_calls", "time_limit", "already in target class", "cancelled", "interrupted"
]


class Found(NamedTuple):
    """The best result of a search."""

    flips: Flips | None
    """The counterfactual; None if none was found."""
    label: Label | None
    """Its class."""
    trace: tuple[tuple[int, int], ...]
    """(calls, distance) each time a better counterfactual was found."""


NOTHING_FOUND = Found(None, None, ())


@dataclass(eq=False)
class Record:
    """The state of one search. It is complete when ``stopped`` is set, and consistent at any time before."""

    calls: dict[str, int]
    label: Label | None = None
    """The class of the original network."""
    known_problem: Problem | None = None
    """What can be changed, and the constraints; None until the class of the original network is known."""
    found: Found = NOTHING_FOUND
    """The best result; replaced as a whole, so that another thread can read it at any time."""
    stopped: Stopped | None = None
    previous: deque[Found] = field(default_factory=lambda: deque(maxlen=MAX_PREVIOUS))
    """The previous best results, if the result is to be confirmed."""
    flipped: int = 0
    """The number of candidates that are counterfactuals."""
    flipped_within_most: int = 0
    """How many of these have no more changes than the constraint ``most`` allows."""
    refuted: int = 0
    """The number of candidates that are not counterfactuals."""
    answered: set[Label] = field(default_factory=set)
    """All classes in the answers of the black box."""
    amounts: Change | None = None
    """The changed pairs of a weighted network with smaller changes, if they were searched."""
    projected: Values | None = None
    """The nearest valid network, if it was requested and is a counterfactual."""
    proof: Proof = NO_PROOF
    """What the answers prove about the result, if it is confirmed."""

    @property
    def problem(self) -> Problem:
        """What can be changed, and the constraints."""
        assert self.known_problem is not None
        return self.known_problem

    @property
    def limits(self) -> Limits:
        """The constraints on a counterfactual."""
        return NO_LIMITS if self.known_problem is None else self.known_problem.limits

    @property
    def best(self) -> Flips | None:
        """The best counterfactual; None if none was found."""
        return self.found.flips

    @property
    def trace(self) -> tuple[tuple[int, int], ...]:
        """(calls, distance) each time a better counterfactual was found."""
        return self.found.trace

    @property
    def mostly_flipped(self) -> bool:
        """Whether most candidates are counterfactuals: then the class of the original graph may be a wrong answer."""
        return 2 * self.refuted < self.flipped

    def keep(self, flips: Flips, label: Label, keep_previous: bool = False) -> Flips:
        """Record a counterfactual, and return the best one; ``keep_previous`` also keeps the previous best."""
        self.flipped += 1
        self.flipped_within_most += self.limits.within_most(flips)
        best = self.best
        if best is not None and not self.limits.rank(flips) < self.limits.rank(best):
            return best
        if keep_previous and best is not None:
            self.previous.append(self.found)
        self.found = Found(flips, label, (*self.trace, (sum(self.calls.values()), flips.size)))
        return flips

    @property
    def valid_found(self) -> Found:
        """The best result, unless it has more changes than the constraint ``most`` allows."""
        found = self.found
        return found if found.flips is not None and self.limits.within_most(found.flips) else NOTHING_FOUND

    def fall_back(self) -> None:
        """Replace the best result by the previous one."""
        self.found = self.previous.pop() if self.previous else NOTHING_FOUND

    def enforce_most(self) -> None:
        """Discard the result if it has more changes than the constraint ``most`` allows."""
        if self.valid_found is NOTHING_FOUND:
            self.discard_results()

    def start(self, label: Label, problem: Problem) -> None:
        """Start, or start again, with the class of the original network."""
        self.discard_results()
        self.label, self.known_problem, self.amounts, self.projected = label, problem, None, None
        self.flipped, self.flipped_within_most, self.refuted = 0, 0, 0

    def discard_results(self) -> None:
        """Discard all counterfactuals."""
        self.found = NOTHING_FOUND
        self.previous.clear()


@dataclass(eq=False)
class Consistency:
    """Whether the black box of a run has given two answers to the same graph, and what follows from it."""

    confirmations: int = 1
    """The number of agreeing answers that confirm a result."""

    def report_contradiction(self) -> None:
        """Record that the black box gave two answers to the same graph."""
        self.confirmations = MAJORITY

    @property
    def holds(self) -> bool:
        """Whether no contradiction was seen, so that an answer is a proof."""
        return self.confirmations < MAJORITY

    def reserved_calls(self, record: Record) -> int:
        """Return the calls that confirming the result may take if the next candidate is a counterfactual."""
        return (2 * self.confirmations - 1) * (1 + (2 * record.refuted < record.flipped + 1))
