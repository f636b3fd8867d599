"""Backward search: undo changes of a counterfactual (section 4.2 of the paper, Algorithm 2).

Difference from the paper: a step that would undo every change is not a call, because its class is known: it is the
original graph.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.parts.sampling import weighted_shuffle
from countergraph.search.parts.weights import selection_weights
from countergraph.search.protocol import NO_FLIPS, Ask, Flips, Search, Task


def oblivious_backward(task: Task, start: Flips) -> Search:
    """Undo k random changes at a time; k grows after a success and shrinks after a failure (OBS)."""
    return _undo(task, start)


def data_driven_backward(task: Task, start: Flips) -> Search:
    """Do the same, but undo the most discriminative changes first: the weights as the paper defines them (DBS)."""
    return _undo(task, start, selection_weights(task))


def _undo(task: Task, start: Flips, weights: Floats | None = None) -> Search:
    # The pool is shuffled: its first k changes are k random ones, and the rest is still shuffled.
    weights = task.removal_weights(weights)
    pool, needed, k = weighted_shuffle(start, task.rng, weights), NO_FLIPS, task.k
    while pool.size:
        k = min(k, pool.size)
        undone, rest = pool[:k], pool[k:]
        candidate = np.concatenate([rest, needed])
        if candidate.size and (yield Ask(candidate)).flipped:
            pool = weighted_shuffle(candidate, task.rng, weights) if needed.size else rest
            needed, k = NO_FLIPS, k + 1
        elif k > 1:
            pool, k = weighted_shuffle(pool, task.rng, weights), k - 1
        else:
            pool, needed = rest, np.concatenate([needed, undone])
