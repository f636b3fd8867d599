"""The surrogate model that the searches of one run share: a linear approximation of the black box.

The model has one weight for each class and pair. A positive weight means that the edge is evidence for the class. The
weights start as the difference between the edge frequencies of the classes. They are trained to rank: a counterfactual
of a graph must score above every candidate of the same graph that is not one. If an answer violates this, the weights
of the pairs in which the two candidates differ are updated, those with the largest variance most (AROW, Crammer et al.
2009, with a diagonal covariance). Candidates of one graph differ in few pairs, so an update is fast. All graphs use the
same weights, so each search uses the answers to the others.

Answers that contradict the shared weights for one graph only are fitted by its own `Deviation` from them.

With scores, any two candidates of a graph are compared, and the surrogate must separate them by at least the margin
that corresponds to the difference of their scores (see `calibration`). A larger margin is not corrected, because scores
saturate far from the decision boundary.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Label
from countergraph.search.learning.bandit import Bandit
from countergraph.search.learning.calibration import Calibration
from countergraph.search.learning.deviation import Basis, DeviationGate, principal_directions
from countergraph.search.learning.embeddings import ComponentEmbedding, Embedding
from countergraph.search.learning.smoothing import Smoother
from countergraph.search.protocol import Flips, Reference

MIN_GRAPHS = 5
"""The minimum number of different graphs of a joint run; with fewer, each graph is searched as a single graph."""
ENOUGH_CLASSIFIED = 10
"""The number of classified graphs of a class that replace the labelled graphs of this class (see `MIN_AGREEMENT`)."""
MIN_AGREEMENT = 0.95
"""The labelled graphs stay in use if the black box assigns more than this share of them to their label."""
N_COMPONENTS = 16
"""The number of principal directions in the component embedding."""
RECOMPUTE_FACTOR = 1.1
"""The initial weights are recomputed when the number of answers has grown by this factor."""


class SharedSurrogate:
    """The weights and other state that all searches of a run share.

    Parameters
    ----------
    n_pairs
        The number of pairs of a graph.
    reference
        Labelled graphs, from which the initial weights are computed.
    """

    def __init__(self, n_pairs: int, reference: Reference | None = None) -> None:
        self.n_pairs = n_pairs
        self.reference = reference
        self.start_bandit, self.proposal_bandit = Bandit(), Bandit()
        self.side_bias: dict[Label, float] = {}
        """For each class, by how much removals are more effective, and additions less, than their weights predict."""
        self.n_answers = 0
        self.found_any = False
        """Whether any search of the run has found a counterfactual."""
        self.calibration = Calibration()
        self.variance = np.ones(n_pairs)
        """The variance of each weight."""
        self.graphs: list[Bits] = []
        self.labels: list[Label] = []
        self.distinct: set[int] = set()
        """The hashes of the graphs of the run; a graph that is searched several times counts once."""
        self._class_counts: Counter[Label] = Counter()
        """The number of distinct graphs that the black box assigned to each class."""
        labelled = () if reference is None else zip(map(_key, reference.edges), reference.labels.tolist(), strict=True)
        self._label_of: dict[int, Label] = dict(labelled)
        self._agreement: Counter[bool] = Counter()
        """The number of labelled graphs that the black box assigned to their label (True) or not (False)."""
        self._learned: dict[Label, Floats] = {}
        """For each class, the sum of all updates of the weights."""
        self._initial: dict[Label, Floats] = {}
        self._smoothed: dict[Label, Floats] = {}
        self._edge_counts: dict[Label, Floats] = {}
        self._smooth = Smoother(n_pairs)
        self._scratch = np.zeros(n_pairs)
        self._computed_at = -1.0
        """The number of answers when the initial weights were computed."""
        self._known = reference
        self._vectors: dict[Embedding, Floats] = {}
        self._basis: Basis | None = None
        self._component_embedding: Embedding | None = None
        self.deviation_gate = DeviationGate()
        for label in () if reference is None else reference.counts:
            self._add_class(label)

    def add_graph(self, graph: Bits, label: Label, target: Label | None) -> None:
        """Add a graph that is searched, with the class that the black box assigned to it."""
        self.graphs.append(graph)
        self.labels.append(label)
        self._add_class(label)
        if (key := _key(graph)) not in self.distinct:
            self.distinct.add(key)
            self._class_counts[label] += 1
            if key in self._label_of:
                self._agreement[self._label_of[key] == label] += 1
            self._edge_counts[label] += graph
        if target is not None:
            self._add_class(target)

    def _add_class(self, label: Label) -> None:
        if label not in self._learned:
            for table in (self._learned, self._initial, self._edge_counts):
                table[label] = np.zeros(self.n_pairs)

    def is_one_of_several(self, label: Label | None) -> bool:
        """Check whether a class is known, and there are at least two other known classes."""
        return label in self._learned and len(self._learned) > 2

    def random_other_class(self, label: Label, rng: np.random.Generator) -> Label:
        """Return a random known class other than ``label``."""
        others = [each for each in self._learned if each != label]
        return others[rng.integers(len(others))]

    def weights(self, label: Label, pairs: Flips | slice = slice(None)) -> Floats:
        """Return the weights of a class at some pairs: the evidence of each edge for the class."""
        if self.n_answers > RECOMPUTE_FACTOR * self._computed_at:
            self._compute_initial()
        return self._initial[label][pairs] + self._learned[label][pairs]

    def learn(self, label: Label, target: Label | None, pairs: Flips, step: Floats, precision: float) -> None:
        """Update some weights by ``step`` times their variance: down for a class, up for the target or all others."""
        variance = self.variance[pairs]
        step = step * variance
        others = [each for each in self._learned if each != label] if target is None else [target]
        self._learned[label][pairs] -= step
        for other in others:
            self._learned[other][pairs] += step / len(others)
        self.variance[pairs] = variance * (1 - precision * variance)

    def known_graphs(self) -> Reference:
        """Return the graphs whose class is known: those of the reference or, without one, those of the run so far."""
        if self._known is None or (self.reference is None and len(self._known.labels) < len(self.graphs)):
            self._known = Reference(np.array(self.graphs), np.array(self.labels))
            self._vectors.clear()
        return self._known

    def known_vectors(self, embedding: Embedding) -> Floats:
        """Return the vectors of the known graphs in an embedding."""
        known = self.known_graphs()
        if embedding not in self._vectors:
            self._vectors[embedding] = np.array([embedding.vector(embedding.state(graph)) for graph in known.edges])
        return self._vectors[embedding]

    def basis(self) -> Basis:
        """Return the principal directions of the graphs that are known at the first call."""
        if self._basis is None:
            self._basis = principal_directions(self.known_graphs().edges)
        return self._basis

    def component_embedding(self) -> Embedding:
        """Return the embedding by the first `N_COMPONENTS` principal directions."""
        if self._component_embedding is None:
            self._component_embedding = ComponentEmbedding(np.ascontiguousarray(self.basis()[:, :N_COMPONENTS]))
        return self._component_embedding

    def signed_difference(self, first: Flips, second: Flips) -> tuple[Flips, Floats]:
        """Return the pairs in exactly one of two sets, with the sign 1 for the first set and -1 for the second."""
        both = np.concatenate([first, second])
        self._scratch[first] += 1
        self._scratch[second] -= 1
        signs = self._scratch[both]
        self._scratch[both] = 0
        different = signs.nonzero()[0]
        return both[different], signs[different]

    def _compute_initial(self) -> None:
        """Compute the initial weights: differences of edge frequencies plus, for uncertain pairs, smoothed weights.

        The smoothing uses, for half of the variance of a pair, its last smoothed weight instead of the current one, as
        in matrix completion: a pair without any answer must not count as an observation of zero. This is not done if
        deviations are enabled, because the graphs then have different weights.
        """
        self._computed_at = self.n_answers
        frequencies = {label: self._edge_frequencies(label) for label in self._learned}
        mean = np.mean([each for each in frequencies.values() if each is not None], axis=0)
        contrasts = {label: 0 * mean if each is None else each - mean for label, each in frequencies.items()}
        scale = max(_rms_of_largest(each) for each in contrasts.values()) or 1.0
        for label, contrast in contrasts.items():
            scaled = contrast / scale
            current = scaled + self._learned[label]
            last = current if self.deviation_gate.enabled else self._smoothed.get(label, current)
            self._smoothed[label] = self._smooth(current + self.variance / 2 * (last - current))
            self._initial[label] = scaled + self.variance * self._smoothed[label]

    @property
    def _agrees_with_labels(self) -> bool:
        """Whether the black box assigns almost all labelled graphs to the class of their label."""
        return self._agreement[True] > MIN_AGREEMENT * self._agreement.total()

    def _edge_frequencies(self, label: Label) -> Floats | None:
        """Return the share of graphs of a class that have each edge; None if the class has no graph.

        The class of a graph is that of the black box or, as long as labelled graphs are in use, its label.
        """
        counts, n_graphs = self._edge_counts[label], self._class_counts[label]
        reference = self.reference
        use_labels = n_graphs < ENOUGH_CLASSIFIED or self._agrees_with_labels
        if reference is not None and label in reference.counts and use_labels:
            counts, n_graphs = counts + reference.counts[label], n_graphs + int((reference.labels == label).sum())
        return counts / n_graphs if n_graphs else None


def _key(graph: Bits) -> int:
    return hash(graph.tobytes())


def _rms_of_largest(weights: Floats) -> float:
    """Return the root mean square of the 2% of weights that are largest in absolute value."""
    n_largest = max(1, weights.size // 50)
    largest = np.partition(weights**2, -n_largest)[-n_largest:]
    return float(np.sqrt(largest.mean()))
