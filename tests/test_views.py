"""What the learned search imagines: views of graphs, walks in them, deviations of one graph, and races."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

import countergraph as cg
from countergraph.graphs.pairs import degrees_of, to_adjacency
from countergraph.search.learning.bandit import Bandit
from countergraph.search.learning.deviation import Deviation, DeviationGate, directions
from countergraph.search.learning.race import race
from countergraph.search.learning.views import (
    BY_COUNT,
    BY_DEGREE,
    ComponentView,
    ThroughDegrees,
    View,
    walk,
)
from countergraph.search.protocol import Answer
from tests.conftest import random_graphs

N, PAIRS = 12, 66
BY_COMPONENT = ComponentView(directions(random_graphs(9, N, seed=99)))
views = pytest.mark.parametrize("view", [BY_COMPONENT, BY_DEGREE, BY_COUNT])
seeds = st.integers(0, 10_000)


def vector_of(view: View, graph: np.ndarray) -> np.ndarray:
    return view.vector(view.place(graph))


@views
@given(seed=seeds, count=st.integers(0, 20))
def test_a_view_follows_a_graph_that_changes(view: View, seed: int, count: int) -> None:
    graph, flips = random_graphs(1, N, seed=seed)[0], np.random.default_rng(seed).permutation(PAIRS)[:count]
    after, place = graph.copy(), view.place(graph)
    after[flips] ^= True
    assert np.allclose(view.vector(view.moved(graph, place, flips)), vector_of(view, after), atol=1e-4)
    assert (place == view.place(graph)).all(), "where it was is not forgotten"


@pytest.mark.parametrize("view", [BY_COMPONENT, BY_DEGREE])
@given(seed=seeds, pair=st.integers(0, PAIRS - 1))
def test_a_gain_is_what_one_flip_does(view: View, seed: int, pair: int) -> None:
    """Not so by counts: two ends of the same degree leave it together."""
    graph = random_graphs(1, N, seed=seed)[0]
    direction = np.random.default_rng(seed).normal(size=vector_of(view, graph).size)
    after = graph.copy()
    after[pair] ^= True
    moved = (vector_of(view, after) - vector_of(view, graph)) @ direction
    assert view.gains(graph, view.place(graph), direction)[pair] == pytest.approx(moved, abs=1e-4)


@pytest.mark.parametrize("view", [BY_DEGREE, BY_COUNT])
@given(seed=seeds, vertex=st.integers(0, N - 1))
def test_a_pull_is_what_one_edge_at_one_vertex_does(view: ThroughDegrees, seed: int, vertex: int) -> None:
    rng = np.random.default_rng(seed)
    degrees = rng.integers(1, N - 1, N)
    direction = rng.normal(size=view.vector(degrees).size)
    for pull, step in zip(view.pull(degrees, direction), (1, -1), strict=True):
        after = degrees.copy()
        after[vertex] += step
        assert pull[vertex] == pytest.approx((view.vector(after) - view.vector(degrees)) @ direction)


def test_degrees() -> None:
    graph = random_graphs(1, N, seed=0)[0]
    assert degrees_of(graph).tolist() == to_adjacency(graph).sum(axis=0).tolist()


@views
@given(seed=seeds, size=st.integers(0, 40))
def test_a_walk_flips_what_it_may_once_and_comes_closer(view: View, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    graph, allowed = random_graphs(1, N, seed=seed)[0], rng.random(PAIRS) < 0.7
    known = np.array([vector_of(view, each) for each in random_graphs(8, N, seed=seed + 1, density=0.6)])
    wanted = np.arange(8) % 2 == 0
    flips = walk(view, graph, known, wanted, ~wanted, size, lambda gains: np.where(allowed, gains, 0.0))
    assert flips.size <= size
    assert np.unique(flips).size == flips.size
    assert allowed[flips].all()
    nothing = np.zeros(8, dtype=bool)
    assert walk(view, graph, known, nothing, ~wanted, size, lambda gains: gains).size == 0


@views
def test_a_walk_leads_towards_the_wanted(view: View) -> None:
    graph, far = random_graphs(1, N, seed=0, density=0.2)[0], random_graphs(6, N, seed=1, density=0.7)
    known = np.array([vector_of(view, each) for each in [*far, graph]])
    wanted = np.arange(7) < 6
    flips = walk(view, graph, known, wanted, ~wanted, 10, lambda gains: gains)
    after = graph.copy()
    after[flips] ^= True
    near = [np.linalg.norm(known[:6].mean(axis=0) - vector_of(view, each)) for each in (graph, after)]
    assert flips.size == 10
    assert near[1] < near[0]


@given(seed=seeds, n=st.integers(1, 12))
def test_directions_are_orthonormal_and_hold_all_differences(seed: int, n: int) -> None:
    edges = random_graphs(n, N, seed=seed)
    basis = directions(edges).astype(np.float64)
    assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-4)
    differences = edges[1:].astype(float) - edges[0]
    assert np.allclose(basis @ (basis.T @ differences.T), differences.T, atol=1e-3)


@given(seed=seeds)
def test_a_deviation_takes_in_what_it_is_told(seed: int) -> None:
    rng = np.random.default_rng(seed)
    deviation = Deviation(directions(random_graphs(10, N, seed=seed)))
    for _ in range(5):
        pairs, signs = rng.choice(PAIRS, 7, replace=False), rng.choice([-1.0, 1.0], 7)
        spread, variance = deviation.spread(pairs, signs)
        before, wanted = float(signs @ deviation.weights(pairs)), rng.normal()
        trust = 1 / (variance + 1)
        deviation.learn(spread, (wanted - before) * trust, trust)
        after = float(signs @ deviation.weights(pairs))
        assert after == pytest.approx(before + (wanted - before) * variance * trust, abs=1e-4)
        assert deviation.spread(pairs, signs)[1] < variance
        assert np.linalg.eigvalsh(deviation.covariance).min() > -1e-6


def test_deviations_count_while_they_tell_better() -> None:
    deviation_gate, counted = DeviationGate(), []
    for shared, own in ((1.0, -0.5), (-1.0, 2.0), (1.0, -2.0)):
        for _ in range(200):
            deviation_gate.tell(shared, own)
        counted.append(deviation_gate.enabled)
    assert counted == [False, True, False]


@given(crossings=st.lists(st.integers(1, 120), min_size=1, max_size=5), seed=seeds)
def test_a_race_ends_just_behind_a_crossing(crossings: list[int], seed: int) -> None:
    """Order r crosses from its crossings[r]-th flip on, if it is that long; orders have 100 flips of their own."""
    orders = [np.arange(100) + 1000 * runner for runner in range(len(crossings))]
    search = race(orders, Bandit(), np.random.default_rng(seed))
    asked, prefix = set(), next(search)
    while True:
        runner = int(prefix[0]) // 1000
        assert (runner, prefix.size) not in asked
        asked.add((runner, prefix.size))
        try:
            prefix = search.send(Answer(prefix, prefix.size >= crossings[runner]))
        except StopIteration as end:
            found, winner = end.value
            break
    if found is None:
        assert min(crossings) > 100
    else:
        assert winner == int(found[0]) // 1000
        assert found.size == crossings[winner]


@pytest.mark.parametrize("view", [None, BY_DEGREE, BY_COUNT], ids=["components", "degrees", "counts"])
def test_it_sees_what_a_black_box_that_sees_no_edges_sees(view: View | None) -> None:
    data = cg.make_cohort(n_subjects=60, n_rois=40, seed=5)
    view = view or ComponentView(directions(data.edges)[:, :16])

    def vectors(edges: np.ndarray) -> np.ndarray:
        return np.array([vector_of(view, each) for each in edges])

    neighbours = KNeighborsClassifier(5).fit(vectors(data.edges), data.labels)
    oracle = cg.Oracle(lambda edges: neighbours.predict(vectors(edges)), input="edges")
    ours = cg.find_counterfactuals(oracle, data, "learned", dataset=data, max_calls=250)
    theirs = cg.find_counterfactuals(oracle, data, "ofs+obs", max_calls=250)
    assert np.mean([each.distance for each in ours]) < 0.75 * np.mean([each.distance for each in theirs])
    assert ours.calls < 0.6 * theirs.calls


def test_directions_of_a_large_cohort_come_from_a_part_of_it() -> None:
    edges = np.repeat(random_graphs(5, N, seed=0), 500, axis=0)
    assert directions(edges).shape == (PAIRS, 4)
