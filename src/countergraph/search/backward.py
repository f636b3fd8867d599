"""Backward search: from a counterfactual back towards the graph (section 3.2, Algorithm 2).

Difference from the paper: when the step would undo every change, the answer is known to be the graph's own class, and
is not asked.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.parts.picking import shuffled
from countergraph.search.parts.weights import likelihood
from countergraph.search.protocol import NO_FLIPS, Ask, Flips, Search, Task


def oblivious_backward(task: Task, start: Flips) -> Search:
    """Undo k random changes at a time; more of them while that works, fewer while it does not."""
    return _retreat(task, start)


def data_driven_backward(task: Task, start: Flips) -> Search:
    """Do the same, but undo the most discriminative changes first: the paper's weights, read literally."""
    return _retreat(task, start, likelihood(task))


def _retreat(task: Task, start: Flips, weights: Floats | None = None) -> Search:
    # The pool is a shuffled deck: its first k are k random picks, and the rest of it is still shuffled.
    weights = task.removal_weights(weights)
    pool, needed, k = shuffled(start, task.rng, weights), NO_FLIPS, task.k
    while pool.size:
        k = min(k, pool.size)
        tried, rest = pool[:k], pool[k:]
        candidate = np.concatenate([rest, needed])
        if candidate.size and (yield Ask(candidate)).flipped:
            pool = shuffled(candidate, task.rng, weights) if needed.size else rest
            needed, k = NO_FLIPS, k + 1
        elif k > 1:
            pool, k = shuffled(pool, task.rng, weights), k - 1
        else:
            pool, needed = rest, np.concatenate([needed, tried])
