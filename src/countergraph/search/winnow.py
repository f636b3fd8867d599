"""Winnowing: of many changes that chance brought together, most do nothing, or harm. Chunks of them are blown away."""

from __future__ import annotations

import numpy as np

from countergraph.search.conversation import Flips, Part, Task
from countergraph.search.memory import guide_of

GROWTH, FALL = 1.5, 0.75
"""How the chunks follow success and failure: two in five succeed, so that every answer tells something."""
LEAST = 0.01
"""The smallest chunk, as a share of what is left."""
PATIENCE, PATIENCE_PER_CHANGE = 5, 0.05
"""How many attempts in a row may fail: more where there is more to win."""


def winnowed(task: Task, flips: Flips) -> Part:
    """Undo chunks at random, rather of what is thought to be of less use, until too many fail."""
    guide, chunk, failed = guide_of(task), max(flips.size / 4, 1.0), 0
    while flips.size > 1 and failed < PATIENCE + PATIENCE_PER_CHANGE * flips.size:
        gains = guide.gains()[flips]
        hopes = gains / (gains.std() or 1.0) + task.rng.standard_normal(flips.size)
        candidate = flips[np.argsort(hopes)][int(chunk) :]
        if (yield candidate).flipped:
            flips, chunk, failed = candidate, min(GROWTH * chunk, candidate.size / 2), 0
        else:
            chunk, failed = max(FALL * chunk, LEAST * flips.size, 1.0), failed + 1
    return flips
