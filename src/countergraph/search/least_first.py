"""Backward search that undoes the least discriminative changes first.

The DBS of the paper prefers to undo the *most* discriminative changes. This search sorts the changes, least
discriminative first, and tries to undo blocks from the beginning. The block size doubles after a success and is halved
after a failure; a single change that cannot be undone is kept. Further passes over the kept changes follow until a pass
undoes nothing. So a finished result is 1-minimal: no single change can be undone.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.parts.weights import discrimination
from countergraph.search.protocol import Ask, Flips, Search, Task


def least_first_backward(task: Task, start: Flips) -> Search:
    """Undo the least discriminative changes first, twice as many after each success."""
    shuffled = task.rng.permutation(start)  # ties are in random order, not in the order of the pairs
    order = shuffled[np.argsort(_discrimination_per_cost(task)[shuffled], kind="stable")]
    before = -1
    while order.size != before:
        before, position, k = order.size, 0, task.k
        while position < order.size:
            k = min(k, order.size - position)
            candidate = np.concatenate([order[:position], order[position + k :]])
            if candidate.size and (yield Ask(candidate)).flipped:
                order, k = candidate, 2 * k
            elif k > 1:
                k //= 2
            else:
                position += 1


def _discrimination_per_cost(task: Task) -> Floats:
    """Return how discriminative each change is relative to its cost."""
    weights, costs = discrimination(task), task.limits.costs
    return weights if costs is None else np.where(weights > 0, weights / costs, weights * costs)
