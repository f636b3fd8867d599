"""What chance would do: the changes of counterfactuals, scattered at random over where they could have been made.

Whoever searches one graph again finds much the same again, so a person counts once, however often she is searched: all
counterfactuals of a graph are scattered together. A change that three of them make stays one that three make, but falls
on any pair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from countergraph.graphs.pairs import Bits, Floats, Indices
from countergraph.results.counterfactual import Counterfactual, Counterfactuals

AT_ONCE = 100
"""Simulations, or pairs, that are in memory at the same time."""
TINY = 1e-12
"""The smallest p-value: what is less is lost in rounding."""
SMALLEST = 1e-300
"""What stands for 0 where a logarithm is taken."""


class Changes(NamedTuple):
    """What the counterfactuals of one graph change."""

    graph: Bits
    added: Indices
    """How many of them add each of the pairs that any adds."""
    removed: Indices

    @property
    def scatters(self) -> list[tuple[Indices, Indices]]:
        """Where the additions, and the removals, could have fallen, with how many make each."""
        return [(np.flatnonzero(~self.graph), self.added), (np.flatnonzero(self.graph), self.removed)]


class TestResult(NamedTuple):
    """What was seen beside chance: what that does on average, and how often it does as much."""

    observed: Floats
    expected: Floats
    p: Floats
    """One-sided."""
    q: Floats
    """The same, with the false discovery rate controlled (Benjamini & Hochberg)."""


def changes_of(results: Counterfactuals) -> list[Changes]:
    """Return what the counterfactuals of each graph change."""
    searches: dict[bytes, list[Counterfactual]] = {}
    for each in results.found:
        searches.setdefault(each.original.tobytes(), []).append(each)
    return [_changes(runs) for runs in searches.values()]


def _changes(runs: list[Counterfactual]) -> Changes:
    graph = runs[0].original
    pairs, counts = np.unique(
        np.concatenate([each.flips for each in runs if each.flips is not None]), return_counts=True
    )
    return Changes(graph, counts[~graph[pairs]], counts[graph[pairs]])


def pairs_against_chance(totals: Floats, people: list[Changes]) -> TestResult:
    """Test how often each pair changes (pairs,), exactly.

    To a pair, every graph adds a number of its own, independent of the others: how many of its counterfactuals change
    that pair. The distribution of a sum is the product of the transforms of its parts.
    """
    graphs = np.array([each.graph for each in people])
    length = 1 + sum(int(max(each.added.max(initial=0), each.removed.max(initial=0))) for each in people)
    transforms = [[_log_transform(*scatter, length) for scatter in each.scatters] for each in people]
    absent, present = (np.array([each[kind] for each in transforms]) for kind in (0, 1))
    p, seen = np.ones(totals.size), np.flatnonzero(totals)
    for start in range(0, seen.size, AT_ONCE):
        some = seen[start : start + AT_ONCE]
        product = np.exp(absent.sum(axis=0) + graphs[:, some].T.astype(np.float64) @ (present - absent))
        chances = np.fft.irfft(product, length, axis=1)
        p[some] = [row[int(total) :].sum() for row, total in zip(chances, totals[some], strict=True)]
    means = np.array([[counts.sum() / max(pool.size, 1) for pool, counts in each.scatters] for each in people])
    expected = np.where(graphs, means[:, [1]], means[:, [0]]).sum(axis=0)
    p = np.clip(p, TINY, 1)
    return TestResult(totals, expected, p, false_discovery_control(p))


def _log_transform(pool: Indices, counts: Indices, length: int) -> NDArray[np.complex128]:
    """Return the logarithm of the Fourier transform of what one of the pairs of a pool gets."""
    kinds, slots = np.unique(counts, return_counts=True)
    turns = np.exp(-2j * np.pi * np.outer(np.arange(length // 2 + 1), kinds) / length)
    transform = 1 + (turns - 1) @ slots / max(pool.size, 1)
    return np.log(np.where(transform == 0, SMALLEST, transform))


def sums_against_chance(
    totals: Floats,
    levels: Callable[[Floats], dict[str, Floats]],
    people: list[Changes],
    permutations: int,
    rng: np.random.Generator,
) -> dict[str, TestResult]:
    """Test whatever ``levels`` sums over how often pairs change (pairs,), by simulation."""
    observed = levels(totals)
    sums = {level: np.zeros_like(values) for level, values in observed.items()}
    reached = {level: np.zeros_like(values) for level, values in observed.items()}
    for begun in range(0, permutations, AT_ONCE):
        for scattered in _scattered(people, totals.size, min(AT_ONCE, permutations - begun), rng):
            for level, values in levels(scattered).items():
                sums[level] += values
                reached[level] += values >= observed[level]
    chances = {level: (count + 1) / (permutations + 1) for level, count in reached.items()}
    return {
        level: TestResult(values, sums[level] / permutations, chances[level], false_discovery_control(chances[level]))
        for level, values in observed.items()
    }


def _scattered(people: list[Changes], n_pairs: int, rounds: int, rng: np.random.Generator) -> Floats:
    """Let the changes of each graph fall at random where they could; count them by round and pair."""
    total = np.zeros(rounds * n_pairs)
    rows = n_pairs * np.arange(rounds)[:, None]
    for each in people:
        for pool, counts in each.scatters:
            cells = pool[_some(pool.size, counts.size, rounds, rng)] + rows
            total[cells.ravel()] += np.tile(counts, rounds)
    return total.reshape(rounds, n_pairs)


def _some(size: int, count: int, rounds: int, rng: np.random.Generator) -> Indices:
    """Draw ``count`` different numbers below ``size``, in any order, in each of some rounds."""
    if count**2 > size:
        return np.array([rng.choice(size, count, replace=False) for _ in range(rounds)])
    drawn = rng.integers(size, size=(rounds, count))
    while (twice := (np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(axis=1)).any():
        drawn[twice] = rng.integers(size, size=(int(twice.sum()), count))
    return drawn
