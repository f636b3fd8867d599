"""The local search of GRETEL (repository aiim-research/GRETEL, class ``LocalSearch``), which shrinks a counterfactual.

Our own code, after the source of that class; the constants are its default parameters. It searches three
neighbourhoods of a set of changes: without some of the changes, a subset with some changes exchanged for random
pairs, and a subset with random pairs added. The first smaller counterfactual replaces the best.

Differences from the repository: candidates that cannot be an improvement (nothing removed) are not classified, and the
maximum number of calls is the budget of the run instead of 10000. Two variants are left
out: one tunes the parameters on other graphs first, and one ranks the pairs by a neural network on features of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countergraph.search.protocol import Ask, Attempt, Flips, Search, Task

NEIGHBOUR_FACTOR = 4
"""A neighbourhood contains this number, to the power of 2 (or of 3 for removals), of candidates of each size."""
ROUNDS_PER_CHANGE, MAX_ROUNDS = 4, 50
"""The search ends after this number of rounds without improvement."""
MAX_SIZES = 30
"""The maximum number of sizes in a neighbourhood, approximately."""


def local_search(task: Task, start: Flips) -> Search:
    """Search the neighbourhoods of the best counterfactual until they contain no smaller one for some rounds."""
    rng, best, seen = task.rng, start, set[bytes]()
    rounds = _max_rounds(best)
    while rounds > 0 and best.size > 1:
        rounds -= 1
        better = yield from _first_success(_removals(best, rng), best.size, seen)
        size = min(best.size // 2, int(rng.integers(1, 4 * (best.size // 2) + 1)))
        while better is None and best.size - size > 1:
            rounds -= 1
            better = yield from _first_success(_exchanges(_subset(best, size, rng), task), best.size, seen)
            if better is None:
                better = yield from _first_success(_additions(_subset(best, size, rng), best, task), best.size, seen)
            half = (best.size - size) // 2 + 1
            size += min(half, int(rng.integers(1, 4 * half + 1)))
        if better is not None:
            best, rounds = better, _max_rounds(better)


def _max_rounds(best: Flips) -> int:
    return min(MAX_ROUNDS, ROUNDS_PER_CHANGE * best.size)


def _first_success(candidates: Iterator[Flips], size: int, seen: set[bytes]) -> Attempt:
    """Return the first counterfactual with fewer than ``size`` changes; no candidate is classified twice."""
    for candidate in candidates:
        key = np.sort(candidate).tobytes()
        if candidate.size >= size or key in seen:
            continue
        seen.add(key)
        answer = yield Ask(candidate)
        if answer.flipped:
            return answer.asked
    return None


def _removals(best: Flips, rng: np.random.Generator) -> Iterator[Flips]:
    for number in _sizes(best.size - 1):
        for _ in range(NEIGHBOUR_FACTOR**3):
            yield _subset(best, best.size - number, rng)


def _exchanges(subset: Flips, task: Task) -> Iterator[Flips]:
    for number in _sizes(min(subset.size, task.graph.size - subset.size)):
        for _ in range(NEIGHBOUR_FACTOR**2):
            yield _add(_subset(subset, subset.size - number, task.rng), number, task)


def _additions(subset: Flips, best: Flips, task: Task) -> Iterator[Flips]:
    for number in _sizes(best.size - subset.size):
        for _ in range(NEIGHBOUR_FACTOR**2):
            yield _add(subset, number, task)


def _sizes(largest: int) -> range:
    return range(1, largest + 1, largest // MAX_SIZES + 1)


def _subset(flips: Flips, size: int, rng: np.random.Generator) -> Flips:
    return rng.choice(flips, size, replace=False)


def _add(flips: Flips, number: int, task: Task) -> Flips:
    """Add random pairs."""
    drawn = task.rng.choice(task.graph.size, number + flips.size, replace=False)
    return np.concatenate([flips, drawn[~np.isin(drawn, flips)][:number]])
