"""Directions to another class, estimated from graphs whose class is known, without any call.

Expert directions give a gain to each flip. The surrogate learns how far each of them predicts the answers:

- a discriminative fit, regularised logistic regression of the classes on the edges: right for dense linear and kernel
  classifiers, misleading for sparse rules, trees and nearest neighbours,
- differences between the edge frequencies of the classes,
- for one graph, the direction to its nearest neighbours of a wanted class, and away from those of its own class.

A black box may also embed graphs, and classify them by their neighbours in the embedding. Then the gain of a flip
depends on the flips before it, and the direction becomes a path. There are three embeddings:

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
from scipy.sparse import csr_array, hstack

from countergraph.graphs.pairs import Bits, Floats, Indices, Values, degrees_of, pair_ends
from countergraph.search.learned.regression import Answers, fit
from countergraph.search.parts.orders import largest_gains

Degrees = NDArray[np.intp]
State = NDArray[Any]
"""What an embedding stores about a graph while it changes."""
MAX_GRAPHS = 1000
"""Directions are computed from at most this many graphs: every n-th graph of a larger cohort."""
MAX_CELLS = 50_000_000
"""The same for the number of graphs times the number of pairs."""
INTERCEPT_STD = 10.0
"""The prior standard deviation of the intercept of the discriminative fit."""
FIT_STEPS = (50, 50)
"""The maximum numbers of steps, and of conjugate gradient steps, of the discriminative fit."""
N_NEIGHBOURS, DECAY = 10, 0.7
"""The number of nearest neighbours, and the ratio of the weights of two successive ones."""
N_COMPONENTS = 16
STEP_DIVISOR = 4
"""Each step of a path adds 1 flip, plus 1 per this number of flips so far; then the neighbours are computed again."""
LARGEST_SHARE = 50
"""Directions are scaled by the root mean square of the largest 1 / 50 of their weights."""


def thinned(edges: Values) -> slice:
    """Return which graphs of a cohort to compute directions from."""
    return slice(None, None, -(-len(edges) // max(1, min(MAX_GRAPHS, MAX_CELLS // edges.shape[1]))))


def discriminative_direction(edges: Values, positive: Bits, inverse_regularisation: float) -> Floats:
    """Return the scaled weights of a ridge logistic regression of the classes on the edges; 0 for one class."""
    if positive.all() or not positive.any():
        return np.zeros(edges.shape[1])
    intercept = np.full((len(edges), 1), INTERCEPT_STD, dtype=np.float32)
    scale = np.float32(inverse_regularisation**0.5)
    design = hstack([scale * csr_array(edges, dtype=np.float32), csr_array(intercept)], "csr")
    answers = Answers(design, np.zeros(len(edges)), positive.astype(np.float64), np.zeros_like(positive))
    return scaled(fit(answers, np.zeros(design.shape[1]), *FIT_STEPS).mode[:-1])


def frequency_direction(edges: Values, positive: Bits) -> Floats:
    """Return the differences between the mean values (edge frequencies) of the classes, scaled; 0 for one class."""
    if positive.all() or not positive.any():
        return np.zeros(edges.shape[1])
    return scaled(edges[positive].mean(axis=0) - edges[~positive].mean(axis=0))


def scaled(weights: Floats) -> Floats:
    """Divide weights by the root mean square of the largest ones."""
    n_largest = max(1, weights.size // LARGEST_SHARE)
    rms = float(np.sqrt(np.partition(weights**2, -n_largest)[-n_largest:].mean()))
    return np.asarray(weights / (rms or 1.0), dtype=np.float64)


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


def neighbour_direction(values: Values, changes: Values, known: Values, wanted: Bits, own: Bits) -> Floats:
    """Return for each flip how much nearer it is to the nearest graphs of a wanted class than to those of its own.

    For a graph this is the weighted share of the nearest graphs that a flip approaches; for a weighted network, with
    ``changes`` by the flips, half of the weighted reduction of the squared distances. The graph itself is not one of
    its neighbours.
    """
    if values.dtype == np.bool_:
        differences = (known ^ values).astype(np.int8)
        distances = np.count_nonzero(differences, axis=1)
    else:
        differences = known - values
        distances = (differences**2).sum(axis=1)
    others = distances > 0
    weights = neighbour_weights(distances, wanted & others) - neighbour_weights(distances, own & others)
    rows = np.flatnonzero(weights)
    approached = weights[rows] @ differences[rows].astype(np.float64)
    if values.dtype == np.bool_:
        return np.asarray(approached)
    return np.asarray(changes * approached - changes**2 * weights.sum() / 2, dtype=np.float64)


class Embedding(Protocol):
    """A map from graphs to vectors, with the effect of flips on the vector.

    ``changes`` are the changes of the values by the flips of a graph: 1 for an addition, -1 for a removal, or any
    numbers for a weighted network.
    """

    def state(self, graph: Values) -> State:
        """Return the state of a graph."""

    def vector(self, state: State) -> Floats:
        """Return the vector of a graph with this state."""

    def gains(self, changes: Values, state: State, direction: Floats) -> Floats:
        """Return how far flipping each pair of the graph moves the vector along a direction."""

    def state_after(self, changes: Values, state: State, flips: Indices) -> State:
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

    def state(self, graph: Values) -> State:
        """Return the coordinates."""
        return graph @ self.basis

    def vector(self, state: State) -> Floats:
        """Return the coordinates."""
        return state

    def gains(self, changes: Values, state: State, direction: Floats) -> Floats:
        """Return the projection of each change on the direction."""
        return np.asarray(changes * (self.basis @ direction.astype(np.float32)))

    def state_after(self, changes: Values, state: State, flips: Indices) -> State:
        """Return the coordinates after some flips."""
        return np.asarray(state + changes[flips].astype(np.float32) @ self.basis[flips])


class DegreeBasedEmbedding(ABC):
    """Base class of embeddings that depend on the degrees of the ROIs only."""

    @abstractmethod
    def vector(self, state: Degrees) -> Floats:
        """Return the vector of a graph with these degrees."""

    @abstractmethod
    def roi_gains(self, degrees: Degrees, direction: Floats) -> tuple[Floats, Floats]:
        """Return how far one edge more, and one edge less, at each ROI moves the vector along a direction."""

    def state(self, graph: Values) -> Degrees:
        """Return the degrees."""
        return degrees_of(graph)

    def gains(self, changes: Values, state: Degrees, direction: Floats) -> Floats:
        """Return for each pair the sum of the gains of its two ROIs."""
        first, second = pair_ends(state.size)
        more, less = self.roi_gains(state, direction)
        return np.where(changes < 0, less[first] + less[second], more[first] + more[second])

    def state_after(self, changes: Values, state: Degrees, flips: Indices) -> Degrees:
        """Return the degrees after some flips."""
        degrees = state.copy()
        for ends in pair_ends(state.size):
            np.add.at(degrees, ends[flips], changes[flips])
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
    graph: Values,
    changes: Values,
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
    changes
        The change of the value of each pair by its flip.
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
        gains = adjust(embedding.gains(changes, state, direction))
        gains[flips] = 0
        step = largest_gains(gains, min(size - flips.size, 1 + flips.size // STEP_DIVISOR))
        if not step.size:
            break
        flips, state = np.concatenate([flips, step]), embedding.state_after(changes, state, step)
    return flips


def principal_directions(edges: Values) -> NDArray[np.float32]:
    """Return the first principal directions of variation between graphs, as orthonormal columns (pairs, directions)."""
    edges = edges[thinned(edges)]
    centred = edges - edges.mean(axis=0)
    eigenvalues, eigenvectors = np.linalg.eigh(centred @ centred.T)
    kept = np.flatnonzero(eigenvalues > 1e-9 * edges.size)[::-1][:N_COMPONENTS]
    return np.asarray(centred.T @ (eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])), dtype=np.float32)
