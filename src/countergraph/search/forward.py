"""Forward search: walk away from the graph until its class changes (section 3.1, Algorithm 1).

Differences from the paper, all where its pools run dry, which it leaves open:

- When no pair is left to add (or to remove), the coin falls on the other side, and as there is no balance left to
  keep, the steps double.
- When no pair is left at all, the walk has failed. With the rule published for the ASD cohort that happens to one walk
  in twenty. While the budget lasts the search then tries another walk, up to `WALKS`, and after that it fails.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from countergraph.graphs.pairs import Bits, Floats
from countergraph.search.parts.picking import first_picks
from countergraph.search.parts.weights import likelihood
from countergraph.search.protocol import Ask, Flips, Search, Task

WALKS = 8


def oblivious_forward(task: Task, start: Flips) -> Search:
    """Add or remove k random pairs, by the toss of a coin, until the class changes."""
    return _walk(task)


def data_driven_forward(task: Task, start: Flips) -> Search:
    """Do the same, but prefer to add what is typical of the other class, and to remove what is of the graph's own."""
    return _walk(task, likelihood(task))


def _walk(task: Task, weights: Floats | None = None) -> Search:
    most, weights = task.k * task.max_calls, task.addition_weights(weights)
    for _ in range(WALKS):
        # All picks are drawn in advance, each pair at most once, so a candidate is the first so many of them.
        additions = first_picks(task.additions, most, task.rng, weights)
        removals = first_picks(task.removals, most, task.rng, weights)
        add = _tosses(additions.size, removals.size, task.rng)
        order = np.empty(add.size, dtype=np.intp)
        order[add], order[~add] = additions, removals
        for end in _steps(add, task.k):
            answer = yield Ask(order[:end])
            if answer.flipped:
                return


def _tosses(n_additions: int, n_removals: int, rng: np.random.Generator) -> Bits:
    """Toss a coin for each pick, True to add; once one side has run dry every toss falls on the other."""
    add = rng.random(n_additions + n_removals) < 0.5
    add[np.cumsum(add) > n_additions] = False
    add[np.cumsum(~add) > n_removals] = True
    return np.asarray(add)


def _steps(add: Bits, k: int) -> Iterator[int]:
    """Yield how many picks each candidate takes: k more each time, and twice as many more once a side is dry."""
    changes = np.flatnonzero(add[1:] != add[:-1])
    dry = changes[-1] + 1 if changes.size else 0
    end = 0
    while end < add.size:
        if end >= dry:
            k *= 2
        end = min(end + k, add.size)
        yield end
