"""The exact optimum for a rule that is linear in the edges (section 5.3 of the paper has an approximation)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countergraph.graphs.pairs import Floats, Values, snap_to_zero
from countergraph.search.network import Network
from countergraph.search.protocol import Flips


def linear_score(values: Values, coefficients: Floats, intercept: float) -> float:
    """Return ``values @ coefficients + intercept``; 0 if it differs from 0 only by rounding errors."""
    total = coefficients[values].sum() if values.dtype == np.bool_ else values.astype(np.float64) @ coefficients
    return float(snap_to_zero(total + intercept, coefficients))


def closest_crossing(network: Network, coefficients: Floats, intercept: float) -> Flips | None:
    """Return the fewest flips that move ``values @ coefficients + intercept`` across 0, or None if there are none.

    A score above 0 is one class, a score of at most 0 the other. Each flip changes the score by a fixed amount that
    does not depend on the other flips. So the flips with the largest effect are the optimum; ties go to the first pair.
    """
    order, size, _ = linear_order(network, coefficients, intercept)
    return None if size is None else np.sort(order[:size])


class LinearOrder(NamedTuple):
    """The flips that move a linear score towards 0, and beyond."""

    order: Flips
    """Largest effect first."""
    size: int | None
    """How many of them cross 0; None if all together do not."""
    may_be_smaller: bool
    """Whether one less reaches 0, so that a rounding error of the classifier may cross it."""


def linear_order(network: Network, coefficients: Floats, intercept: float) -> LinearOrder:
    """Order the flips by their effects on ``values @ coefficients + intercept``."""
    score = linear_score(network.values, coefficients, intercept)
    effects = network.differences * coefficients
    gains = -effects if score > 0 else effects
    helpful = np.flatnonzero(gains > 0)
    order = helpful[np.argsort(-gains[helpful], kind="stable")]
    scores = snap_to_zero(score + np.cumsum(effects[order]), coefficients)
    crossed = np.flatnonzero(scores <= 0 if score > 0 else scores > 0)
    size = int(crossed[0]) + 1 if crossed.size else None
    return LinearOrder(order, size, size is not None and size > 1 and scores[size - 2] == 0)
