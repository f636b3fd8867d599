"""What the driver keeps of one search, and how far it believes the black box."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from countergraph.graphs.pairs import Label
from countergraph.search.conversation import Flips
from countergraph.search.evidence import NOTHING, Proven
from countergraph.search.limits import NO_LIMITS, Limits

SPARES = 32
"""How many earlier results a search keeps to fall back on."""
MAJORITY = 3
"""How often a result must be confirmed when the black box is known to contradict itself."""
Stopped = Literal["finished", "not found", "max_calls", "time_limit", "already in target class", "interrupted"]


@dataclass(eq=False)
class Record:
    """What the driver knows of one search; complete when ``stopped`` is set, and true at any time before."""

    calls: dict[str, int]
    limits: Limits = NO_LIMITS
    label: Label | None = None
    best: Flips | None = None
    best_label: Label | None = None
    trace: list[tuple[int, int]] = field(default_factory=list)
    stopped: Stopped | None = None
    earlier: deque[tuple[Flips, Label]] = field(default_factory=lambda: deque(maxlen=SPARES))
    """What was the best before, where results are to be confirmed."""
    crossed: int = 0
    """How many candidates changed the class."""
    few_enough: int = 0
    """How many of these with no more changes than there may be."""
    failed: int = 0
    """How many did not."""
    heard: set[Label] = field(default_factory=set)
    """All classes that the black box answered."""
    proven: Proven = NOTHING
    """What the answers prove about the result, where it was confirmed."""

    @property
    def one_sided(self) -> bool:
        """Whether almost all candidates changed the class: then that of the graph itself may be a mistake."""
        return 2 * self.failed < self.crossed

    def keep(self, flips: Flips, label: Label, spare: bool = False) -> Flips:
        """Count a counterfactual, keep it if it is the best so far, and return the best.

        With ``spare``, also keep what was the best before.
        """
        self.crossed += 1
        self.few_enough += self.limits.within_most(flips)
        if self.best is None or self.limits.rank(flips) < self.limits.rank(self.best):
            if spare and self.best is not None and self.best_label is not None:
                self.earlier.append((self.best, self.best_label))
            self.best, self.best_label = flips, label
            self.trace.append((sum(self.calls.values()), flips.size))
        return self.best

    def fall_back(self) -> None:
        """Drop the best, and return to what was the best before."""
        if not self.earlier:
            self.forget()
            return
        self.best, self.best_label = self.earlier.pop()
        self.trace.pop()

    def hold_to_most(self) -> None:
        """Drop everything if the best has more changes than it may."""
        if self.best is not None and not self.limits.within_most(self.best):
            self.forget()

    def rename(self, label: Label) -> None:
        """Begin anew, with another class of the graph itself."""
        self.forget()
        self.label, self.crossed, self.few_enough, self.failed = label, 0, 0, 0

    def forget(self) -> None:
        """Drop everything that was found."""
        self.best = self.best_label = None
        self.earlier.clear()
        self.trace.clear()


@dataclass(eq=False)
class Trust:
    """How far the black box is believed in a run: less, once it has answered the same question in two ways."""

    confirmations: int = 1
    """How often a result must be confirmed."""

    def contradicted(self) -> None:
        """Take in that the black box answered the same question in two ways."""
        self.confirmations = MAJORITY

    @property
    def unbroken(self) -> bool:
        """Whether it has not, so that an answer proves something."""
        return self.confirmations < MAJORITY

    def questions(self, record: Record) -> int:
        """Return how many questions it may take to confirm the result of a search, if one more candidate crosses."""
        return (2 * self.confirmations - 1) * (1 + (2 * record.failed < record.crossed + 1))
