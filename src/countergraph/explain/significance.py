"""Significance tests for the changes of counterfactuals, against a null model of random changes.

Null model: the changes of each graph fall on random pairs. Added pairs are drawn among the absent pairs of the graph,
removed pairs among its present pairs; in a weighted network, strengthened pairs among those whose alternative value is
larger, weakened pairs among those whose alternative is smaller. Repeated searches of one graph find similar
counterfactuals. Therefore all counterfactuals of a graph are randomised together: a change that three counterfactuals
share is still shared by three after randomisation. The number of searches per graph does not inflate the significance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from countergraph.graphs.pairs import Bits, Floats, Indices
from countergraph.results.counterfactual import Counterfactual, Counterfactuals

BATCH_SIZE = 100
"""Number of simulations, or of pairs, that are processed together; limits the memory use."""
MIN_P_VALUE = 1e-12
"""Lower bound of the p-values. Smaller values are dominated by rounding errors of the Fourier transform."""
LOG_FLOOR = 1e-300
"""Value that replaces 0 before a logarithm is taken."""


class GraphChanges(NamedTuple):
    """The changes of all counterfactuals of one graph."""

    graph: Bits
    added: Indices
    """For each pair that is added at least once, the number of counterfactuals that add it."""
    removed: Indices
    """For each pair that is removed at least once, the number of counterfactuals that remove it."""
    can_change: Bits
    """Which pairs can change: all pairs of a graph; in a weighted network those with another alternative value."""

    @property
    def pools(self) -> list[tuple[Indices, Indices]]:
        """Candidate pairs and counts, for the additions and for the removals."""
        absent, present = (np.flatnonzero(kind & self.can_change) for kind in (~self.graph, self.graph))
        return [(absent, self.added), (present, self.removed)]


class TestResult(NamedTuple):
    """Observed values, their expectation under the null model, and p-values."""

    observed: Floats
    expected: Floats
    p: Floats
    """One-sided p-values."""
    q: Floats
    """P-values corrected for the false discovery rate (Benjamini & Hochberg)."""


def changes_by_graph(results: Counterfactuals) -> list[GraphChanges]:
    """Group the changes of counterfactuals by graph."""
    runs_of_graph: dict[bytes, list[Counterfactual]] = {}
    for each in results.found:
        runs_of_graph.setdefault(each.original.tobytes(), []).append(each)
    return [_graph_changes(runs) for runs in runs_of_graph.values()]


def _graph_changes(runs: list[Counterfactual]) -> GraphChanges:
    graph = runs[0].decreases
    pairs, counts = np.unique(
        np.concatenate([each.flips for each in runs if each.flips is not None]), return_counts=True
    )
    return GraphChanges(graph, counts[~graph[pairs]], counts[graph[pairs]], runs[0].can_change)


def exact_pair_test(totals: Floats, graphs: list[GraphChanges]) -> TestResult:
    """Compute exact p-values for the number of changes of each pair.

    The graphs contribute independent random numbers to the total of a pair. The Fourier transform of the distribution
    of their sum is the product of the Fourier transforms of their distributions.

    Parameters
    ----------
    totals
        Number of changes of each pair, shape (pairs,).
    graphs
        The changes of each graph.
    """
    edges, can_change = (np.array([each[kind] for each in graphs]) for kind in (0, 3))
    length = 1 + sum(int(max(each.added.max(initial=0), each.removed.max(initial=0))) for each in graphs)
    transforms = [[_log_transform(*pool, length) for pool in each.pools] for each in graphs]
    absent, present = (np.array([each[kind] for each in transforms]) for kind in (0, 1))
    p, changed = np.ones(totals.size), np.flatnonzero(totals)
    for start in range(0, changed.size, BATCH_SIZE):
        batch = changed[start : start + BATCH_SIZE]
        logarithm = absent.sum(axis=0) + edges[:, batch].T.astype(np.float64) @ (present - absent)
        for kind, fixed in ((absent, ~edges & ~can_change), (present, edges & ~can_change)):
            if fixed.any():
                logarithm -= fixed[:, batch].T.astype(np.float64) @ kind
        product = np.exp(logarithm)
        probabilities = np.fft.irfft(product, length, axis=1)
        p[batch] = [row[int(total) :].sum() for row, total in zip(probabilities, totals[batch], strict=True)]
    means = np.array([[counts.sum() / max(pairs.size, 1) for pairs, counts in each.pools] for each in graphs])
    expected = np.where(can_change, np.where(edges, means[:, [1]], means[:, [0]]), 0).sum(axis=0)
    p = np.clip(p, MIN_P_VALUE, 1)
    return TestResult(totals, expected, p, false_discovery_control(p))


def _log_transform(pairs: Indices, counts: Indices, length: int) -> NDArray[np.complex128]:
    """Return the log Fourier transform of the distribution of the count that one pair of a pool receives."""
    values, frequencies = np.unique(counts, return_counts=True)
    phases = np.exp(-2j * np.pi * np.outer(np.arange(length // 2 + 1), values) / length)
    transform = 1 + (phases - 1) @ frequencies / max(pairs.size, 1)
    return np.log(np.where(transform == 0, LOG_FLOOR, transform))


def permutation_test(
    totals: Floats,
    aggregate: Callable[[Floats], dict[str, Floats]],
    graphs: list[GraphChanges],
    permutations: int,
    rng: np.random.Generator,
) -> dict[str, TestResult]:
    """Compute p-values for aggregated numbers of changes by simulating the null model.

    Parameters
    ----------
    totals
        Number of changes of each pair, shape (pairs,).
    aggregate
        Maps ``totals`` to the statistics of each level, for example the sums for each ROI.
    graphs
        The changes of each graph.
    permutations
        Number of simulations.
    rng
        Random number generator.
    """
    observed = aggregate(totals)
    sums = {level: np.zeros_like(values) for level, values in observed.items()}
    reached = {level: np.zeros_like(values) for level, values in observed.items()}
    for start in range(0, permutations, BATCH_SIZE):
        for simulated in _simulate(graphs, totals.size, min(BATCH_SIZE, permutations - start), rng):
            for level, values in aggregate(simulated).items():
                sums[level] += values
                reached[level] += values >= observed[level]
    p_values = {level: (count + 1) / (permutations + 1) for level, count in reached.items()}
    return {
        level: TestResult(values, sums[level] / permutations, p_values[level], false_discovery_control(p_values[level]))
        for level, values in observed.items()
    }


def _simulate(graphs: list[GraphChanges], n_pairs: int, n_simulations: int, rng: np.random.Generator) -> Floats:
    """Randomise the changes of each graph; return the total changes, shape (simulations, pairs)."""
    total = np.zeros(n_simulations * n_pairs)
    offsets = n_pairs * np.arange(n_simulations)[:, None]
    for each in graphs:
        for pairs, counts in each.pools:
            positions = pairs[_draw_distinct(pairs.size, counts.size, n_simulations, rng)] + offsets
            total[positions.ravel()] += np.tile(counts, n_simulations)
    return total.reshape(n_simulations, n_pairs)


def _draw_distinct(size: int, count: int, n_rows: int, rng: np.random.Generator) -> Indices:
    """Draw ``count`` distinct integers below ``size`` in random order, independently for each row."""
    if count**2 > size:
        return np.array([rng.choice(size, count, replace=False) for _ in range(n_rows)])
    # With few draws, duplicates are rare: drawing rows with duplicates again is faster than rng.choice for each row.
    drawn = rng.integers(size, size=(n_rows, count))
    while (duplicated := (np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(axis=1)).any():
        drawn[duplicated] = rng.integers(size, size=(int(duplicated.sum()), count))
    return drawn
