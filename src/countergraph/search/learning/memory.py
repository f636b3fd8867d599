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

from collections import Counter

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Label
from countergraph.search.learning.bandit import Bandit
from countergraph.search.learning.calibration import Calibration
from countergraph.search.learning.deviation import Basis, DeviationGate, directions
from countergraph.search.learning.smoothing import Smoother
from countergraph.search.learning.views import ComponentView, View
from countergraph.search.protocol import Flips, Reference

ENOUGH = 5
"""So many different graphs are company."""
FAMILIAR = 10
"""Graphs of a class that the black box has named, from which on labels do not count any more, unless ..."""
AGREEMENT = 0.95
"""... it calls so many of the labelled graphs what they are labelled."""
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
        self.starts, self.luck = Bandit(), Bandit()
        self.leans: dict[Label, float] = {}
        """For each class, by how much removals do more, and additions less, than their weights say."""
        self.answers = 0
        self.crossed = False
        self.calibration = Calibration()
        self.doubt = np.ones(n_pairs)
        """The variance of each weight."""
        self.graphs: list[Bits] = []
        self.labels: list[Label] = []
        self.different: set[int] = set()
        """All graphs, each once however often it is searched."""
        self._named: Counter[Label] = Counter()
        """How many of these the black box gave each class."""
        known = () if reference is None else zip(map(_key, reference.edges), reference.labels.tolist(), strict=True)
        self._labels_of: dict[int, Label] = dict(known)
        self._right: Counter[bool] = Counter()
        """How many labelled graphs the black box called what they are labelled, and how many not."""
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
        self.deviation_gate = DeviationGate()
        for label in () if reference is None else reference.counts:
            self._meet(label)

    def meet(self, graph: Bits, label: Label, target: Label | None) -> None:
        """Take in a graph that is searched, with the class that the black box gave it."""
        self.graphs.append(graph)
        self.labels.append(label)
        self._meet(label)
        if (key := _key(graph)) not in self.different:
            self.different.add(key)
            self._named[label] += 1
            if key in self._labels_of:
                self._right[self._labels_of[key] == label] += 1
            self._sums[label] += graph
        if target is not None:
            self._meet(target)

    def _meet(self, label: Label) -> None:
        if label not in self._learned:
            for table in (self._learned, self._start, self._sums):
                table[label] = np.zeros(self.n_pairs)

    def is_one_of_many(self, label: Label | None) -> bool:
        """Tell whether a class is known, and more than one other."""
        return label in self._learned and len(self._learned) > 2

    def another(self, label: Label, rng: np.random.Generator) -> Label:
        """Return any class but one."""
        others = [each for each in self._learned if each != label]
        return others[rng.integers(len(others))]

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
            before = seen if self.deviation_gate.enabled else self._smoothed.get(label, seen)
            self._smoothed[label] = self._smooth(seen + self.doubt / 2 * (before - seen))
            self._start[label] = plain + self.doubt * self._smoothed[label]

    @property
    def _agrees(self) -> bool:
        """Whether the black box calls almost all labelled graphs what they are labelled."""
        return self._right[True] > AGREEMENT * self._right.total()

    def _frequencies(self, label: Label) -> Floats | None:
        """Return how many of the graphs of a class, labelled or named so by the black box, have each edge."""
        total, count = self._sums[label], self._named[label]
        if self.reference is not None and label in self.reference.counts and (count < FAMILIAR or self._agrees):
            total, count = total + self.reference.counts[label], count + int((self.reference.labels == label).sum())
        return total / count if count else None


def _key(graph: Bits) -> int:
    return hash(graph.tobytes())


def _size_of_large(weights: Floats) -> float:
    """Return the root mean square of the largest fiftieth."""
    largest = np.partition(weights**2, -max(1, weights.size // 50))[-max(1, weights.size // 50) :]
    return float(np.sqrt(largest.mean()))
