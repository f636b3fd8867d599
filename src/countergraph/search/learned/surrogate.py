"""The surrogate model: hierarchical Bayesian logistic regression of the answers, shared by all searches of a run.

The *margin* of a candidate is the log-odds that it is a counterfactual. It is a linear function of the flips, with
these coefficients, all with Gaussian priors:

- a weight per pair, shared by all graphs: the edge is evidence for or against a class,
- an effect per ROI and direction (additions or removals at this ROI), shared by the graphs of one class,
- the same for each graph,
- a weight per expert direction (see `directions`): how far it predicts the answers,
- an offset per graph: its distance to the decision boundary.

The few ROI effects are learned first, the thousands of pair weights later. The posterior mode is computed again each
time the number of answers has grown by a fixed factor.

Classes: the weights of a *class vector* are evidence against one class, and for all others. Two classes share one class
vector, with opposite signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from countergraph.graphs.pairs import Bits, Floats, Indices, Values
from countergraph.search.learned.regression import Answers, fit
from countergraph.search.learned.settings import LearnedSettings
from countergraph.search.network import Layout

SCORE_RANGE = 3.0
"""The scores are scaled to this root mean square."""


@dataclass(eq=False)
class _Graph:
    """What the surrogate stores about a graph."""

    decreases: Bits
    """Which flips are removals."""
    group: int
    """The graphs of one group have the same class and target."""
    vector: int
    """The number of the class vector."""
    changes: Values
    """The change of the value of each pair by its flip, multiplied by -1 if the search moves against the class vector.

    For a graph, 1 if a flip adds evidence of the class vector, and -1 if it removes it.
    """
    direction: NDArray[np.float16]
    """The gain of each flip in the graph's own expert direction."""
    gains: NDArray[np.float32] | None = None
    version: int = -1
    """The version of the surrogate that the gains belong to."""


class _Answer(NamedTuple):
    graph: int
    flips: Indices
    value: float
    scored: bool


class Surrogate:
    """The surrogate model.

    Parameters
    ----------
    layout
        The two ends of each pair.
    settings
        The constants of the learned search.
    """

    def __init__(self, layout: Layout, settings: LearnedSettings) -> None:
        self.n_pairs, self.settings = layout.size, settings
        self.n_answers, self._n_fitted, self._version = 0, 0, 0
        self.score_error = np.inf
        """The root mean square error of scores predicted before they were known, in units of the margin."""
        self._graphs: list[_Graph] = []
        self._new: list[_Answer] = []
        self._directions: list[Floats] = []
        """The expert directions (class vectors, pairs), in the space of the edges."""
        self._rows = _Rows(layout)
        n_effects = self._rows.n_effects
        self._pair_weights = np.zeros((0, self.n_pairs))
        self._roi_effects, self._own_roi_effects = np.zeros((0, n_effects)), np.zeros((0, n_effects))
        self._expert_weights = np.zeros(1)
        self._offsets = np.zeros(0)
        self._stds = np.zeros((0, self.n_pairs))

    def set_directions(self, directions: list[Floats]) -> None:
        """Set the expert directions (class vectors, pairs), the discriminative one first."""
        self._directions = directions
        if self._expert_weights.size != len(directions) + 1:
            self._expert_weights = self._expert_prior()
        self._version += 1

    def add_graph(self, changes: Values, group: int, vector: int, sign: int, direction: Floats) -> int:
        """Add a graph and return its number.

        Parameters
        ----------
        changes
            The change of the value of each pair by its flip; for a graph, 1 for an addition and -1 for a removal.
        group
            The graphs of one group have the same class and target.
        vector, sign
            The class vector, and whether the search moves along it (1) or against it (-1).
        direction
            The gain of each flip in the graph's own expert direction.
        """
        signed = (sign * changes).astype(changes.dtype)
        self._graphs.append(_Graph(changes < 0, group, vector, signed, direction.astype(np.float16)))
        return len(self._graphs) - 1

    def learn(self, graph: int, flips: Indices, flipped: bool, log_odds: float | None = None) -> None:
        """Learn whether a candidate is a counterfactual or, with scores, its log-odds."""
        value = float(flipped) if log_odds is None else log_odds
        self._new.append(_Answer(graph, flips, value, log_odds is not None))
        self.n_answers += 1

    def update(self) -> None:
        """Fit the model again if the number of answers has grown enough."""
        settings, n_first = self.settings, self.settings.first_fit * len(self._graphs)
        if self.n_answers >= max(n_first, settings.refit_growth * self._n_fitted + settings.refit_after):
            self._fit()

    def gains(self, number: int) -> Floats:
        """Return the estimated effect of each flip of a graph on its margin."""
        graph = self._graphs[number]
        if graph.gains is None or graph.version != self._version:
            graph.gains, graph.version = self._compute_gains(number).astype(np.float32), self._version
        return graph.gains.astype(np.float64)

    def threshold(self, number: int) -> float:
        """Return the total gain at which a candidate of a graph crosses the decision boundary; NaN before a fit."""
        return float(self._offsets[number]) if number < self._offsets.size else np.nan

    def stds(self, number: int) -> Floats:
        """Return the approximate posterior standard deviation of the weight of each pair."""
        vector = self._graphs[number].vector
        return self._stds[vector] if vector < len(self._stds) else np.full(self.n_pairs, self.settings.pair_std)

    def direction_gains(self, number: int, direction: int) -> Floats:
        """Return the gain of each flip of a graph in one of the expert directions."""
        graph = self._graphs[number]
        known = direction < len(self._directions) and graph.vector < len(self._directions[direction])
        return graph.changes * self._directions[direction][graph.vector] if known else np.zeros(self.n_pairs)

    def own_direction_gains(self, number: int) -> Floats:
        """Return the gain of each flip of a graph in its own expert direction."""
        return self._graphs[number].direction.astype(np.float64)

    def _compute_gains(self, number: int) -> Floats:
        graph, weights = self._graphs[number], self._expert_weights
        evidence = np.zeros(self.n_pairs)
        for weight, directions in zip(weights[:-1], self._directions, strict=True):
            if graph.vector < len(directions):
                evidence += weight * directions[graph.vector]
        if graph.vector < len(self._pair_weights):
            evidence += self._pair_weights[graph.vector]
        gains = graph.changes * evidence + weights[-1] * graph.direction
        effects = np.zeros(self._rows.n_effects)
        if graph.group < len(self._roi_effects):
            effects += self._roi_effects[graph.group]
        if number < len(self._own_roi_effects):
            effects += self._own_roi_effects[number]
        if effects.any():
            gains = gains + np.abs(graph.changes) * self._rows.spread(effects, graph.decreases)
        return np.asarray(gains)

    def _expert_prior(self) -> Floats:
        """Return the prior means of the weights of the directions; the last one is the graph's own direction."""
        means = np.zeros(len(self._directions) + 1)
        means[0] = self.settings.expert_mean if self._directions else 0.0
        return means

    def _fit(self) -> None:
        """Compute the posterior mode. In the regression, coefficients are in units of their prior deviations."""
        self._rows.append(self._new, self._graphs, self.settings.max_entries)
        n_new, n_known = len(self._new), self._offsets.size
        self._new, self._n_fitted, settings, rows = [], self.n_answers, self.settings, self._rows
        n_graphs, groups = len(self._graphs), np.array([graph.group for graph in self._graphs])
        n_groups, n_vectors = 1 + int(groups.max()), 1 + max(graph.vector for graph in self._graphs)
        experts, prior = rows.in_directions(self._directions, n_vectors), self._expert_prior()
        roi_std = settings.roi_std / (1 + self.n_answers / settings.roi_answers) ** 0.5
        own_roi_std = settings.own_roi_std
        blocks = [
            settings.pair_std * rows.pairs,
            roi_std * rows.effects_by(groups[rows.graphs], n_groups),
            own_roi_std * rows.effects_by(rows.graphs, n_graphs),
            csr_array(settings.expert_std * experts),
            rows.offsets(-settings.offset_std, n_graphs),
        ]
        start = np.concatenate(
            [
                _in_units(self._pair_weights, n_vectors, settings.pair_std),
                _in_units(self._roi_effects, n_groups, roi_std),
                _in_units(self._own_roi_effects, n_graphs, own_roi_std),
                _in_units(self._expert_weights - prior, prior.size, settings.expert_std),
                _in_units(self._offsets, n_graphs, settings.offset_std),
            ]
        )
        values = rows.scaled_values()
        design, sizes = hstack(blocks, "csr", dtype=np.float32), [block.shape[1] for block in blocks]
        del blocks  # they need as much memory as the design matrix
        base = experts @ prior
        predictions = base + design @ start
        self._measure_error(predictions - values, rows.scored & (rows.graphs < n_known), n_new)
        start[-n_graphs:] += rows.first_offsets(predictions, n_known, n_graphs) / (settings.offset_std or np.inf)
        answers = Answers(design, base, values, rows.scored, self._score_precision)
        mode, precisions = fit(answers, start, settings.fit_steps, settings.gradient_steps)
        parts = np.split(mode, np.cumsum(sizes)[:-1])
        self._pair_weights = settings.pair_std * parts[0].reshape(n_vectors, -1)
        self._roi_effects = roi_std * parts[1].reshape(n_groups, -1)
        self._own_roi_effects = own_roi_std * parts[2].reshape(n_graphs, -1)
        self._expert_weights = prior + settings.expert_std * parts[3]
        self._offsets = settings.offset_std * parts[4]
        self._stds = settings.pair_std / np.sqrt(precisions[: parts[0].size]).reshape(n_vectors, -1)
        self._version += 1

    def _measure_error(self, errors: Floats, scored: Bits, n_new: int) -> None:
        """Measure the errors of the predictions of the new answers, which the model has not been fitted to."""
        new = errors[-n_new:][scored[-n_new:]]
        if new.size:
            self.score_error = float(np.sqrt((new**2).mean()))

    @property
    def _score_precision(self) -> float:
        """The inverse variance of the errors of scores: smaller if a linear model does not predict them."""
        smallest = 1 / self.settings.score_precision
        return 1 / (smallest if np.isinf(self.score_error) else max(smallest, self.score_error**2))


def _in_units(coefficients: Floats, size: int, std: float) -> Floats:
    """Return coefficients in units of their prior deviation, with zeros for new rows."""
    missing = np.zeros((size - len(coefficients), *coefficients.shape[1:]))
    return np.concatenate([coefficients, missing]).ravel() / (std or 1.0)


class _Rows:
    """The answers as rows of the design matrix."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.n_pairs, self.n_rois = layout, layout.size, layout.n_ends
        self.n_effects = 2 * self.n_rois + 2
        """Additions at each ROI, removals at each ROI, all additions, all removals."""
        self.graphs = np.empty(0, dtype=np.intp)
        self.values, self.scored = np.empty(0), np.empty(0, dtype=np.bool_)
        self.pairs = csr_array((0, self.n_pairs), dtype=np.float32)
        """The changes of the values by the flips of each answer (answers, class vectors x pairs)."""
        self._effects = csr_array((0, self.n_effects), dtype=np.float32)
        """The numbers of additions and removals at each ROI, or their total change (answers, effects)."""
        self._own = np.empty(0, dtype=np.float32)
        """The total gain of each answer in the direction of its graph."""

    def append(self, new: list[_Answer], graphs: list[_Graph], max_entries: int) -> None:
        """Add answers; drop the oldest ones if there are too many entries."""
        if not new:
            return
        sizes, flips = np.array([each.flips.size for each in new]), np.concatenate([each.flips for each in new])
        rows = np.repeat(np.arange(sizes.size), sizes)
        changes = np.concatenate([graphs[each.graph].changes[each.flips] for each in new]).astype(np.float32)
        removed = np.concatenate([graphs[each.graph].decreases[each.flips] for each in new]).astype(np.intp)
        vectors = np.array([graphs[each.graph].vector for each in new])
        n_columns = self.n_pairs * (1 + max(graph.vector for graph in graphs))
        pointers, columns = np.concatenate([[0], np.cumsum(sizes)]), flips + self.n_pairs * vectors[rows]
        pairs = csr_array((changes, columns, pointers), (sizes.size, n_columns))
        self.pairs.resize((self.pairs.shape[0], n_columns))
        ends = (self.n_rois * removed + end[flips] for end in self.layout)
        columns = np.concatenate([*ends, 2 * self.n_rois + removed])
        amounts = np.tile(np.abs(changes), 3)
        effects = csr_array((amounts, (np.tile(rows, 3), columns)), (sizes.size, self.n_effects))
        effects.sum_duplicates()
        own = np.array([graphs[each.graph].direction[each.flips].sum(dtype=np.float32) for each in new])
        n_entries = self.pairs.indptr + 2 * self._effects.indptr
        n_new = pairs.nnz + 2 * effects.nnz
        kept = slice(int(np.searchsorted(n_entries, n_entries[-1] + n_new - max_entries)), None)
        self.pairs, self._effects = (
            vstack([old[kept], added], "csr") for old, added in ((self.pairs, pairs), (self._effects, effects))
        )
        self._own = np.concatenate([self._own[kept], own])
        self.graphs = np.concatenate([self.graphs[kept], [each.graph for each in new]])
        self.values = np.concatenate([self.values[kept], [each.value for each in new]])
        self.scored = np.concatenate([self.scored[kept], [each.scored for each in new]])

    def spread(self, effects: Floats, decreases: Bits) -> Floats:
        """Return the sum of the ROI effects of each flip."""
        (first, second), n = self.layout, self.n_rois
        added, removed = effects[:n], effects[n : 2 * n]
        spread: Floats = np.where(
            decreases, removed[first] + removed[second] + effects[-1], added[first] + added[second] + effects[-2]
        )
        return spread

    def effects_by(self, index: Indices, size: int) -> csr_array:
        """Return the columns of the ROI effects: one block of columns per index, each row in the block of its index."""
        columns = self._effects.indices + np.repeat(index * self.n_effects, np.diff(self._effects.indptr))
        shape = (index.size, size * self.n_effects)
        return csr_array((self._effects.data, columns, self._effects.indptr), shape)

    def offsets(self, value: float, n_graphs: int) -> csr_array:
        """Return the columns of the offsets."""
        n = self.graphs.size
        return csr_array((np.full(n, value, dtype=np.float32), self.graphs, np.arange(n + 1)), (n, n_graphs))

    def in_directions(self, directions: list[Floats], n_vectors: int) -> NDArray[np.float32]:
        """Return the total gain of each answer in each expert direction; the last one is that of its graph."""
        columns = []
        for direction in directions:
            stacked = np.zeros((n_vectors, self.n_pairs), dtype=np.float32)
            stacked[: len(direction)] = direction[:n_vectors]
            columns.append(self.pairs @ stacked.ravel())
        return np.stack([*columns, self._own], axis=1)

    def scaled_values(self) -> Floats:
        """Return the values; scores have a fixed root mean square."""
        scores = self.values[self.scored]
        scale = SCORE_RANGE / max(float(np.sqrt((scores**2).mean())), 1e-9) if scores.size else 1.0
        return np.where(self.scored, scale * self.values, self.values)

    def first_offsets(self, margins: Floats, n_known: int, n_graphs: int) -> Floats:
        """Return the first estimate of the offsets of new graphs, so that their answers are on the right side."""
        offsets = np.zeros(n_graphs)
        flipped = (self.values > np.where(self.scored, 0.0, 0.5)) & (self.graphs >= n_known)
        failed = ~flipped & (self.graphs >= n_known)
        lowest, highest = np.full(n_graphs, np.inf), np.full(n_graphs, -np.inf)
        np.minimum.at(lowest, self.graphs[flipped], margins[flipped])
        np.maximum.at(highest, self.graphs[failed], margins[failed])
        both = np.isfinite(lowest) & np.isfinite(highest)
        offsets[both] = (lowest[both] + highest[both]) / 2
        only_failed = ~both & np.isfinite(highest)
        offsets[only_failed] = highest[only_failed] + 1
        return offsets
