"""Improvement near the decision boundary: propose candidates with fewer changes than the best."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.learning.proposals import PROPOSALS, UNINFORMED_PROPOSALS
from countergraph.search.learning.random_shrinking import patience
from countergraph.search.parts.orders import largest_gains
from countergraph.search.parts.prefix import shorten
from countergraph.search.protocol import Ask, Flips, Part

REPEATS_PER_FAILURE = 10
"""A proposal that was classified before counts as one failure divided by this number."""
EXTRA_PATIENCE = 5
"""The additional failures in a row that are allowed if the surrogate predicts that almost no change is needed."""
UNINFORMED_REDUCTION = 2
"""The failures less that are allowed for an uninformed search: half of its proposals use data that it does not have."""


def improve(task: GuidedTask, best: Flips) -> Part:
    """Propose closer candidates, by the proposal that the bandit picks, until too many in a row have failed."""
    guide, proposals, failed = task.guide, UNINFORMED_PROPOSALS if task.is_uninformed else PROPOSALS, 0.0
    while task.limits.max_changes_below(best) and failed < _max_failures(task, best):
        arm, guide.trial_bias = guide.proposal_bandit.pick(len(proposals), task.rng), 0.0
        candidate = closer_prefix(task, proposals[arm](task, best), best)
        if not candidate.size or guide.is_known(candidate):
            failed += 1 / REPEATS_PER_FAILURE
        elif (yield Ask(candidate)).flipped:
            before, failed = task.limits.cost(best), 0
            best = task.apply_limits((yield from shorten(candidate)))
            guide.reinforce_trial_bias()
            guide.proposal_bandit.update(arm, 1 - task.limits.cost(best) / before)
        else:
            guide.proposal_bandit.update(arm, 0)
            failed += 1
    return best


def closer_prefix(task: GuidedTask, order: Flips, best: Flips) -> Flips:
    """Return the longest prefix of an order that costs less than the best, after the constraints are applied."""
    return task.apply_limits(task.limits.prefix_below(task.alternate(order), best))


def _max_failures(task: GuidedTask, best: Flips) -> float:
    """Return the number of failed proposals in a row after which the improvement ends."""
    saving = _predicted_saving(task.guide.gains(), best)
    return patience(best) + EXTRA_PATIENCE * saving - UNINFORMED_REDUCTION * task.is_uninformed


def _predicted_saving(gains: Floats, best: Flips) -> float:
    """Return the share of changes that the surrogate predicts to save by using the largest gains instead."""
    return 1 - n_sufficient(gains, best) / best.size


def n_sufficient(gains: Floats, flips: Flips) -> int:
    """Return how many of the largest gains add up to the total gain of some flips."""
    totals = np.cumsum(gains[largest_gains(gains, flips.size)])
    return min(1 + int(np.searchsorted(totals, gains[flips].sum())), flips.size)
