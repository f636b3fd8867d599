"""The shapes of black boxes: what each takes, and how edge vectors become that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from countergraph.graphs.pairs import Bits, pairs_at, roi_count, to_adjacency

if TYPE_CHECKING:
    import networkx as nx

Ask = Callable[[Bits], Any]


def _ask_adjacency(function: Callable[[Any], Any]) -> Ask:
    return lambda edges: function(to_adjacency(edges))


def _ask_edges(function: Callable[[Any], Any]) -> Ask:
    return lambda edges: function(edges.copy())  # the driver goes on working with its own


def _ask_networkx(function: Callable[[Any], Any]) -> Ask:
    return lambda edges: [function(to_networkx(row)) for row in edges]


ADAPTERS: dict[str, Callable[[Callable[[Any], Any]], Ask]] = {
    "adjacency": _ask_adjacency,
    "edges": _ask_edges,
    "networkx": _ask_networkx,
}


def to_networkx(edges: Bits) -> nx.Graph:
    """Turn one edge vector into a networkx graph on the vertices 0, 1, ..., n - 1."""
    import networkx as nx  # slow to import

    n_rois = roi_count(edges.size)
    graph = nx.Graph()
    graph.add_nodes_from(range(n_rois))
    graph.add_edges_from(pairs_at(np.flatnonzero(edges), n_rois))
    return graph
