"""How graphs may look to a black box that does not see single edges, and the way to another class in that view.

A black box that embeds graphs calls a graph what it calls the graphs near to it. Near may mean the same connections
(see `neighbours`), a like share in the directions in which graphs differ most, the same number of connections at each
region, or as many regions of each number of connections. In the latter two a flip acts only through the degrees of its
ends, so its gain is the sum of what they gain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, Floats, Indices, degrees_of, pair_ends
from countergraph.search.learning.neighbours import nearest
from countergraph.search.parts.orders import strongest

Degrees = NDArray[np.intp]
Position = NDArray[Any]
"""What a view keeps of a graph while it changes."""
STRIDE = 4
"""The walk looks again at where it is when it has become longer by one in so many."""


class View(Protocol):
    """A way to see graphs as vectors, and what flips do to these."""

    def place(self, graph: Bits) -> Position:
        """Return where a graph is."""

    def vector(self, place: Position) -> Floats:
        """Return the vector of a graph that is there."""

    def gains(self, graph: Bits, place: Position, direction: Floats) -> Floats:
        """Return how far flipping each pair of the graph moves the vector along a direction."""

    def moved(self, graph: Bits, place: Position, flips: Indices) -> Position:
        """Return where the graph is after some flips."""


class ComponentView:
    """The share that a graph has in each of some directions, orthonormal columns (pairs, directions)."""

    def __init__(self, basis: NDArray[np.float32]) -> None:
        self.basis = basis

    def place(self, graph: Bits) -> Position:
        """Return the coordinates."""
        return graph @ self.basis

    def vector(self, place: Position) -> Floats:
        """Return the coordinates."""
        return place

    def gains(self, graph: Bits, place: Position, direction: Floats) -> Floats:
        """Return what each pair does along the direction, turned round where it has an edge to lose."""
        along = self.basis @ direction.astype(np.float32)
        return np.where(graph, -along, along)

    def moved(self, graph: Bits, place: Position, flips: Indices) -> Position:
        """Return the coordinates after some flips."""
        return np.asarray(place + np.where(graph[flips], -1, 1).astype(np.float32) @ self.basis[flips])


class ThroughDegrees(ABC):
    """Views that depend on the degrees of the vertices only."""

    @abstractmethod
    def vector(self, place: Degrees) -> Floats:
        """Return the vector of a graph with these degrees."""

    @abstractmethod
    def pull(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return how far one edge more, and one edge less, at each vertex moves the vector along a direction."""

    def place(self, graph: Bits) -> Degrees:
        """Return the degrees."""
        return degrees_of(graph)

    def gains(self, graph: Bits, place: Degrees, direction: Floats) -> Floats:
        """Return what each pair means to its two ends."""
        first, second = pair_ends(place.size)
        more, less = self.pull(place, direction)
        return np.where(graph, less[first] + less[second], more[first] + more[second])

    def moved(self, graph: Bits, place: Degrees, flips: Indices) -> Degrees:
        """Return the degrees after some flips."""
        degrees = place.copy()
        for ends in pair_ends(place.size):
            np.add.at(degrees, ends[flips], np.where(graph[flips], -1, 1))
        return degrees


class DegreeView(ThroughDegrees):
    """The degree of each vertex; its root, since an edge more or less matters less where there are many."""

    def vector(self, place: Degrees) -> Floats:
        """Return the roots of the degrees."""
        return np.sqrt(place)

    def pull(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return what one edge more and one less mean to each vertex."""
        here = np.sqrt(degrees)
        return (np.sqrt(degrees + 1) - here) * direction, (np.sqrt(np.maximum(degrees - 1, 0)) - here) * direction


class CountView(ThroughDegrees):
    """How many vertices have each degree, whichever they are; the logarithm of the count and one."""

    def vector(self, place: Degrees) -> Floats:
        """Return the logarithms of the counts."""
        return np.log1p(_counts(place))

    def pull(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return what it means that each vertex leaves those of its degree for the next, above or below."""
        counts = _counts(degrees)
        leave = (np.log(np.maximum(counts, 1)) - np.log1p(counts)) * direction
        join = (np.log(counts + 2) - np.log1p(counts)) * direction
        return leave[degrees] + join[degrees + 1], leave[degrees] + join[np.maximum(degrees - 1, 0)]


BY_DEGREE, BY_COUNT = DegreeView(), CountView()


def _counts(degrees: Degrees) -> NDArray[np.intp]:
    """Return how many vertices have degree 0, 1, ... and up to one more than is possible."""
    return np.bincount(degrees, minlength=degrees.size + 1)


def walk(
    view: View, graph: Bits, known: Floats, wanted: Bits, own: Bits, size: int, worth: Callable[[Floats], Floats]
) -> Indices:
    """Return flips that lead, in a view, towards the nearest wanted graphs and away from those of the own class.

    It is a walk in imagination: what is near is looked up again as the graph changes, and nothing is asked.

    Parameters
    ----------
    view
        What near means.
    graph
        Where to start.
    known
        The vectors of the graphs whose class is known.
    wanted, own
        Which of these are of a wanted class, and of the graph's own.
    size
        How many flips to return, at most.
    worth
        Turns what flips gain into what they are worth: nothing for those that may not be made.
    """
    place, flips = view.place(graph), np.empty(0, dtype=np.intp)
    while flips.size < size and wanted.any() and own.any():
        distances = ((known - view.vector(place)) ** 2).sum(axis=1)
        direction = nearest(distances, wanted) @ known - nearest(distances, own) @ known
        gains = worth(view.gains(graph, place, direction))
        gains[flips] = 0
        steps = strongest(gains, min(size - flips.size, 1 + flips.size // STRIDE))
        if not steps.size:
            break
        flips, place = np.concatenate([flips, steps]), view.moved(graph, place, steps)
    return flips
