"""What the nearest graphs say: the way to the other class may differ from graph to graph."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Bits, Floats

NEAREST = 10
FALL = 0.7


def towards_neighbours(graph: Bits, edges: Bits, wanted: Bits, own: Bits) -> Floats:
    """Return how much more often each flip leads towards the nearest wanted graphs than towards those of its own class.

    The nearest graph counts most, each one after it `FALL` times the one before.
    """
    differences = edges ^ graph
    distances = np.count_nonzero(differences, axis=1)
    near = np.zeros(graph.size)
    for members, sign in ((wanted, 1), (own, -1)):
        rows = np.flatnonzero(members & (distances > 0))
        rows = rows[np.argsort(distances[rows], kind="stable")][:NEAREST]
        weights = FALL ** np.arange(rows.size)
        if rows.size:
            near += sign * (weights @ differences[rows].astype(np.float64)) / weights.sum()
    return near
