"""The vertex set of maximal weight in a signed graph: local search, and an upper bound by a semidefinite program.

Given symmetric weights W with a zero diagonal, find the set S that maximises the sum of W over the pairs inside S.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Indices


def weight_inside(weights: Floats, members: Bits) -> Floats:
    """Return the sum of ``weights`` over the pairs inside each of the sets (..., n)."""
    inside = members.astype(np.float64)
    return np.asarray(0.5 * np.einsum("...i,...i->...", inside @ weights, inside))


def local_search(weights: Floats, starts: Bits) -> Indices:
    """Improve every starting set by adding, removing or exchanging one vertex, and return the best set.

    All starting sets (starts, n) are improved together. A set is a local optimum when no such step improves it.
    """
    members = starts.copy()
    active = np.arange(len(members))
    while active.size:
        improved = _best_move(weights, members, active)
        unimproved = active[~improved]
        exchanged = np.array([_best_exchange(weights, members[row]) for row in unimproved], dtype=bool)
        active = np.concatenate([active[improved], unimproved[exchanged]])
    best = members[np.argmax(weight_inside(weights, members))]
    return np.flatnonzero(best)


def _best_move(weights: Floats, members: Bits, rows: Indices) -> Bits:
    """Add or remove the best vertex of each set, in place, if that improves it; return which sets were improved."""
    inside = members[rows]
    gains = np.where(inside, -1.0, 1.0) * (inside.astype(np.float64) @ weights)
    best = gains.argmax(axis=1)
    improved = np.asarray(gains[np.arange(len(rows)), best] > 1e-12)
    members[rows[improved], best[improved]] ^= True
    return improved


def _best_exchange(weights: Floats, member: Bits) -> bool:
    """Exchange the best member and non-member, in place, if that improves the set; return whether it did."""
    inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
    if not inside.size or not outside.size:
        return False
    sums = weights @ member
    gains = sums[outside][None, :] - sums[inside][:, None] - weights[np.ix_(inside, outside)]
    leave, enter = np.unravel_index(gains.argmax(), gains.shape)
    if gains[leave, enter] <= 1e-12:
        return False
    member[inside[leave]], member[outside[enter]] = False, True
    return True


def semidefinite_bound(weights: Floats, rng: np.random.Generator, tolerance: float = 1e-7) -> tuple[float, Floats]:
    """Compute an upper bound of the weight of any set.

    With x in {-1, 1}^(n + 1), where vertex i is in the set if x_i = x_0, the weight of the set is ``x' C x`` plus a
    constant. Relaxing the numbers to unit vectors gives a semidefinite program. It is solved by the mixing method
    (Wang, Chang & Kolter 2017): each vector in turn is set to the normalised gradient of the objective. Every y gives
    the dual bound ``sum(y) + (n + 1) * max(0, largest eigenvalue of C - diag(y))``; here y are the norms of the
    gradients. The bound is therefore valid even before convergence.

    Returns
    -------
    bound
        The upper bound.
    vectors
        Shape (n + 1, rank). Rounding them with random hyperplanes gives starting sets for `local_search`.
    """
    n = len(weights)
    cost = np.zeros((n + 1, n + 1))
    cost[1:, 1:] = weights / 8
    cost[0, 1:] = cost[1:, 0] = weights.sum(axis=1) / 8
    constant = weights.sum() / 8
    rank = int(np.ceil(np.sqrt(2 * (n + 1)))) + 1
    vectors = rng.standard_normal((n + 1, rank))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    bound = np.inf
    for sweep in range(5000):
        for i in range(n + 1):
            gradient = cost[i] @ vectors
            norm = np.sqrt(gradient @ gradient)
            if norm > 0:
                vectors[i] = gradient / norm
        if sweep % 20 == 19:
            gradients = cost @ vectors
            value = float(np.einsum("ij,ij->", gradients, vectors)) + constant
            bound = min(bound, _dual_bound(cost, np.linalg.norm(gradients, axis=1)) + constant)
            if bound - value <= tolerance * max(1.0, abs(bound)):
                break
    return bound, vectors


def _dual_bound(cost: Floats, dual: Floats) -> float:
    largest_eigenvalue = np.linalg.eigvalsh(cost - np.diag(dual))[-1]
    return float(dual.sum() + len(cost) * max(0.0, largest_eigenvalue))


def round_vectors(vectors: Floats, count: int, rng: np.random.Generator) -> Bits:
    """Round the vectors with random hyperplanes; a set contains the vertices on the same side as vector 0."""
    sides = vectors @ rng.standard_normal((vectors.shape[1], count)) >= 0
    return np.asarray((sides[1:] == sides[0]).T)
