"""The expert directions of the learned search, and the portfolio of its experts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import countergraph as cg
from countergraph.search.learned.directions import (
    discriminative_direction,
    frequency_direction,
    neighbour_direction,
    neighbour_weights,
    scaled,
)
from countergraph.search.learned.portfolio import Portfolio
from countergraph.search.learned.settings import DEFAULT_SETTINGS
from countergraph.search.learned.state import LearnedState
from countergraph.search.network import Layout, Network
from countergraph.search.parts.orders import largest_gains
from countergraph.search.protocol import Reference, Task
from tests.conftest import changes_of, random_graphs
from tests.test_surrogate import N_PAIRS, N_ROIS, SETTINGS, random_weights, seeds


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
    direction = neighbour_direction(graphs[0], changes_of(graphs[0]), graphs, wanted, ~wanted)
    without_itself = neighbour_direction(graphs[0], changes_of(graphs[0]), graphs[1:], wanted[1:], ~wanted[1:])
    np.testing.assert_allclose(direction, without_itself)
    for pair in range(N_PAIRS):
        if (graphs[wanted, pair] != graphs[0, pair]).all() and (graphs[1:5, pair] == graphs[0, pair]).all():
            assert direction[pair] == pytest.approx(1)


def test_labels_are_used_for_the_directions_if_the_black_box_gives_one_class_only() -> None:
    edges = random_graphs(31, N_ROIS, seed=4)
    labels = (edges @ random_weights(8) > np.median(edges @ random_weights(8))).astype(int)
    reference, gains = Reference(edges[1:], labels[1:]), []
    for answers in (np.full(31, labels[0]), labels):
        state = LearnedState(Layout.of_pairs(N_PAIRS), reference, SETTINGS)
        state.learn_classes(np.arange(30), answers[1:].tolist())
        task = Task(Network.of_graph(edges[0]), int(labels[0]), cg.SearchOptions(), np.random.default_rng(0), reference)
        gains.append(state.join(task, None).guide.gains())
    assert gains[0].any()
    assert (gains[0] == gains[1]).all()


def test_answers_of_the_black_box_replace_labels_in_the_directions() -> None:
    data = cg.make_cohort(n_subjects=40, n_rois=N_ROIS, seed=4)
    weights = random_weights(9)
    answers = (data.edges @ weights > np.median(data.edges @ weights)).astype(int)
    correlations = []
    for n_known in (0, 40):
        state = LearnedState(Layout.of_pairs(N_PAIRS), Reference(data.edges, data.labels), SETTINGS)
        state.learn_classes(np.arange(n_known), answers[:n_known].tolist())
        graph = random_graphs(1, N_ROIS, seed=1)[0]
        task = state.join(Task(Network.of_graph(graph), 0, cg.SearchOptions(), np.random.default_rng(0)), None)
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
    assert portfolio._rewards.tolist() == [[0.25, 0.125], [1.0, 0.375]], "successes and failures of a and b"


@given(seeds, st.integers(0, 30), st.integers(0, 40))
def test_the_largest_positive_gains_are_returned_in_order(seed: int, n_flips: int, size: int) -> None:
    gains = np.random.default_rng(seed).normal(size=n_flips)
    expected = [flip for flip in np.argsort(-gains, kind="stable")[:size] if gains[flip] > 0]
    assert largest_gains(gains, size).tolist() == expected
