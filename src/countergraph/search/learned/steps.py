"""The steps of the learned search: start, improve, undo, explore, finish."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from countergraph.search.bisection import bisection
from countergraph.search.learned.experts import INFORMED, Expert, by_gain, enabled_experts, max_size, surrogate
from countergraph.search.learned.single import probe_all_sizes, probe_growing_sets, shrink
from countergraph.search.learned.state import LearnedTask
from countergraph.search.parts.enumeration import can_enumerate
from countergraph.search.parts.prefix import bisect, grow_and_bisect, next_size, shorten
from countergraph.search.parts.trim import trim
from countergraph.search.protocol import NO_FLIPS, Answer, Ask, Attempt, Flips, Message, Part, Wait

ORDERS_PER_SIZE = 2
"""The number of orders that are tried at each prefix size of the start."""
MAX_OTHERS = 3
"""The number of counterfactuals of other graphs that a search without a result tries to reach."""
MAX_START = 21_845
"""The maximum length of an order of the start, the eighth prefix size: longer orders need too much memory."""
RESERVED_PER_CHANGE, RESERVED = 2, 10
"""The calls that exploration leaves for following and undoing: per change of the best, and in addition."""
REPEATS_PER_FAILURE = 10
"""A proposal that was classified before counts as one failure divided by this number."""


def start(task: LearnedTask) -> Attempt:
    """Find a first counterfactual; shrink it if it comes from a random order."""
    if task.guide.knows_wanted_graphs:
        found, expert = yield from _first_success(task)
        if found is not None and expert in INFORMED:
            return task.apply_limits(found)
    else:
        found = yield from probe_growing_sets(task)
    for order in (task.rng.permutation(task.removals), task.rng.permutation(task.additions)):
        if found is None:
            found = yield from grow_and_bisect(order)
    if found is None:
        found = yield from bisection(task, NO_FLIPS)
    if found is None and not task.guide.state.is_single:
        yield Wait()
        found = yield from grow_and_bisect(surrogate(task, None))
        if found is None:
            found = yield from _reach_other_counterfactual(task)
    if found is None and not can_enumerate(task, None, task.guide.n_calls):
        found = yield from probe_all_sizes(task)
    return found if found is None else (yield from shrink(task, task.apply_limits(found)))


def _reach_other_counterfactual(task: LearnedTask) -> Attempt:
    """Flip all pairs in which the graph differs from a counterfactual of another graph, those of smallest gain last.

    Without constraints, the result is that counterfactual. The nearest ones are tried first.
    """
    for flips in task.guide.differences_to_counterfactuals(MAX_OTHERS):
        order = flips[np.argsort(-task.guide.gains()[flips], kind="stable")]
        if (yield Ask(order)).flipped:
            return (yield from bisect(order))
    return None


def _first_success(task: LearnedTask) -> Generator[Message, Answer, tuple[Flips | None, Expert | None]]:
    """Classify growing prefixes of the orders of experts that the portfolio prefers; bisect the first counterfactual.

    Return the counterfactual and its expert, or None if no order leads to one.
    """
    portfolio, experts, orders, size = task.guide.state.portfolio, enabled_experts(task), dict[str, Flips](), 1
    failed_sizes = dict.fromkeys(experts, 0)
    while failed_sizes:
        tried = 0
        for name in portfolio.rank(failed_sizes, task.rng):
            if name not in orders:
                orders[name] = experts[name](task, None)[:MAX_START].copy()
            if not orders[name].size:
                continue
            prefix = orders[name][:size]
            flipped = (yield Ask(prefix)).flipped
            portfolio.update(name, flipped)
            if flipped:
                return (yield from bisect(prefix, failed_sizes[name])), experts[name]
            failed_sizes[name], tried = prefix.size, tried + 1
            if tried == ORDERS_PER_SIZE:
                break
        failed_sizes = {
            name: failed for name, failed in failed_sizes.items() if name not in orders or failed < orders[name].size
        }
        size = next_size(size)
    return None, None


def improve_and_undo(task: LearnedTask, best: Flips) -> Part:
    """Alternate improvement and undoing, as long as undoing reduces the cost a lot."""
    undone, before = None, np.inf
    while task.limits.cost(best) < task.settings.repeat_below * before:
        best = yield from improve(task, best, task.patience(best))
        before = task.limits.cost(best)
        if best is not undone:
            best = undone = yield from undo(task, best)
    return best


def improve(task: LearnedTask, best: Flips, patience: float) -> Part:
    """Propose closer candidates, by the expert that the portfolio picks, until too many in a row have failed."""
    guide, portfolio, experts = task.guide, task.guide.state.portfolio, enabled_experts(task)
    failed, repeated = 0.0, set[str]()
    while task.limits.max_changes_below(best) and failed < patience:
        name = portfolio.rank(experts, task.rng)[0]
        candidate = NO_FLIPS if name in repeated else closer_prefix(task, experts[name](task, best), best)
        if not candidate.size or guide.is_known(candidate):
            repeated.add(name)
            failed += 1 / REPEATS_PER_FAILURE
            continue
        repeated.clear()
        if (yield Ask(candidate)).flipped:
            before, failed = task.limits.cost(best), 0
            best = task.apply_limits((yield from shorten(candidate)))
            portfolio.update(name, 1 - task.limits.cost(best) / before)
        else:
            portfolio.update(name, 0)
            failed += 1
    return best


def closer_prefix(task: LearnedTask, order: Flips, best: Flips) -> Flips:
    """Return the longest prefix of an order that costs less than the best, after the constraints are applied."""
    return task.apply_limits(task.limits.prefix_below(task.alternate(order), best))


def undo(task: LearnedTask, flips: Flips) -> Part:
    """Undo changes in chunks, smallest gain first (delta debugging); a quick search ends after a few failures."""
    order = flips[np.argsort(task.guide.gains()[flips], kind="stable")]
    quick = task.options.effort == "quick"
    max_failures = task.settings.quick_undo + task.patience(flips) if quick else np.inf
    return (yield from trim(order, task.apply_limits_reversed, task.guide.can_skip, max_failures))


def explore(task: LearnedTask, best: Flips) -> Part:
    """Boundary sampling: learn the surrogate near the decision boundary, and follow it, as long as this pays off.

    An epoch consists of boundary samples and the candidate that the surrogate predicts then. Exploration ends when the
    recent epochs of all searches have gained too little, or when the rest of the budget is needed for undoing.
    """
    guide, settings, state = task.guide, task.settings, task.guide.state
    limits = settings.thorough if task.options.effort == "thorough" else settings.standard
    epoch, first = 0, best
    while best.size >= limits.min_changes and task.limits.max_changes_below(best):
        remaining = task.max_calls - guide.n_calls - RESERVED_PER_CHANGE * best.size - RESERVED
        n_samples = min(max(settings.min_epoch, int(settings.epoch_share * guide.n_calls)), remaining)
        gained_little = state.recent_gain(epoch, limits.window) < limits.min_gain
        if n_samples <= 0 or (epoch >= settings.grace_epochs and gained_little):
            break
        for _ in range(n_samples):
            yield Ask(boundary_sample(task, best))
        before = task.limits.cost(best)
        best = yield from follow(task, best)
        state.epochs[epoch] += 1
        state.gains[epoch] += 1 - task.limits.cost(best) / before
        epoch += 1
    return best if best is first else (yield from undo(task, best))


def boundary_sample(task: LearnedTask, best: Flips) -> Flips:
    """Return random flips among those of largest gain, as many as are predicted to reach the decision boundary."""
    rng, gains = task.rng, task.guide.gains()
    factors = task.settings.own_pool_factors if task.is_uninformed else task.settings.pool_factors
    low, high = (factor * best.size for factor in factors)
    pool_size = min(int(np.exp(rng.uniform(np.log(low), np.log(max(low, high))))), gains.size - 1)
    losses = -gains if task.limits.allowed is None else np.where(task.limits.allowed, -gains, np.inf)
    order = rng.permutation(np.argpartition(losses, pool_size)[:pool_size])
    if task.limits.allowed is not None:
        order = order[task.limits.allowed[order]]
    positive = task.guide.margins(order) > 0
    return order[: 1 + int(positive.argmax())] if positive.any() else order


def follow(task: LearnedTask, best: Flips) -> Part:
    """Classify the shortest prefix by gain that is predicted to change the class, and correct its length."""
    guide = task.guide
    order = closer_prefix(task, by_gain(task, guide.gains(), max_size(task, best)), best)
    positive = guide.margins(order) > 0
    size = 1 + int(positive.argmax()) if positive.any() else order.size
    low, high, step = 0, None, 1
    while low < size and not guide.is_known(order[:size]):
        if (yield Ask(order[:size])).flipped:
            high, size, step = size, size - step, 2 * step
        else:
            low = size
            if high is not None:
                break
            size, step = min(order.size, size + step), 2 * step
    return best if high is None else task.apply_limits((yield from bisect(order[:high], low)))


def finish(task: LearnedTask, best: Flips) -> Part:
    """Wait for all other searches, then follow the final surrogate as long as this is successful."""
    if task.guide.state.is_single:
        return best
    yield Wait()
    first = best
    while True:
        candidate = closer_prefix(task, surrogate(task, best), best)
        if not candidate.size or task.guide.is_known(candidate) or not (yield Ask(candidate)).flipped:
            break
        best = task.apply_limits((yield from shorten(candidate)))
    little_improved = task.limits.cost(best) > task.settings.repeat_below * task.limits.cost(first)
    return best if little_improved else (yield from undo(task, best))
