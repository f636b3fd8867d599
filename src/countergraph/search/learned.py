"""The search that learns: every answer, to any search of the run, tells all of them what to ask next.

1. Forward: the orders that the answers so far, the nearest graphs and chance suggest race to a first crossing.
2. Backward: changes are undone in chunks, those thought least useful first.
3. Improvement near the boundary: proposals with one change less, in the ways that have paid in this run, each success
   shortened and trimmed, until enough in a row have failed.
4. Where few enough sets of changes are left below the best, all of them are asked, smallest first.

Where there is nothing to learn, the random ways win over the others, and what is left is bisection, delta debugging and
random restarts.
"""

from __future__ import annotations

import numpy as np

from countergraph.search.bisection import bisection, random_order
from countergraph.search.conversation import NO_FLIPS, Attempt, Flips, Part, Search, Task
from countergraph.search.enumeration import all_smaller
from countergraph.search.memory import guide_of
from countergraph.search.prefix import race, shortened
from countergraph.search.proposals import LEARNED, strongest
from countergraph.search.trim import trimmed

PATIENCE = 3
PATIENCE_PER_CHANGE = 0.05
"""Proposals in a row that may fail: more where there is more to win."""
HASTE = 1
"""Failures after which undoing changes is left for later, while proposals may still do better."""
REPEATS = 10
"""So many proposals that were made before count as one failure."""


def learned(task: Task, start: Flips) -> Search:
    """Follow what all searches of the run have learned, forward, backward and around the boundary."""
    best = yield from _forward(task)
    if best is not None:
        best = yield from _backward(task, best, HASTE)
        before = best.size + 1
        while best.size < before:
            best = yield from _improved(task, best)
            before = best.size
            best = yield from _backward(task, best)
    yield from all_smaller(task, best)


def _forward(task: Task) -> Attempt:
    guide, pairs = guide_of(task), task.graph.size
    found = yield from race([strongest(guide.gains(), pairs), strongest(guide.neighbours(), pairs), random_order(task)])
    if found is None:
        found = yield from race([task.rng.permutation(pool) for pool in (task.removals, task.additions)])
    return found if found is not None else (yield from bisection(task, NO_FLIPS))


def _backward(task: Task, flips: Flips, patience: float = np.inf) -> Part:
    guide = guide_of(task)
    line = flips[np.argsort(guide.gains()[flips], kind="stable")]
    return (yield from trimmed(line, patience, guide.hopeless))


def _improved(task: Task, best: Flips) -> Part:
    """Propose closer counterfactuals until enough proposals in a row have failed, or been made before."""
    guide, failed = guide_of(task), 0.0
    while best.size > 1 and failed < PATIENCE + PATIENCE_PER_CHANGE * best.size:
        way = guide.luck.pick(task.rng)
        candidate = LEARNED[way](task, best)
        if not candidate.size or guide.knows(candidate):
            failed += 1 / REPEATS
        elif (yield candidate).flipped:
            before, failed = best.size, 0
            best = yield from _backward(task, (yield from shortened(candidate)), HASTE)
            guide.luck.tell(way, 1 - best.size / before)
        else:
            guide.luck.tell(way, 0)
            failed += 1
    return best
