"""Winnowing: of many changes that chance brought together, most do nothing, or harm. Chunks of them are blown away."""

from __future__ import annotations

import numpy as np

from countergraph.search.learning.guide import GuidedTask
from countergraph.search.protocol import Ask, Flips, Part

GROWTH, FALL = 1.5, 0.75
"""How the chunks follow success and failure: two in five succeed, so that every answer tells something."""
LEAST = 0.01
"""The smallest chunk, as a share of what is left."""
PATIENCE = 5
PATIENCE_PER_CHANGE = 0.05


def patience(flips: Flips) -> float:
    """Return how many attempts in a row to come closer may fail: more where there is more to win."""
    return PATIENCE + PATIENCE_PER_CHANGE * flips.size


def winnowed(task: GuidedTask, flips: Flips, coarse: float = 0.0) -> Part:
    """Undo chunks at random, rather of what is thought to be of less use, or costs more, until too many fail.

    Stop, too, where only chunks can be undone that are less than ``coarse``, a share of what is left.
    """
    guide, chunk, failed = task.guide, max(flips.size / 4, 1.0), 0
    while flips.size > 1 and failed < patience(flips) and chunk >= coarse * flips.size:
        gains = guide.gains()[flips]
        hopes = gains / (gains.std() or 1.0) + task.rng.standard_normal(flips.size)
        if task.limits.costs is not None:
            hopes -= np.log(task.limits.costs[flips])
        candidate = task.apply_limits_reversed(flips[np.argsort(hopes)][int(chunk) :])
        if (yield Ask(candidate)).flipped:
            flips, chunk, failed = candidate, min(GROWTH * chunk, candidate.size / 2), 0
        else:
            chunk, failed = max(FALL * chunk, LEAST * flips.size, 1.0), failed + 1
    return flips
