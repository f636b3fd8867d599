"""The learned search under constraints: results are close to the optimum, and constraints lose no valid result."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import countergraph as cg
from countergraph.graphs.pairs import pairs_within
from countergraph.search.learned.experts import EXPERTS
from countergraph.search.learned.steps import closer_prefix
from countergraph.search.limits import Limits
from countergraph.search.protocol import Answer, Reference
from tests.conftest import learned_task, random_graphs

N_ROIS = 40
N_PAIRS = N_ROIS * (N_ROIS - 1) // 2
GRAPHS = random_graphs(40, N_ROIS, seed=3, density=0.3)


def linear_oracle(weights: np.ndarray, threshold: float) -> cg.Oracle:
    return cg.Oracle(lambda edges: (edges @ weights > threshold).astype(int), input="edges")


def contrast_rule() -> tuple[np.ndarray, float]:
    """Return weights and threshold: edges in one set of ROIs are evidence for class 1, in another set for class 0."""
    weights = np.zeros(N_PAIRS)
    weights[pairs_within(range(18), N_ROIS)], weights[pairs_within(range(18, 36), N_ROIS)] = 1, -1.3
    return weights, float(np.median(GRAPHS @ weights)) + 0.05


def test_most_loses_no_result_that_is_found_without_it() -> None:
    graphs = GRAPHS[:12]
    free = cg.find_counterfactuals(linear_oracle(*contrast_rule()), graphs, effort="quick")
    distances = np.array([each.distance for each in free])
    for most in np.unique(distances).tolist():
        limited = cg.find_counterfactuals(
            linear_oracle(*contrast_rule()), graphs, effort="quick", constraints=cg.Constraints(most=most)
        )
        assert {each.graph_index for each in limited.found} >= set(np.flatnonzero(distances <= most).tolist())
        assert all(each.distance <= min(most, distances[each.graph_index]) for each in limited.found)
    single = cg.find_counterfactual(linear_oracle(*contrast_rule()), graphs[0])
    limited_single = cg.find_counterfactual(
        linear_oracle(*contrast_rule()), graphs[0], constraints=cg.Constraints(most=single.distance)
    )
    assert limited_single.distance == single.distance


def minimum_cost(graph: np.ndarray, weights: np.ndarray, threshold: float, costs: np.ndarray, most: int) -> float:
    """Return the minimum cost of a counterfactual with at most ``most`` changes; infinity if there is none."""
    score = graph @ weights - threshold
    gains = np.where(graph, -weights, weights) * (-1 if score > 0 else 1)
    changes_class, within_most = (
        LinearConstraint(gains[None], abs(score) + 1e-9),
        LinearConstraint(np.ones((1, N_PAIRS)), ub=most),
    )
    solved = milp(costs, integrality=np.ones(N_PAIRS), bounds=Bounds(0, 1), constraints=[changes_class, within_most])
    return float(solved.fun) if solved.success else np.inf


@pytest.mark.parametrize("most", [5, 10])
def test_most_and_costs_together(most: int) -> None:
    costs = np.exp(np.random.default_rng(3).normal(size=N_PAIRS))
    free = [
        each
        for each in cg.find_counterfactuals(linear_oracle(*contrast_rule()), GRAPHS)
        if (each.distance or 0) <= most
    ]
    limited = cg.find_counterfactuals(
        linear_oracle(*contrast_rule()), GRAPHS, constraints=cg.Constraints(most=most, cost=costs)
    )
    assert len(limited.found) > 0.9 * len(free)
    assert all((each.distance or 0) <= most for each in limited.found)
    best = sum(minimum_cost(each.original, *contrast_rule(), costs, most) for each in limited.found)
    assert best <= sum(each.cost or 0 for each in limited.found) + 1e-9 < 2.5 * best


def fewest_balanced_changes(graph: np.ndarray, weights: np.ndarray, threshold: float) -> int:
    """Return the fewest changes that keep the number of edges: the best additions, and as many of the best removals."""
    score = graph @ weights - threshold
    gains = np.where(graph, -weights, weights) * (-1 if score > 0 else 1)
    best = [np.sort(gains[pool])[::-1] for pool in (graph, ~graph)]
    n = min(map(len, best))
    return 2 * (1 + int(np.searchsorted(np.cumsum(best[0][:n] + best[1][:n]), abs(score), side="right")))


def test_keep_edges_results_are_close_to_the_optimum() -> None:
    results = cg.find_counterfactuals(
        linear_oracle(*contrast_rule()), GRAPHS, constraints=cg.Constraints(keep_edges=True)
    )
    assert all(len(each.added) == len(each.removed) > 0 for each in results)
    best = np.mean([fewest_balanced_changes(graph, *contrast_rule()) for graph in GRAPHS])
    assert best <= np.mean([each.distance for each in results]) <= 1.15 * best


def test_failed_searches_try_again_with_the_surrogate_of_the_finished_ones() -> None:
    """Random additions do not change the class on average, so these searches need the answers of the others."""
    weights = np.zeros(N_PAIRS)
    weights[pairs_within(range(15), N_ROIS)] = 1
    weights[pairs_within(range(15, 40), N_ROIS)] = -1
    graphs, constraints = GRAPHS[:24], cg.Constraints(only="added")
    oracle = linear_oracle(weights, np.sort(graphs @ weights)[-2] - 0.5)
    found = [
        len(cg.find_counterfactuals(oracle, graphs, constraints=constraints, seed=seed, effort="quick").found)
        for seed in range(3)
    ]
    assert np.mean(found) >= 19


@pytest.mark.parametrize("name", EXPERTS)
@pytest.mark.parametrize("with_labels", [False, True])
def test_orders_of_experts_contain_no_pair_twice_under_keep_edges(name: str, with_labels: bool) -> None:
    """Only few pairs may be added, so the proposed pairs and those of the best result overlap."""
    graph, rng = GRAPHS[0], np.random.default_rng(0)
    allowed = graph.copy()
    allowed[np.flatnonzero(~graph)[:6]] = True
    reference = Reference(GRAPHS[1:], np.arange(39) % 2) if with_labels else None
    task = learned_task(graph, 1, Limits(allowed=allowed, keep_edges=True), reference)
    for flips, flipped in ((np.flatnonzero(allowed)[:40], True), (np.flatnonzero(graph)[:3], False)):
        task.observe(Answer(flips, flipped))
    for _ in range(20):
        best = task.alternate(rng.permutation(np.flatnonzero(allowed)))
        order = EXPERTS[name](task, best)
        assert np.unique(order).size == order.size
        candidate = closer_prefix(task, order, best)
        assert candidate.size < best.size
        assert allowed[candidate].all()
        assert 2 * graph[candidate].sum() == candidate.size, "as many removals as additions"
    first = EXPERTS[name](task, None)
    assert np.unique(first).size == first.size
