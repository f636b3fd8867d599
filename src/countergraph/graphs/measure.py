"""What the values of weighted networks are: correlations, Fisher z values, counts."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import InputError
from countergraph.graphs.pairs import Values

Measure = Literal["edge", "correlation", "fisher z", "count", "unknown"]
TOLERANCE = 1e-5
"""The tolerance of the range of correlations, and of the diagonal of a correlation matrix."""


LARGE_Z = 7.0
"""Fisher z values of the diagonal, where the correlation is 1 except for rounding errors, are larger."""


def detect_measure(given: ArrayLike, values: Values) -> Measure:
    """Return the measure of networks: from their values, and from the diagonal if they were given as matrices."""
    if values.dtype == np.bool_:
        return "edge"
    matrices = np.asarray(given)
    if matrices.ndim == 3 and values.size:
        diagonals = matrices.diagonal(axis1=-2, axis2=-1)
        if (diagonals > LARGE_Z).all() and np.abs(values).max() <= LARGE_Z:
            return "fisher z"
        if np.allclose(diagonals, 1, atol=TOLERANCE) and np.abs(values).max() <= 1 + TOLERANCE:
            return "correlation"
    if (values >= 0).all() and (values == np.round(values)).all():
        return "count"
    return "unknown"


def check_measure(measure: str, values: Values) -> None:
    """Raise `InputError` if the measure is unknown, or does not fit the values."""
    if measure not in get_args(Measure):
        raise InputError(f"measure must be one of {', '.join(get_args(Measure))}, not {measure!r}")
    if (measure == "edge") != (values.dtype == np.bool_) and values.size:
        found = "only 0 and 1" if values.dtype == np.bool_ else "other values than 0 and 1"
        raise InputError(f"measure is {measure!r}, but the networks contain {found}")
    if measure == "correlation" and values.size and np.abs(values).max() > 1 + TOLERANCE:
        invalid = values.flat[np.abs(values).argmax()]
        raise InputError(
            f"a correlation must be between -1 and 1, but the networks contain {invalid:g}; for Fisher z values pass "
            "measure='fisher z'"
        )
    if measure == "count" and values.size and values.min() < 0:
        raise InputError(f"a count must not be negative, but the networks contain {values.min():g}")


def diagonal_of(measure: Measure) -> float:
    """Return the diagonal of a matrix: 1 for correlations, otherwise 0."""
    return 1.0 if measure == "correlation" else 0.0
