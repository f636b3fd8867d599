"""The search that learns: every answer, to any search of the run, tells all of them what to ask next.

1. Forward: the orders that the answers so far, the nearest graphs, degrees and chance suggest race to a crossing. Where
   nothing but chance suggests anything, random sets are asked about, each a little larger than the one before. What
   chance found is winnowed and, for a graph of which nothing else is known, sifted. Who has found nothing waits for
   what all others learn, and follows that.
2. Improvement near the boundary: proposals with one change less, in the ways that have paid in this run, each success
   shortened, until enough in a row have failed.
3. Backward: changes are undone in chunks, those thought least useful first, until each that is left was tried.
4. A last look, when all searches of the run are done: what they have learned since may know better. A graph that has
   hardly any company is instead looked at a second time, by its own answers alone, since the labels of a dataset may
   mislead; and what is closer counts. It is also asked about at the ends of its degrees.
5. Where the cheapest changes are more than there may be, the fewest are sought, and made cheaper.
6. Where few enough sets of changes could be closer than the best, all of them are asked about, smallest first.

Where there is nothing to learn, the random ways win over the others, and what is left is bisection, delta debugging and
random restarts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countergraph.search.bisection import bisection
from countergraph.search.learning.bayesian_shrinking import sifted
from countergraph.search.learning.degree_bias import STEEP, contrasted, levelled
from countergraph.search.learning.enumeration import affordable, all_closer
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.learning.improvement import closer_part, improved
from countergraph.search.learning.probit_surrogate import ProbitSurrogate
from countergraph.search.learning.proposals import INFORMED, guided, what_all_learned
from countergraph.search.learning.race import race
from countergraph.search.learning.random_probing import anywhere, glimpses
from countergraph.search.learning.random_shrinking import winnowed
from countergraph.search.limits import Limits
from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import bisected, shortened, stretched
from countergraph.search.parts.trim import trimmed
from countergraph.search.protocol import NO_FLIPS, Ask, Attempt, Flips, Part, Search, Wait, observed

COARSE = 1 / 10
"""A graph alone is winnowed in chunks of at least this share of what is left ..."""
SHORT = 20
"""... and sifted if more changes than this are left. So many or fewer are not looked for at the ends of the degrees."""
AGAIN = 0.65
"""What is undone down to this share is worth proposing around it again."""
FEW = 4
"""So few changes are not worth a second look."""
HOPEFUL = 2
"""A second look is given up where it begins with so many times more changes than the first found."""


def learned(task: GuidedTask, start: Flips) -> Search:
    """Follow what all searches of the run have learned, forward, around the boundary and backward."""
    free = _aimed(task, replace(task.limits, most=None))
    best = start if start.size else (yield from _forward(free))
    if best is not None:
        best = yield from _closer(free, best)
        if task.guide.lonely:
            best = yield from _second_look(free, best)
            best = yield from _at_the_ends(free, best)
        else:
            best = yield from _last_look(free, best)
        if task.limits.costs is not None and not task.limits.within_most(best):
            best = yield from _fewer(task, best)
    yield from all_closer(task, best)


def _aimed(task: GuidedTask, limits: Limits) -> GuidedTask:
    """Return the task with other limits, which its guide minds from now on."""
    task.guide.aim(limits)
    return replace(task, limits=limits)


def _fewer(task: GuidedTask, best: Flips) -> Part:
    """Come down to as few changes as there may be, whatever they cost, and then make them cheaper.

    What is cheapest for what it does is often too weak to be one of a few; a usual cost on top of each tells which are.
    """
    counting = _aimed(task, replace(task.limits, costs=None, most=None))
    anew = yield from _forward(counting)
    best = yield from _closer(counting, best if anew is None else min(best, anew, key=len))
    if task.limits.within_most(best) and task.limits.costs is not None:
        task.guide.aim(replace(task.limits, costs=task.limits.costs + task.limits.costs.mean()))
        best = yield from _closer(task, best)
    return best


def _closer(task: GuidedTask, best: Flips) -> Part:
    """Propose and undo by turns, as long as undoing makes much of what was proposed superfluous."""
    undone, before = None, np.inf
    while task.limits.cost(best) < AGAIN * before:
        best = yield from improved(task, best)
        before = task.limits.cost(best)
        if best is not undone:
            best = undone = yield from _backward(task, best)
    return best


def _last_look(task: GuidedTask, best: Flips) -> Part:
    """Wait for all others, then follow what all have learned as long as that leads closer."""
    yield Wait()
    first = best
    while True:
        candidate = closer_part(task, guided(task, best), best)
        if not candidate.size or task.guide.knows(candidate) or not (yield Ask(candidate)).flipped:
            break
        best = task.apply_limits((yield from shortened(candidate)))
    hardly = task.limits.cost(best) > AGAIN * task.limits.cost(first)
    return best if hardly else (yield from _backward(task, best))


def _second_look(task: GuidedTask, best: Flips) -> Part:
    """Search by what the graph's own answers say, where labels had a say; return the closer of the two results."""
    if task.reference is None or (task.limits.costs is None and best.size <= FEW):
        return best
    guide = task.guide.by_itself()
    alone = replace(task, guide=guide)
    found = yield from observed(_forward(alone), guide.learn)
    if found is not None and task.limits.cost(found) <= HOPEFUL * task.limits.cost(best):
        found = yield from observed(_closer(alone, found), guide.learn)
    return best if found is None else min(best, found, key=task.limits.rank)


def _at_the_ends(task: GuidedTask, best: Flips) -> Part:
    """See whether half as many changes do where all are at the regions with most connections, or with fewest."""
    for order in (contrasted, levelled) if best.size > SHORT else ():
        fewer = closer_part(task, order(task, STEEP)[: best.size // 2], best)
        if fewer.size and (yield Ask(fewer)).flipped:
            return (yield from _closer(task, task.apply_limits((yield from bisected(fewer)))))
    return best


def _forward(task: GuidedTask) -> Attempt:
    orders, anyhow = [start(task) for start in INFORMED], random_order(task)
    if not any(order.size for order in orders):
        found = yield from glimpses(task)
    else:
        by_chance = (anyhow, contrasted(task), levelled(task))
        found, winner = yield from race([*orders, *by_chance], task.guide.starts, task.rng)
        if found is not None and winner < len(orders):
            return task.apply_limits(found)
    for order in (task.rng.permutation(task.removals), task.rng.permutation(task.additions)):
        if found is None:
            found = yield from stretched(order)
    if found is None:
        found = yield from bisection(task, NO_FLIPS)
    if found is None and not task.guide.lonely:
        yield Wait()
        found = yield from stretched(what_all_learned(task))
    if found is None and not affordable(task, None):
        found = yield from anywhere(task)
    return found if found is None else (yield from _narrowed(task, task.apply_limits(found)))


def _narrowed(task: GuidedTask, flips: Flips) -> Part:
    """Winnow what has much that is of no use. A graph of which nothing else is known is then looked at closely."""
    if not task.unaided:
        return (yield from winnowed(task, flips))
    look = ProbitSurrogate(flips, task.graph)
    best = yield from observed(winnowed(task, flips, COARSE), lambda answer: look.learn(answer.asked, answer.flipped))
    return best if best.size <= SHORT else (yield from sifted(task, look, best))


def _backward(task: GuidedTask, flips: Flips) -> Part:
    guide = task.guide
    line = flips[np.argsort(guide.gains()[flips], kind="stable")]
    return (yield from trimmed(line, task.apply_limits_reversed, guide.hopeless))
