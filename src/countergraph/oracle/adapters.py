"""The input formats of black boxes, and how networks are converted to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from countergraph.graphs.pairs import Values, pairs_at, roi_count, to_adjacency, to_matrix

if TYPE_CHECKING:
    import networkx as nx

Subject = str | int
Subjects = Sequence[Subject]
"""The name of the subject of each graph, or its position if there are no names."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Networks to classify."""

    values: Values
    """The networks (batch, pairs)."""
    subjects: Subjects | None = None
    """The subject of each network; None if the black box does not take subjects."""
    diagonal: float = 0.0
    """The diagonal of the matrices of weighted networks."""

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: slice | list[int]) -> Batch:
        """Return some of the networks."""
        subjects = self.subjects
        if subjects is not None:
            subjects = subjects[rows] if isinstance(rows, slice) else [subjects[row] for row in rows]
        return replace(self, values=self.values[rows], subjects=subjects)

    def parts(self, size: int) -> Iterator[Batch]:
        """Return the networks in parts of at most ``size``."""
        return (self.part(slice(start, start + size)) for start in range(0, len(self), size))


Call = Callable[[Batch], Any]
"""Calls a black box with a batch."""


def _call_adjacency(function: Callable[..., Any]) -> Call:
    def call(batch: Batch) -> Any:  # noqa: ANN401
        if batch.values.dtype == np.bool_:
            return function(to_adjacency(batch.values), *_given(batch.subjects))
        return function(to_matrix(batch.values, batch.diagonal).astype(np.float32), *_given(batch.subjects))

    return call


def _call_edges(function: Callable[..., Any]) -> Call:
    # The driver continues to use its array, so the black box receives a copy.
    return lambda batch: function(batch.values.copy(), *_given(batch.subjects))


def _call_networkx(function: Callable[..., Any]) -> Call:
    def call(batch: Batch) -> list[Any]:
        if batch.subjects is None:
            return [function(to_networkx(row)) for row in batch.values]
        return [function(to_networkx(row), subject) for row, subject in zip(batch.values, batch.subjects, strict=True)]

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
