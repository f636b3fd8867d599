"""Vectors of pairs, and the order of the pairs.

A network on n ROIs is a vector over its n(n-1)/2 unordered pairs (i, j), i < j, in the order of
``numpy.triu_indices(n, 1)``: (0, 1), (0, 2), ..., (0, n-1), (1, 2), ... Only this module depends on that order. The
vector of a graph holds bits (an *edge vector*), that of a weighted network real numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import GraphError

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Values = NDArray[Any]
"""The values of networks: bool for graphs, float32 for weighted networks."""
Indices = NDArray[np.intp]
Label = int | str
ASYMMETRY = 1e-6
"""The tolerated asymmetry of a matrix, relative to its largest entry: matrices in text files are rounded."""
ROUNDING_ERROR = 1e-10
"""Maximal rounding error of a sum of weights, relative to the largest weight."""


def pair_count(n_rois: int) -> int:
    """Return the number of pairs of ``n_rois`` ROIs."""
    return n_rois * (n_rois - 1) // 2


def roi_count(n_pairs: int) -> int:
    """Return the number of ROIs of a graph with ``n_pairs`` pairs; raise `GraphError` if there is none."""
    n = (1 + isqrt(1 + 8 * n_pairs)) // 2
    if n < 2 or pair_count(n) != n_pairs:
        raise GraphError(f"an edge vector has n(n-1)/2 entries for n ROIs; {n_pairs} entries fit no number of ROIs")
    return n


@lru_cache(maxsize=8)
def pair_ends(n_rois: int) -> tuple[Indices, Indices]:
    """Return the first and the second ROI of every pair, read-only."""
    first, second = np.triu_indices(n_rois, 1)
    first.flags.writeable = second.flags.writeable = False
    return first, second


def pair_position(first: ArrayLike, second: ArrayLike, n_rois: int) -> Indices:
    """Return the positions of the pairs (first, second); the order of the two ROIs does not matter."""
    a, b = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
    low, high = np.minimum(a, b), np.maximum(a, b)
    return np.asarray(low * (2 * n_rois - low - 1) // 2 + high - low - 1, dtype=np.intp)


def pairs_at(positions: ArrayLike, n_rois: int) -> list[tuple[int, int]]:
    """Return the pairs at ``positions`` as (i, j), i < j."""
    first, second = pair_ends(n_rois)
    chosen = np.asarray(positions, dtype=np.intp)
    return list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))


def pairs_between(rois: ArrayLike, other_rois: ArrayLike, n_rois: int) -> Indices:
    """Return the positions of all pairs from one set of ROIs to another, in increasing order."""
    first, second = np.meshgrid(np.asarray(rois, dtype=np.intp), np.asarray(other_rois, dtype=np.intp))
    different = first != second
    return np.unique(pair_position(first[different], second[different], n_rois))


def pairs_within(rois: ArrayLike, n_rois: int) -> Indices:
    """Return the positions of all pairs with both ROIs in ``rois``, in increasing order."""
    members = np.zeros(n_rois, dtype=bool)
    members[np.asarray(rois, dtype=np.intp)] = True
    first, second = pair_ends(n_rois)
    return np.flatnonzero(members[first] & members[second])


@lru_cache(maxsize=4)
def _pair_of_cell(n_rois: int) -> Indices:
    """Return the position of the pair of every cell of the n x n matrix; the diagonal cells get the number of pairs."""
    cells = np.full((n_rois, n_rois), pair_count(n_rois), dtype=np.intp)
    first, second = pair_ends(n_rois)
    cells[first, second] = cells[second, first] = np.arange(len(first))
    return cells.ravel()


def to_adjacency(edges: Bits) -> NDArray[np.uint8]:
    """Convert edge vectors (..., pairs) to symmetric matrices (..., n, n) of zeros and ones."""
    if edges.dtype.kind == "f" and is_weighted(edges):
        raise GraphError("these networks are weighted, so they have no adjacency matrices of zeros and ones")
    n = roi_count(edges.shape[-1])
    padded = np.zeros((*edges.shape[:-1], edges.shape[-1] + 1), dtype=np.uint8)
    padded[..., :-1] = edges
    return padded.take(_pair_of_cell(n), axis=-1).reshape(*edges.shape[:-1], n, n)


def to_matrix(values: NDArray[np.floating], diagonal: float = 0.0) -> Floats:
    """Convert one number for each pair (..., pairs) to symmetric matrices (..., n, n)."""
    n = roi_count(values.shape[-1])
    padded = np.full((*values.shape[:-1], values.shape[-1] + 1), diagonal)
    padded[..., :-1] = values
    return padded.take(_pair_of_cell(n), axis=-1).reshape(*values.shape[:-1], n, n)


def sum_at_rois(values: Floats) -> Floats:
    """Return, for each ROI (n,), the sum of the values (pairs,) over its pairs."""
    n = roi_count(values.size)
    first, second = pair_ends(n)
    return np.asarray(np.bincount(first, values, n) + np.bincount(second, values, n))


def degrees_of(graph: Bits) -> Indices:
    """Return the degree (number of edges) of each ROI."""
    n = roi_count(graph.size)
    edges = np.flatnonzero(graph)
    return np.asarray(sum(np.bincount(ends[edges], minlength=n) for ends in pair_ends(n)), dtype=np.intp)


def edges_within(edges: NDArray[np.generic], sets: Sequence[Indices]) -> Floats:
    """Count the edges of each graph (graphs, pairs) in each set of pairs, shape (graphs, sets)."""
    return np.stack([edges.take(pairs, axis=1).sum(axis=1, dtype=np.float64) for pairs in sets], axis=1)


def digests(values: Values) -> list[bytes]:
    """Return a 16-byte digest of each network (networks, pairs); equal networks have equal digests."""
    rows = np.packbits(values, axis=1) if values.dtype == np.bool_ else values
    return [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]


def upper_triangle(matrices: ArrayLike) -> NDArray[np.generic]:
    """Return the strict upper triangles (..., pairs) of square matrices (..., n, n), in the order of the pairs."""
    array = np.asarray(matrices)
    return np.asarray(array[(..., *pair_ends(array.shape[-1]))])


def as_edge_vector(graph: ArrayLike, name: str = "graph") -> Bits:
    """Convert one graph, an adjacency matrix (n, n) or an edge vector (pairs,), to an edge vector.

    Raises
    ------
    GraphError
        If it is neither, or not a simple, undirected and unweighted graph. The message contains ``name``.
    """
    array = _as_array(graph, name)
    if array.ndim == 1:
        roi_count(array.size)
        return _as_bits(array, name)
    if array.ndim == 2:
        return np.asarray(as_edge_vectors(array[None], name)[0])
    raise GraphError(
        f"{name} must be an adjacency matrix (n, n) or an edge vector (pairs,), not of shape {array.shape}"
    )


def as_edge_vectors(graphs: ArrayLike, name: str = "graphs") -> Bits:
    """Convert a stack of graphs, matrices (m, n, n) or edge vectors (m, pairs), to edge vectors (m, pairs).

    The diagonals must contain only zeros and ones and are ignored.
    """
    array = _as_array(graphs, name)
    if array.ndim == 2:
        if looks_like_one_matrix(array):
            raise GraphError(f"{name} must be a stack of graphs; a single adjacency matrix {array.shape} was given")
        roi_count(array.shape[1])
        return _as_bits(array, name)
    if array.ndim != 3:
        raise GraphError(f"{name} must have shape (m, n, n) or (m, pairs), not {array.shape}")
    check_square_symmetric(array, name)
    return np.ascontiguousarray(upper_triangle(_as_bits(array, name)), dtype=np.bool_)


def is_weighted(array: NDArray[np.generic]) -> bool:
    """Check whether an array contains other values than 0 and 1."""
    return array.dtype != np.bool_ and not bool(np.isin(array, (0, 1)).all())


def as_value_vector(network: ArrayLike, name: str = "graph", weighted: bool = False) -> Values:
    """Convert one network, a matrix (n, n) or a vector (pairs,), to a vector: bits for a graph, else float32.

    ``weighted`` is True if it is known to be weighted, even if all of its values are 0 or 1.
    """
    array = _as_array(network, name)
    if array.ndim == 1:
        roi_count(array.size)
    if array.ndim in (1, 2):
        return np.asarray(as_value_vectors(array[None], name, weighted)[0])
    raise GraphError(f"{name} must be a matrix (n, n) or a vector (pairs,), not of shape {array.shape}")


def as_value_vectors(networks: ArrayLike, name: str = "graphs", weighted: bool = False) -> Values:
    """Convert a stack of networks, matrices (m, n, n) or vectors (m, pairs), to vectors (m, pairs).

    The vectors are edge vectors (bool) if all values are 0 or 1, else float32. The diagonals of weighted matrices are
    ignored. ``weighted`` is True if the networks are known to be weighted, even if all values are 0 or 1.
    """
    array = _as_array(networks, name)
    if array.ndim == 3:
        check_square_symmetric(without_diagonal(array), name)
        pairs = upper_triangle(array)
    elif array.ndim == 2 and not looks_like_one_matrix(array):
        roi_count(array.shape[1])
        pairs = array
    else:
        return as_edge_vectors(array, name)  # raises the error for this shape
    if not (weighted or is_weighted(pairs)):
        return as_edge_vectors(array, name)
    values = pairs.astype(np.float32)
    if not np.isfinite(values).all():
        network, pair = (int(index) for index in np.argwhere(~np.isfinite(values))[0])
        first, second = pairs_at([pair], roi_count(values.shape[1]))[0]
        raise GraphError(
            f"{name} must be finite, but the connection of ROI {first} and ROI {second} in network {network} is "
            f"{pairs[network, pair]}"
        )
    return values


def without_diagonal(matrices: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return square matrices (..., n, n) with zeros on the diagonal."""
    if matrices.shape[-1] != matrices.shape[-2]:
        return matrices
    return np.where(np.eye(matrices.shape[-1], dtype=np.bool_), 0, matrices)


def _as_array(graphs: ArrayLike, name: str) -> NDArray[np.generic]:
    first = graphs[0] if isinstance(graphs, list | tuple) and len(graphs) else graphs
    if hasattr(first, "adjacency"):
        raise GraphError(f"{name} must be an array; convert a networkx graph with networkx.to_numpy_array")
    try:
        array = np.asarray(graphs)
    except ValueError as error:
        raise GraphError(f"{name} must be an array of numbers ({error})") from None
    if array.dtype.kind not in "biuf":
        raise GraphError(f"{name} must be an array of numbers, not of type {array.dtype}")
    return array


def looks_like_one_matrix(array: NDArray[np.generic]) -> bool:
    """Check whether a square array is one adjacency matrix, not a stack of edge vectors; False if it may be both."""
    if array.shape[0] != array.shape[1] or len(array) < 2 or not (array == array.T).all():
        return False
    diagonal = array.diagonal()
    return bool((array.any() and not diagonal.any()) or (diagonal.all() and not array.all()))


def zero_nonfinite_diagonal(matrices: NDArray[np.floating]) -> NDArray[np.floating]:
    """Set diagonals to 0 if no entry is finite, as after Fisher's z-transform of a correlation matrix."""
    square = matrices.ndim > 1 and matrices.shape[-1] == matrices.shape[-2]
    if not square or np.isfinite(np.diagonal(matrices, axis1=-2, axis2=-1)).any():
        return matrices
    return np.asarray(np.where(np.eye(matrices.shape[-1], dtype=np.bool_), 0, matrices), dtype=matrices.dtype)


def check_square_symmetric(matrices: NDArray[np.generic], name: str) -> None:
    """Raise `GraphError` unless ``matrices`` (..., n, n) are square, finite and symmetric."""
    if matrices.shape[-1] != matrices.shape[-2] or matrices.shape[-1] < 2:
        raise GraphError(f"{name} must be square with at least 2 ROIs, not of shape {matrices.shape[-2:]}")
    if not np.isfinite(matrices.astype(float, copy=False)).all():
        raise GraphError(f"{name} contains entries that are not finite (NaN or infinity)")
    tolerance = ASYMMETRY * float(np.abs(matrices).max(initial=0))
    if not np.allclose(matrices, np.swapaxes(matrices, -1, -2), rtol=0, atol=tolerance):
        raise GraphError(f"{name} is not symmetric, so it is not an undirected graph")


def _as_bits(array: NDArray[np.generic], name: str) -> Bits:
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        invalid = array[~np.isin(array, (0, 1))].flat[0]
        raise GraphError(
            f"{name} must contain only 0 and 1, but contains {invalid}; binarize a weighted matrix first "
            "(countergraph.binarize, or --binarize on the command line)"
        )
    return np.array(array, dtype=np.bool_)


def snap_to_zero(scores: ArrayLike, weights: ArrayLike) -> Floats:
    """Return the scores (sums of weights), with 0 for those that differ from 0 only by rounding errors."""
    values = np.asarray(scores, dtype=np.float64)
    return np.where(np.abs(values) <= ROUNDING_ERROR * np.abs(weights).max(initial=0.0), 0.0, values)
