"""Parts of the learned search: embeddings, paths in them, principal directions, and the first success."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

import countergraph as cg
from countergraph.graphs.pairs import degrees_of, to_adjacency
from countergraph.search.learned.directions import (
    DEGREE_COUNTS,
    DEGREES,
    ComponentEmbedding,
    DegreeBasedEmbedding,
    Embedding,
    path_to_neighbours,
    principal_directions,
)
from countergraph.search.learned.steps import _first_success
from countergraph.search.protocol import Answer, Ask
from tests.conftest import changes_of, learned_task, random_graphs

N_ROIS, N_PAIRS = 12, 66
COMPONENTS = ComponentEmbedding(principal_directions(random_graphs(9, N_ROIS, seed=99)))
all_embeddings = pytest.mark.parametrize("embedding", [COMPONENTS, DEGREES, DEGREE_COUNTS])
seeds = st.integers(0, 10_000)


def vector_of(embedding: Embedding, graph: np.ndarray) -> np.ndarray:
    return embedding.vector(embedding.state(graph))


@all_embeddings
@given(seed=seeds, n_flips=st.integers(0, 20))
def test_the_state_after_flips_is_that_of_the_changed_graph(embedding: Embedding, seed: int, n_flips: int) -> None:
    graph, flips = random_graphs(1, N_ROIS, seed=seed)[0], np.random.default_rng(seed).permutation(N_PAIRS)[:n_flips]
    after, state = graph.copy(), embedding.state(graph)
    after[flips] ^= True
    vector = embedding.vector(embedding.state_after(changes_of(graph), state, flips))
    assert np.allclose(vector, vector_of(embedding, after), atol=1e-4)
    assert (state == embedding.state(graph)).all(), "the state before the flips is not modified"


@pytest.mark.parametrize("embedding", [COMPONENTS, DEGREES])
@given(seed=seeds, pair=st.integers(0, N_PAIRS - 1))
def test_a_gain_is_the_effect_of_one_flip(embedding: Embedding, seed: int, pair: int) -> None:
    """This does not hold for degree counts: two ROIs of the same degree change the same count."""
    graph = random_graphs(1, N_ROIS, seed=seed)[0]
    direction = np.random.default_rng(seed).normal(size=vector_of(embedding, graph).size)
    after = graph.copy()
    after[pair] ^= True
    effect = (vector_of(embedding, after) - vector_of(embedding, graph)) @ direction
    assert embedding.gains(changes_of(graph), embedding.state(graph), direction)[pair] == pytest.approx(
        effect, abs=1e-4
    )


@pytest.mark.parametrize("embedding", [DEGREES, DEGREE_COUNTS])
@given(seed=seeds, roi=st.integers(0, N_ROIS - 1))
def test_a_roi_gain_is_the_effect_of_one_edge_at_the_roi(embedding: DegreeBasedEmbedding, seed: int, roi: int) -> None:
    rng = np.random.default_rng(seed)
    degrees = rng.integers(1, N_ROIS - 1, N_ROIS)
    direction = rng.normal(size=embedding.vector(degrees).size)
    for gains, step in zip(embedding.roi_gains(degrees, direction), (1, -1), strict=True):
        after = degrees.copy()
        after[roi] += step
        assert gains[roi] == pytest.approx((embedding.vector(after) - embedding.vector(degrees)) @ direction)


def test_degrees() -> None:
    graph = random_graphs(1, N_ROIS, seed=0)[0]
    assert degrees_of(graph).tolist() == to_adjacency(graph).sum(axis=0).tolist()


@all_embeddings
@given(seed=seeds, size=st.integers(0, 40))
def test_a_path_contains_each_allowed_pair_at_most_once(embedding: Embedding, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    graph, allowed = random_graphs(1, N_ROIS, seed=seed)[0], rng.random(N_PAIRS) < 0.7
    known = np.array([vector_of(embedding, each) for each in random_graphs(8, N_ROIS, seed=seed + 1, density=0.6)])
    wanted = np.arange(8) % 2 == 0
    changes = changes_of(graph)
    flips = path_to_neighbours(
        embedding, graph, changes, known, wanted, ~wanted, size, lambda gains: np.where(allowed, gains, 0.0)
    )
    assert flips.size <= size
    assert np.unique(flips).size == flips.size
    assert allowed[flips].all()
    none_wanted = np.zeros(8, dtype=bool)
    assert (
        path_to_neighbours(embedding, graph, changes, known, none_wanted, ~wanted, size, lambda gains: gains).size == 0
    )


@all_embeddings
def test_a_path_approaches_the_wanted_graphs(embedding: Embedding) -> None:
    graph, far = random_graphs(1, N_ROIS, seed=0, density=0.2)[0], random_graphs(6, N_ROIS, seed=1, density=0.7)
    known = np.array([vector_of(embedding, each) for each in [*far, graph]])
    wanted = np.arange(7) < 6
    flips = path_to_neighbours(embedding, graph, changes_of(graph), known, wanted, ~wanted, 10, lambda gains: gains)
    after = graph.copy()
    after[flips] ^= True
    distances = [np.linalg.norm(known[:6].mean(axis=0) - vector_of(embedding, each)) for each in (graph, after)]
    assert flips.size == 10
    assert distances[1] < distances[0]


@given(seed=seeds, n=st.integers(1, 12))
def test_principal_directions_are_orthonormal_and_span_all_differences(seed: int, n: int) -> None:
    edges = random_graphs(n, N_ROIS, seed=seed)
    basis = principal_directions(edges).astype(np.float64)
    assert np.allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-4)
    differences = edges[1:].astype(float) - edges[0]
    assert np.allclose(basis @ (basis.T @ differences.T), differences.T, atol=1e-3)


@given(boundaries=st.lists(st.integers(1, 120), min_size=1, max_size=5), seed=seeds)
def test_first_success_is_the_shortest_prefix_of_its_order(boundaries: list[int], seed: int) -> None:
    """Prefixes of order i are counterfactuals from size boundaries[i] on; orders have 100 different flips each."""
    orders = {str(number): np.arange(100) + 1000 * number for number in range(len(boundaries))} | {"none": np.arange(0)}
    experts = {name: lambda task, best, order=order: order for name, order in orders.items()}
    with patch("countergraph.search.learned.steps.enabled_experts", lambda task: experts):
        search = _first_success(learned_task(np.zeros(N_PAIRS, dtype=bool), seed))
        asked, message = set(), next(search)
    while True:
        assert isinstance(message, Ask)
        prefix = message.flips
        number = int(prefix[0]) // 1000
        assert (number, prefix.size) not in asked
        asked.add((number, prefix.size))
        try:
            message = search.send(Answer(prefix, prefix.size >= boundaries[number]))
        except StopIteration as end:
            found, successful = end.value
            break
    if found is None:
        assert min(boundaries) > 100
        assert len({number for number, _ in asked}) == len(boundaries), "every order was tried"
    else:
        number = int(found[0]) // 1000
        assert successful is experts[str(number)]
        assert found.size == boundaries[number]


@pytest.mark.parametrize("embedding", [None, DEGREES, DEGREE_COUNTS], ids=["components", "degrees", "degree counts"])
def test_black_boxes_that_classify_in_an_embedding(embedding: Embedding | None) -> None:
    data = cg.make_cohort(n_subjects=60, n_rois=40, seed=5)
    embedding = embedding or ComponentEmbedding(principal_directions(data.edges)[:, :16])

    def vectors(edges: np.ndarray) -> np.ndarray:
        return np.array([vector_of(embedding, each) for each in edges])

    neighbours = KNeighborsClassifier(5).fit(vectors(data.edges), data.labels)
    oracle = cg.Oracle(lambda edges: neighbours.predict(vectors(edges)), input="edges")
    learned = cg.find_counterfactuals(oracle, data, "learned", dataset=data, max_calls=250)
    ofs_obs = cg.find_counterfactuals(oracle, data, "ofs+obs", max_calls=250)
    assert np.mean([each.distance for each in learned]) < 0.75 * np.mean([each.distance for each in ofs_obs])
    assert learned.calls < 0.6 * ofs_obs.calls


def test_principal_directions_of_a_large_cohort_use_a_subset() -> None:
    edges = np.repeat(random_graphs(5, N_ROIS, seed=0), 500, axis=0)
    assert principal_directions(edges).shape == (N_PAIRS, 4)
