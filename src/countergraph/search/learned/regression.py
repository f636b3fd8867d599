"""Bayesian logistic regression with a sparse design matrix: the posterior mode by Newton's method.

Each Newton step is computed by a few conjugate gradient steps with a diagonal preconditioner (truncated Newton), which
start from the previous mode. So the cost of a fit is linear in the number of entries of the design matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from countergraph.graphs.pairs import Bits, Floats

TOLERANCE = 1e-3
"""Newton's method ends when a step reduces the loss by less than this share."""
GRADIENT_TOLERANCE = 1e-3
"""Conjugate gradients end when the squared residual is less than this share of the first one."""
SUFFICIENT_DECREASE = 1e-4
"""The share of the predicted decrease that a step must reach (Armijo's rule)."""
SMALLEST_STEP = 1e-3


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
    margins: Floats
    """The margin of each answer at the mode."""
    precisions: Floats
    """The second derivative of the loss by each coefficient: the approximate inverse variance."""


def fit(answers: Answers, start: Floats, newton_steps: int, gradient_steps: int) -> Posterior:
    """Return the posterior mode, starting from ``start``."""
    design, transposed = answers.design, answers.design.T.tocsr()
    squared = csr_array((transposed.data**2, transposed.indices, transposed.indptr), transposed.shape)
    mode, margins = start, answers.base + design @ start.astype(np.float32)
    loss, precisions = _loss(answers, mode, margins), np.ones_like(mode)
    for _ in range(newton_steps):
        residuals, curvature = _derivatives(answers, margins)
        gradient = mode + transposed @ residuals
        precisions = 1 + squared @ curvature
        step = _newton_step(design, transposed, curvature, gradient, precisions, gradient_steps)
        movement, decrease, size = design @ step.astype(np.float32), -float(gradient @ step), 1.0
        while size > SMALLEST_STEP:
            new_loss = _loss(answers, mode + size * step, margins + size * movement)
            if new_loss <= loss - SUFFICIENT_DECREASE * size * decrease:
                break
            size /= 2
        else:
            break
        mode, margins, loss, before = mode + size * step, margins + size * movement, new_loss, loss
        if before - loss < TOLERANCE * loss:
            break
    return Posterior(mode, margins, precisions)


def _loss(answers: Answers, mode: Floats, margins: Floats) -> float:
    logistic = np.logaddexp(0, margins) - answers.values * margins
    squared = answers.precision * (margins - answers.values) ** 2 / 2
    return float(np.where(answers.scored, squared, logistic).sum() + mode @ mode / 2)


def _derivatives(answers: Answers, margins: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the first and the second derivative of the loss of each answer by its margin."""
    probabilities = expit(margins)
    first = np.where(answers.scored, answers.precision * (margins - answers.values), probabilities - answers.values)
    second = np.where(answers.scored, answers.precision, probabilities * (1 - probabilities))
    return first.astype(np.float32), second.astype(np.float32)


def _newton_step(
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
