"""What the edges of labelled graphs say about the classes (sections 3.1 and 3.2 of the paper)."""

from __future__ import annotations

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Floats
from countergraph.search.protocol import Reference, Task, counterfactual_labels

EPSILON = 1e-6


def reference_of(task: Task) -> Reference:
    """Return the labelled graphs of a task that needs them."""
    if task.reference is None:
        raise SearchError("a data-driven search needs labelled graphs")
    return task.reference


def discrimination(task: Task) -> Floats:
    """Return w(e): how strongly changing each pair looks like leaving the class of the graph.

    With D+ the number of labelled graphs of the graph's own class that have the edge and D- that of the others (or of
    the target class), w = D+ - D- for an edge of the graph and D- - D+ for a missing one.
    """
    counts = reference_of(task).counts
    labels = np.array(list(counts), dtype=np.int64)
    zero = np.zeros(task.graph.size, dtype=np.int64)
    own = sum((counts[int(label)] for label in labels[labels == task.label]), zero)
    other = sum((counts[int(label)] for label in labels[counterfactual_labels(labels, task.label, task.target)]), zero)
    return np.where(task.graph, own - other, other - own).astype(np.float64)


def likelihood(task: Task) -> Floats:
    """Return max(epsilon, w), the weight of each pick of DFS and DBS."""
    return np.maximum(EPSILON, discrimination(task))
