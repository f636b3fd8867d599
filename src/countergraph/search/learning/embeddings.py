"""Embeddings of graphs as vectors, and paths of flips to the nearest graphs of another class in an embedding.

A black box may embed graphs and classify them by their neighbours in the embedding. Similar graphs have the same edges
(see `neighbours`) or similar vectors in one of three embeddings:

- components: the coordinates in the principal directions of the known graphs,
- degrees: the degree of each ROI,
- degree counts: the number of ROIs of each degree.

In the last two, a flip has an effect only through the degrees of its two ROIs, so its gain is the sum of their gains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices, degrees_of, pair_ends
from countergraph.search.learning.neighbours import neighbour_weights
from countergraph.search.parts.orders import largest_gains

Degrees = NDArray[np.intp]
State = NDArray[Any]
"""What an embedding stores about a graph while it changes."""
STEP_DIVISOR = 4
"""Each step of a path adds 1 flip, plus 1 per this number of flips so far; then the neighbours are computed again."""


class Embedding(Protocol):
    """A map from graphs to vectors, with the effect of flips on the vector."""

    def state(self, graph: Bits) -> State:
        """Return the state of a graph."""

    def vector(self, state: State) -> Floats:
        """Return the vector of a graph with this state."""

    def gains(self, graph: Bits, state: State, direction: Floats) -> Floats:
        """Return how far flipping each pair of the graph moves the vector along a direction."""

    def state_after(self, graph: Bits, state: State, flips: Indices) -> State:
        """Return the state of the graph after some flips."""


class ComponentEmbedding:
    """The coordinates of a graph in some directions.

    Parameters
    ----------
    basis
        Orthonormal columns (pairs, directions).
    """

    def __init__(self, basis: NDArray[np.float32]) -> None:
        self.basis = basis

    def state(self, graph: Bits) -> State:
        """Return the coordinates."""
        return graph @ self.basis

    def vector(self, state: State) -> Floats:
        """Return the coordinates."""
        return state

    def gains(self, graph: Bits, state: State, direction: Floats) -> Floats:
        """Return the projection of each pair on the direction; the negative projection for pairs with an edge."""
        projections = self.basis @ direction.astype(np.float32)
        return np.where(graph, -projections, projections)

    def state_after(self, graph: Bits, state: State, flips: Indices) -> State:
        """Return the coordinates after some flips."""
        return np.asarray(state + np.where(graph[flips], -1, 1).astype(np.float32) @ self.basis[flips])


class DegreeBasedEmbedding(ABC):
    """Base class of embeddings that depend on the degrees of the ROIs only."""

    @abstractmethod
    def vector(self, state: Degrees) -> Floats:
        """Return the vector of a graph with these degrees."""

    @abstractmethod
    def roi_gains(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return how far one edge more, and one edge less, at each ROI moves the vector along a direction."""

    def state(self, graph: Bits) -> Degrees:
        """Return the degrees."""
        return degrees_of(graph)

    def gains(self, graph: Bits, state: Degrees, direction: Floats) -> Floats:
        """Return for each pair the sum of the gains of its two ROIs."""
        first, second = pair_ends(state.size)
        more, less = self.roi_gains(state, direction)
        return np.where(graph, less[first] + less[second], more[first] + more[second])

    def state_after(self, graph: Bits, state: Degrees, flips: Indices) -> Degrees:
        """Return the degrees after some flips."""
        degrees = state.copy()
        for ends in pair_ends(state.size):
            np.add.at(degrees, ends[flips], np.where(graph[flips], -1, 1))
        return degrees


class DegreeEmbedding(DegreeBasedEmbedding):
    """The square root of the degree of each ROI; the root reduces the effect of an edge at ROIs with many."""

    def vector(self, state: Degrees) -> Floats:
        """Return the square roots of the degrees."""
        return np.sqrt(state)

    def roi_gains(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return the gains of one edge more and one edge less at each ROI."""
        roots = np.sqrt(degrees)
        return (np.sqrt(degrees + 1) - roots) * direction, (np.sqrt(np.maximum(degrees - 1, 0)) - roots) * direction


class DegreeCountEmbedding(DegreeBasedEmbedding):
    """The number of ROIs of each degree, as log(1 + count)."""

    def vector(self, state: Degrees) -> Floats:
        """Return the logarithms of the counts."""
        return np.log1p(_counts(state))

    def roi_gains(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return the gains of each ROI: the count of its degree decreases, that of the next or previous increases."""
        counts = _counts(degrees)
        decrease = (np.log(np.maximum(counts, 1)) - np.log1p(counts)) * direction
        increase = (np.log(counts + 2) - np.log1p(counts)) * direction
        more = decrease[degrees] + increase[degrees + 1]
        less = decrease[degrees] + increase[np.maximum(degrees - 1, 0)]
        return more, less


DEGREES, DEGREE_COUNTS = DegreeEmbedding(), DegreeCountEmbedding()


def _counts(degrees: Degrees) -> NDArray[np.intp]:
    """Return the number of ROIs of degree 0, 1, ..., up to one more than the maximum possible degree."""
    return np.bincount(degrees, minlength=degrees.size + 1)


def path_to_neighbours(
    embedding: Embedding,
    graph: Bits,
    known: Floats,
    wanted: Bits,
    own: Bits,
    size: int,
    adjust: Callable[[Floats], Floats],
) -> Indices:
    """Return flips that move a graph, in an embedding, towards the nearest wanted graphs and away from its own class.

    The path is computed without any call. The nearest graphs are computed again as the graph changes.

    Parameters
    ----------
    embedding
        The embedding in which distances are computed.
    graph
        The start of the path.
    known
        The vectors of the graphs whose class is known.
    wanted, own
        Which of these are of a wanted class, and which of the class of the graph.
    size
        The maximum number of flips.
    adjust
        Adjusts the gains of flips for their costs, and sets those of pairs that may not change to 0.
    """
    state, flips = embedding.state(graph), np.empty(0, dtype=np.intp)
    while flips.size < size and wanted.any() and own.any():
        distances = ((known - embedding.vector(state)) ** 2).sum(axis=1)
        direction = neighbour_weights(distances, wanted) @ known - neighbour_weights(distances, own) @ known
        gains = adjust(embedding.gains(graph, state, direction))
        gains[flips] = 0
        step = largest_gains(gains, min(size - flips.size, 1 + flips.size // STEP_DIVISOR))
        if not step.size:
            break
        flips, state = np.concatenate([flips, step]), embedding.state_after(graph, state, step)
    return flips
