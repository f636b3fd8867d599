"""GRABNEL, the score-based attack on graph classifiers of Wan et al. (NeurIPS 2021), in our own code.

The paper is "Adversarial Attacks on Graph Classification via Bayesian Optimisation". The algorithm and
the constants follow its repository, xingchenwan/grabnel, except for the differences below.

The attack changes one pair after the other. Each stage classifies some candidates with one change more, and keeps the
one with the highest score. The first candidates of a stage are random. The others maximise the expected improvement
of a Bayesian linear regression, by a genetic algorithm with mutations.

Differences from the paper:

- The features of the regression are the numbers of added and of removed edges of each ROI, and an indicator of each
  changed pair. The features of the paper, counts of Weisfeiler-Lehman labels, do not distinguish the ROIs, which have
  the same meaning in all our graphs. The prior variances are proportional to the mean squared effect of a change; the
  paper maximises the evidence.
- The paper ends at the first success, with 40 calls per change. Here the first attack has fewer calls per change. The
  attack is repeated, with fewer changes than the best result and twice as many calls per change, until the budget is
  spent. The regression keeps its data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import logit
from scipy.stats import norm

from countergraph.graphs.pairs import Bits, Floats, Indices, Label, Values, pair_ends, pair_position, roi_count
from countergraph.search.network import Layout
from countergraph.search.protocol import NO_FLIPS, Ask, Attempt, Flips, Reference, Search, Task

FIRST_CALLS_PER_CHANGE = 10
MAX_CHANGES = 0.03
"""The maximum number of changes of the first attack, divided by the square of the number of ROIs."""
N_RANDOM, BATCH_SIZE = 5, 5
"""The random candidates of each stage, and the candidates between two updates of the regression."""
PATIENCE = 200
"""An attack ends after this number of calls without a higher score."""
POPULATION, GENERATIONS, PARENTS = 100, 10, 3
ROI_VARIANCE, PAIR_VARIANCE, NOISE = 0.25, 0.5, 0.1
"""Variances of the effect of an ROI, of a pair, and of the errors, relative to the mean squared effect of a change."""
CLIP = 1e-12


@dataclass(frozen=True, eq=False)
class ScoredTask(Task):
    """A task with the score of the original graph."""

    score: float = 0.5


class ScoreState:
    """Shared state that shares nothing: the driver passes scores only to phases with shared state."""

    def __init__(self, layout: Layout, reference: Reference | None) -> None:
        pass

    def questions(self, searched: Sequence[Values], limit: int) -> Indices:
        """Return no graphs."""
        return NO_FLIPS

    def learn_classes(self, rows: Indices, labels: Sequence[Label]) -> None:
        """Do nothing."""

    def join(self, task: Task, score: float | None) -> ScoredTask:
        """Return the task with the score."""
        if score is None:
            raise ValueError("GRABNEL needs the option scores=True")
        return ScoredTask(**{each.name: getattr(task, each.name) for each in fields(task)}, score=score)


def grabnel(task: ScoredTask, start: Flips) -> Search:
    """Attack with fewer and fewer changes, and more and more calls per change."""
    regression = Regression(task.graph)
    most, calls_per_change = 1 + int(MAX_CHANGES * regression.n_rois**2), FIRST_CALLS_PER_CHANGE
    while most > 0:
        found = yield from _attack(task, regression, most, calls_per_change)
        if found is not None:
            most = found.size - 1
        calls_per_change *= 2


def _attack(task: ScoredTask, regression: Regression, most: int, calls_per_change: int) -> Attempt:
    """Change one pair per stage until the class changes; return None after ``most`` stages, or without progress."""
    base, value, failed = NO_FLIPS, _log_odds(task.score), 0
    for _ in range(most):
        allowed = np.ones(task.graph.size, dtype=np.bool_)
        allowed[base] = False
        effects = dict[int, float]()
        while len(effects) < min(calls_per_change, allowed.size - base.size):
            if effects:
                acquisition = regression.expected_improvement(max(effects.values()))
                batch = _maximise(np.where(allowed, acquisition, -np.inf), regression, task.rng)
            else:
                batch = task.rng.choice(np.flatnonzero(allowed), N_RANDOM, replace=False)
            for pair in batch:
                answer = yield Ask(np.append(base, pair))
                if answer.flipped:
                    return answer.asked
                assert answer.score is not None
                effects[int(pair)] = _log_odds(answer.score) - value
                regression.observe(pair, effects[int(pair)])
            allowed[batch] = False
        best = max(effects, key=effects.__getitem__)
        if effects[best] > 0:
            base, value, failed = np.append(base, best), value + effects[best], 0
        else:
            failed += len(effects)
        if failed > PATIENCE:
            return None
    return None


def _log_odds(score: float) -> float:
    return float(logit(np.clip(score, CLIP, 1 - CLIP)))


def _maximise(acquisition: Floats, regression: Regression, rng: np.random.Generator) -> Indices:
    """Return a batch of pairs with high values: a genetic algorithm that starts at random and at tested pairs."""
    tested = np.flatnonzero(regression.counts)
    parents = tested[np.argsort(-acquisition[tested])[:PARENTS]]
    population = np.append(rng.integers(acquisition.size, size=POPULATION // 2), parents)
    for _ in range(GENERATIONS):
        population = np.append(population, regression.mutate(rng.choice(parents, POPULATION // 2), rng))
        population = population[np.argsort(-acquisition[population])[:POPULATION]]
        parents = population[:PARENTS]
    distinct = np.unique(population[np.isfinite(acquisition[population])])
    return np.asarray(distinct[np.argsort(-acquisition[distinct])[:BATCH_SIZE]])


class Regression:
    """A Bayesian linear regression of the effect of one change: two ROIs, the pair, and an error."""

    def __init__(self, graph: Bits) -> None:
        self.n_rois = roi_count(graph.size)
        self.pair_rois = pair_ends(self.n_rois)
        # The first n features of an ROI are for additions, the others for removals.
        self.features = tuple(rois + self.n_rois * graph for rois in self.pair_rois)
        self.counts, self.totals, self.squares = np.zeros(graph.size), np.zeros(graph.size), CLIP

    def observe(self, pair: int, effect: float) -> None:
        """Add an answer."""
        self.counts[pair] += 1
        self.totals[pair] += effect
        self.squares += effect**2

    def expected_improvement(self, best: float) -> Floats:
        """Return the expected improvement over an effect, for each pair."""
        means, stds = self._predict()
        z = (means - best) / stds
        return np.asarray((means - best) * norm.cdf(z) + stds * norm.pdf(z))

    def _predict(self) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of the effect of each pair."""
        scale = self.squares / self.counts.sum()
        tested, (first, second) = np.flatnonzero(self.counts), self.features
        noise = NOISE * scale / self.counts[tested]
        observed, precisions = self.totals[tested] / self.counts[tested], 1 / (PAIR_VARIANCE * scale + noise)
        ends, size = (first[tested], second[tested]), 2 * self.n_rois
        crossed = np.bincount(ends[0] * size + ends[1], precisions, size**2).reshape(size, size)
        diagonal = sum(np.bincount(each, precisions, size) for each in ends) + 1 / (ROI_VARIANCE * scale)
        covariance = np.linalg.inv(crossed + crossed.T + np.diag(diagonal))
        at_rois = covariance @ sum(np.bincount(each, precisions * observed, size) for each in ends)
        means = at_rois[first] + at_rois[second]
        variances = covariance[first, first] + covariance[second, second] + 2 * covariance[first, second]
        # A tested pair: its own answers replace most of the prediction from its ROIs.
        share = PAIR_VARIANCE * scale * precisions
        means[tested] += share * (observed - means[tested])
        variances += PAIR_VARIANCE * scale
        variances[tested] = (1 - share) ** 2 * (variances[tested] - PAIR_VARIANCE * scale) + share * noise
        return means, np.sqrt(variances)

    def mutate(self, pairs: Indices, rng: np.random.Generator) -> Indices:
        """Replace one ROI of each pair by a random one."""
        first, second = self.pair_rois
        kept = np.where(rng.random(pairs.size) < 0.5, first[pairs], second[pairs])
        return pair_position(kept, (kept + rng.integers(1, self.n_rois, pairs.size)) % self.n_rois, self.n_rois)
