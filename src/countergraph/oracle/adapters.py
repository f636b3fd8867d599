"""The input formats of black boxes, and how networks are converted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from countergraph.graphs.pairs import Values, pairs_at, roi_count, to_adjacency, to_matrix

if TYPE_CHECKING:
    import networkx as nx

Subject = str | int
Subjects = Sequence[Subject]
"""The name of the subject of each graph, or its position if there are no names."""
Call = Callable[[Values, Subjects | None, float], Any]
"""Calls a black box with networks (batch, pairs), their subjects unless None, and the diagonal of weighted matrices."""


def _call_adjacency(function: Callable[..., Any]) -> Call:
    def call(values: Values, subjects: Subjects | None, diagonal: float) -> Any:  # noqa: ANN401
        matrices = to_adjacency(values) if values.dtype == np.bool_ else to_matrix(values, diagonal).astype(np.float32)
        return function(matrices, *_given(subjects))

    return call


def _call_edges(function: Callable[..., Any]) -> Call:
    # The driver continues to use its array, so the black box receives a copy.
    return lambda values, subjects, _: function(values.copy(), *_given(subjects))


def _call_networkx(function: Callable[..., Any]) -> Call:
    def call(values: Values, subjects: Subjects | None, _: float) -> list[Any]:
        if subjects is None:
            return [function(to_networkx(row)) for row in values]
        return [function(to_networkx(row), subject) for row, subject in zip(values, subjects, strict=True)]

    return call


def _given(subjects: Subjects | None) -> tuple[Any, ...]:
    """Return the second argument of a black box, an array; no argument without subjects."""
    return () if subjects is None else (np.array(subjects),)


ADAPTERS: dict[str, Callable[[Callable[..., Any]], Call]] = {
    "adjacency": _call_adjacency,
    "edges": _call_edges,
    "networkx": _call_networkx,
}


def to_networkx(values: Values) -> nx.Graph:
    """Convert one network to a networkx graph on the nodes 0, 1, ..., n - 1; pairs of value 0 have no edge.

    The edges of a weighted network have the attribute ``weight``.
    """
    import networkx as nx  # slow to import

    n_rois, present = roi_count(values.size), np.flatnonzero(values)
    graph = nx.Graph()
    graph.add_nodes_from(range(n_rois))
    pairs = pairs_at(present, n_rois)
    if values.dtype == np.bool_:
        graph.add_edges_from(pairs)
    else:
        graph.add_weighted_edges_from(
            (*pair, weight) for pair, weight in zip(pairs, values[present].tolist(), strict=True)
        )
    return graph
