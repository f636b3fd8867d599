"""Random shrinking: undo random chunks of a large random counterfactual, in which most changes are not needed."""

from __future__ import annotations

import numpy as np

from countergraph.search.learning.guide import GuidedTask
from countergraph.search.protocol import Ask, Flips, Part

GROWTH, SHRINKAGE = 1.5, 0.75
"""The factors of the chunk size after a success and a failure; in equilibrium two of five calls succeed."""
MIN_CHUNK = 0.01
"""The smallest chunk, as a share of the remaining changes."""
PATIENCE, PATIENCE_PER_CHANGE = 5, 0.05


def patience(flips: Flips) -> float:
    """Return the number of failures in a row after which a step ends: it grows with the number of changes."""
    return PATIENCE + PATIENCE_PER_CHANGE * flips.size


def random_shrinking(task: GuidedTask, flips: Flips, min_chunk: float = 0.0) -> Part:
    """Undo random chunks until too many attempts in a row have failed; small gains and high costs are preferred.

    Also stop if the chunks that can be undone are smaller than ``min_chunk``, a share of the remaining changes.
    """
    guide, chunk, failed = task.guide, max(flips.size / 4, 1.0), 0
    while flips.size > 1 and failed < patience(flips) and chunk >= min_chunk * flips.size:
        gains = guide.gains()[flips]
        keys = gains / (gains.std() or 1.0) + task.rng.standard_normal(flips.size)
        if task.limits.costs is not None:
            keys -= np.log(task.limits.costs[flips])
        candidate = task.apply_limits_reversed(flips[np.argsort(keys)][int(chunk) :])
        if (yield Ask(candidate)).flipped:
            flips, chunk, failed = candidate, min(GROWTH * chunk, candidate.size / 2), 0
        else:
            chunk, failed = max(SHRINKAGE * chunk, MIN_CHUNK * flips.size, 1.0), failed + 1
    return flips
