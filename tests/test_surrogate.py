"""The surrogate of the learned search: its regression, what it learns from simulated answers, directions, portfolio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import countergraph as cg
from countergraph.graphs.pairs import pair_ends
from countergraph.search.learned.directions import (
    discriminative_direction,
    frequency_direction,
    neighbour_direction,
    neighbour_weights,
    scaled,
)
from countergraph.search.learned.portfolio import Portfolio
from countergraph.search.learned.regression import Answers, fit
from countergraph.search.learned.settings import DEFAULT_SETTINGS
from countergraph.search.learned.state import LearnedState
from countergraph.search.learned.surrogate import Surrogate
from countergraph.search.protocol import Reference, Task
from tests.conftest import random_graphs

seeds = st.integers(0, 9999)
SETTINGS = replace(DEFAULT_SETTINGS, first_fit=0.0, refit_growth=1.0, refit_after=1)
"""The surrogate is fitted at each update."""
N_ROIS, N_PAIRS = 12, 66


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
    mode, margins, precisions = fit(answers, start, 30, 100)
    solved = minimize(loss_and_gradient, start, (answers,), "L-BFGS-B", jac=True, options={"ftol": 1e-12})
    loss, gradient = loss_and_gradient(mode, answers)
    assert loss <= solved.fun * (1 + 1e-4) + 1e-6
    assert gradient @ (gradient / precisions) <= 1e-3 * (1 + loss), "the gradient is near 0"
    np.testing.assert_allclose(mode, solved.x, atol=0.05)
    np.testing.assert_allclose(margins, answers.base + answers.design @ mode, atol=1e-3)
    assert (precisions >= 1).all(), "answers only add to the precision of the prior"


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
        loss_and_gradient(fit(answers, start, newton_steps, gradient_steps).mode, answers)[0]
        for newton_steps in range(6)
    ]
    assert losses[0] == loss_and_gradient(start, answers)[0], "without any step, the start is returned"
    for before, after in pairwise(losses):
        assert after <= before * (1 + 1e-6) + 1e-6


def test_a_fit_without_answers_of_a_coefficient_leaves_it_at_its_prior_mean() -> None:
    design = csr_array(np.array([[1.0, 0.0], [1.0, 0.0]], dtype=np.float32))
    answers = Answers(design, np.zeros(2), np.array([1.0, 1.0]), np.zeros(2, dtype=bool), 1.0)
    mode, _, precisions = fit(answers, np.array([0.0, 1.0]), 30, 100)
    assert mode[0] > 0.5
    assert mode[1] == pytest.approx(0, abs=1e-4)
    assert precisions[1] == 1


class Simulation:
    """A surrogate that learns from random candidates of random graphs and a linear black box with two classes."""

    def __init__(self, weights: np.ndarray, n_graphs: int = 12, seed: int = 0, **changes: float) -> None:
        self.rng, self.weights = np.random.default_rng(seed), weights
        self.surrogate = Surrogate(weights.size, replace(SETTINGS, **changes))
        self.surrogate.set_directions([])
        self.graphs = random_graphs(n_graphs, N_ROIS, seed=seed)
        self.threshold = float(np.median(self.graphs @ weights)) + 1e-6
        self.answers: list[tuple[int, np.ndarray, bool]] = []
        for graph in self.graphs:
            self.add_graph(graph)

    def add_graph(self, graph: np.ndarray) -> int:
        label = int(self.margin(graph) > 0)
        return self.surrogate.add_graph(graph, label, 0, 1 - 2 * label, np.zeros(graph.size))

    def margin(self, graph: np.ndarray) -> float:
        return float(graph @ self.weights - self.threshold)

    def true_gains(self, number: int) -> np.ndarray:
        graph = self.graphs[number]
        return np.where(graph, -1, 1) * self.weights * (-1 if self.margin(graph) > 0 else 1)

    def learn(self, n_answers: int, numbers: range | None = None, scores: bool = False) -> None:
        """Learn the answers to random candidates around the decision boundary."""
        for _ in range(n_answers):
            number = int(self.rng.choice(numbers or range(len(self.graphs))))
            order = self.rng.permutation(self.weights.size)
            totals = np.cumsum(self.true_gains(number)[order])
            size = 1 + int(np.abs(totals - abs(self.margin(self.graphs[number]))).argmin())
            flips = order[: max(1, size + int(self.rng.integers(-20, 21)))]
            margin = float(self.true_gains(number)[flips].sum()) - abs(self.margin(self.graphs[number]))
            self.answers.append((number, flips, margin > 0))
            self.surrogate.learn(number, flips, margin > 0, margin if scores else None)
        self.surrogate.update()

    def correlation(self, numbers: range | None = None) -> float:
        """Return the mean correlation of the predicted and the true gains."""
        return float(
            np.mean(
                [
                    np.corrcoef(self.surrogate.gains(number), self.true_gains(number))[0, 1]
                    for number in numbers or range(len(self.graphs))
                ]
            )
        )


def random_weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=N_PAIRS)


@pytest.mark.parametrize("seed", range(3))
def test_gains_approach_the_weights_of_a_linear_black_box(seed: int) -> None:
    correlations = []
    simulation = Simulation(random_weights(seed), seed=seed)
    assert not simulation.surrogate.gains(0).any(), "nothing is known before the first answer"
    for n_answers in (50, 250, 1200):
        simulation.learn(n_answers)
        correlations.append(simulation.correlation())
    assert correlations == sorted(correlations)
    assert correlations[0] > 0
    assert correlations[-1] > 0.7
    assert simulation.surrogate.n_answers == 1500


def test_the_threshold_separates_the_answers() -> None:
    simulation = Simulation(random_weights(5))
    assert np.isnan(simulation.surrogate.threshold(0)), "unknown before a fit"
    simulation.learn(1000)
    surrogate = simulation.surrogate
    correct = [
        (surrogate.gains(number)[flips].sum() > surrogate.threshold(number)) == flipped
        for number, flips, flipped in simulation.answers
    ]
    assert np.mean(correct) > 0.75
    distances = [abs(simulation.margin(graph)) for graph in simulation.graphs]
    thresholds = [surrogate.threshold(number) for number in range(len(simulation.graphs))]
    assert np.corrcoef(distances, thresholds)[0, 1] > 0.8, "a threshold is the distance to the decision boundary"


def test_scores_give_more_information_than_classes() -> None:
    by_class, by_score = Simulation(random_weights(1)), Simulation(random_weights(1))
    by_class.learn(120)
    by_score.learn(120, scores=True)
    assert by_score.correlation() > by_class.correlation() + 0.1
    assert by_class.surrogate.score_error == np.inf
    assert by_score.surrogate.score_error < 1


def test_the_uncertainty_of_a_pair_decreases_with_its_answers() -> None:
    simulation = Simulation(random_weights(2))
    assert (simulation.surrogate.stds(0) == SETTINGS.pair_std).all()
    for _ in range(100):
        for flipped in (True, False):
            simulation.surrogate.learn(0, np.arange(10), flipped)
    simulation.surrogate.update()
    stds = simulation.surrogate.stds(0)
    assert (stds[:10] < 0.9 * SETTINGS.pair_std).all()
    np.testing.assert_allclose(stds[10:], SETTINGS.pair_std)


def test_graphs_can_be_added_after_a_fit() -> None:
    simulation = Simulation(random_weights(3))
    simulation.learn(800)
    before = simulation.correlation()
    new = random_graphs(1, N_ROIS, seed=77)[0]
    number = simulation.add_graph(new)
    simulation.graphs = np.concatenate([simulation.graphs, new[None]])
    assert np.isnan(simulation.surrogate.threshold(number))
    assert simulation.correlation(range(number, number + 1)) > 0.4, "the weights of the pairs are shared"
    simulation.learn(30, range(number, number + 1))
    assert np.isfinite(simulation.surrogate.threshold(number))
    assert simulation.correlation() > before - 0.05


def test_the_oldest_answers_are_dropped() -> None:
    simulation = Simulation(random_weights(4), max_entries=600)
    for _ in range(20):
        simulation.learn(10)
    rows = simulation.surrogate._rows
    n_kept = rows.values.size
    assert 0 < rows.pairs.nnz <= 600
    assert rows.pairs.nnz + simulation.answers[-n_kept - 1][1].size > 600, "no more answers than necessary are dropped"
    assert rows.graphs.tolist() == [number for number, _, _ in simulation.answers[-n_kept:]]
    assert rows.values.tolist() == [flipped for _, _, flipped in simulation.answers[-n_kept:]]
    assert rows.scored.size == rows.pairs.shape[0] == rows.effects_by(rows.graphs, 12).shape[0] == n_kept
    assert simulation.surrogate.n_answers == 200


def test_effects_of_rois_are_learned_from_few_answers() -> None:
    first, second = pair_ends(N_ROIS)
    effects = np.random.default_rng(6).normal(size=N_ROIS)
    correlations = {}
    for name, changes in (("both", {}), ("pairs only", {"roi_std": 0.0, "own_roi_std": 0.0})):
        simulation = Simulation(effects[first] + effects[second], **changes)
        simulation.learn(200)
        correlations[name] = simulation.correlation()
    assert correlations["both"] > 0.6
    assert correlations["both"] > correlations["pairs only"] + 0.05


def test_additions_and_removals_have_different_effects() -> None:
    """The class depends on whether edges were added; no weight per pair or ROI explains that for both classes."""
    surrogate, rng = Surrogate(N_PAIRS, SETTINGS), np.random.default_rng(0)
    surrogate.set_directions([])
    graphs = random_graphs(6, N_ROIS, seed=1, density=0.5)
    for number, graph in enumerate(graphs):
        surrogate.add_graph(graph, number % 2, 0, 1 - 2 * (number % 2), np.zeros(N_PAIRS))
    for _ in range(400):
        number, flips = int(rng.integers(6)), rng.permutation(N_PAIRS)[:20]
        surrogate.learn(number, flips, bool((~graphs[number][flips]).sum() > 10))
    surrogate.update()
    for number, graph in enumerate(graphs):
        gains = surrogate.gains(number)
        assert gains[~graph].min() > gains[graph].max()


def joined_state(function: Callable[[np.ndarray], np.ndarray], graphs: np.ndarray, target: int | None = None):
    """Return the shared state of a run, and the tasks of its graphs."""
    state = LearnedState(graphs.shape[1], None, SETTINGS)
    options = cg.SearchOptions(target=target)
    labels = function(graphs).tolist()
    joined = [
        state.join(Task(graph, label, options, np.random.default_rng(number)), None)
        for number, (graph, label) in enumerate(zip(graphs, labels, strict=True))
    ]
    return state, joined


def test_two_classes_share_one_class_vector_with_opposite_signs() -> None:
    weights, graphs = random_weights(7), random_graphs(14, N_ROIS, seed=7)
    threshold = np.median(graphs @ weights)
    state, tasks = joined_state(lambda edges: (edges @ weights > threshold).astype(int), graphs)
    for task in tasks:
        task.guide.gains()
    assert {state.class_vector(0), state.class_vector(1)} == {(0, 1), (0, -1)}
    evidence = [np.where(task.graph, -1, 1) * task.guide.gains() * (1 - 2 * task.label) for task in tasks]
    direction = np.mean(evidence, axis=0)
    assert np.corrcoef(direction, weights)[0, 1] > 0.2, "the directions of both classes agree with the weights"
    assert np.mean([np.corrcoef(each, direction)[0, 1] for each in evidence]) > 0.8


@pytest.mark.parametrize("target", [None, 2])
def test_three_classes_have_one_class_vector_each(target: int | None) -> None:
    rng = np.random.default_rng(3)
    weights, graphs = rng.normal(size=(3, N_PAIRS)), random_graphs(30, N_ROIS, seed=8)
    weights -= weights.mean(axis=0)

    def three(edges: np.ndarray) -> np.ndarray:
        return (edges @ weights.T - (graphs @ weights.T).mean(axis=0)).argmax(axis=1)

    state, tasks = joined_state(three, graphs, target)
    assert {task.label for task in tasks} == {0, 1, 2}
    tasks = [task for task in tasks if task.label != target]
    for task in tasks:
        task.guide.gains()
    assert [state.class_vector(label) for label in range(3)] == [(0, 1), (1, 1), (2, 1)]
    for _ in range(1500):
        task = tasks[rng.integers(len(tasks))]
        flips = rng.permutation(N_PAIRS)[: rng.integers(1, 40)]
        candidate = task.graph.copy()
        candidate[flips] ^= True
        label = three(candidate[None])[0]
        state.surrogate.learn(
            task.guide.number, flips, bool(label != task.label if target is None else label == target)
        )
    state.surrogate.update()
    correlations = []
    for task in tasks:
        evidence = -weights[task.label] if target is None else weights[target]
        true_gains = np.where(task.graph, -1, 1) * evidence
        correlations.append(np.corrcoef(state.surrogate.gains(task.guide.number), true_gains)[0, 1])
    assert np.mean(correlations) > 0.6


def test_a_class_that_appears_later_gets_its_own_class_vector() -> None:
    state = LearnedState(N_PAIRS, None, SETTINGS)
    first = state.join(Task(random_graphs(1, N_ROIS, 0)[0], 0, cg.SearchOptions(), np.random.default_rng(0)), None)
    first.guide.gains()
    vectors = [state.class_vector(label) for label in (0, 1, 2)]
    assert vectors == [(0, 1), (0, -1), (2, 1)]
    second = state.join(Task(random_graphs(1, N_ROIS, 1)[0], 2, cg.SearchOptions(), np.random.default_rng(0)), None)
    before = second.guide.gains()
    assert np.isfinite(before).all()
    state.surrogate.learn(second.guide.number, np.arange(5), True)
    state.surrogate.learn(first.guide.number, np.arange(5), False)
    state.surrogate.update()
    assert second.guide.gains()[:5].sum() > before[:5].sum()


@pytest.mark.parametrize("c", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_discriminative_direction_is_that_of_logistic_regression(c: float, seed: int) -> None:
    graphs = random_graphs(40, N_ROIS, seed=seed)
    positive = graphs @ random_weights(seed) > 0
    expected = LogisticRegression(C=c, tol=1e-8, max_iter=10_000).fit(graphs, positive).coef_[0]
    np.testing.assert_allclose(discriminative_direction(graphs, positive, c), scaled(expected), atol=0.02)


@given(seeds, st.integers(1, 12))
def test_directions_are_zero_if_there_is_only_one_class(seed: int, n_graphs: int) -> None:
    graphs = random_graphs(n_graphs, N_ROIS, seed=seed)
    for positive in (np.zeros(n_graphs, dtype=bool), np.ones(n_graphs, dtype=bool)):
        assert not discriminative_direction(graphs, positive, 0.01).any()
        assert not frequency_direction(graphs, positive).any()


def test_the_frequency_direction_is_the_difference_of_the_frequencies() -> None:
    graphs, positive = random_graphs(9, N_ROIS, seed=3), np.arange(9) % 3 == 0
    difference = graphs[positive].mean(axis=0) - graphs[~positive].mean(axis=0)
    direction = frequency_direction(graphs, positive)
    np.testing.assert_allclose(direction * np.abs(difference).max(), difference * np.abs(direction).max(), atol=1e-12)


@given(seeds, st.integers(1, 500), st.floats(1e-3, 1e3))
def test_scaled_directions_do_not_depend_on_their_unit(seed: int, size: int, factor: float) -> None:
    weights = np.random.default_rng(seed).normal(size=size)
    np.testing.assert_allclose(scaled(factor * weights), scaled(weights), rtol=1e-9)
    assert 1 <= np.abs(scaled(weights)).max() < 10
    assert not scaled(np.zeros(size)).any()


@given(seeds, st.integers(1, 30))
def test_weights_of_neighbours_decrease_with_the_distance(seed: int, n_graphs: int) -> None:
    rng = np.random.default_rng(seed)
    distances, members = rng.random(n_graphs), rng.random(n_graphs) < 0.6
    weights = neighbour_weights(distances, members)
    assert not weights[~members].any()
    assert weights.sum() == pytest.approx(float(members.any()))
    order = np.flatnonzero(members)[np.argsort(distances[members])]
    assert (np.diff(weights[order]) <= 0).all()
    assert np.count_nonzero(weights) == min(10, members.sum())


def test_the_neighbour_direction_ignores_the_graph_itself() -> None:
    graphs = random_graphs(8, N_ROIS, seed=2)
    wanted = np.arange(8) >= 5
    direction = neighbour_direction(graphs[0], graphs, wanted, ~wanted)
    np.testing.assert_allclose(direction, neighbour_direction(graphs[0], graphs[1:], wanted[1:], ~wanted[1:]))
    for pair in range(N_PAIRS):
        if (graphs[wanted, pair] != graphs[0, pair]).all() and (graphs[1:5, pair] == graphs[0, pair]).all():
            assert direction[pair] == pytest.approx(1)


def test_labels_are_used_for_the_directions_if_the_black_box_gives_one_class_only() -> None:
    edges = random_graphs(31, N_ROIS, seed=4)
    labels = (edges @ random_weights(8) > np.median(edges @ random_weights(8))).astype(int)
    reference, gains = Reference(edges[1:], labels[1:]), []
    for answers in (np.full(31, labels[0]), labels):
        state = LearnedState(N_PAIRS, reference, SETTINGS)
        state.learn_classes(edges[1:], answers[1:].tolist())
        task = Task(edges[0], int(labels[0]), cg.SearchOptions(), np.random.default_rng(0), reference)
        gains.append(state.join(task, None).guide.gains())
    assert gains[0].any()
    assert (gains[0] == gains[1]).all()


def test_answers_of_the_black_box_replace_labels_in_the_directions() -> None:
    data = cg.make_cohort(n_subjects=40, n_rois=N_ROIS, seed=4)
    weights = random_weights(9)
    answers = (data.edges @ weights > np.median(data.edges @ weights)).astype(int)
    correlations = []
    for n_known in (0, 40):
        state = LearnedState(N_PAIRS, Reference(data.edges, data.labels), SETTINGS)
        state.learn_classes(data.edges[:n_known], answers[:n_known].tolist())
        graph = random_graphs(1, N_ROIS, seed=1)[0]
        task = state.join(Task(graph, 0, cg.SearchOptions(), np.random.default_rng(0)), None)
        gains = state.surrogate.gains(task.guide.number)
        correlations.append(np.corrcoef(gains, np.where(graph, -1, 1) * weights)[0, 1])
    assert correlations[1] > correlations[0] + 0.2


def test_the_portfolio_prefers_the_successful_expert_and_adapts_to_new_rewards() -> None:
    portfolio, rng, names = Portfolio(DEFAULT_SETTINGS), np.random.default_rng(0), ["a", "b", "c"]

    def share_of_b() -> float:
        return float(np.mean([portfolio.rank(names, rng)[0] == "b" for _ in range(200)]))

    assert 0.2 < share_of_b() < 0.5, "all experts are equal before the first reward"
    for _ in range(200):
        name = portfolio.rank(names, rng)[0]
        portfolio.update(name, float(name == "b"))
    assert share_of_b() > 0.9
    for _ in range(3000):
        portfolio.update("b", 0.0)
    assert share_of_b() < 0.5, "old rewards are discounted"


@given(seeds, st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
def test_the_portfolio_ranks_each_expert_once(seed: int, names: list[str]) -> None:
    portfolio, rng = Portfolio(DEFAULT_SETTINGS), np.random.default_rng(seed)
    for name in names[::2]:
        portfolio.update(name, rng.random())
    assert sorted(portfolio.rank(names, rng)) == sorted(names)


def test_rewards_are_discounted_at_each_update() -> None:
    portfolio = Portfolio(replace(DEFAULT_SETTINGS, discount=0.5))
    for name, reward in (("a", 1.0), ("b", 0.25), ("a", 0.0)):
        portfolio.update(name, reward)
    assert portfolio._rewards == {"a": (0.25, 1.0), "b": (0.125, 0.375)}


def test_the_first_fit_waits_for_a_number_of_answers_per_graph() -> None:
    settings = replace(SETTINGS, first_fit=8.0, refit_after=0)
    surrogate = Surrogate(N_PAIRS, settings)
    for graph in random_graphs(2, N_ROIS, 0):
        surrogate.add_graph(graph, 0, 0, 1, np.zeros(N_PAIRS))
    for number in range(16):
        assert np.isnan(surrogate.threshold(0)), f"after {number} answers"
        surrogate.learn(number % 2, np.array([number]), number % 3 == 0)
        surrogate.update()
    assert np.isfinite(surrogate.threshold(0))
