"""Is a matrix a correlation matrix, and which one is nearest to it?"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.measure import Measure
from countergraph.graphs.pairs import Floats, Values, to_matrix, upper_triangle

STEPS, TOLERANCE = 200, 1e-8
"""The maximum number of steps of the projection, and the change at which it ends."""
SMALLEST = 1e-9
"""The smallest eigenvalue of a projected matrix."""


def has_correlations(measure: Measure) -> bool:
    """Check whether the values are correlations, or are computed from them."""
    return measure in ("correlation", "fisher z")


def smallest_eigenvalue(values: Values, measure: Measure) -> float:
    """Return the smallest eigenvalue of a correlation matrix, given by its pairs; NaN if it has no correlations."""
    if not has_correlations(measure):
        return float("nan")
    return float(np.linalg.eigvalsh(_correlations(values, measure))[0])


def nearest_correlation(values: Values, measure: Measure) -> Values:
    """Return the values of the nearest correlation matrix (Higham, 2002: alternating projections with correction)."""
    matrix = _correlations(values, measure)
    projected, correction = matrix, np.zeros_like(matrix)
    for _ in range(STEPS):
        shifted = projected - correction
        eigenvalues, vectors = np.linalg.eigh(shifted)
        positive = (vectors * np.maximum(eigenvalues, SMALLEST)) @ vectors.T
        correction = positive - shifted
        before, projected = projected, positive.copy()
        np.fill_diagonal(projected, 1.0)
        if np.abs(projected - before).max() < TOLERANCE:
            break
    scales = np.sqrt(np.diag(positive))
    nearest = np.asarray(upper_triangle(positive / np.outer(scales, scales)), dtype=np.float64)
    limit = 1 - 1e-7  # the Fisher z value of 1 is infinite
    converted = nearest if measure == "correlation" else np.arctanh(np.clip(nearest, -limit, limit))
    return np.asarray(converted, dtype=values.dtype)


def _correlations(values: Values, measure: Measure) -> Floats:
    """Return the correlation matrix of the values of pairs."""
    correlations = values.astype(np.float64)
    return to_matrix(correlations if measure == "correlation" else np.tanh(correlations), 1.0)
