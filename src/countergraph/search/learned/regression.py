"""Bayesian logistic regression with a sparse design matrix: the posterior mode by majorisation-minimisation.

Each step minimises a quadratic upper bound of the loss that touches it at the current margins (Jaakkola & Jordan 2000),
so it never increases the loss. Newton's method does not have this property: the curvature of the logistic loss vanishes
where a prediction is very wrong. The minimum is approximated by a few conjugate gradient steps with a diagonal
preconditioner, and the step is doubled as long as this reduces the loss. A fit starts from the previous mode, and its
cost is linear in the number of entries of the design matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from countergraph.graphs.pairs import Bits, Floats

TOLERANCE = 1e-4
"""A fit ends when a step reduces the loss by less than this share."""
GRADIENT_TOLERANCE = 1e-3
"""Conjugate gradients end when the squared residual is less than this share of the first one."""
SMALL_MARGIN = 1e-3
"""The curvature of the bound has a removable singularity at 0; below this margin its limit is used."""


class Answers(NamedTuple):
    """The data of a regression."""

    design: csr_array
    """One row per answer; the prior of each coefficient is the standard normal distribution."""
    base: Floats
    """The part of the margin of each answer that is not estimated."""
    values: Floats
    """1 for a counterfactual, 0 otherwise; for a scored answer, its log-odds."""
    scored: Bits
    """Which answers are scored: their values have Gaussian errors."""
    precision: float = 1.0
    """The inverse variance of these errors."""


class Posterior(NamedTuple):
    """The result of a regression."""

    mode: Floats
    precisions: Floats
    """The second derivative of the loss by each coefficient: the approximate inverse variance."""


def fit(answers: Answers, start: Floats, max_steps: int, gradient_steps: int) -> Posterior:
    """Return the posterior mode, starting from ``start``."""
    design, transposed = answers.design, answers.design.T.tocsr()
    squared = csr_array((transposed.data**2, transposed.indices, transposed.indptr), transposed.shape)
    mode, margins = start, answers.base + design @ start.astype(np.float32)
    loss = _loss(answers, mode, margins)
    for _ in range(max_steps):
        residuals, curvature = _bound(answers, margins)
        gradient = mode + transposed @ residuals
        step = _minimise(design, transposed, curvature, gradient, 1 + squared @ curvature, gradient_steps)
        movement, size, before = design @ step.astype(np.float32), 1.0, loss
        new_loss = _loss(answers, mode + step, margins + movement)
        while new_loss < loss:
            loss, size = new_loss, 2 * size
            new_loss = _loss(answers, mode + size * step, margins + size * movement)
        if loss < before:
            mode, margins = mode + size / 2 * step, margins + size / 2 * movement
        if before - loss < TOLERANCE * loss:
            break
    return Posterior(mode, 1 + squared @ _curvature(answers, margins))


def _loss(answers: Answers, mode: Floats, margins: Floats) -> float:
    logistic = np.logaddexp(0, margins) - answers.values * margins
    squared = answers.precision * (margins - answers.values) ** 2 / 2
    return float(np.where(answers.scored, squared, logistic).sum() + mode @ mode / 2)


def _bound(answers: Answers, margins: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the derivative of the loss of each answer by its margin, and the curvature of its quadratic bound."""
    sizes = np.maximum(np.abs(margins), SMALL_MARGIN)
    errors = np.where(answers.scored, answers.precision * (margins - answers.values), expit(margins) - answers.values)
    curvature = np.where(answers.scored, answers.precision, np.tanh(sizes / 2) / (2 * sizes))
    return errors.astype(np.float32), curvature.astype(np.float32)


def _curvature(answers: Answers, margins: Floats) -> NDArray[np.float32]:
    """Return the second derivative of the loss of each answer by its margin."""
    probabilities = expit(margins)
    return np.where(answers.scored, answers.precision, probabilities * (1 - probabilities)).astype(np.float32)


def _minimise(
    design: csr_array,
    transposed: csr_array,
    curvature: NDArray[np.float32],
    gradient: Floats,
    diagonal: Floats,
    max_steps: int,
) -> Floats:
    """Solve ``(I + X' D X) step = -gradient`` approximately by preconditioned conjugate gradients."""
    step, residual = np.zeros_like(gradient), -gradient
    direction = scaled = residual / diagonal
    product = first = float(residual @ scaled)
    for _ in range(max_steps):
        if product <= GRADIENT_TOLERANCE * first:
            break
        image = direction + transposed @ (curvature * (design @ direction.astype(np.float32)))
        length = product / float(direction @ image)
        step, residual = step + length * direction, residual - length * image
        scaled = residual / diagonal
        product, previous = float(residual @ scaled), product
        direction = scaled + product / previous * direction
    return step
