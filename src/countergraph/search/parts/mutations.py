"""Random mutations that turn a counterfactual into a candidate with fewer changes."""

from __future__ import annotations

import numpy as np

from countergraph.search.parts.orders import random_order
from countergraph.search.protocol import Flips, Task


def exchange_random(task: Task, best: Flips) -> Flips:
    """Undo two or more random changes, and add one random change less than that."""
    n_undone = 1 + _log_uniform(task, best.size - 1)
    kept, others = task.rng.permutation(best)[n_undone:], random_order(task)
    return np.concatenate([kept, others[~np.isin(others, kept)][: n_undone - 1]])


def drop_random(task: Task, best: Flips) -> Flips:
    """Undo random changes, at most half of them."""
    return task.rng.permutation(best)[_log_uniform(task, best.size // 2) :]


def restart_random(task: Task, best: Flips) -> Flips:
    """Return random changes, fewer than the best has, independent of it."""
    return random_order(task)[: _log_uniform(task, best.size - 1)]


def _log_uniform(task: Task, largest: int) -> int:
    """Draw a number from 1 to ``largest`` from a log-uniform distribution."""
    return int(np.exp(task.rng.uniform(0, np.log(max(largest, 1) + 1 - 1e-9))))
