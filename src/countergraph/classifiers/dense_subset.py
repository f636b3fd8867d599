"""The heaviest vertex set of a signed weighted graph: found by local search, bounded by a semidefinite program.

Given symmetric weights W with an empty diagonal, find S that maximises the sum of W over the pairs inside S.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, Indices


def weight_inside(weights: Floats, members: Bits) -> Floats:
    """Return the sum of ``weights`` over the pairs inside each of the sets (..., n)."""
    inside = members.astype(np.float64)
    return np.asarray(0.5 * np.einsum("...i,...i->...", inside @ weights, inside))


def local_search(weights: Floats, starts: Bits) -> Indices:
    """Improve every start by moving one vertex in or out, or exchanging two, and return the best set found.

    All starts (starts, n) are improved together. A set is finished when neither a move nor an exchange improves it.
    """
    members = starts.copy()
    running = np.arange(len(members))
    while running.size:
        improved = _best_move(weights, members, running)
        stuck = running[~improved]
        exchanged = np.array([_best_exchange(weights, members[row]) for row in stuck], dtype=bool)
        running = np.concatenate([running[improved], stuck[exchanged]])
    best = members[np.argmax(weight_inside(weights, members))]
    return np.flatnonzero(best)


def _best_move(weights: Floats, members: Bits, rows: Indices) -> Bits:
    """Move the best vertex of each set in or out; tell for which sets that was an improvement."""
    inside = members[rows]
    gains = np.where(inside, -1.0, 1.0) * (inside.astype(np.float64) @ weights)
    best = gains.argmax(axis=1)
    improved = np.asarray(gains[np.arange(len(rows)), best] > 1e-12)
    members[rows[improved], best[improved]] ^= True
    return improved


def _best_exchange(weights: Floats, member: Bits) -> bool:
    """Exchange the best vertex inside for the best outside, in place, if that improves the set."""
    inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
    if not inside.size or not outside.size:
        return False
    pull = weights @ member
    gains = pull[outside][None, :] - pull[inside][:, None] - weights[np.ix_(inside, outside)]
    leave, enter = np.unravel_index(gains.argmax(), gains.shape)
    if gains[leave, enter] <= 1e-12:
        return False
    member[inside[leave]], member[outside[enter]] = False, True
    return True


def semidefinite_bound(weights: Floats, rng: np.random.Generator, tolerance: float = 1e-7) -> tuple[float, Floats]:
    """Bound the weight of the heaviest set from above.

    With x in {-1, 1} and x_0 marking the inside, the weight of a set is ``x' C x`` plus a constant. Relaxing the
    numbers to unit vectors gives a semidefinite program, solved here by the mixing method: each vector in turn moves
    to where the others pull it (Wang, Chang & Kolter 2017). Any pull lengths y bound the program from above, by
    ``sum(y) + (n + 1) * max(0, largest eigenvalue of C - diag(y))``, so the bound is valid even before convergence.

    Returns
    -------
    bound
        No set is heavier.
    vectors
        Shape (n + 1, rank); rounding them by random hyperplanes gives good starts for `local_search`.
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
            pull = cost[i] @ vectors
            length = np.sqrt(pull @ pull)
            if length > 0:
                vectors[i] = pull / length
        if sweep % 20 == 19:
            pulls = cost @ vectors
            value = float(np.einsum("ij,ij->", pulls, vectors)) + constant
            bound = min(bound, _dual_bound(cost, np.linalg.norm(pulls, axis=1)) + constant)
            if bound - value <= tolerance * max(1.0, abs(bound)):
                break
    return bound, vectors


def _dual_bound(cost: Floats, lengths: Floats) -> float:
    slack = np.linalg.eigvalsh(cost - np.diag(lengths))[-1]
    return float(lengths.sum() + len(cost) * max(0.0, slack))


def round_vectors(vectors: Floats, count: int, rng: np.random.Generator) -> Bits:
    """Cut the vectors by random hyperplanes; the side of vector 0 is the inside."""
    sides = vectors @ rng.standard_normal((vectors.shape[1], count)) >= 0
    return np.asarray((sides[1:] == sides[0]).T)
