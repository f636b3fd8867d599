"""Orders of flips: any, and the strongest first."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, Indices
from countergraph.search.parts.picking import shuffled
from countergraph.search.protocol import Flips, Task


def random_order(task: Task) -> Flips:
    """Return all flips in random order, additions and removals by turns until one side has run dry."""
    additions, removals = (
        shuffled(pool, task.rng, task.addition_weights()) for pool in (task.additions, task.removals)
    )
    n = min(additions.size, removals.size)
    pairs = np.stack([additions[:n], removals[:n]], axis=1)
    mixed = task.rng.permuted(pairs, axis=1).ravel()
    return np.concatenate([mixed, additions[n:], removals[n:]])


def strongest(gains: Floats, size: int) -> Indices:
    """Return the flips of the largest gains, at most ``size``, largest first, and none that gains nothing."""
    size = min(size, gains.size)
    first = np.argpartition(-gains, size - 1)[:size] if size else np.empty(0, dtype=np.intp)
    first = first[np.argsort(-gains[first], kind="stable")]
    return first[gains[first] > 0]
