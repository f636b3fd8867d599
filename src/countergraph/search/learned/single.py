"""A single graph without data: random sets of growing size, random shrinking, and Bayesian shrinking.

Bayesian shrinking proposes the smallest set of changes whose predicted probability of success is one half. It is
efficient if hundreds of changes have a small effect each: half of the answers are better counterfactuals, and all of
them improve the estimate of the effects. If most changes have no effect, random shrinking needs fewer calls.

Its surrogate is a probit regression with a full covariance matrix of the effects of the changes of this graph, updated
after each answer: one search has too few answers for the shared surrogate, but the correlations are worth much here,
because an answer about hundreds of changes determines their sum well, and each single effect only little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from countergraph.graphs.pairs import Bits, Floats
from countergraph.search.learned.experts import BIAS, degree_contrast
from countergraph.search.learned.state import LearnedTask
from countergraph.search.network import Layout
from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import bisect
from countergraph.search.protocol import Ask, Attempt, Flips, Part, observed

GROWTH = 1.3
"""The ratio of the sizes of two successive random sets."""
MAX_BIASED_SIZE = 16
"""Sets of at most this size are drawn with a degree bias, larger ones uniformly."""
MAX_PROBES = 1000
"""The number of random sets of any size to classify if nothing else has changed the class."""
CHUNK_GROWTH, CHUNK_SHRINKAGE = 1.5, 0.75
"""The factors of the chunk size after a success and a failure; in equilibrium two of five calls succeed."""
MIN_CHUNK = 0.01
"""The smallest chunk, as a share of the remaining changes."""
LARGE_CHUNK = 0.1
"""Random shrinking is followed by Bayesian shrinking when its chunks are smaller than this share of the changes."""
SMALL = 20
"""For at most this many changes, Bayesian shrinking is skipped."""
EXPLORATION = 0.2
"""The standard deviation of the noise on the effects, relative to their uncertainty."""
BAYESIAN_PATIENCE, BAYESIAN_PATIENCE_PER_CHANGE = 4, 0.07
"""The number of failures in a row after which the search ends: the minimum, and per change of the best."""
MIN_PROBABILITY, MAX_REPEATS = 0.8, 3
"""The surrogate must predict the success of the best with this probability; its answer is repeated at most so often."""
POOL_FACTOR = 3
"""The size of the pool of changes, relative to the best counterfactual."""
RESTRICT_AFTER = 20
"""After this many failures in a row, only changes of the best are used.

Random shrinking may have found a counterfactual that is better than the surrogate predicts.
"""
MIN_VARIANCE = 1e-9
SQRT_TWO_PI = np.sqrt(2 * np.pi)
ROI_STD, SIDE_STD = 0.3, 0.1
"""The prior standard deviations of the effect that changes at an ROI, and all additions or removals, have in common.

That of the individual effect of a change is 1.
"""
INITIAL_CAPACITY = 64
"""The number of answers for which memory is allocated at first."""


def probe_growing_sets(task: LearnedTask) -> Attempt:
    """Classify random sets of slowly growing size, small ones with a degree bias.

    The sizes grow slowly, and each set is new. So a black box whose class changes easily gets many candidates close to
    the graph. For any other black box this takes about ten additional calls.
    """
    size = 1.0
    while True:
        biases = (BIAS, -BIAS) if size <= MAX_BIASED_SIZE else (0.0,)
        for bias in biases:
            flips = degree_contrast(task, bias) if bias else random_order(task)
            if flips.size and (yield Ask(flips[: int(size)])).flipped:
                return flips[: int(size)]
        if flips.size <= size:
            return None
        size = max(GROWTH * size, size + 1)


def probe_all_sizes(task: LearnedTask) -> Attempt:
    """Classify random sets with random shares of the additions and removals; bisect the first counterfactual.

    If no search of the run has found a counterfactual, the searches share `MAX_PROBES` among them.
    """
    state = task.guide.state
    for _ in range(int(MAX_PROBES if state.counterfactuals else MAX_PROBES / state.n_searches)):
        parts = [pool[task.rng.random(pool.size) < task.rng.random()] for pool in (task.additions, task.removals)]
        candidate = task.rng.permutation(np.concatenate(parts))
        if candidate.size and (yield Ask(candidate)).flipped:
            return (yield from bisect(candidate))
    return None


def shrink(task: LearnedTask, flips: Flips) -> Part:
    """Apply random shrinking and, in a search without any data, Bayesian shrinking if many changes remain."""
    if not task.is_uninformed:
        return (yield from random_shrinking(task, flips))
    surrogate = ProbitSurrogate(
        flips, task.graph, np.abs(task.guide.changes[flips]).astype(np.float64), task.network.layout
    )
    shrinking = random_shrinking(task, flips, LARGE_CHUNK)
    best = yield from observed(shrinking, lambda answer: surrogate.learn(answer.asked, answer.flipped))
    return best if best.size <= SMALL else (yield from bayesian_shrinking(task, surrogate, best))


def random_shrinking(task: LearnedTask, flips: Flips, min_chunk: float = 0.0) -> Part:
    """Undo random chunks until too many attempts in a row have failed; small gains and high costs are preferred.

    Also stop if the chunks that can be undone are smaller than ``min_chunk``, a share of the remaining changes.
    """
    chunk, failed = max(flips.size / 4, 1.0), 0
    while flips.size > 1 and failed < task.patience(flips) and chunk >= min_chunk * flips.size:
        gains = task.guide.gains()[flips]
        keys = gains / (gains.std() or 1.0) + task.rng.standard_normal(flips.size)
        if task.limits.costs is not None:
            keys -= np.log(task.limits.costs[flips])
        candidate = task.apply_limits_reversed(flips[np.argsort(keys)][int(chunk) :])
        if (yield Ask(candidate)).flipped:
            flips, chunk, failed = candidate, min(CHUNK_GROWTH * chunk, candidate.size / 2), 0
        else:
            chunk, failed = max(CHUNK_SHRINKAGE * chunk, MIN_CHUNK * flips.size, 1.0), failed + 1
    return flips


def bayesian_shrinking(task: LearnedTask, surrogate: ProbitSurrogate, best: Flips) -> Part:
    """Propose the changes with the largest estimated effects until too many proposals in a row have failed."""
    failed = 0
    while best.size > 1 and failed < max(BAYESIAN_PATIENCE, BAYESIAN_PATIENCE_PER_CHANGE * best.size):
        candidate = _propose(task, surrogate, best)
        if not candidate.size:
            failed += 1
            continue
        flipped = (yield Ask(candidate)).flipped
        surrogate.learn(candidate, flipped)
        if flipped:
            best, failed = candidate, 0
            _reduce_pool(surrogate, best)
        else:
            failed += 1
            if failed == RESTRICT_AFTER:
                surrogate.restrict_to(best)
            _repeat_success(surrogate, best)
    return best


def _propose(task: LearnedTask, surrogate: ProbitSurrogate, best: Flips) -> Flips:
    """Return the shortest prefix of the changes by sampled effect with a positive margin; if none, all below best."""
    effects = surrogate.means + EXPLORATION * surrogate.stds * task.rng.standard_normal(surrogate.flips.size)
    if task.limits.costs is not None:
        effects = effects / task.limits.costs[surrogate.flips]
    order = task.limits.prefix_below(task.alternate(surrogate.flips[np.argsort(-effects)]), best)
    positive = surrogate.margins(order) > 0
    size = 1 + int(positive.argmax()) if positive.any() else order.size
    return task.apply_limits(order[: size + size % 2 if task.limits.keep_edges else size])


def _repeat_success(surrogate: ProbitSurrogate, best: Flips) -> None:
    """Learn the success of the best again while its predicted probability is too low.

    The Gaussian approximation loses information, so that many failures may contradict an earlier success.
    """
    for _ in range(MAX_REPEATS):
        if surrogate.probability(best) >= MIN_PROBABILITY:
            break
        surrogate.learn(best, True)


def _reduce_pool(surrogate: ProbitSurrogate, best: Flips) -> None:
    """Drop the changes with the smallest estimated effects if the pool is large relative to the best."""
    if surrogate.flips.size > (POOL_FACTOR + 1) * best.size:
        order = surrogate.flips[np.argsort(-surrogate.means)]
        others = order[~np.isin(order, best)]
        surrogate.restrict_to(np.concatenate([best, others[: (POOL_FACTOR - 1) * best.size]]))


class _Prediction(NamedTuple):
    """The predicted margin of a set of changes, minus the distance to the boundary."""

    row: Floats
    """The set as a vector: 1 for its changes, 0 for the others and, as the last entry, -1 for the distance."""
    group_sums: Floats
    """The sum of the loadings of the set on each group: the ROIs, additions, removals."""
    projections: Floats
    """The inner product of the set with the low-rank row of each answer."""
    mean: float
    std: float


class ProbitSurrogate:
    """The distribution of the effects of some changes, which together are a counterfactual.

    The unknowns are the effect of each change and the distance of the graph to the decision boundary. Their joint
    distribution is a Gaussian. In the prior, changes at the same ROI are correlated: positively for two additions or
    two removals, negatively for one of each. All additions, and all removals, are also slightly correlated. After each
    answer the exact posterior is replaced by the Gaussian with the same mean and covariance (assumed density
    filtering). The covariance matrix is stored as the prior minus a low-rank part with one row per answer.

    Parameters
    ----------
    flips
        The changes.
    graph
        The graph that they change.
    amounts
        The change of the value of each pair, as a positive number; 1 for each pair of a graph.
    layout
        The two ends of each pair.
    """

    def __init__(self, flips: Flips, graph: Bits, amounts: Floats, layout: Layout) -> None:
        self.flips = flips
        self._column = np.empty(graph.size, dtype=np.intp)
        """The column of each pair that is one of the changes."""
        self._column[flips] = np.arange(flips.size)
        signs, n_rois = np.where(graph[flips], -1.0, 1.0), layout.n_ends
        self._groups = np.zeros((3, flips.size + 1), dtype=np.intp)
        """The groups of each change: its two ROIs, and additions or removals. The distance, last, has loadings 0."""
        self._groups[:, :-1] = [*(ends[flips] for ends in layout), n_rois + graph[flips]]
        self._loadings = np.zeros((3, flips.size + 1))
        self._loadings[:, :-1] = [ROI_STD * signs * amounts, ROI_STD * signs * amounts, SIDE_STD * amounts]
        self._individual_variances = np.append(amounts**2, float(flips.size) ** 2)
        """The prior variances of the individual effects and, as the last entry, of the distance to the boundary."""
        self._means = np.zeros(flips.size + 1)
        self._variances = self._individual_variances + (self._loadings**2).sum(axis=0)
        self._low_rank = np.zeros((INITIAL_CAPACITY, flips.size + 1))
        """One row per answer; the posterior covariance is the prior covariance minus ``rows.T @ rows``."""
        self._n_answers = 0
        self.learn(flips, True)
        self.learn(flips[:0], False)

    @property
    def means(self) -> Floats:
        """The expected effect of each change."""
        return self._means[:-1]

    @property
    def stds(self) -> Floats:
        """The standard deviation of the effect of each change."""
        return np.asarray(np.sqrt(np.maximum(self._variances[:-1], 0)))

    def learn(self, flips: Flips, flipped: bool) -> None:
        """Learn whether a set of changes is a counterfactual."""
        prediction = self._predict(flips)
        group_covariances = (self._loadings * prediction.group_sums[self._groups]).sum(axis=0)
        covariances = (
            self._individual_variances * prediction.row
            + group_covariances
            - prediction.projections @ self._low_rank[: self._n_answers]
        )
        sign = 1 if flipped else -1
        z = sign * prediction.mean / prediction.std
        hazard = np.exp(-z * z / 2 - log_ndtr(z)) / SQRT_TWO_PI
        self._means += sign * hazard / prediction.std * covariances
        self._append(np.sqrt(hazard * (hazard + z)) / prediction.std * covariances)

    def _predict(self, flips: Flips) -> _Prediction:
        row = np.zeros(self._means.size)
        row[self._column[flips]], row[-1] = 1, -1
        group_sums, projections = self._group_sums(row), self._low_rank[: self._n_answers] @ row
        variance = self._individual_variances @ row**2 + group_sums @ group_sums - projections @ projections
        std = max(float(variance), MIN_VARIANCE) ** 0.5
        return _Prediction(row, group_sums, projections, float(row @ self._means), std)

    def _group_sums(self, row: Floats) -> Floats:
        return np.asarray(np.bincount(self._groups.ravel(), (self._loadings * row).ravel()), dtype=np.float64)

    def _append(self, row: Floats) -> None:
        """Append a row to the low-rank part of the covariance."""
        if self._n_answers == len(self._low_rank):
            self._low_rank = np.concatenate([self._low_rank, np.zeros_like(self._low_rank)])
        self._low_rank[self._n_answers] = row
        self._variances -= row**2
        self._n_answers += 1

    def probability(self, flips: Flips) -> float:
        """Return the probability that a set of changes is a counterfactual."""
        prediction = self._predict(flips)
        return float(ndtr(prediction.mean / prediction.std))

    def margins(self, order: Flips) -> Floats:
        """Return the expected margin of each prefix of an order, minus the distance to the boundary.

        If it is positive, the prefix is a counterfactual with a probability above one half.
        """
        return np.asarray(np.cumsum(self._means[self._column[order]]) - self._means[-1])

    def restrict_to(self, kept: Flips) -> None:
        """Drop all other changes; the distribution of the kept ones stays the same."""
        columns = np.append(self._column[kept], -1)
        self.flips = kept
        self._column[kept] = np.arange(kept.size)
        self._means, self._variances = self._means[columns], self._variances[columns]
        self._individual_variances = self._individual_variances[columns]
        self._groups, self._loadings = self._groups[:, columns], self._loadings[:, columns]
        self._low_rank = self._low_rank[:, columns]
