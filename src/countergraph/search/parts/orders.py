"""Orders of flips: random, and by gain."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, Indices
from countergraph.search.parts.sampling import weighted_shuffle
from countergraph.search.protocol import Flips, Task


def random_order(task: Task) -> Flips:
    """Return all flips in random order: additions and removals in pairs, until one kind is exhausted."""
    additions, removals = (
        weighted_shuffle(pool, task.rng, task.addition_weights()) for pool in (task.additions, task.removals)
    )
    n = min(additions.size, removals.size)
    pairs = np.stack([additions[:n], removals[:n]], axis=1)
    mixed = task.rng.permuted(pairs, axis=1).ravel()
    return np.concatenate([mixed, additions[n:], removals[n:]])


def largest_gains(gains: Floats, size: int) -> Indices:
    """Return the flips with the largest positive gains, at most ``size``, largest first."""
    size = min(size, gains.size)
    if size == 0:
        return np.empty(0, dtype=np.intp)
    if size == 1:  # much faster than a partition
        first = np.array([gains.argmax()], dtype=np.intp)
    else:
        first = np.argpartition(-gains, size - 1)[:size]
        first = first[np.argsort(-gains[first], kind="stable")]
    return first[gains[first] > 0]
