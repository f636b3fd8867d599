"""Gains from the nearest neighbours: the direction to the other class may differ from graph to graph."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Bits, Floats

N_NEIGHBOURS = 10
DECAY = 0.7
"""The ratio of the weights of two successive neighbours."""


def neighbour_weights(distances: Floats, members: Bits) -> Floats:
    """Return a weight for each graph: that of the nearest member is the largest, and the next ones decay by `DECAY`.

    The weights add up to 1, or to 0 if there are no members. All graphs except the `N_NEIGHBOURS` nearest members have
    weight 0.
    """
    rows = np.flatnonzero(members)
    rows = rows[np.argsort(distances[rows], kind="stable")][:N_NEIGHBOURS]
    weights = np.zeros(distances.size)
    weights[rows] = DECAY ** np.arange(rows.size)
    return np.asarray(weights / max(weights.sum(), 1.0))


def neighbour_gains(graph: Bits, edges: Bits, wanted: Bits, own: Bits) -> Floats:
    """Return for each flip the weighted share of nearest graphs that it approaches: of wanted minus of own class.

    The graph itself is not one of its neighbours.
    """
    differences = edges ^ graph
    distances = np.count_nonzero(differences, axis=1)
    weights = neighbour_weights(distances, wanted & (distances > 0)) - neighbour_weights(
        distances, own & (distances > 0)
    )
    rows = np.flatnonzero(weights)
    return np.asarray(weights[rows] @ differences[rows].astype(np.float64))
