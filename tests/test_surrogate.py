"""The surrogate of the learned search: what it learns from simulated answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

import countergraph as cg
from countergraph.graphs.pairs import pair_ends
from countergraph.search.learned.settings import DEFAULT_SETTINGS
from countergraph.search.learned.state import LearnedState
from countergraph.search.learned.surrogate import Surrogate
from countergraph.search.network import Layout, Network
from countergraph.search.protocol import Task
from tests.conftest import changes_of, random_graphs

seeds = st.integers(0, 9999)
SETTINGS = replace(DEFAULT_SETTINGS, first_fit=0.0, refit_growth=1.0, refit_after=1)
"""The surrogate is fitted at each update."""
N_ROIS, N_PAIRS = 12, 66


class Simulation:
    """A surrogate that learns from random candidates of random graphs and a linear black box with two classes."""

    def __init__(self, weights: np.ndarray, n_graphs: int = 12, seed: int = 0, **changes: float) -> None:
        self.rng, self.weights = np.random.default_rng(seed), weights
        self.surrogate = Surrogate(Layout.of_pairs(weights.size), replace(SETTINGS, **changes))
        self.surrogate.set_directions([])
        self.graphs = random_graphs(n_graphs, N_ROIS, seed=seed)
        self.threshold = float(np.median(self.graphs @ weights)) + 1e-6
        self.answers: list[tuple[int, np.ndarray, bool]] = []
        for graph in self.graphs:
            self.add_graph(graph)

    def add_graph(self, graph: np.ndarray) -> int:
        label = int(self.margin(graph) > 0)
        return self.surrogate.add_graph(changes_of(graph), label, 0, 1 - 2 * label, np.zeros(graph.size))

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


def test_the_error_of_scores_is_that_of_predictions_of_new_answers() -> None:
    simulation = Simulation(random_weights(1))
    simulation.learn(120, scores=True)
    assert simulation.surrogate.score_error == np.inf, "the first fit predicts nothing"
    simulation.learn(30, scores=True)
    after_one_fit = simulation.surrogate.score_error
    for n_answers in (400, 30, 30):
        simulation.learn(n_answers, scores=True)
    assert simulation.surrogate.score_error < 0.5 * after_one_fit < np.inf


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
    simulation = Simulation(random_weights(4), max_entries=1200)
    for _ in range(20):
        simulation.learn(10)
    rows = simulation.surrogate._rows
    n_kept = rows.values.size
    n_entries = rows.pairs.nnz + 2 * rows._effects.nnz
    dropped = simulation.answers[-n_kept - 1][1]
    assert 0 < n_entries <= 1200
    assert n_entries + 7 * dropped.size > 1200, "no more answers than necessary are dropped"
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
    assert correlations["both"] > correlations["pairs only"] + 0.03


def test_additions_and_removals_have_different_effects() -> None:
    """The class depends on whether edges were added; no weight per pair or ROI explains that for both classes."""
    surrogate, rng = Surrogate(Layout.of_pairs(N_PAIRS), SETTINGS), np.random.default_rng(0)
    surrogate.set_directions([])
    graphs = random_graphs(6, N_ROIS, seed=1, density=0.5)
    for number, graph in enumerate(graphs):
        surrogate.add_graph(changes_of(graph), number % 2, 0, 1 - 2 * (number % 2), np.zeros(N_PAIRS))
    for _ in range(400):
        number, flips = int(rng.integers(6)), rng.permutation(N_PAIRS)[:20]
        surrogate.learn(number, flips, bool((~graphs[number][flips]).sum() > 10))
    surrogate.update()
    for number, graph in enumerate(graphs):
        gains = surrogate.gains(number)
        assert gains[~graph].min() > gains[graph].max()


def joined_state(function: Callable[[np.ndarray], np.ndarray], graphs: np.ndarray, target: int | None = None):
    """Return the shared state of a run, and the tasks of its graphs."""
    state = LearnedState(Layout.of_pairs(graphs.shape[1]), None, SETTINGS)
    options = cg.SearchOptions(target=target)
    labels = function(graphs).tolist()
    joined = [
        state.join(Task(Network.of_graph(graph), label, options, np.random.default_rng(number)), None)
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
    state = LearnedState(Layout.of_pairs(N_PAIRS), None, SETTINGS)
    first = state.join(
        Task(Network.of_graph(random_graphs(1, N_ROIS, 0)[0]), 0, cg.SearchOptions(), np.random.default_rng(0)), None
    )
    first.guide.gains()
    vectors = [state.class_vector(label) for label in (0, 1, 2)]
    assert vectors == [(0, 1), (0, -1), (2, 1)]
    second = state.join(
        Task(Network.of_graph(random_graphs(1, N_ROIS, 1)[0]), 2, cg.SearchOptions(), np.random.default_rng(0)), None
    )
    before = second.guide.gains()
    assert np.isfinite(before).all()
    state.surrogate.learn(second.guide.number, np.arange(5), True)
    state.surrogate.learn(first.guide.number, np.arange(5), False)
    state.surrogate.update()
    assert second.guide.gains()[:5].sum() > before[:5].sum()


def test_the_first_fit_waits_for_a_number_of_answers_per_graph() -> None:
    settings = replace(SETTINGS, first_fit=8.0, refit_after=0)
    surrogate = Surrogate(Layout.of_pairs(N_PAIRS), settings)
    for graph in random_graphs(2, N_ROIS, 0):
        surrogate.add_graph(changes_of(graph), 0, 0, 1, np.zeros(N_PAIRS))
    for number in range(16):
        assert np.isnan(surrogate.threshold(0)), f"after {number} answers"
        surrogate.learn(number % 2, np.array([number]), number % 3 == 0)
        surrogate.update()
    assert np.isfinite(surrogate.threshold(0))
