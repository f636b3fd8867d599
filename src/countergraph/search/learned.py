"""The learned search: all searches of a run train one surrogate model of the black box, and use it for candidates.

The surrogate is a linear model over the pairs (see `learning.surrogate`). Every answer to any search of the run updates
it. The *gain* of a flip is its estimated effect towards a wanted class, relative to its cost. A search is *uninformed*
if there are neither labelled graphs nor enough other graphs in the run. The steps of a search are:

1. Forward: find a first counterfactual. Several orders of flips are candidates: by the gains of the surrogate, towards
   the nearest graphs of a wanted class (by edges or in an embedding), random, and random with a degree bias. A bandit
   (Thompson sampling) chooses which prefixes to classify, and the first success is bisected. Without data for any
   order, random sets of growing size are classified instead. A counterfactual from a random order is shrunk by random
   shrinking and, if the search is uninformed, by Bayesian shrinking. A search that finds nothing waits until the other
   searches of a joint run are finished, and then follows the surrogate that they have trained.
2. Improvement near the decision boundary: propose candidates with fewer changes than the best. A second bandit chooses
   the proposal: the surrogate, a randomly perturbed surrogate, nearest neighbours, destroy-and-repair, and others. Each
   success is shortened. The step ends when too many proposals in a row have failed.
3. Backward: undo changes in chunks, smallest gain first, until each remaining change was tried separately (delta
   debugging). Steps 2 and 3 are repeated as long as step 3 undoes many changes.
4. Final improvement. In a joint run: wait until all other searches are finished, then follow the final surrogate. For
   a single graph: if labelled graphs were used, repeat the search with an untrained surrogate, because the labels may
   differ from the classes of the black box; then try half as many changes at the ROIs of extreme degree. The best
   result is kept.
5. If the pairs have costs and the result has more changes than ``most`` allows: minimise the number of changes, then
   the cost.
6. If the number of all closer candidates is within the remaining budget, classify all of them, smallest first.

If the answers contain nothing that a linear surrogate can learn, the bandits choose the random orders and proposals.
The search then consists of bisection, delta debugging and random restarts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from countergraph.search.bisection import bisection
from countergraph.search.learning.bayesian_shrinking import bayesian_shrinking
from countergraph.search.learning.degree_bias import STRONG_BIAS, decrease_degree_contrast, increase_degree_contrast
from countergraph.search.learning.enumeration import can_enumerate, enumerate_closer
from countergraph.search.learning.first_success import first_success
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.learning.improvement import closer_prefix, improve
from countergraph.search.learning.probit_surrogate import ProbitSurrogate
from countergraph.search.learning.proposals import INFORMED_STARTS, by_surrogate, start_by_surrogate
from countergraph.search.learning.random_probing import probe_all_sizes, probe_growing_sets
from countergraph.search.learning.random_shrinking import random_shrinking
from countergraph.search.limits import Limits
from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import bisect, grow_and_bisect, shorten
from countergraph.search.parts.trim import trim
from countergraph.search.protocol import NO_FLIPS, Ask, Attempt, Flips, Part, Search, Wait, observed

MIN_CHUNK = 1 / 10
"""In an uninformed search, random shrinking ends when the chunks are smaller than this share of the changes."""
SMALL = 20
"""For at most this many changes, Bayesian shrinking and the trial of extreme degrees are skipped."""
REPEAT_BELOW = 0.65
"""Improvement is repeated if the backward step reduces the cost to less than this share."""
TOO_FEW_TO_REPEAT = 4
"""For at most this many changes, the search of a single graph is not repeated with an untrained surrogate."""
MAX_RATIO = 2
"""The repeated search ends if its first counterfactual costs more than this many times the best."""


def learned(task: GuidedTask, start: Flips) -> Search:
    """Search forward, improve near the decision boundary, and undo changes, all with the shared surrogate."""
    without_most = _with_limits(task, replace(task.limits, most=None))
    best = start if start.size else (yield from _forward(without_most))
    if best is not None:
        best = yield from _improve_and_undo(without_most, best)
        if task.guide.is_single:
            best = yield from _repeat_untrained(without_most, best)
            best = yield from _try_extreme_degrees(without_most, best)
        else:
            best = yield from _follow_final_surrogate(without_most, best)
        if task.limits.costs is not None and not task.limits.within_most(best):
            best = yield from _reduce_number(task, best)
    yield from enumerate_closer(task, best)


def _with_limits(task: GuidedTask, limits: Limits) -> GuidedTask:
    """Return the task with other constraints; its guide uses them from now on."""
    task.guide.set_limits(limits)
    return replace(task, limits=limits)


def _reduce_number(task: GuidedTask, best: Flips) -> Part:
    """Minimise the number of changes without costs, then improve the cost.

    The pairs with the best ratio of gain and cost often have too small gains for a result with few changes. Adding the
    mean cost to each cost prefers pairs with large gains.
    """
    without_costs = _with_limits(task, replace(task.limits, costs=None, most=None))
    found = yield from _forward(without_costs)
    best = yield from _improve_and_undo(without_costs, best if found is None else min(best, found, key=len))
    if task.limits.within_most(best) and task.limits.costs is not None:
        task.guide.set_limits(replace(task.limits, costs=task.limits.costs + task.limits.costs.mean()))
        best = yield from _improve_and_undo(task, best)
    return best


def _improve_and_undo(task: GuidedTask, best: Flips) -> Part:
    """Alternate improvement and backward steps, as long as the backward step undoes many changes."""
    undone, before = None, np.inf
    while task.limits.cost(best) < REPEAT_BELOW * before:
        best = yield from improve(task, best)
        before = task.limits.cost(best)
        if best is not undone:
            best = undone = yield from _backward(task, best)
    return best


def _follow_final_surrogate(task: GuidedTask, best: Flips) -> Part:
    """Wait for all other searches, then propose the largest gains of the surrogate as long as this is successful."""
    yield Wait()
    first = best
    while True:
        candidate = closer_prefix(task, by_surrogate(task, best), best)
        if not candidate.size or task.guide.is_known(candidate) or not (yield Ask(candidate)).flipped:
            break
        best = task.apply_limits((yield from shorten(candidate)))
    little_improved = task.limits.cost(best) > REPEAT_BELOW * task.limits.cost(first)
    return best if little_improved else (yield from _backward(task, best))


def _repeat_untrained(task: GuidedTask, best: Flips) -> Part:
    """If labels were used, repeat the search with an untrained surrogate; return the better of the two results."""
    if task.reference is None or (task.limits.costs is None and best.size <= TOO_FEW_TO_REPEAT):
        return best
    guide = task.guide.untrained()
    repeated = replace(task, guide=guide)
    found = yield from observed(_forward(repeated), guide.learn)
    if found is not None and task.limits.cost(found) <= MAX_RATIO * task.limits.cost(best):
        found = yield from observed(_improve_and_undo(repeated, found), guide.learn)
    return best if found is None else min(best, found, key=task.limits.rank)


def _try_extreme_degrees(task: GuidedTask, best: Flips) -> Part:
    """Try half as many changes, all at the ROIs with the highest and lowest degrees; improve a success."""
    for order in (increase_degree_contrast, decrease_degree_contrast) if best.size > SMALL else ():
        candidate = closer_prefix(task, order(task, STRONG_BIAS)[: best.size // 2], best)
        if candidate.size and (yield Ask(candidate)).flipped:
            return (yield from _improve_and_undo(task, task.apply_limits((yield from bisect(candidate)))))
    return best


def _forward(task: GuidedTask) -> Attempt:
    """Find a first counterfactual; shrink it if it comes from a random order."""
    informed, random = [start(task) for start in INFORMED_STARTS], random_order(task)
    if not any(order.size for order in informed):
        found = yield from probe_growing_sets(task)
    else:
        orders = [*informed, random, increase_degree_contrast(task), decrease_degree_contrast(task)]
        found, number = yield from first_success(orders, task.guide.start_bandit, task.rng)
        if found is not None and number < len(informed):
            return task.apply_limits(found)
    for order in (task.rng.permutation(task.removals), task.rng.permutation(task.additions)):
        if found is None:
            found = yield from grow_and_bisect(order)
    if found is None:
        found = yield from bisection(task, NO_FLIPS)
    if found is None and not task.guide.is_single:
        yield Wait()
        found = yield from grow_and_bisect(start_by_surrogate(task))
    if found is None and not can_enumerate(task, None):
        found = yield from probe_all_sizes(task)
    return found if found is None else (yield from _shrink(task, task.apply_limits(found)))


def _shrink(task: GuidedTask, flips: Flips) -> Part:
    """Apply random shrinking and, in an uninformed search, Bayesian shrinking if many changes remain."""
    if not task.is_uninformed:
        return (yield from random_shrinking(task, flips))
    surrogate = ProbitSurrogate(flips, task.graph)
    shrinking = random_shrinking(task, flips, MIN_CHUNK)
    best = yield from observed(shrinking, lambda answer: surrogate.learn(answer.asked, answer.flipped))
    return best if best.size <= SMALL else (yield from bayesian_shrinking(task, surrogate, best))


def _backward(task: GuidedTask, flips: Flips) -> Part:
    """Undo changes in chunks, smallest gain first."""
    guide = task.guide
    order = flips[np.argsort(guide.gains()[flips], kind="stable")]
    return (yield from trim(order, task.apply_limits_reversed, guide.can_skip))
