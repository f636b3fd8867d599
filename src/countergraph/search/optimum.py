"""The exact optimum of a rule that is linear in the edges (section 4.3 of the paper has an approximation of it)."""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Bits, Floats, snap_to_zero
from countergraph.search.protocol import Flips


def closest_crossing(graph: Bits, coefficients: Floats, intercept: float) -> Flips | None:
    """Return the fewest flips that carry ``graph @ coefficients + intercept`` across 0, or None if none do.

    A score above 0 is one class, a score of at most 0 the other. Each flip moves the score by a fixed amount,
    whatever else is flipped, so the largest helpful moves first is the shortest way; ties go to the first pair.
    """
    score = float(snap_to_zero(coefficients[graph].sum() + intercept, coefficients))
    moves = np.where(graph, -coefficients, coefficients)
    gains = -moves if score > 0 else moves
    helpful = np.flatnonzero(gains > 0)
    order = helpful[np.argsort(-gains[helpful], kind="stable")]
    scores = snap_to_zero(score + np.cumsum(moves[order]), coefficients)
    crossed = np.flatnonzero(scores <= 0 if score > 0 else scores > 0)
    if not crossed.size:
        return None
    return np.sort(order[: crossed[0] + 1])
