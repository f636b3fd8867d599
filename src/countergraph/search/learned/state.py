"""The state that the learned searches of a run share, and the view that the search of one graph has of it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Indices, Label, Values
from countergraph.search.learned.directions import (
    ComponentEmbedding,
    Embedding,
    discriminative_direction,
    frequency_direction,
    neighbour_direction,
    path_to_neighbours,
    principal_directions,
    scaled,
    thinned,
)
from countergraph.search.learned.portfolio import Portfolio
from countergraph.search.learned.settings import DEFAULT_SETTINGS, LearnedSettings
from countergraph.search.learned.surrogate import Surrogate
from countergraph.search.network import Layout
from countergraph.search.protocol import NO_FLIPS, Answer, Flips, Reference, Task, counterfactual_labels

MIN_GRAPHS = 3
"""In a run with fewer different graphs, a search learns from its own answers only."""
KNOWN_GROWTH = 1.2
"""The known graphs are updated when the graphs of the run have grown by this factor."""
SATURATED = 1e-5
"""A probability that is nearer to 0 or 1 is only used as a class."""
CERTAIN = 3.0
"""A predicted score is certain if it holds by this many standard deviations of the errors."""


class LearnedState:
    """The surrogate, the portfolio and the known graphs that the searches of a run share (see `SharedState`).

    Parameters
    ----------
    layout
        The two ends of each pair.
    reference
        Labelled graphs, if there are any.
    settings
        The constants of the learned search.
    """

    def __init__(
        self, layout: Layout, reference: Reference | None, settings: LearnedSettings = DEFAULT_SETTINGS
    ) -> None:
        self.settings, self.reference = settings, reference
        self.surrogate, self.portfolio = Surrogate(layout, settings), Portfolio(settings)
        self.n_searches = 0
        self.counterfactuals: dict[int, tuple[Guide, Flips, Label]] = {}
        """The closest counterfactual of each search, by the number of its graph, with its class."""
        self.gains, self.epochs = defaultdict[int, float](float), Counter[int]()
        """The total relative gain, and the number, of the epochs of exploration, by number of the epoch."""
        self._scale: Values | None = None
        """The values of weighted networks are divided by this, the standard deviations in the labelled networks."""
        if reference is not None and reference.values.dtype != np.bool_:
            deviations = reference.values.std(axis=0)
            self._scale = np.where(deviations > 0, deviations, np.float32(1))
        self._graphs: dict[bytes, tuple[Values, Label]] = {}
        """The graphs of the run and their classes, by the answers of the black box."""
        self._reference_answers: dict[bytes, Label] = {}
        self._known: Reference | None = None
        self._n_graphs_known = 0
        self._vectors: dict[Embedding, Floats] = {}
        self._components: Embedding | None = None
        self._labels: list[Label] = []
        """The classes in the order of their class vectors."""
        self._is_binary = True
        self._groups: dict[tuple[Label, Label | None], int] = {}

    def questions(self, searched: Sequence[Values], limit: int) -> Indices:
        """Return labelled graphs that the black box should classify: those that are not searched, at most ``limit``."""
        keys = {graph.tobytes() for graph in searched}
        if self.reference is None or len(keys) < MIN_GRAPHS or not limit:
            return NO_FLIPS
        rows = [row for row, graph in enumerate(self.reference.networks) if graph.tobytes() not in keys]
        return np.array(rows[:: -(-len(rows) // limit)] if rows else [], dtype=np.intp)

    def learn_classes(self, rows: Indices, labels: Sequence[Label]) -> None:
        """Learn the classes that the black box gives to some labelled graphs."""
        assert self.reference is not None
        keys = (graph.tobytes() for graph in self.reference.values[rows])
        self._reference_answers.update(zip(keys, labels, strict=True))

    def join(self, task: Task, score: float | None) -> LearnedTask:
        """Add a graph, and return its task with a guide."""
        values = task.network.values
        if task.network.weighted and self._scale is None:  # no labelled networks: the typical change is 1
            self._scale = np.asarray(np.sqrt((task.network.differences**2).mean()) or 1, dtype=np.float32)
        self._graphs[values.tobytes()] = (values, task.label)
        self.n_searches += 1
        guide = Guide(self, task, uses_scores=score is not None)
        return LearnedTask(**{each.name: getattr(task, each.name) for each in fields(task)}, guide=guide)

    def standardised(self, values: Values) -> Values:
        """Return values of weighted networks, or changes of them, in units of their standard deviations."""
        return values if self._scale is None or values.dtype.kind != "f" else np.asarray(values / self._scale)

    @property
    def is_single(self) -> bool:
        """Whether the run has too few different graphs to learn from each other; runs of one graph do not count."""
        return len(self._graphs) < MIN_GRAPHS

    def known_graphs(self) -> Reference:
        """Return the graphs whose class is known: those of the run and the labelled ones, which keep their labels.

        The values of weighted networks are standardised.
        """
        if self._known is None or len(self._graphs) > KNOWN_GROWTH * self._n_graphs_known:
            known = {key: (graph, label, label) for key, (graph, label) in self._graphs.items()}
            if self.reference is not None:
                for graph, label in zip(self.reference.values, self.reference.labels.tolist(), strict=True):
                    key = graph.tobytes()
                    answer = known[key][2] if key in known else self._reference_answers.get(key, label)
                    known[key] = (graph, label, answer)
            edges, labels, answers = zip(*known.values(), strict=True)
            self._known = Reference(self.standardised(np.array(edges)), np.array(labels))
            self._n_graphs_known = len(self._graphs)
            self._vectors.clear()
            self._components = None
            one_class = len({*self._reference_answers.values(), *(label for _, label in self._graphs.values())}) == 1
            self._set_directions(self._known.values, self._known.labels if one_class else np.array(answers))
        return self._known

    def _set_directions(self, edges: Values, answers: np.typing.NDArray[np.generic]) -> None:
        """Compute the expert directions from the classes of some graphs."""
        new = [label for label in np.unique(answers).tolist() if label not in self._labels]
        self._is_binary = len(new) <= 2 if not self._labels else self._is_binary and not new
        self._labels += new
        chosen = thinned(edges)
        edges, answers = edges[chosen], answers[chosen]
        others = [answers != label for label in (self._labels[:1] if self._is_binary else self._labels)]
        c = self.settings.inverse_regularisation
        self.surrogate.set_directions(
            [
                np.array([discriminative_direction(edges, positive, c) for positive in others]),
                np.array([frequency_direction(edges, positive) for positive in others]),
            ]
        )

    def class_vector(self, label: Label) -> tuple[int, int]:
        """Return the class vector for leaving a class, and its sign."""
        if label not in self._labels:
            self._labels.append(label)
        number = self._labels.index(label)
        return (0, -1) if self._is_binary and number == 1 else (number, 1)

    def group(self, label: Label, target: Label | None) -> int:
        """Return the number of the group of the graphs with this class and target."""
        return self._groups.setdefault((label, target), len(self._groups))

    def known_vectors(self, embedding: Embedding) -> Floats:
        """Return the vectors of the known graphs in an embedding."""
        known = self.known_graphs()
        if embedding not in self._vectors:
            self._vectors[embedding] = np.array([embedding.vector(embedding.state(graph)) for graph in known.values])
        return self._vectors[embedding]

    def component_embedding(self) -> Embedding:
        """Return the embedding by the principal directions of the known graphs."""
        known = self.known_graphs()
        if self._components is None:
            self._components = ComponentEmbedding(principal_directions(known.values))
        return self._components

    def recent_gain(self, epoch: int, window: int) -> float:
        """Return the relative gain of the last epochs of exploration, the mean over all searches."""
        epochs = range(max(0, epoch - window), epoch)
        return sum(self.gains[each] / max(1, self.epochs[each]) for each in epochs)


class Guide:
    """The view that the search of one graph has of the shared state, and its own answers."""

    def __init__(self, state: LearnedState, task: Task, uses_scores: bool) -> None:
        self.state, self.network, self.label, self.target = state, task.network, task.label, task.target
        self.values = state.standardised(task.network.values)
        self.changes = state.standardised(task.network.differences)
        """The values, and their changes by the flips; standardised if the network is weighted."""
        self.limits, self.uses_scores = task.limits, uses_scores
        self.n_calls = 0
        self._number: int | None = None
        self._classified = set[int]()

    @property
    def number(self) -> int:
        """The number of the graph in the surrogate, which it joins when all graphs of the first round are known."""
        if self._number is None:
            known = self.state.known_graphs().values
            direction = scaled(neighbour_direction(self.values, self.changes, known, *self._class_masks()))
            vector, sign = self.state.class_vector(self.label if self.target is None else self.target)
            sign = sign if self.target is None else -sign
            group = self.state.group(self.label, self.target)
            self._number = self.state.surrogate.add_graph(self.changes, group, vector, sign, direction)
        return self._number

    @property
    def knows_wanted_graphs(self) -> bool:
        """Whether a graph of a wanted class, other than this one, is known."""
        return bool(self._class_masks()[0].any())

    def gains(self) -> Floats:
        """Return the estimated gain of each flip: its effect towards a wanted class, relative to its cost."""
        number = self.number
        self.state.surrogate.update()
        return self._per_cost(self.state.surrogate.gains(number))

    def margins(self, order: Flips) -> Floats:
        """Return the predicted margin of each prefix of an order; if positive, it is predicted to change the class."""
        surrogate, number = self.state.surrogate, self.number
        return np.cumsum(surrogate.gains(number)[order]) - surrogate.threshold(number)

    def stds(self) -> Floats:
        """Return the standard deviation of each gain."""
        return self.state.surrogate.stds(self.number)

    def frequency_gains(self) -> Floats:
        """Return the gain of each flip by the edge frequencies of the classes, relative to its cost."""
        return self._per_cost(self.state.surrogate.direction_gains(self.number, 1))

    def neighbour_gains(self) -> Floats:
        """Return the gain of each flip towards the nearest graphs of a wanted class, relative to its cost."""
        return self._per_cost(self.state.surrogate.own_direction_gains(self.number))

    def path_to_neighbours(self, embedding: Embedding, size: int, noise: Floats | float = 0.0) -> Flips:
        """Return flips that approach the nearest graphs of a wanted class in an embedding.

        ``noise`` is the share by which each gain is reduced.
        """
        known, (wanted, own) = self.state.known_vectors(embedding), self._class_masks()

        def adjust(gains: Floats) -> Floats:
            return self._per_cost(gains * (1.0 - noise))

        return path_to_neighbours(embedding, self.values, self.changes, known, wanted, own, size, adjust)

    def differences_to_counterfactuals(self, limit: int) -> list[Flips]:
        """Return the differences between the graph and the nearest counterfactuals of other graphs, nearest first."""
        others = [
            other.network.after(flips)
            for other, flips, label in self.state.counterfactuals.values()
            if counterfactual_labels(np.array([label]), self.label, self.target)[0]
        ]
        sizes = [np.count_nonzero(self.network.towards(other)) for other in others]
        return [np.flatnonzero(self.network.towards(others[k])) for k in np.argsort(sizes, kind="stable")[:limit]]

    def _class_masks(self) -> tuple[Bits, Bits]:
        """Return which of the known graphs are of a wanted class, and which are of the class of this graph."""
        labels = self.state.known_graphs().labels
        return counterfactual_labels(labels, self.label, self.target), labels == self.label

    def _per_cost(self, gains: Floats) -> Floats:
        """Divide gains by the relative costs, and set those of pairs that may not change to 0."""
        if self.limits.costs is not None:
            gains = gains / self.limits.costs * self.limits.costs.mean()
        return gains if self.limits.allowed is None else np.where(self.limits.allowed, gains, 0.0)

    def is_known(self, flips: Flips) -> bool:
        """Check whether a candidate was classified before in this search."""
        return _key(flips) in self._classified

    def can_skip(self, flips: Flips) -> bool:
        """Check whether a candidate needs no call: it was classified before or, with scores, it certainly fails."""
        if self.is_known(flips) or not self.uses_scores:
            return self.is_known(flips)
        surrogate = self.state.surrogate
        margin = surrogate.gains(self.number)[flips].sum() - surrogate.threshold(self.number)
        return bool(margin < -CERTAIN * surrogate.score_error)

    def learn(self, answer: Answer) -> None:
        """Learn from an answer."""
        self.n_calls += 1
        self._classified.add(_key(answer.asked))
        if answer.flipped and answer.label is not None:
            best = self.state.counterfactuals.get(self.number)
            if best is None or answer.asked.size < best[1].size:
                self.state.counterfactuals[self.number] = (self, answer.asked, answer.label)
        score = None if answer.score is None else log_odds(answer.score)
        self.state.surrogate.learn(self.number, answer.asked, answer.flipped, score)


def log_odds(score: float) -> float | None:
    """Return the log-odds of a probability; None if it is so near 0 or 1 that the log-odds are not known."""
    return math.log(score / (1 - score)) if SATURATED < score < 1 - SATURATED else None


def _key(flips: Flips) -> int:
    return hash(np.sort(flips).tobytes())


@dataclass(frozen=True, eq=False)
class LearnedTask(Task):
    """The task of a learned search: a task with a guide."""

    guide: Guide = field(kw_only=True)

    def observe(self, answer: Answer) -> None:
        """Learn from an answer."""
        self.guide.learn(answer)

    @property
    def settings(self) -> LearnedSettings:
        """The constants of the learned search."""
        return self.guide.state.settings

    @property
    def is_uninformed(self) -> bool:
        """Whether there are neither labelled graphs nor enough other graphs to learn from."""
        return self.reference is None and self.guide.state.is_single

    def patience(self, best: Flips) -> float:
        """Return the number of failures in a row after which a step ends: it grows with the number of changes."""
        return self.settings.patience + self.settings.patience_per_change * best.size
