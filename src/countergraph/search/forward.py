"""Forward search: change random pairs until the class changes (section 4.1 of the paper, Algorithm 1).

Differences from the paper, which does not define what happens when no pair is left to choose:

- When there is no pair left to add (or to remove), all further changes are removals (or additions). The steps then
  double, because additions and removals can no longer be balanced.
- When there is no pair left at all, the walk has failed. With the rule published for the ASD cohort, 5% of the walks
  fail. The search then starts another walk, up to the option ``walks``, while the budget lasts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countergraph.graphs.pairs import Bits, Floats
from countergraph.search.parts.sampling import weighted_sample
from countergraph.search.parts.weights import selection_weights
from countergraph.search.protocol import Ask, Flips, Search, Task


def oblivious_forward(task: Task, start: Flips) -> Search:
    """Change k random pairs at a time, additions and removals with equal probability, until the class changes (OFS)."""
    return _random_walks(task)


def data_driven_forward(task: Task, start: Flips) -> Search:
    """Do the same, but prefer additions typical of the other class and removals typical of the graph's own (DFS)."""
    return _random_walks(task, selection_weights(task))


def _random_walks(task: Task, weights: Floats | None = None) -> Search:
    max_changes, weights = task.k * task.max_calls, task.addition_weights(weights)
    for _ in range(task.options.walks):
        # All changes of a walk are drawn in advance, each pair at most once: a candidate is a prefix of them.
        additions = weighted_sample(task.additions, max_changes, task.rng, weights)
        removals = weighted_sample(task.removals, max_changes, task.rng, weights)
        is_addition = _draw_additions(additions.size, removals.size, task.rng)
        order = np.empty(is_addition.size, dtype=np.intp)
        order[is_addition], order[~is_addition] = additions, removals
        for size in _prefix_sizes(is_addition, task.k):
            answer = yield Ask(order[:size])
            if answer.flipped:
                return


def _draw_additions(n_additions: int, n_removals: int, rng: np.random.Generator) -> Bits:
    """Draw for each change whether it is an addition; when one kind is exhausted, the rest is of the other kind."""
    is_addition = rng.random(n_additions + n_removals) < 0.5
    is_addition[np.cumsum(is_addition) > n_additions] = False
    is_addition[np.cumsum(~is_addition) > n_removals] = True
    return np.asarray(is_addition)


def _prefix_sizes(is_addition: Bits, k: int) -> Iterator[int]:
    """Yield the size of each candidate: k more each time; once one kind is exhausted, k doubles before each step."""
    alternations = np.flatnonzero(is_addition[1:] != is_addition[:-1])
    exhausted = alternations[-1] + 1 if alternations.size else 0
    size = 0
    while size < is_addition.size:
        if size >= exhausted:
            k *= 2
        size = min(size + k, is_addition.size)
        yield size
