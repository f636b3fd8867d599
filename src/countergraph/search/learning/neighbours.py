"""What the nearest graphs say: the way to the other class may differ from graph to graph."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Bits, Floats

NEAREST = 10
FALL = 0.7


def nearest(distances: Floats, members: Bits) -> Floats:
    """Return a weight for each graph: the nearest member counts most, each one after it `FALL` times the one before."""
    rows = np.flatnonzero(members)
    rows = rows[np.argsort(distances[rows], kind="stable")][:NEAREST]
    weights = np.zeros(distances.size)
    weights[rows] = FALL ** np.arange(rows.size)
    return np.asarray(weights / max(weights.sum(), 1.0))


def towards_neighbours(graph: Bits, edges: Bits, wanted: Bits, own: Bits) -> Floats:
    """Return how much more often each flip leads towards the nearest wanted graphs than towards those of its own class.

    The graph itself is none of its neighbours.
    """
    differences = edges ^ graph
    distances = np.count_nonzero(differences, axis=1)
    weights = nearest(distances, wanted & (distances > 0)) - nearest(distances, own & (distances > 0))
    rows = np.flatnonzero(weights)
    return np.asarray(weights[rows] @ differences[rows].astype(np.float64))
