"""What a run has learned, as one search sees it, with what the search itself was answered."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Label
from countergraph.search.learning.calibration import log_odds
from countergraph.search.learning.deviation import Deviation
from countergraph.search.learning.memory import ENOUGH, Memory
from countergraph.search.learning.neighbours import towards_neighbours
from countergraph.search.learning.views import View, walk
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.protocol import NO_FLIPS, Answer, Flips, Reference, Task, counterfactual_labels

MARGIN = 0.5
NOISE = 1.0
FOLLOWING = 0.05
"""How far a run follows a lean that led closer."""
KEPT = 3
"""How many candidates of each kind a new answer is compared with: the latest are the closest to the boundary."""


class Guide:
    """The memory as one search sees it.

    Parameters
    ----------
    memory
        What all searches of the run share.
    graph, label
        What is searched, and the class that the black box gave it.
    target
        The class to reach; None for any other.
    limits
        What a counterfactual may be.
    score
        The probability of a wanted class, where the black box gives any.
    """

    def __init__(
        self,
        memory: Memory,
        graph: Bits,
        label: Label,
        target: Label | None,
        limits: Limits = NO_LIMITS,
        score: float | None = None,
    ) -> None:
        memory.meet(graph, label, target)
        self.memory, self.graph, self.label, self.target, self.limits = memory, graph, label, target, limits
        self.starts, self.luck = memory.starts, memory.luck
        self.asked = 0
        self._reached: Label | None = None
        """The class that the latest candidate to cross led to."""
        self.lean = 0.0
        """By how much the latest proposal leans beyond what was learned."""
        self._sides = np.where(graph, -1.0, 1.0)
        self._known: set[int] = set()
        self._crossed: deque[Flips] = deque(maxlen=KEPT)
        self._failed: deque[Flips] = deque(maxlen=KEPT)
        self._scored: deque[tuple[Flips, float]] = deque(maxlen=KEPT)
        self._level_crossed: float | None = None
        self._highest_failed = -np.inf
        if score is not None:
            self._highest_failed = log_odds(score)
            self._scored.append((NO_FLIPS, self._highest_failed))
        self._neighbours: Floats | None = None
        self._deviation: Deviation | None = None

    def gains(self) -> Floats:
        """Return how far each flip is thought to carry the graph towards another class, for what it costs."""
        return self._gains(self._towards)

    def elsewhere(self, rng: np.random.Generator) -> Floats:
        """Return the gains towards any class that may be reached, where there are several."""
        many = self.target is None and self.memory.is_one_of_many(self.label)
        return self._gains(self.memory.another(self.label, rng) if many else self._towards)

    def _gains(self, towards: Label | None) -> Floats:
        scores = self._scores(slice(None), towards)
        return self._worth(self._leaning(scores, self.memory.leans.get(self.label, 0.0)))

    def leaning(self, lean: float) -> Floats:
        """Return the same, but think more of removals and less of additions; the contrary if ``lean`` is below 0."""
        self.lean = lean
        return self._leaning(self.gains(), lean)

    def _leaning(self, gains: Floats, lean: float) -> Floats:
        return gains * np.exp(-lean * self._sides) if lean else gains

    def won(self) -> None:
        """Take in that the latest proposal was closer: lean more as it did."""
        if self.lean:
            self.memory.leans[self.label] = self.memory.leans.get(self.label, 0.0) + FOLLOWING * self.lean

    def _worth(self, gains: Floats) -> Floats:
        """Divide by the costs, and let what may not change gain nothing."""
        if self.limits.costs is not None:
            gains = gains / self.limits.costs * self.limits.costs.mean()
        return gains if self.limits.allowed is None else np.where(self.limits.allowed, gains, 0.0)

    def _scores(self, pairs: Flips | slice, towards: Label | None) -> Floats:
        away = self._away(pairs, towards)
        if self._deviation is not None and self.memory.deviation_gate.enabled:
            away = away + self._deviation.weights(pairs)
        return self._sides[pairs] * away

    def _away(self, pairs: Flips | slice, towards: Label | None) -> Floats:
        """Return how much the edges at some pairs speak against the graph's class and for another, to all."""
        away = -self.memory.weights(self.label, pairs)
        return away if towards is None else (away + self.memory.weights(towards, pairs)) / 2

    @property
    def _towards(self) -> Label | None:
        """The class to go to: the target or, where there are several, the one that was reached last."""
        return self._reached if self.target is None and self.memory.is_one_of_many(self._reached) else self.target

    def doubts(self) -> Floats:
        """Return how uncertain each gain is, a standard deviation."""
        return np.sqrt(self.memory.doubt)

    def neighbours(self) -> Floats:
        """Return how much more often each flip leads towards the nearest graphs of another class than of its own."""
        if self._neighbours is None:
            near = towards_neighbours(self.graph, self.memory.known().edges, *self._sorted())
            self._neighbours = self._worth(near)
        return self._neighbours

    @property
    def components(self) -> View:
        """The view of the leading directions in which the known graphs differ."""
        return self.memory.components()

    def walk(self, view: View, size: int, doubts: Floats | float = 0.0) -> Flips:
        """Return flips that lead towards the nearest graphs of another class in a view (see `views.walk`)."""
        known, (wanted, own) = self.memory.seen(view), self._sorted()
        return walk(view, self.graph, known, wanted, own, size, lambda gains: self._worth(gains * (1.0 - doubts)))

    def _sorted(self) -> tuple[Bits, Bits]:
        """Tell which of the known graphs are of a wanted class, and which of this graph's own."""
        labels = self.memory.known().labels
        return counterfactual_labels(labels, self.label, self.target), labels == self.label

    @property
    def share(self) -> float:
        """The part of a run's fruitless questions that is left to this search: all, once any has found something."""
        return 1.0 if self.memory.crossed else 1 / len(self.memory.graphs)

    @property
    def lonely(self) -> bool:
        """Whether there is hardly any other graph to learn from; searching the same one again does not count."""
        return len(self.memory.different) < ENOUGH

    def aim(self, limits: Limits) -> None:
        """Mind other limits from now on."""
        self.limits, self._neighbours = limits, None

    def by_itself(self) -> Guide:
        """Return a guide that knows nothing yet, and will know the answers to this search only."""
        return Guide(Memory(self.memory.n_pairs), self.graph, self.label, self.target, self.limits)

    def knows(self, flips: Flips) -> bool:
        """Tell whether the search has asked this before."""
        return _key(flips) in self._known

    def hopeless(self, flips: Flips) -> bool:
        """Tell whether asking is in vain: asked before or, by the scores, surely below one that changed nothing."""
        if self.knows(flips) or self._level_crossed is None:
            return self.knows(flips)
        pairs, signs = self.memory.difference(flips, self._crossed[-1])
        guess, gap = float(self._scores(pairs, self._towards) @ signs), self._highest_failed - self._level_crossed
        return self.memory.calibration.surely_below(guess, gap, pairs.size)

    def learn(self, answer: Answer) -> None:
        """Take in one answer: compare the candidate with those of this graph that were answered otherwise."""
        flips = answer.asked
        self.asked += 1
        self.memory.answers += 1
        self._known.add(_key(flips))
        if answer.flipped:
            self.memory.crossed = True
            self._reached = answer.label
            self._crossed.append(flips)
            for failed in self._failed:
                self._outrank(flips, failed)
        else:
            self._failed.append(flips)
            for crossed in self._crossed:
                self._outrank(crossed, flips)
        if answer.score is not None:
            level = log_odds(answer.score)
            if answer.flipped:
                self._level_crossed = level
            else:
                self._highest_failed = max(self._highest_failed, level)
            self._compare(flips, level)

    def _compare(self, flips: Flips, level: float) -> None:
        """Take in a score: what moved it farther must be thought to do so, and by as much at least."""
        for other, its_level in self._scored:
            gap = abs(level - its_level)
            more, less = (flips, other) if level > its_level else (other, flips)
            pairs, signs = self.memory.difference(more, less)
            self.memory.calibration.update(gap, float(self._scores(pairs, self._towards) @ signs), pairs.size)
            self._outrank(more, less, self.memory.calibration.guess(gap))
        self._scored.append((flips, level))

    def _outrank(self, more: Flips, less: Flips, margin: float = MARGIN) -> None:
        """Make sure that one candidate scores above another, what crossed above what failed.

        While the deviations do not count, the shared weights move first, and each deviation learns what they leave.
        """
        pairs, signs = self.memory.difference(more, less)
        signs *= self._sides[pairs]
        shared, own = float(signs @ self._away(pairs, self._towards)), 0.0
        if self._deviation is not None:
            own = float(signs @ self._deviation.weights(pairs))
            self.memory.deviation_gate.update(shared, own)
        together = self.memory.deviation_gate.enabled
        if shared + together * own >= margin:
            return
        deviation = self._deviation = self._deviation or Deviation(self.memory.basis())
        spread, variance = deviation.spread(pairs, signs)
        doubt = float(self.memory.doubt[pairs].sum())
        missing, trust = margin - shared - together * own, 1 / (doubt + together * variance + NOISE)
        self.memory.learn(self.label, self._towards, pairs, missing * trust * signs, trust)
        if not together:
            missing -= missing * trust * doubt + own
            trust = 1 / (variance + NOISE)
        deviation.learn(spread, missing * trust, trust)


def _key(flips: Flips) -> int:
    return hash(np.sort(flips).tobytes())


@dataclass(frozen=True, eq=False)
class GuidedTask(Task):
    """The task of a learned search: a task with a guide."""

    guide: Guide = field(kw_only=True)

    def observe(self, answer: Answer) -> None:
        """Learn from an answer."""
        self.guide.learn(answer)

    @property
    def unaided(self) -> bool:
        """Whether there is no labelled graph, and hardly any other graph, to learn from."""
        return self.reference is None and self.guide.lonely


class LearnedState:
    """The memory that the learned searches of a run share (see `SharedState`)."""

    def __init__(self, n_pairs: int, reference: Reference | None) -> None:
        self.memory = Memory(n_pairs, reference)

    def join(self, task: Task, score: float | None) -> GuidedTask:
        """Add a guide to the task of one search."""
        guide = Guide(self.memory, task.graph, task.label, task.target, task.limits, score)
        return GuidedTask(**{each.name: getattr(task, each.name) for each in fields(task)}, guide=guide)
