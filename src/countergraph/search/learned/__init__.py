"""The learned search: all searches of a run train one surrogate model of the black box, and use it for candidates.

It is active learning of a linear model from one-bit answers at the decision boundary, with a portfolio of experts and
delta debugging for black boxes that are not linear. The modules:

- `surrogate`: hierarchical Bayesian logistic regression of all answers of the run (fitted in `regression`). It predicts
  the *gain* of each flip, its effect towards a wanted class, and whether a candidate changes the class.
- `directions`: what graphs with known classes tell without any call. Directions are features of the surrogate, which
  learns their weights: a discriminative fit, edge frequencies, nearest neighbours. Paths in embeddings are orders.
- `experts`: each orders the flips of a graph. `portfolio`: a bandit learns which experts succeed (Thompson sampling).
- `state`: what the searches of a run share, and the view of one search. `settings`: every constant.
- `steps`: the steps below. `single`: random sets and random shrinking, for a graph without any data.

The steps of a search:

1. *Start*: find a first counterfactual. The portfolio chooses whose prefixes of 1, 5, 21, ... flips are classified; the
   first success is bisected. Without data, random sets of growing size are classified. A search that finds nothing
   waits until the other searches of the run are finished, and follows the surrogate that they have trained; if this
   fails, it flips all pairs in which the graph differs from a counterfactual of another one.
2. *Improve*: the portfolio chooses an expert, which proposes fewer changes than the best; a success is shortened. The
   step ends when too many proposals in a row have failed. *Undo*: undo changes in chunks, smallest gain first, until
   each remaining change was tried separately (delta debugging, Zeller & Hildebrandt 2002).
3. *Explore*, unless ``effort="quick"``: boundary sampling. Classify random candidates that the surrogate predicts to be
   at the decision boundary: each answer is one bit about the unknown weights (1-bit compressed sensing, Plan &
   Vershynin 2013; compare HopSkipJump, Chen et al. 2020). After each epoch, classify the shortest prefix by gain that
   is predicted to change the class. All searches of a run sample for each other, so a cohort learns thousands of
   weights, a single graph mainly the ROI effects. Exploration ends when the recent epochs gained less than the effort
   demands, or when the budget is spent.
4. *Finish*: wait until all other searches are finished, then follow the final surrogate.
5. If the pairs have costs and the result has more changes than ``most`` allows: minimise the number, then the cost.
6. If the number of all closer candidates is within the remaining budget, classify all of them, smallest first.

The best counterfactual is recorded at each answer, so a search may be stopped at any time. If the answers contain
nothing that a linear surrogate can learn, the portfolio chooses the random experts, and the search consists of
bisection, delta debugging and random restarts.
"""

from __future__ import annotations

from dataclasses import replace

from countergraph.search.learned.state import LearnedTask
from countergraph.search.learned.steps import explore, finish, improve_and_undo
from countergraph.search.learned.steps import start as find_first
from countergraph.search.limits import Limits
from countergraph.search.parts.enumeration import can_enumerate, enumerate_closer
from countergraph.search.protocol import Flips, Part, Search


def learned(task: LearnedTask, start: Flips) -> Search:
    """Search forward, improve, undo changes, and explore the decision boundary, all with the shared surrogate."""
    without_most = _with_limits(task, replace(task.limits, most=None))
    best = start if start.size else (yield from find_first(without_most))
    if best is not None:
        best = yield from improve_and_undo(without_most, best)
        if task.options.effort != "quick" and not can_enumerate(task, best, task.guide.n_calls):
            best = yield from explore(without_most, best)
        best = yield from finish(without_most, best)
        if task.limits.costs is not None and not task.limits.within_most(best):
            best = yield from _reduce_number(task, best)
    if can_enumerate(task, best, task.guide.n_calls):
        yield from enumerate_closer(task, best, task.guide.is_known)


def _with_limits(task: LearnedTask, limits: Limits) -> LearnedTask:
    """Return the task with other constraints; its guide uses them from now on."""
    task.guide.limits = limits
    return replace(task, limits=limits)


def _reduce_number(task: LearnedTask, best: Flips) -> Part:
    """Minimise the number of changes without costs, then improve the cost.

    The pairs with the best ratio of gain and cost often have too small gains for a result with few changes. Adding the
    mean cost to each cost prefers pairs with large gains.
    """
    without_costs = _with_limits(task, replace(task.limits, costs=None, most=None))
    found = yield from find_first(without_costs)
    best = yield from improve_and_undo(without_costs, best if found is None else min(best, found, key=len))
    if task.limits.within_most(best) and task.limits.costs is not None:
        task.guide.limits = replace(task.limits, costs=task.limits.costs + task.limits.costs.mean())
        best = yield from improve_and_undo(task, best)
    return best
