"""Ways to propose a closer counterfactual, each with one flip less than the best so far, or fewer.

None is good for every black box. The searches of a run find out together which one pays (see `luck`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.bisection import random_order
from countergraph.search.conversation import Flips, Task
from countergraph.search.memory import guide_of

DARING = 0.3


def strongest(gains: Floats, size: int) -> Flips:
    """Return the flips of the largest gains, at most ``size``, largest first, and none that gains nothing."""
    size = min(size, gains.size)
    first = np.argpartition(-gains, size - 1)[:size] if size else np.empty(0, dtype=np.intp)
    first = first[np.argsort(-gains[first], kind="stable")]
    return first[gains[first] > 0]


def guided(task: Task, best: Flips) -> Flips:
    """Take what all searches of the run have learned."""
    return strongest(guide_of(task).gains(), best.size - 1)


def daring(task: Task, best: Flips) -> Flips:
    """Do the same, but give the uncertain a chance."""
    guide = guide_of(task)
    noise = task.rng.standard_normal(task.graph.size)
    return strongest(guide.gains() + DARING * guide.doubts() * noise, best.size - 1)


def neighbourly(task: Task, best: Flips) -> Flips:
    """Go towards the nearest graphs of another class."""
    return strongest(guide_of(task).neighbours(), best.size - 1)


def swapped(task: Task, best: Flips) -> Flips:
    """Destroy and repair: undo some changes, the weakest or any, and make one less of those that look strongest."""
    guide = guide_of(task)
    undone = max(2, best.size // 8)
    line = best[np.argsort(-guide.gains()[best])] if task.rng.random() < 0.5 else task.rng.permutation(best)
    hopes = guide.gains() + task.rng.normal(0, 0.1, task.graph.size) if task.rng.random() < 0.5 else guide.neighbours()
    hopes = hopes.copy()
    hopes[best] = 0
    return np.concatenate([line[:-undone], strongest(hopes, undone - 1)])


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
    return int(np.exp(task.rng.uniform(0, np.log(most + 1 - 1e-9))))


Proposal = Callable[[Task, Flips], Flips]
LEARNED: tuple[Proposal, ...] = (guided, daring, neighbourly, swapped, thinned, fresh)
