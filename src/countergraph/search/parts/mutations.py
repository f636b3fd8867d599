"""Random ways to change a counterfactual into one with fewer changes."""

from __future__ import annotations

import numpy as np

from countergraph.search.parts.orders import random_order
from countergraph.search.protocol import Flips, Task


def exchanged(task: Task, best: Flips) -> Flips:
    """Undo two or more changes at random, and make one less at random."""
    undone = 1 + _any_size(task, best.size - 1)
    kept, others = task.rng.permutation(best)[undone:], random_order(task)
    return np.concatenate([kept, others[~np.isin(others, kept)][: undone - 1]])


def thinned(task: Task, best: Flips) -> Flips:
    """Undo a few changes, or up to half of them, at random."""
    return task.rng.permutation(best)[_any_size(task, best.size // 2) :]


def fresh(task: Task, best: Flips) -> Flips:
    """Start anew with random changes, few or many."""
    return random_order(task)[: _any_size(task, best.size - 1)]


def _any_size(task: Task, most: int) -> int:
    """Pick a number from 1 to ``most``, every order of magnitude as likely as another."""
    return int(np.exp(task.rng.uniform(0, np.log(max(most, 1) + 1 - 1e-9))))
