"""The logistic regression of the learned search."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from countergraph.search.learned.regression import Answers, fit

seeds = st.integers(0, 9999)


def random_answers(seed: int, n_answers: int, n_coefficients: int, scored_share: float) -> Answers:
    """Return simulated answers with a sparse design matrix."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n_answers, n_coefficients)) * (rng.random((n_answers, n_coefficients)) < 0.4)
    base, scored = rng.normal(size=n_answers), rng.random(n_answers) < scored_share
    margins = base + design @ rng.normal(size=n_coefficients) + rng.normal(size=n_answers)
    return Answers(csr_array(design.astype(np.float32)), base, np.where(scored, margins, margins > 0), scored, 3.0)


def loss_and_gradient(mode: np.ndarray, answers: Answers) -> tuple[float, np.ndarray]:
    """Return the negative log posterior and its gradient, with dense matrices in double precision."""
    design = answers.design.toarray().astype(np.float64)
    margins = answers.base + design @ mode
    errors = margins - answers.values
    logistic = np.logaddexp(0, margins) - answers.values * margins
    loss = np.where(answers.scored, answers.precision * errors**2 / 2, logistic).sum() + mode @ mode / 2
    derivative = np.where(answers.scored, answers.precision * errors, expit(margins) - answers.values)
    return float(loss), mode + design.T @ derivative


@given(seeds, st.integers(1, 60), st.integers(1, 30), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_fit_is_the_posterior_mode(seed: int, n_answers: int, n_coefficients: int, scored_share: float) -> None:
    answers = random_answers(seed, n_answers, n_coefficients, scored_share)
    start = np.random.default_rng(seed).normal(size=n_coefficients)
    mode, precisions = fit(answers, start, 30, 100)
    solved = minimize(loss_and_gradient, start, (answers,), "L-BFGS-B", jac=True, options={"ftol": 1e-12})
    loss, gradient = loss_and_gradient(mode, answers)
    assert loss <= solved.fun * (1 + 2e-3) + 1e-6
    assert gradient @ (gradient / precisions) <= 1e-3 * (1 + loss), "the gradient is near 0"
    np.testing.assert_allclose(mode, solved.x, atol=0.05)
    assert (precisions >= 1).all(), "answers only add to the precision of the prior"


@given(seeds, st.integers(20, 60), st.integers(1, 30))
def test_a_fit_recovers_from_a_start_that_is_very_wrong(seed: int, n_answers: int, n_coefficients: int) -> None:
    answers = random_answers(seed, n_answers, n_coefficients, 0.0)
    start = 100 * np.random.default_rng(seed).normal(size=n_coefficients)
    best = loss_and_gradient(fit(answers, np.zeros(n_coefficients), 100, 100).mode, answers)[0]
    recovered = loss_and_gradient(fit(answers, start, 100, 100).mode, answers)[0]
    assert recovered <= 1.02 * best, "the curvature of the logistic loss is 0 at the start, so Newton's method fails"


@given(seeds, st.integers(1, 40), st.integers(1, 20))
def test_scored_answers_give_ridge_regression(seed: int, n_answers: int, n_coefficients: int) -> None:
    answers = random_answers(seed, n_answers, n_coefficients, 1.0)
    design = answers.design.toarray().astype(np.float64)
    hessian = np.eye(n_coefficients) + answers.precision * design.T @ design
    exact = np.linalg.solve(hessian, answers.precision * design.T @ (answers.values - answers.base))
    posterior = fit(answers, np.zeros(n_coefficients), 30, 100)
    np.testing.assert_allclose(posterior.mode, exact, atol=0.02)
    np.testing.assert_allclose(posterior.precisions, hessian.diagonal(), rtol=1e-4)


@given(seeds, st.integers(1, 60), st.integers(1, 30), st.sampled_from([0.0, 0.5]))
def test_a_warm_start_from_the_mode_stays_there(
    seed: int, n_answers: int, n_coefficients: int, scored_share: float
) -> None:
    answers = random_answers(seed, n_answers, n_coefficients, scored_share)
    mode = fit(answers, np.zeros(n_coefficients), 30, 100).mode
    again = fit(answers, mode, 30, 100).mode
    np.testing.assert_allclose(again, mode, atol=0.05)
    assert loss_and_gradient(again, answers)[0] <= loss_and_gradient(mode, answers)[0] * (1 + 1e-6) + 1e-6


@given(seeds, st.integers(1, 80), st.integers(1, 40), st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 8))
def test_more_steps_never_increase_the_loss(
    seed: int, n_answers: int, n_coefficients: int, scored_share: float, gradient_steps: int
) -> None:
    answers = random_answers(seed, n_answers, n_coefficients, scored_share)
    start = 3 * np.random.default_rng(seed).normal(size=n_coefficients)
    losses = [
        loss_and_gradient(fit(answers, start, max_steps, gradient_steps).mode, answers)[0] for max_steps in range(6)
    ]
    assert losses[0] == loss_and_gradient(start, answers)[0], "without any step, the start is returned"
    for before, after in pairwise(losses):
        assert after <= before * (1 + 1e-6) + 1e-6


def test_a_fit_without_answers_of_a_coefficient_leaves_it_at_its_prior_mean() -> None:
    design = csr_array(np.array([[1.0, 0.0], [1.0, 0.0]], dtype=np.float32))
    answers = Answers(design, np.zeros(2), np.array([1.0, 1.0]), np.zeros(2, dtype=bool), 1.0)
    mode, precisions = fit(answers, np.array([0.0, 1.0]), 30, 100)
    assert mode[0] > 0.5
    assert mode[1] == pytest.approx(0, abs=1e-4)
    assert precisions[1] == 1
