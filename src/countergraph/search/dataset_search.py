"""Dataset search: the closest real graph of the other class (section 4.3 of the paper, Algorithm 3).

Difference from the paper: the graphs are classified in the order of their distance. The first one that the black box
puts in the other class is then the closest, and the rest need no call.
"""

from __future__ import annotations

import numpy as np

from countergraph.search.parts.weights import required_reference
from countergraph.search.protocol import Ask, Flips, Search, Task, counterfactual_labels


def dataset_search(task: Task, start: Flips) -> Search:
    """Classify the graphs labelled with the other class, closest first, until one is a counterfactual."""
    reference = required_reference(task)
    candidates = np.flatnonzero(counterfactual_labels(reference.labels, task.label, task.target))
    distances = [task.limits.cost(np.flatnonzero(reference.edges[i] ^ task.graph)) for i in candidates]
    for nearest in candidates[np.argsort(distances, kind="stable")]:
        flips = np.flatnonzero(reference.edges[nearest] ^ task.graph)
        if flips.size and (yield Ask(flips)).flipped:
            return
