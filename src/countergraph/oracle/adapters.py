"""The input formats of black boxes, and how edge vectors are converted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from countergraph.graphs.pairs import Bits, pairs_at, roi_count, to_adjacency

if TYPE_CHECKING:
    import networkx as nx

Subject = str | int
Subjects = Sequence[Subject]
"""The name of the subject of each graph, or its position if there are no names."""
Call = Callable[[Bits, Subjects | None], Any]
"""Calls a black box with edge vectors (batch, pairs) and, unless None, their subjects."""


def _call_adjacency(function: Callable[..., Any]) -> Call:
    return lambda edges, subjects: function(to_adjacency(edges), *_given(subjects))


def _call_edges(function: Callable[..., Any]) -> Call:
    return lambda edges, subjects: function(edges.copy(), *_given(subjects))  # the driver continues to use its array


def _call_networkx(function: Callable[..., Any]) -> Call:
    def call(edges: Bits, subjects: Subjects | None) -> list[Any]:
        if subjects is None:
            return [function(to_networkx(row)) for row in edges]
        return [function(to_networkx(row), subject) for row, subject in zip(edges, subjects, strict=True)]

    return call


def _given(subjects: Subjects | None) -> tuple[Any, ...]:
    """Return the second argument of a black box, an array; no argument without subjects."""
    return () if subjects is None else (np.array(subjects),)


ADAPTERS: dict[str, Callable[[Callable[..., Any]], Call]] = {
    "adjacency": _call_adjacency,
    "edges": _call_edges,
    "networkx": _call_networkx,
}


def to_networkx(edges: Bits) -> nx.Graph:
    """Convert one edge vector to a networkx graph on the nodes 0, 1, ..., n - 1."""
    import networkx as nx  # slow to import

    n_rois = roi_count(edges.size)
    graph = nx.Graph()
    graph.add_nodes_from(range(n_rois))
    graph.add_edges_from(pairs_at(np.flatnonzero(edges), n_rois))
    return graph
