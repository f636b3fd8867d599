"""Backward search in the order that makes sense: undo the least discriminative changes first.

The paper's DBS prefers to undo the *most* discriminative changes. Here the changes stand in a line, least
discriminative first, and are tried in blocks from its start. A block that can be undone doubles the next one, a block
that cannot is halved, and a single change that cannot is kept. Passes over what is kept follow until one undoes
nothing, so a finished result is 1-minimal: no single change can be undone.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.parts.weights import discrimination
from countergraph.search.protocol import Ask, Flips, Search, Task


def least_first_backward(task: Task, start: Flips) -> Search:
    """Undo the least discriminative changes first, twice as many after each success."""
    shuffled = task.rng.permutation(start)  # so that chance, not the order of the pairs, decides between equals
    line = shuffled[np.argsort(_worth(task)[shuffled], kind="stable")]
    before = -1
    while line.size != before:
        before, at, k = line.size, 0, task.k
        while at < line.size:
            k = min(k, line.size - at)
            candidate = np.concatenate([line[:at], line[at + k :]])
            if candidate.size and (yield Ask(candidate)).flipped:
                line, k = candidate, 2 * k
            elif k > 1:
                k //= 2
            else:
                at += 1


def _worth(task: Task) -> Floats:
    """Return how discriminative each change is, for what it costs."""
    worth, costs = discrimination(task), task.limits.costs
    return worth if costs is None else np.where(worth > 0, worth / costs, worth * costs)
