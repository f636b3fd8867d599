"""Bayesian probit regression of the effects of the changes of one graph.

The unknowns are the effect of each change and the distance of the graph to the decision boundary. Their joint
distribution is a Gaussian. A set of changes is a counterfactual if the sum of its effects, its *margin*, exceeds the
distance. In the prior, changes at the same ROI are correlated: positively for two additions or two removals, negatively
for one of each. All additions, and all removals, are also slightly correlated.

After each answer the exact posterior is replaced by the Gaussian with the same mean and covariance (assumed density
filtering). The covariance matrix is stored as the prior minus a low-rank part with one row per answer. The correlations
are needed because an answer about hundreds of changes determines their sum well, but each single effect only little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from countergraph.graphs.pairs import Bits, Floats, pair_ends, roi_count
from countergraph.search.protocol import Flips

MIN_VARIANCE = 1e-9
SQRT_TWO_PI = np.sqrt(2 * np.pi)
ROI_STD, SIDE_STD = 0.3, 0.1
"""The prior standard deviations of the effect that changes at an ROI, and all additions or removals, have in common.

That of the individual effect of a change is 1.
"""
INITIAL_CAPACITY = 64
"""The number of answers for which memory is allocated at first."""


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

    Parameters
    ----------
    flips
        The changes.
    graph
        The graph that they change.
    """

    def __init__(self, flips: Flips, graph: Bits) -> None:
        self.flips = flips
        self._column = np.empty(graph.size, dtype=np.intp)
        """The column of each pair that is one of the changes."""
        self._column[flips] = np.arange(flips.size)
        signs, n_rois = np.where(graph[flips], -1.0, 1.0), roi_count(graph.size)
        self._groups = np.zeros((3, flips.size + 1), dtype=np.intp)
        """The groups of each change: its two ROIs, and additions or removals. The distance, last, has loadings 0."""
        self._groups[:, :-1] = [*(ends[flips] for ends in pair_ends(n_rois)), n_rois + graph[flips]]
        self._loadings = np.zeros((3, flips.size + 1))
        self._loadings[:, :-1] = [ROI_STD * signs, ROI_STD * signs, SIDE_STD * np.ones(flips.size)]
        self._individual_variances = np.append(np.ones(flips.size), float(flips.size) ** 2)
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
