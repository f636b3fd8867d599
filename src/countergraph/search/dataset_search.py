"""Dataset search: the closest real graph of the other class (section 3.3, Algorithm 3).

Difference from the paper: the graphs are tried closest first, so that the first one the black box agrees on is the
closest, and none farther is ever asked.
"""

from __future__ import annotations

import numpy as np

from countergraph.search.parts.weights import reference_of
from countergraph.search.protocol import Ask, Flips, Search, Task, counterfactual_labels


def dataset_search(task: Task, start: Flips) -> Search:
    """Ask about the labelled graphs of the other class, closest first, until the black box agrees on one."""
    reference = reference_of(task)
    candidates = np.flatnonzero(counterfactual_labels(reference.labels, task.label, task.target))
    distances = [task.limits.cost(np.flatnonzero(reference.edges[i] ^ task.graph)) for i in candidates]
    for nearest in candidates[np.argsort(distances, kind="stable")]:
        flips = np.flatnonzero(reference.edges[nearest] ^ task.graph)
        if flips.size and (yield Ask(flips)).flipped:
            return
