"""Random probing: classify random sets of changes, if no data suggest better ones."""

from __future__ import annotations

import numpy as np

from countergraph.search.learning.degree_bias import decrease_degree_contrast, increase_degree_contrast
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.parts.orders import random_order
from countergraph.search.parts.prefix import bisect
from countergraph.search.protocol import Ask, Attempt

GROWTH = 1.3
"""The ratio of the sizes of two successive random sets."""
MAX_BIASED_SIZE = 16
"""Sets of at most this size are drawn with a degree bias, larger ones uniformly."""
MAX_PROBES = 1000
"""The number of random sets of any size to classify if nothing else has changed the class."""


def probe_growing_sets(task: GuidedTask) -> Attempt:
    """Classify random sets of slowly growing size, small ones with a degree bias.

    The sizes grow slowly, and each set is new. So a black box whose class changes easily gets many candidates close to
    the graph. For any other black box this takes about ten additional calls.
    """
    size = 1.0
    while True:
        orders = (increase_degree_contrast, decrease_degree_contrast) if size <= MAX_BIASED_SIZE else (random_order,)
        for order in orders:
            flips = order(task)
            if flips.size and (yield Ask(flips[: int(size)])).flipped:
                return flips[: int(size)]
        if flips.size <= size:
            return None
        size = max(GROWTH * size, size + 1)


def probe_all_sizes(task: GuidedTask) -> Attempt:
    """Classify random sets with random shares of the additions and removals; bisect the first counterfactual.

    If no search of the run has found a counterfactual, the searches share `MAX_PROBES` among them.
    """
    for _ in range(int(MAX_PROBES * task.guide.probing_share)):
        parts = [pool[task.rng.random(pool.size) < task.rng.random()] for pool in (task.additions, task.removals)]
        candidate = task.rng.permutation(np.concatenate(parts))
        if candidate.size and (yield Ask(candidate)).flipped:
            return (yield from bisect(candidate))
    return None
