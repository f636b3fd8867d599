"""The search that learns: every answer, to any search of the run, tells all of them what to ask next.

1. Forward: the orders that the answers so far, the nearest graphs and chance suggest race to a first crossing. Where
   nothing but chance suggests anything, random sets are asked about, each a little larger than the one before. What
   chance found is winnowed and, for a graph of which nothing else is known, sifted. Who has found nothing waits for
   what all others learn, and follows that.
2. Improvement near the boundary: proposals with one change less, in the ways that have paid in this run, each success
   shortened, until enough in a row have failed.
3. Backward: changes are undone in chunks, those thought least useful first, until each that is left was tried.
4. A last look, when all searches of the run are done: what they have learned since may know better. A graph that has
   hardly any company is instead looked at a second time, by its own answers alone, since the labels of a dataset may
   mislead; what is closer counts.
5. Where the cheapest changes are more than there may be, the fewest are sought, and made cheaper.
6. Where few enough sets of changes could be closer than the best, all of them are asked about, smallest first.

Where there is nothing to learn, the random ways win over the others, and what is left is bisection, delta debugging and
random restarts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.bisection import bisection, random_order
from countergraph.search.conversation import NO_FLIPS, REST, Attempt, Flips, Part, Search, Task, relayed
from countergraph.search.learning.closeup import CloseUp
from countergraph.search.learning.enumeration import affordable, all_closer
from countergraph.search.learning.guide import guide_of
from countergraph.search.learning.proposals import ALONE, STARTS, TOGETHER, guided, what_all_learned
from countergraph.search.learning.race import race
from countergraph.search.learning.sift import sifted
from countergraph.search.learning.slant import contrasted, levelled
from countergraph.search.learning.views import strongest
from countergraph.search.learning.winnow import patience, winnowed
from countergraph.search.limits import Limits
from countergraph.search.parts.prefix import bisected, shortened, stretched
from countergraph.search.parts.trim import trimmed

WIDER = 1.3
"""How much larger than the one before each set is that chance alone suggests."""
SMALL = 16
"""Sets of up to so many changes are sought at the regions with few connections, and with many."""
TRIES = 1000
"""How many random sets to ask about where nothing else crossed."""
COARSE = 1 / 10
"""A graph alone is winnowed in chunks of at least this share of what is left ..."""
SHORT = 20
"""... and sifted if more changes than this are left."""
REPEATS = 10
"""So many proposals that were made before count as one failure."""
AGAIN = 0.65
"""What is undone down to this share is worth proposing around it again."""
PROMISING = 5
"""How many more proposals in a row may fail where almost nothing of the best is thought to be needed."""
FEWER_WAYS = 2
"""How many less for a graph alone: half of the ways to propose something need others to know anything."""
FEW = 4
"""So few changes are not worth a second look."""
HOPEFUL = 2
"""A second look is given up where it begins with so many times more changes than the first found."""


def learned(task: Task, start: Flips) -> Search:
    """Follow what all searches of the run have learned, forward, around the boundary and backward."""
    free = _aimed(task, replace(task.limits, most=None))
    best = yield from _forward(free)
    if best is not None:
        best = yield from _closer(free, best)
        best = yield from (_second_look if guide_of(task).lonely else _last_look)(free, best)
        if task.limits.costs is not None and not task.limits.few(best):
            best = yield from _fewer(task, best)
    yield from all_closer(task, best)


def _aimed(task: Task, limits: Limits) -> Task:
    """Return the task with other limits, which its guide minds from now on."""
    guide_of(task).aim(limits)
    return replace(task, limits=limits)


def _fewer(task: Task, best: Flips) -> Part:
    """Come down to as few changes as there may be, whatever they cost, and then make them cheaper.

    What is cheapest for what it does is often too weak to be one of a few; a usual cost on top of each tells which are.
    """
    counting = _aimed(task, replace(task.limits, costs=None, most=None))
    anew = yield from _forward(counting)
    best = yield from _closer(counting, best if anew is None else min(best, anew, key=len))
    if task.limits.few(best) and task.limits.costs is not None:
        guide_of(task).aim(replace(task.limits, costs=task.limits.costs + task.limits.costs.mean()))
        best = yield from _closer(task, best)
    return best


def _closer(task: Task, best: Flips) -> Part:
    """Propose and undo by turns, as long as undoing makes much of what was proposed superfluous."""
    undone, before = None, np.inf
    while task.limits.cost(best) < AGAIN * before:
        best = yield from _improved(task, best)
        before = task.limits.cost(best)
        if best is not undone:
            best = undone = yield from _backward(task, best)
    return best


def _last_look(task: Task, best: Flips) -> Part:
    """Wait for all others, then follow what all have learned as long as that leads closer."""
    yield REST
    first = best
    while True:
        candidate = _candidate(task, guided(task, best), best)
        if not candidate.size or guide_of(task).knows(candidate) or not (yield candidate).flipped:
            break
        best = task.leading((yield from shortened(candidate)))
    hardly = task.limits.cost(best) > AGAIN * task.limits.cost(first)
    return best if hardly else (yield from _backward(task, best))


def _second_look(task: Task, best: Flips) -> Part:
    """Search by what the graph's own answers say, where labels had a say; return the closer of the two results."""
    if task.reference is None or (task.limits.costs is None and best.size <= FEW):
        return best
    guide = guide_of(task).alone()
    alone = replace(task, guide=guide)
    found = yield from relayed(_forward(alone), guide.learn)
    if found is not None and task.limits.cost(found) <= HOPEFUL * task.limits.cost(best):
        found = yield from relayed(_closer(alone, found), guide.learn)
    return best if found is None else min(best, found, key=task.limits.rank)


def _forward(task: Task) -> Attempt:
    orders = [start(task) for start in STARTS]
    if not any(order.size for order, start in zip(orders, STARTS, strict=True) if start is not random_order):
        found = yield from _glimpses(task)
    else:
        found, winner = yield from race(orders, guide_of(task).starts, task.rng)
        if found is not None and STARTS[winner] is not random_order:
            return task.leading(found)
    for order in (task.rng.permutation(task.removals), task.rng.permutation(task.additions)):
        if found is None:
            found = yield from stretched(order)
    if found is None:
        found = yield from bisection(task, NO_FLIPS)
    if found is None and not guide_of(task).lonely:
        yield REST
        found = yield from stretched(what_all_learned(task))
    if found is None and not affordable(task, None):
        found = yield from _anywhere(task)
    return found if found is None else (yield from _narrowed(task, task.leading(found)))


def _narrowed(task: Task, flips: Flips) -> Part:
    """Winnow what has much that is of no use. A graph of which nothing else is known is then looked at closely."""
    if not _alone(task):
        return (yield from winnowed(task, flips))
    look = CloseUp(flips, task.graph)
    best = yield from relayed(winnowed(task, flips, COARSE), lambda answer: look.learn(answer.asked, answer.flipped))
    return best if best.size <= SHORT else (yield from sifted(task, look, best))


def _glimpses(task: Task) -> Attempt:
    """Ask about random sets, each a little larger than the one before; small ones where they are noticed most.

    Small steps, and a new set each time: a black box that changes its mind easily has then many occasions to do so
    close to the graph, and one that does not costs some ten questions more.
    """
    size = 1.0
    while True:
        for order in (contrasted, levelled) if size <= SMALL else (random_order,):
            flips = order(task)
            if flips.size and (yield flips[: int(size)]).flipped:
                return flips[: int(size)]
        if flips.size <= size:
            return None
        size = max(WIDER * size, size + 1)


def _anywhere(task: Task) -> Attempt:
    """Ask about random sets of any numbers of additions and removals. A run that never crossed gives up sooner."""
    for _ in range(int(TRIES * guide_of(task).share)):
        parts = [pool[task.rng.random(pool.size) < task.rng.random()] for pool in (task.additions, task.removals)]
        candidate = task.rng.permutation(np.concatenate(parts))
        if candidate.size and (yield candidate).flipped:
            return (yield from bisected(candidate))
    return None


def _backward(task: Task, flips: Flips) -> Part:
    guide = guide_of(task)
    line = flips[np.argsort(guide.gains()[flips], kind="stable")]
    return (yield from trimmed(line, task.trailing, guide.hopeless))


def _improved(task: Task, best: Flips) -> Part:
    """Propose closer counterfactuals until enough proposals in a row have failed, or been made before."""
    guide, ways, failed = guide_of(task), ALONE if _alone(task) else TOGETHER, 0.0
    while task.limits.fewer(best) and failed < _endurance(task, best):
        way, guide.lean = guide.luck.pick(len(ways), task.rng), 0.0
        candidate = _candidate(task, ways[way](task, best), best)
        if not candidate.size or guide.knows(candidate):
            failed += 1 / REPEATS
        elif (yield candidate).flipped:
            before, failed = task.limits.cost(best), 0
            best = task.leading((yield from shortened(candidate)))
            guide.won()
            guide.luck.tell(way, 1 - task.limits.cost(best) / before)
        else:
            guide.luck.tell(way, 0)
            failed += 1
    return best


def _candidate(task: Task, order: Flips, best: Flips) -> Flips:
    """Return as much of an order as may be and as costs less than the best."""
    return task.leading(task.limits.cheaper(task.by_turns(order), best))


def _endurance(task: Task, best: Flips) -> float:
    """Return how many proposals in a row may fail."""
    return patience(best) + PROMISING * _promise(guide_of(task).gains(), best) - FEWER_WAYS * _alone(task)


def _alone(task: Task) -> bool:
    """Tell whether nothing is known but the answers about this one graph."""
    return task.reference is None and guide_of(task).lonely


def _promise(gains: Floats, best: Flips) -> float:
    """Return the share of the best that is thought to be saved by taking the strongest changes instead."""
    return 1 - _needed(gains, best) / best.size


def _needed(gains: Floats, flips: Flips) -> int:
    """Return how many of the strongest changes are thought to do as much as some others do."""
    reach = np.cumsum(gains[strongest(gains, flips.size)])
    return min(1 + int(np.searchsorted(reach, gains[flips].sum())), flips.size)
