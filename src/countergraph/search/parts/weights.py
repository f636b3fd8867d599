"""The weights of the data-driven searches: how discriminative each pair is (sections 4.1 and 4.2 of the paper)."""

from __future__ import annotations

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Floats
from countergraph.search.protocol import Reference, Task, counterfactual_labels

EPSILON = 1e-6
"""The smallest weight, so that every pair can be drawn; the paper has "a very small positive constant"."""


def required_reference(task: Task) -> Reference:
    """Return the labelled graphs of a task that needs them, in terms of the changes of its network."""
    if task.reference is None:
        raise SearchError("a data-driven search needs labelled graphs; pass dataset=")
    return task.reference.relative_to(task.network)


def discrimination(task: Task) -> Floats:
    """Return w(e) of the paper: how strongly each pair discriminates between the classes.

    With D+ the number of labelled graphs of the graph's own class that have the edge and D- that of the others (or of
    the target class), w = D+ - D- for an edge of the graph and D- - D+ for a missing one.
    """
    counts = required_reference(task).counts
    labels = np.array(list(counts), dtype=np.int64)
    zero = np.zeros(task.graph.size, dtype=np.int64)
    own = sum((counts[int(label)] for label in labels[labels == task.label]), zero)
    other = sum((counts[int(label)] for label in labels[counterfactual_labels(labels, task.label, task.target)]), zero)
    return np.where(task.graph, own - other, other - own).astype(np.float64)


def selection_weights(task: Task) -> Floats:
    """Return max(epsilon, w(e)), the sampling weights of DFS and DBS."""
    return np.maximum(EPSILON, discrimination(task))
