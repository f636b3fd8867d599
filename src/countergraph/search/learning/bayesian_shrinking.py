"""Sifting: of many changes that cross together, the smallest set is asked about that is as likely as not to cross, too.

It pays where hundreds of changes do a little each: half of the answers are new closest counterfactuals, and all of them
tell which changes do most. Where most changes do nothing, winnowing is done sooner.
"""

from __future__ import annotations

import numpy as np

from countergraph.search.learning.probit_surrogate import ProbitSurrogate
from countergraph.search.protocol import Ask, Flips, Part, Task

DARING = 0.2
PATIENCE, PATIENCE_PER_CHANGE = 4, 0.07
"""How many questions in a row may fail at least, and where the best is long."""
SURE, REMINDERS = 0.8, 3
"""How likely to cross the best must be thought, and how often it is told so at most, after a failure."""
ROOM = 3
"""How many times as many changes as the best has stay in view ..."""
STUCK = 20
"""... and after so many failures in a row, only its own: what winnowing found by luck may beat all that is thought."""


def sifted(task: Task, look: ProbitSurrogate, best: Flips) -> Part:
    """Ask about the changes thought to do most, with some daring, until too many questions in a row have failed."""
    failed = 0
    while best.size > 1 and failed < max(PATIENCE, PATIENCE_PER_CHANGE * best.size):
        candidate = _candidate(task, look, best)
        if not candidate.size:
            failed += 1
            continue
        crossed = (yield Ask(candidate)).flipped
        look.learn(candidate, crossed)
        if crossed:
            best, failed = candidate, 0
            _narrow(look, best)
        else:
            failed += 1
            if failed == STUCK:
                look.forget_but(best)
            _remind(look, best)
    return best


def _candidate(task: Task, look: ProbitSurrogate, best: Flips) -> Flips:
    """Return the shortest beginning of what is thought to do most that is likely to cross; if none is, all of it."""
    hopes = look.means + DARING * look.doubts * task.rng.standard_normal(look.flips.size)
    if task.limits.costs is not None:
        hopes = hopes / task.limits.costs[look.flips]
    order = task.limits.cheaper(task.alternate(look.flips[np.argsort(-hopes)]), best)
    likely = look.levels(order) > 0
    size = 1 + int(likely.argmax()) if likely.any() else order.size
    return task.apply_limits(order[: size + size % 2 if task.limits.keep_edges else size])


def _remind(look: ProbitSurrogate, best: Flips) -> None:
    """Tell again that the best crosses where many failures made that doubtful: a Gaussian forgets a little."""
    for _ in range(REMINDERS):
        if look.chance(best) >= SURE:
            break
        look.learn(best, True)


def _narrow(look: ProbitSurrogate, best: Flips) -> None:
    """Lose sight of what is thought to do least."""
    if look.flips.size > (ROOM + 1) * best.size:
        order = look.flips[np.argsort(-look.means)]
        others = order[~np.isin(order, best)]
        look.forget_but(np.concatenate([best, others[: (ROOM - 1) * best.size]]))
