"""The learned search: properties that hold for any black box, and results on real ones."""

from __future__ import annotations

import time
from itertools import combinations
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import countergraph as cg
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.graphs.pairs import to_adjacency
from tests.conftest import random_graphs

N_PAIRS = 15
"""The pairs of a graph of six ROIs."""
ALL_CALLS = 2**N_PAIRS + 200
"""A budget for classifying all graphs of this size."""


def edge_oracle(function) -> cg.Oracle:
    return cg.Oracle(function, input="edges")


def linear(seed: int, n_pairs: int):
    rng = np.random.default_rng(seed)
    weights, threshold = rng.normal(size=n_pairs), rng.normal()
    return lambda edges: (edges @ weights > threshold).astype(int)


def hashed(seed: int, n_pairs: int):
    """Return a pseudorandom classifier: a graph always gets the same class, which is 0 for three quarters of them."""
    return lambda edges: np.array([crc32(row.tobytes(), seed) % 4 == 0 for row in edges]).astype(int)


def parity(seed: int, n_pairs: int):
    return lambda edges: (edges[:, seed % n_pairs :].sum(axis=1) % 2).astype(int)


def true_optimum(function, graph: np.ndarray) -> int | None:
    own = function(graph[None])[0]
    for size in range(1, graph.size + 1):
        chosen = np.array(list(combinations(range(graph.size), size)))
        candidates = np.repeat(graph[None], len(chosen), axis=0)
        candidates[np.arange(len(chosen))[:, None], chosen] ^= True
        if (function(candidates) != own).any():
            return size
    return None


def counterfactual_batch(result: cg.Counterfactual) -> np.ndarray:
    """Return the counterfactual graph as a batch of one."""
    assert result.edges is not None
    return result.edges[None]


kinds = st.sampled_from([linear, hashed, parity])


@given(kinds, st.integers(0, 999), st.lists(st.booleans(), min_size=N_PAIRS, max_size=N_PAIRS))
@settings(max_examples=25)
def test_the_result_is_optimal_if_the_budget_allows_exhaustive_search(kind, seed: int, bits: list[bool]) -> None:
    function, graph = kind(seed, N_PAIRS), np.array(bits)
    result = cg.find_counterfactual(edge_oracle(function), graph, "learned", max_calls=ALL_CALLS, seed=seed)
    assert result.distance == true_optimum(function, graph)
    assert result.calls <= ALL_CALLS


@given(st.sets(st.integers(0, 9), min_size=1), st.integers(0, 999))
@settings(max_examples=25)
def test_the_only_counterfactual_is_found(wanted: set[int], seed: int) -> None:
    """One graph of 1024 is of another class: only exhaustive search finds it, and the budget is large enough."""
    graph = np.random.default_rng(seed).random(10) < 0.5
    only = graph.copy()
    only[sorted(wanted)] ^= True
    oracle = edge_oracle(lambda edges: (edges == only).all(axis=1).astype(int))
    result = cg.find_counterfactual(oracle, graph, "learned", max_calls=2000, seed=seed)
    assert result.distance == len(wanted)


@given(kinds, st.integers(0, 999), st.integers(1, 4))
@settings(max_examples=25)
def test_the_same_seed_gives_the_same_run(kind, seed: int, runs: int) -> None:
    graphs, function = random_graphs(5, 8, seed=seed), kind(seed, 28)
    options = {"method": "learned", "seed": seed, "runs": runs, "max_calls": 60}
    first, second = (cg.find_counterfactuals(edge_oracle(function), graphs, **options) for _ in range(2))
    assert [each.to_dict() for each in first] == [each.to_dict() for each in second]


def test_the_batch_size_does_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, function = random_graphs(9, 10, seed=4), linear(4, 45)
    growing = cg.find_counterfactuals(edge_oracle(function), graphs, "learned")
    monkeypatch.setattr("countergraph.search.driver._BatchSize.update", lambda self, asked, seconds: None)
    constant = cg.find_counterfactuals(edge_oracle(function), graphs, "learned")
    assert [each.to_dict() for each in growing] == [each.to_dict() for each in constant]


@pytest.mark.parametrize("kind", [linear, hashed, parity])
def test_results_are_not_worse_than_those_of_ofs_obs_with_the_same_number_of_calls(kind) -> None:
    graphs, function = random_graphs(40, 20, seed=2, density=0.3), kind(5, 190)
    learned = cg.find_counterfactuals(edge_oracle(function), graphs, "learned", max_calls=1000)
    ofs_obs = cg.find_counterfactuals(edge_oracle(function), graphs, "ofs+obs", max_calls=1000)
    assert len(learned.found) == len(graphs)
    reached = [
        min((distance for calls, distance in other.trace if calls <= own.calls), default=graphs.shape[1])
        for own, other in zip(learned, ofs_obs, strict=True)
    ]
    for quantile in (0.1, 0.25, 0.5, 0.75):
        assert np.quantile([each.distance for each in learned], quantile) <= np.quantile(reached, quantile)
    assert np.mean([each.distance for each in learned]) <= np.mean(reached)


def spectral(data: cg.GraphDataset) -> cg.Oracle:
    """Return a black box that depends on the largest eigenvalue: pairs at hubs have the largest effects."""

    def largest_eigenvalue(edges: np.ndarray) -> np.ndarray:
        return np.linalg.eigvalsh(to_adjacency(edges).astype(np.float64))[:, -1]

    median = np.median(largest_eigenvalue(data.edges))
    return edge_oracle(lambda edges: (largest_eigenvalue(edges) > median).astype(int))


@pytest.mark.parametrize("joint_run", [True, False])
def test_black_box_that_depends_on_a_global_measure(joint_run: bool) -> None:
    data = cg.make_cohort(40)
    ofs_obs = cg.find_counterfactuals(spectral(data), data, "ofs+obs")
    if joint_run:
        learned = list(cg.find_counterfactuals(spectral(data), data, "learned", effort="quick"))
    else:
        learned = [cg.find_counterfactual(spectral(data), graph, "learned", effort="quick") for graph in data.edges]
    for quantile in (0.5, 0.75, 0.9):
        reached = np.quantile([each.distance for each in ofs_obs], quantile)
        assert np.quantile([each.distance for each in learned], quantile) <= 0.75 * reached
    assert np.median([each.calls for each in learned]) < 0.5 * np.median([each.calls for each in ofs_obs])


def test_a_joint_run_is_better_than_single_graphs() -> None:
    graphs, function = random_graphs(40, 30, seed=3, density=0.2), linear(8, 435)
    joint = cg.find_counterfactuals(edge_oracle(function), graphs, "learned", effort="quick")
    single = [cg.find_counterfactual(edge_oracle(function), graph, "learned", effort="quick") for graph in graphs]
    assert np.mean([each.distance for each in joint]) < np.mean([each.distance for each in single])
    assert np.median([each.calls for each in joint]) < np.median([each.calls for each in single])


def test_three_pairs_of_6670_are_found() -> None:
    graphs = random_graphs(20, 116, seed=5, density=0.1)
    results = cg.find_counterfactuals(
        edge_oracle(lambda e: e[:, [7, 700, 6000]].any(axis=1).astype(int)), graphs, "learned"
    )
    for graph, result in zip(graphs, results, strict=True):
        assert result.found
        assert result.distance == max(1, int(graph[[7, 700, 6000]].sum()))


def test_the_search_ends_early_for_a_constant_black_box() -> None:
    results = cg.find_counterfactuals(
        edge_oracle(lambda e: np.zeros(len(e), dtype=int)), random_graphs(5, 30, 1), "learned"
    )
    assert {each.stopped for each in results} == {"not found"}
    assert max(each.calls for each in results) < 300


@given(st.integers(0, 500))
def test_the_cost_is_minimal_if_the_budget_allows_exhaustive_search(seed: int) -> None:
    rng, function, graph = np.random.default_rng(seed), linear(seed, 10), random_graphs(1, 5, seed=seed)[0]
    costs, own = np.exp(rng.normal(size=10)), function(graph[None])[0]
    sets = ((np.arange(1, 1024)[:, None] >> np.arange(10)) & 1).astype(bool)
    changing = sets[function(sets ^ graph) != own]
    result = cg.find_counterfactual(edge_oracle(function), graph, "learned", constraints=cg.Constraints(cost=costs))
    assert result.found == bool(len(changing))
    if result.found:
        assert result.cost == pytest.approx((changing @ costs).min())


def test_a_time_limit_stops_the_search_of_a_slow_black_box() -> None:
    def slow(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.1)
        return (edges.sum(axis=1) > 90).astype(int)

    began = time.monotonic()
    results = cg.find_counterfactuals(edge_oracle(slow), random_graphs(3, 30, 1, 0.2), "learned", time_limit=1.5)
    assert time.monotonic() - began < 3
    assert all(each.stopped in ("time_limit", "finished") for each in results)


def test_a_target_of_three_classes_is_reached() -> None:
    def three(edges: np.ndarray) -> np.ndarray:
        return np.digitize(edges.sum(axis=1), [13, 16])

    graphs = random_graphs(12, 9, seed=1, density=0.4)
    for target in (0, 1, 2):
        for result in cg.find_counterfactuals(edge_oracle(three), graphs, "learned", target=target):
            if result.original_class != target:
                assert result.counterfactual_class == target
                assert three(counterfactual_batch(result))[0] == target


def test_the_nearest_of_several_classes_is_reached() -> None:
    rng, rates = np.random.default_rng(0), np.full((3, 300), 0.15)
    for rate in rates:
        rate[rng.choice(300, 25, replace=False)] = 0.6
    labels = np.arange(45) % 3
    data = cg.GraphDataset(rng.random((45, 300)) < rates[labels], labels, classes=("a", "b", "c"))
    model = LogisticRegression().fit(data.edges, data.labels)
    by_target = {name: cg.find_counterfactuals(model, data, dataset=data, target=name) for name in data.classes}
    best = [
        min(each.distance or 99 for each in found if each.distance != 0)
        for found in zip(*by_target.values(), strict=True)
    ]
    free = [each.distance or 99 for each in cg.find_counterfactuals(model, data, dataset=data)]
    assert np.mean(free) <= 1.09 * np.mean(best), (
        "the ratio is 1.13 for a search that only moves away from its own class"
    )


def test_a_counterfactual_of_another_graph_is_reached_if_nothing_else_is_found() -> None:
    prototype, *others = random_graphs(9, 20, seed=6, density=0.4)
    graphs = np.array(others)
    graphs[0] = prototype
    graphs[0, :6] ^= True

    def near_the_prototype(edges: np.ndarray) -> np.ndarray:
        return (np.count_nonzero(edges ^ prototype, axis=1) <= 5).astype(int)

    results = cg.find_counterfactuals(edge_oracle(near_the_prototype), graphs, "learned", effort="quick")
    assert len(results.found) == 8, "only the first graph is near the class, which no graph of the run has"
    assert results[0].distance == 1
    for result, graph in zip(results[1:], graphs[1:], strict=True):
        assert result.distance is not None
        assert 0 <= result.distance - (np.count_nonzero(graph ^ prototype) - 5) <= 5


def test_a_class_without_known_graphs_can_be_reached() -> None:
    weights = np.random.default_rng(0).normal(size=(5, 66))
    graphs = random_graphs(40, 12, seed=4)

    def five(edges: np.ndarray) -> np.ndarray:
        return np.asarray((edges @ weights.T).argmax(axis=1))

    for hidden in range(5):
        results = cg.find_counterfactuals(edge_oracle(five), graphs[five(graphs) != hidden], max_calls=100)
        assert len(results.found) == len(results)


def test_more_runs_of_one_graph_do_not_give_a_worse_result() -> None:
    data = cg.make_cohort(n_subjects=40, n_rois=40)
    model = LogisticRegression().fit(data.edges, data.labels)
    one_run, six_runs = (
        [cg.find_counterfactuals(model, data.subset([i]), dataset=data, runs=n).closest() for i in range(0, 40, 8)]
        for n in (1, 6)
    )
    assert np.mean([each.distance for each in six_runs if each]) <= np.mean([each.distance for each in one_run if each])


def test_all_calls_are_counted() -> None:
    oracle, graphs = edge_oracle(linear(2, 66)), random_graphs(15, 12, seed=9)
    results = cg.find_counterfactuals(oracle, graphs, "learned", runs=2)
    assert results.calls == oracle.asked == sum(each.calls for each in results)
    assert results.amortised_calls == results.calls / 30
    assert cg.find_counterfactuals(oracle, graphs[:0], "learned").amortised_calls == 0


@pytest.mark.slow
def test_published_rule_of_asd(asd: cg.GraphDataset, real_data: Path) -> None:
    """Use four seeds, because rounding differences between processors can change a whole run."""
    above, calls, _ = compare_with_optimum(asd, "asd", real_data, seeds=4)
    assert (above == 0).mean() >= 0.95
    assert above.mean() <= 0.2
    assert np.median(calls) <= 45


@pytest.mark.slow
def test_published_rule_of_adhd(adhd: cg.GraphDataset, real_data: Path) -> None:
    some = adhd.subset(range(0, len(adhd), 10))
    above, _, optima = compare_with_optimum(some, "adhd", real_data, seeds=1, effort="standard")
    assert above.mean() <= 0.02 * optima.mean()


def compare_with_optimum(
    data: cg.GraphDataset, cohort: str, root: Path, seeds: int, effort: str = "quick"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rule = load_published_rule(cohort, root=root)
    runs = [cg.find_counterfactuals(rule, data, "learned", seed=seed, effort=effort) for seed in range(seeds)]
    optima = np.array([cg.optimal_counterfactual(rule, graph).distance for graph in data.edges])
    distances, calls = (
        np.array([[getattr(each, name) for each in run] for run in runs]) for name in ("distance", "calls")
    )
    return distances - optima, calls, optima
