"""Bayesian shrinking: propose the smallest set of changes whose predicted probability of success is one half.

It is efficient if hundreds of changes have a small effect each: half of the answers are better counterfactuals, and all
of them improve the estimate of the effects. If most changes have no effect, random shrinking needs fewer calls.
"""

from __future__ import annotations

import numpy as np

from countergraph.search.learning.probit_surrogate import ProbitSurrogate
from countergraph.search.protocol import Ask, Flips, Part, Task

EXPLORATION = 0.2
"""The standard deviation of the noise on the effects, relative to their uncertainty."""
PATIENCE, PATIENCE_PER_CHANGE = 4, 0.07
"""The number of failures in a row after which the search ends: the minimum, and per change of the best."""
MIN_PROBABILITY, MAX_REPEATS = 0.8, 3
"""The surrogate must predict the success of the best with this probability; its answer is repeated at most so often."""
POOL_FACTOR = 3
"""The size of the pool of changes, relative to the best counterfactual."""
RESTRICT_AFTER = 20
"""After this many failures in a row, only changes of the best are used.

Random shrinking may have found a counterfactual that is better than the surrogate predicts.
"""


def bayesian_shrinking(task: Task, surrogate: ProbitSurrogate, best: Flips) -> Part:
    """Propose the changes with the largest estimated effects until too many proposals in a row have failed."""
    failed = 0
    while best.size > 1 and failed < max(PATIENCE, PATIENCE_PER_CHANGE * best.size):
        candidate = _propose(task, surrogate, best)
        if not candidate.size:
            failed += 1
            continue
        flipped = (yield Ask(candidate)).flipped
        surrogate.learn(candidate, flipped)
        if flipped:
            best, failed = candidate, 0
            _reduce_pool(surrogate, best)
        else:
            failed += 1
            if failed == RESTRICT_AFTER:
                surrogate.restrict_to(best)
            _repeat_success(surrogate, best)
    return best


def _propose(task: Task, surrogate: ProbitSurrogate, best: Flips) -> Flips:
    """Return the shortest prefix of the changes by sampled effect with a positive margin; if none, all below best."""
    effects = surrogate.means + EXPLORATION * surrogate.stds * task.rng.standard_normal(surrogate.flips.size)
    if task.limits.costs is not None:
        effects = effects / task.limits.costs[surrogate.flips]
    order = task.limits.prefix_below(task.alternate(surrogate.flips[np.argsort(-effects)]), best)
    positive = surrogate.margins(order) > 0
    size = 1 + int(positive.argmax()) if positive.any() else order.size
    return task.apply_limits(order[: size + size % 2 if task.limits.keep_edges else size])


def _repeat_success(surrogate: ProbitSurrogate, best: Flips) -> None:
    """Learn the success of the best again while its predicted probability is too low.

    The Gaussian approximation loses information, so that many failures may contradict an earlier success.
    """
    for _ in range(MAX_REPEATS):
        if surrogate.probability(best) >= MIN_PROBABILITY:
            break
        surrogate.learn(best, True)


def _reduce_pool(surrogate: ProbitSurrogate, best: Flips) -> None:
    """Drop the changes with the smallest estimated effects if the pool is large relative to the best."""
    if surrogate.flips.size > (POOL_FACTOR + 1) * best.size:
        order = surrogate.flips[np.argsort(-surrogate.means)]
        others = order[~np.isin(order, best)]
        surrogate.restrict_to(np.concatenate([best, others[: (POOL_FACTOR - 1) * best.size]]))
