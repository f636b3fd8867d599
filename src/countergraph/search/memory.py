"""What the searches of one run learn together: a linear guess of the black box, better with every answer.

The guess is one weight for each class and pair. It starts as the difference between the edge frequencies of the
classes, and follows one rule: whatever changed the class of a graph must score above whatever did not. Where an answer
breaks it, the weights of the pairs in which the two candidates differ move until it holds, those least known the most
(AROW, Crammer et al. 2009, with a diagonal covariance). Candidates of one graph differ in few pairs, so an answer costs
what it changes, and what one graph taught holds for all.

What one graph alone says, against all others, goes into its own deviation from the shared weights (see `deviation`).

With scores, any two candidates of a graph are compared, and the better one must be thought better by as much as its
score is (see `calibration`). What is thought even better is left alone: far from the boundary scores say less.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Bits, Floats
from countergraph.oracle.answers import Label
from countergraph.search.calibration import Calibration, log_odds
from countergraph.search.conversation import NO_FLIPS, Answer, Flips, Guide, Reference, Task
from countergraph.search.deviation import Basis, Deviation, Individuality, directions
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.luck import Luck
from countergraph.search.neighbours import towards_neighbours
from countergraph.search.smoothing import Smoother
from countergraph.search.views import ComponentView, View, walk

MARGIN = 0.5
NOISE = 1.0
KEPT = 3
"""How many candidates of each kind a new answer is compared with: the latest are the closest to the boundary."""
ENOUGH = 5
"""Graphs of a class that the black box has named, from which on the labels of the reference do not count any more."""
COMPONENTS = 16
"""How many of the leading directions in which graphs differ make a view of them."""
GROWTH = 1.1
"""The frequencies and the smoothing are computed anew when there are so many times more answers than the last time."""


class Memory:
    """The weights that all searches of a run share.

    Parameters
    ----------
    n_pairs
        The pairs of a graph.
    reference
        Labelled graphs to start from.
    """

    def __init__(self, n_pairs: int, reference: Reference | None = None) -> None:
        self.n_pairs = n_pairs
        self.reference = reference
        self.starts, self.luck = Luck(), Luck()
        self.answers = 0
        self.crossed = False
        self.calibration = Calibration()
        self.doubt = np.ones(n_pairs)
        """The variance of each weight."""
        self.graphs: list[Bits] = []
        self.labels: list[Label] = []
        self.different = set[bytes]()
        """The first few graphs, each once however often it is searched."""
        self._learned: dict[Label, Floats] = {}
        self._start: dict[Label, Floats] = {}
        self._smoothed: dict[Label, Floats] = {}
        self._sums: dict[Label, Floats] = {}
        self._smooth = Smoother(n_pairs)
        self._marks = np.zeros(n_pairs)
        self._computed_at = -1.0
        self._known = reference
        self._seen: dict[View, Floats] = {}
        self._basis: Basis | None = None
        self._components: View | None = None
        self.individuality = Individuality()
        for label in () if reference is None else reference.counts:
            self._meet(label)

    def guide(
        self,
        graph: Bits,
        label: Label,
        target: Label | None,
        limits: Limits = NO_LIMITS,
        score: float | None = None,
    ) -> Guide:
        """Take in a graph with the class, and perhaps the score, that the black box gave it; guide its search."""
        self.graphs.append(graph)
        if len(self.different) < ENOUGH:
            self.different.add(graph.tobytes())
        self.labels.append(label)
        self._meet(label)
        self._sums[label] += graph
        if target is not None:
            self._meet(target)
        return MemoryGuide(self, graph, label, target, limits, score)

    def _meet(self, label: Label) -> None:
        if label not in self._learned:
            for table in (self._learned, self._start, self._sums):
                table[label] = np.zeros(self.n_pairs)

    def weights(self, label: Label, pairs: Flips | slice = slice(None)) -> Floats:
        """Return how much the edges at some pairs speak for a class."""
        if self.answers > GROWTH * self._computed_at:
            self._compute()
        return self._start[label][pairs] + self._learned[label][pairs]

    def learn(self, label: Label, target: Label | None, pairs: Flips, step: Floats, shrink: float) -> None:
        """Move some weights by ``step`` x their doubt, against a class and for the target or all others."""
        doubt = self.doubt[pairs]
        step = step * doubt
        others = [each for each in self._learned if each != label] if target is None else [target]
        self._learned[label][pairs] -= step
        for other in others:
            self._learned[other][pairs] += step / len(others)
        self.doubt[pairs] = doubt * (1 - shrink * doubt)

    def known(self) -> Reference:
        """Return all graphs whose class is known: those of the reference or, without one, those of the run so far."""
        if self._known is None or (self.reference is None and len(self._known.labels) < len(self.graphs)):
            self._known = Reference(np.array(self.graphs), np.array(self.labels))
            self._seen.clear()
        return self._known

    def seen(self, view: View) -> Floats:
        """Return the vectors of all known graphs in a view."""
        known = self.known()
        if view not in self._seen:
            self._seen[view] = np.array([view.vector(view.place(graph)) for graph in known.edges])
        return self._seen[view]

    def basis(self) -> Basis:
        """Return the directions in which the graphs differ that are known when it is first asked for."""
        if self._basis is None:
            self._basis = directions(self.known().edges)
        return self._basis

    def components(self) -> View:
        """Return the view of the leading ones of these directions."""
        if self._components is None:
            self._components = ComponentView(np.ascontiguousarray(self.basis()[:, :COMPONENTS]))
        return self._components

    def difference(self, more: Flips, less: Flips) -> tuple[Flips, Floats]:
        """Return the pairs that are in one of two sets only, with 1 for the first set and -1 for the second."""
        both = np.concatenate([more, less])
        self._marks[more] += 1
        self._marks[less] -= 1
        signs = self._marks[both]
        self._marks[both] = 0
        apart = signs.nonzero()[0]
        return both[apart], signs[apart]

    def _compute(self) -> None:
        """Start anew from the edge frequencies; where little is known, pairs lean on those of the same regions.

        The smoothing takes such a pair half for what it made of it the last time: as in the completion of a matrix,
        what was never looked at must not speak for zero. Not so where deviations count: there each graph has its own.
        """
        self._computed_at = self.answers
        frequencies = {label: self._frequencies(label) for label in self._learned}
        centre = np.mean([each for each in frequencies.values() if each is not None], axis=0)
        differences = {label: 0 * centre if each is None else each - centre for label, each in frequencies.items()}
        scale = max(_size_of_large(each) for each in differences.values()) or 1.0
        for label, difference in differences.items():
            plain = difference / scale
            seen = plain + self._learned[label]
            before = seen if self.individuality.counts else self._smoothed.get(label, seen)
            self._smoothed[label] = self._smooth(seen + self.doubt / 2 * (before - seen))
            self._start[label] = plain + self.doubt * self._smoothed[label]

    def _frequencies(self, label: Label) -> Floats | None:
        total, count = self._sums[label], self.labels.count(label)
        if count < ENOUGH and self.reference is not None and label in self.reference.counts:
            total, count = total + self.reference.counts[label], count + int((self.reference.labels == label).sum())
        return total / count if count else None


def _size_of_large(weights: Floats) -> float:
    """Return the root mean square of the largest fiftieth."""
    largest = np.partition(weights**2, -max(1, weights.size // 50))[-max(1, weights.size // 50) :]
    return float(np.sqrt(largest.mean()))


class MemoryGuide:
    """The memory as one search sees it, with what the search itself was answered."""

    def __init__(
        self,
        memory: Memory,
        graph: Bits,
        label: Label,
        target: Label | None,
        limits: Limits,
        score: float | None = None,
    ) -> None:
        self.memory, self.graph, self.label, self.target, self.limits = memory, graph, label, target, limits
        self.starts, self.luck = memory.starts, memory.luck
        self.asked = 0
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
        return self._worth(self._scores())

    def _worth(self, gains: Floats) -> Floats:
        """Divide by the costs, and let what may not change gain nothing."""
        if self.limits.costs is not None:
            gains = gains / self.limits.costs * self.limits.costs.mean()
        return gains if self.limits.allowed is None else np.where(self.limits.allowed, gains, 0.0)

    def _scores(self, pairs: Flips | slice = slice(None)) -> Floats:
        away = self._away(pairs)
        if self._deviation is not None and self.memory.individuality.counts:
            away = away + self._deviation.weights(pairs)
        return self._sides[pairs] * away

    def _away(self, pairs: Flips | slice) -> Floats:
        """Return how much the edges at some pairs speak against the graph's class, by what all share."""
        away = -self.memory.weights(self.label, pairs)
        return away if self.target is None else (away + self.memory.weights(self.target, pairs)) / 2

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
        return labels != self.label if self.target is None else labels == self.target, labels == self.label

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

    def alone(self) -> Guide:
        """Return a guide that knows nothing yet, and will know the answers to this search only."""
        return Memory(self.memory.n_pairs).guide(self.graph, self.label, self.target, self.limits)

    def knows(self, flips: Flips) -> bool:
        """Tell whether the search has asked this before."""
        return _key(flips) in self._known

    def hopeless(self, flips: Flips) -> bool:
        """Tell whether asking is in vain: asked before or, by the scores, surely below one that changed nothing."""
        if self.knows(flips) or self._level_crossed is None:
            return self.knows(flips)
        pairs, signs = self.memory.difference(flips, self._crossed[-1])
        guess, gap = float(self._scores(pairs) @ signs), self._highest_failed - self._level_crossed
        return self.memory.calibration.surely_below(guess, gap, pairs.size)

    def learn(self, flips: Flips, answer: Answer) -> None:
        """Take in one answer: compare the candidate with those of this graph that were answered otherwise."""
        self.asked += 1
        self.memory.answers += 1
        self._known.add(_key(flips))
        if answer.flipped:
            self.memory.crossed = True
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
            self.memory.calibration.tell(gap, float(self._scores(pairs) @ signs), pairs.size)
            self._outrank(more, less, self.memory.calibration.guess(gap))
        self._scored.append((flips, level))

    def _outrank(self, more: Flips, less: Flips, margin: float = MARGIN) -> None:
        """Make sure that one candidate scores above another, what crossed above what failed.

        While the deviations do not count, the shared weights move first, and each deviation learns what they leave.
        """
        pairs, signs = self.memory.difference(more, less)
        signs *= self._sides[pairs]
        shared, own = float(signs @ self._away(pairs)), 0.0
        if self._deviation is not None:
            own = float(signs @ self._deviation.weights(pairs))
            self.memory.individuality.tell(shared, own)
        together = self.memory.individuality.counts
        if shared + together * own >= margin:
            return
        deviation = self._deviation = self._deviation or Deviation(self.memory.basis())
        spread, variance = deviation.spread(pairs, signs)
        doubt = float(self.memory.doubt[pairs].sum())
        missing, trust = margin - shared - together * own, 1 / (doubt + together * variance + NOISE)
        self.memory.learn(self.label, self.target, pairs, missing * trust * signs, trust)
        if not together:
            missing -= missing * trust * doubt + own
            trust = 1 / (variance + NOISE)
        deviation.learn(spread, missing * trust, trust)


def _key(flips: Flips) -> int:
    return hash(np.sort(flips).tobytes())


def guide_of(task: Task) -> Guide:
    """Return the guide of a task that needs one."""
    if task.guide is None:
        raise SearchError("a search that learns needs a memory")
    return task.guide
