"""Results are classified a second time: black boxes with wrong or contradictory answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import countergraph as cg
from countergraph.search.record import MAX_PREVIOUS, Record
from tests.conftest import random_graphs
from tests.test_learned import counterfactual_batch, edge_oracle, linear


@pytest.mark.parametrize(("method", "rate"), [("learned", 0.01), *((method, 0.05) for method in cg.list_methods())])
def test_results_of_a_noisy_black_box_are_confirmed(method: str, rate: float) -> None:
    truth, rng = linear(11, 435), np.random.default_rng(0)
    edges = random_graphs(60, 30, seed=7, density=0.2)
    data = cg.GraphDataset(edges, truth(edges))

    def noisy(edges: np.ndarray) -> np.ndarray:
        return truth(edges) ^ (rng.random(len(edges)) < rate)

    results = cg.find_counterfactuals(edge_oracle(noisy), data, method).found
    assert len(results) > 40, "a result that cannot be confirmed is not reported"
    wrong = [truth(counterfactual_batch(each))[0] == each.original_label for each in results]
    assert np.mean(wrong) <= 2 * rate, "far fewer than the wrong answers during a search"


@pytest.mark.parametrize(("method", "budget"), [("ofs+obs", 120), ("bisect+evolve", 300), ("learned", 30)])
def test_one_wrong_answer_does_not_affect_the_results_of_other_graphs(method: str, budget: int) -> None:
    truth, graphs = linear(11, 435), random_graphs(30, 30, seed=7, density=0.2)

    def n_found(wrong: int) -> int:
        asked = 0

        def answer(edges: np.ndarray) -> np.ndarray:
            nonlocal asked
            numbers = np.arange(asked, asked + len(edges))
            asked += len(edges)
            return truth(edges) ^ (numbers == wrong)

        return len(cg.find_counterfactuals(edge_oracle(answer), graphs, method, max_calls=budget).found)

    undisturbed = n_found(-1)
    assert undisturbed > 10
    assert min(n_found(wrong) for wrong in (100, 500, 900)) >= undisturbed - 2


@given(st.sampled_from(cg.list_methods()), st.integers(1, 30), st.integers(1, 40))
def test_a_refuted_result_is_not_reported(method: str, budget: int, k: int) -> None:
    """Only the first answer is wrong, and all graphs are of the same class."""
    data, asked = cg.GraphDataset(random_graphs(6, 12, seed=3), [0, 1, 0, 1, 0, 1]), 0

    def answer(edges: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += 1
        return np.full(len(edges), int(asked == 1))

    result = cg.find_counterfactual(edge_oracle(answer), data.edges[0], method, data, k=k, max_calls=budget)
    assert not result.found
    assert result.trace == ()


@given(st.sampled_from(["ofs", "ofs+obs", "bisect", "bisect+ddmin", "learned"]), st.integers(3, 40), st.integers(0, 99))
def test_confirmation_loses_no_result_of_a_deterministic_black_box(method: str, budget: int, seed: int) -> None:
    function, graph = linear(seed, 66), random_graphs(1, 12, seed=seed)[0]
    own, flipped = function(graph[None])[0], False

    def answer(edges: np.ndarray) -> np.ndarray:
        nonlocal flipped
        labels = function(edges)
        flipped |= bool((labels != own).any())
        return labels

    result = cg.find_counterfactual(edge_oracle(answer), graph, method, max_calls=budget)
    assert result.found == flipped


def test_the_search_restarts_if_the_class_of_the_graph_was_wrong() -> None:
    """Only the first answer is wrong, so almost all candidates seem to be counterfactuals."""
    truth, asked = linear(3, 190), 0
    graph = random_graphs(1, 20, seed=5)[0]

    def answer(edges: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += 1
        return truth(edges) ^ (asked == 1)

    for method in ("ofs+obs", "bisect+ddmin", "learned"):
        asked = 0
        result = cg.find_counterfactual(edge_oracle(answer), graph, method)
        assert result.original_label == truth(graph[None])[0]
        assert truth(counterfactual_batch(result))[0] != result.original_label


def test_the_latest_previous_results_are_kept() -> None:
    record = Record({"ofs": 0})
    for size in range(100, 0, -1):
        record.keep(np.arange(size), 1, keep_previous=True)
    for size in range(1, MAX_PREVIOUS + 2):
        assert record.best is not None
        assert record.best.size == size
        record.fall_back()
    assert record.best is None


@pytest.mark.parametrize("method", ["ofs+obs", "bisect+ddmin"])
def test_confirmation_takes_one_call_and_changes_no_result_if_answers_agree(method: str) -> None:
    graphs, oracle = random_graphs(10, 20, seed=7, density=0.2), edge_oracle(linear(11, 190))
    plain = cg.find_counterfactuals(oracle, graphs, method, confirm=False)
    confirmed = cg.find_counterfactuals(oracle, graphs, method)
    assert [each.distance for each in plain] == [each.distance for each in confirmed]
    for before, after in zip(plain, confirmed, strict=True):
        assert after.calls - before.calls in (1, 2), "the original graph, too, if most candidates are counterfactuals"
