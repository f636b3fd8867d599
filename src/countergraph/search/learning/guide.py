"""The surrogate model as the search of one graph uses it: the shared weights and the answers to this search."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Label
from countergraph.search.learning.calibration import log_odds
from countergraph.search.learning.deviation import Deviation
from countergraph.search.learning.embeddings import Embedding, path_to_neighbours
from countergraph.search.learning.neighbours import neighbour_gains
from countergraph.search.learning.surrogate import MIN_GRAPHS, SharedSurrogate
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.protocol import NO_FLIPS, Answer, Flips, Reference, Task, counterfactual_labels

MARGIN = 0.5
"""The margin by which a counterfactual must score above a candidate that is not one."""
NOISE = 1.0
"""The variance of the noise of an answer (the regularisation parameter of AROW)."""
SIDE_BIAS_RATE = 0.05
"""The share of a successful trial bias that is added to the side bias of the run."""
N_COMPARED = 3
"""The number of latest candidates of each kind with which a new one is compared: they are closest to the boundary."""


class Guide:
    """The surrogate model for the search of one graph.

    Parameters
    ----------
    shared
        The surrogate that all searches of the run share.
    graph, label
        The original graph, and the class that the black box assigned to it.
    target
        The class to reach; None for any other class.
    limits
        The constraints on a counterfactual.
    score
        The probability of the classes to reach for the original graph, if scores are used.
    """

    def __init__(
        self,
        shared: SharedSurrogate,
        graph: Bits,
        label: Label,
        target: Label | None,
        limits: Limits = NO_LIMITS,
        score: float | None = None,
    ) -> None:
        shared.add_graph(graph, label, target)
        self.shared, self.graph, self.label, self.target, self.limits = shared, graph, label, target, limits
        self.start_bandit, self.proposal_bandit = shared.start_bandit, shared.proposal_bandit
        self.n_calls = 0
        self.trial_bias = 0.0
        """The side bias of the latest proposal in addition to that of the run."""
        self._reached: Label | None = None
        """The class of the latest counterfactual."""
        self._sides = np.where(graph, -1.0, 1.0)
        """The side of each flip: 1 for an addition, -1 for a removal."""
        self._classified: set[int] = set()
        self._flipped: deque[Flips] = deque(maxlen=N_COMPARED)
        self._failed: deque[Flips] = deque(maxlen=N_COMPARED)
        self._scored: deque[tuple[Flips, float]] = deque(maxlen=N_COMPARED)
        self._flipped_score: float | None = None
        """The score (log-odds) of the latest counterfactual."""
        self._highest_failed_score = -np.inf
        if score is not None:
            self._highest_failed_score = log_odds(score)
            self._scored.append((NO_FLIPS, self._highest_failed_score))
        self._neighbour_gains: Floats | None = None
        self._deviation: Deviation | None = None

    def gains(self) -> Floats:
        """Return the estimated gain of each flip: its effect towards the wanted class, relative to its cost."""
        return self._gains(self._towards)

    def gains_to_random_class(self, rng: np.random.Generator) -> Floats:
        """Return the gains towards a random class; if there are only two classes, or a target, as `gains` does."""
        several = self.target is None and self.shared.is_one_of_several(self.label)
        return self._gains(self.shared.random_other_class(self.label, rng) if several else self._towards)

    def _gains(self, towards: Label | None) -> Floats:
        effects = self._effects(slice(None), towards)
        return self._per_cost(self._with_side_bias(effects, self.shared.side_bias.get(self.label, 0.0)))

    def gains_with_trial_bias(self, bias: float) -> Floats:
        """Return the gains with an additional side bias: if ``bias`` is positive, removals gain more, additions less.

        The bias is stored, so that `reinforce_trial_bias` can add a part of it to the side bias of the run.
        """
        self.trial_bias = bias
        return self._with_side_bias(self.gains(), bias)

    def _with_side_bias(self, gains: Floats, bias: float) -> Floats:
        return gains * np.exp(-bias * self._sides) if bias else gains

    def reinforce_trial_bias(self) -> None:
        """Move the side bias of the run towards the trial bias, after a proposal with it was successful."""
        if self.trial_bias:
            bias = self.shared.side_bias
            bias[self.label] = bias.get(self.label, 0.0) + SIDE_BIAS_RATE * self.trial_bias

    def _per_cost(self, gains: Floats) -> Floats:
        """Divide gains by the relative costs, and set those of pairs that may not change to 0."""
        if self.limits.costs is not None:
            gains = gains / self.limits.costs * self.limits.costs.mean()
        return gains if self.limits.allowed is None else np.where(self.limits.allowed, gains, 0.0)

    def _effects(self, pairs: Flips | slice, towards: Label | None) -> Floats:
        """Return the estimated effects of flips, including the deviation of this graph if deviations are enabled."""
        weights = self._class_contrast(pairs, towards)
        if self._deviation is not None and self.shared.deviation_gate.enabled:
            weights = weights + self._deviation.weights(pairs)
        return self._sides[pairs] * weights

    def _class_contrast(self, pairs: Flips | slice, towards: Label | None) -> Floats:
        """Return the shared weights of edges against the graph's class and for ``towards``."""
        contrast = -self.shared.weights(self.label, pairs)
        return contrast if towards is None else (contrast + self.shared.weights(towards, pairs)) / 2

    @property
    def _towards(self) -> Label | None:
        """The class to approach: the target or, if there are several other classes, the one reached last."""
        return self._reached if self.target is None and self.shared.is_one_of_several(self._reached) else self.target

    def stds(self) -> Floats:
        """Return the standard deviation of each shared weight."""
        return np.sqrt(self.shared.variance)

    def neighbour_gains(self) -> Floats:
        """Return the gain of each flip towards the nearest graphs of a wanted class, relative to its cost."""
        if self._neighbour_gains is None:
            gains = neighbour_gains(self.graph, self.shared.known_graphs().edges, *self._class_masks())
            self._neighbour_gains = self._per_cost(gains)
        return self._neighbour_gains

    @property
    def component_embedding(self) -> Embedding:
        """The embedding by the principal directions of the known graphs."""
        return self.shared.component_embedding()

    def path_to_neighbours(self, embedding: Embedding, size: int, noise: Floats | float = 0.0) -> Flips:
        """Return flips that approach the nearest graphs of a wanted class in an embedding.

        ``noise`` is the share by which each gain is reduced; see `embeddings.path_to_neighbours`.
        """
        known, (wanted, own) = self.shared.known_vectors(embedding), self._class_masks()

        def adjust(gains: Floats) -> Floats:
            return self._per_cost(gains * (1.0 - noise))

        return path_to_neighbours(embedding, self.graph, known, wanted, own, size, adjust)

    def _class_masks(self) -> tuple[Bits, Bits]:
        """Return which of the known graphs are of a wanted class, and which are of the class of this graph."""
        labels = self.shared.known_graphs().labels
        return counterfactual_labels(labels, self.label, self.target), labels == self.label

    @property
    def probing_share(self) -> float:
        """The share of the random probes of a run that this search may use: all, once any search was successful."""
        return 1.0 if self.shared.found_any else 1 / len(self.shared.graphs)

    @property
    def is_single(self) -> bool:
        """Whether the run has too few different graphs to learn from; repeated runs of one graph do not count."""
        return len(self.shared.distinct) < MIN_GRAPHS

    def set_limits(self, limits: Limits) -> None:
        """Use other constraints from now on."""
        self.limits, self._neighbour_gains = limits, None

    def untrained(self) -> Guide:
        """Return a new guide for the same graph, with its own surrogate instead of the shared one."""
        return Guide(SharedSurrogate(self.shared.n_pairs), self.graph, self.label, self.target, self.limits)

    def is_known(self, flips: Flips) -> bool:
        """Check whether a candidate was classified before in this search."""
        return _key(flips) in self._classified

    def can_skip(self, flips: Flips) -> bool:
        """Check whether a candidate needs no call.

        It was classified before or, if scores are used, it almost certainly scores below a candidate that is not a
        counterfactual.
        """
        if self.is_known(flips) or self._flipped_score is None:
            return self.is_known(flips)
        pairs, signs = self.shared.signed_difference(flips, self._flipped[-1])
        margin, gap = (
            float(self._effects(pairs, self._towards) @ signs),
            self._highest_failed_score - self._flipped_score,
        )
        return self.shared.calibration.is_surely_below(margin, gap, pairs.size)

    def learn(self, answer: Answer) -> None:
        """Learn from an answer: compare the candidate with the latest ones of this graph that have the other result."""
        flips = answer.asked
        self.n_calls += 1
        self.shared.n_answers += 1
        self._classified.add(_key(flips))
        if answer.flipped:
            self.shared.found_any = True
            self._reached = answer.label
            self._flipped.append(flips)
            for failed in self._failed:
                self._rank_above(flips, failed)
        else:
            self._failed.append(flips)
            for flipped in self._flipped:
                self._rank_above(flipped, flips)
        if answer.score is not None:
            score = log_odds(answer.score)
            if answer.flipped:
                self._flipped_score = score
            else:
                self._highest_failed_score = max(self._highest_failed_score, score)
            self._learn_score(flips, score)

    def _learn_score(self, flips: Flips, score: float) -> None:
        """Learn from a score: compare the candidate with the latest ones; the higher score must have the margin."""
        for other, other_score in self._scored:
            gap = abs(score - other_score)
            higher, lower = (flips, other) if score > other_score else (other, flips)
            pairs, signs = self.shared.signed_difference(higher, lower)
            self.shared.calibration.update(gap, float(self._effects(pairs, self._towards) @ signs), pairs.size)
            self._rank_above(higher, lower, self.shared.calibration.to_margin(gap))
        self._scored.append((flips, score))

    def _rank_above(self, higher: Flips, lower: Flips, required: float = MARGIN) -> None:
        """Update the weights so that one candidate scores above another by the required margin (AROW).

        If deviations are enabled, the shared weights and the deviation are updated together. Otherwise the shared
        weights are updated first, and the deviation is fitted to the remaining error.
        """
        pairs, signs = self.shared.signed_difference(higher, lower)
        signs *= self._sides[pairs]
        shared_margin, own_margin = float(signs @ self._class_contrast(pairs, self._towards)), 0.0
        if self._deviation is not None:
            own_margin = float(signs @ self._deviation.weights(pairs))
            self.shared.deviation_gate.update(shared_margin, own_margin)
        joint = self.shared.deviation_gate.enabled
        if shared_margin + joint * own_margin >= required:
            return
        deviation = self._deviation = self._deviation or Deviation(self.shared.basis())
        covariances, own_variance = deviation.covariances(pairs, signs)
        shared_variance = float(self.shared.variance[pairs].sum())
        error = required - shared_margin - joint * own_margin
        precision = 1 / (shared_variance + joint * own_variance + NOISE)
        self.shared.learn(self.label, self._towards, pairs, error * precision * signs, precision)
        if not joint:
            error -= error * precision * shared_variance + own_margin
            precision = 1 / (own_variance + NOISE)
        deviation.learn(covariances, error * precision, precision)


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
    def is_uninformed(self) -> bool:
        """Whether there are neither labelled graphs nor enough other graphs to learn from."""
        return self.reference is None and self.guide.is_single


class LearnedState:
    """The surrogate that the learned searches of a run share (see `SharedState`)."""

    def __init__(self, n_pairs: int, reference: Reference | None) -> None:
        self.surrogate = SharedSurrogate(n_pairs, reference)

    def join(self, task: Task, score: float | None) -> GuidedTask:
        """Add a guide to the task of one search."""
        guide = Guide(self.surrogate, task.graph, task.label, task.target, task.limits, score)
        return GuidedTask(**{each.name: getattr(task, each.name) for each in fields(task)}, guide=guide)
