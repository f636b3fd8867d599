"""The search that learns under constraints: not worse than without them where it need not be, and near the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import countergraph as cg
from countergraph.graphs.pairs import pairs_within
from countergraph.search.learning.guide import Guide
from countergraph.search.learning.memory import Memory
from countergraph.search.learning.proposals import TOGETHER
from countergraph.search.limits import Limits
from countergraph.search.protocol import Answer, Task
from tests.conftest import random_graphs

N = 40
PAIRS = N * (N - 1) // 2
GRAPHS = random_graphs(40, N, seed=3, density=0.3)


def box(weights: np.ndarray, threshold: float) -> cg.Oracle:
    return cg.Oracle(lambda edges: (edges @ weights > threshold).astype(int), input="edges")


def rule() -> tuple[np.ndarray, float]:
    """Return a rule as of contrast subgraphs: connections within some regions speak for it, within others against."""
    weights = np.zeros(PAIRS)
    weights[pairs_within(range(18), N)], weights[pairs_within(range(18, 36), N)] = 1, -1.3
    return weights, float(np.median(GRAPHS @ weights)) + 0.05


def test_a_most_loses_nothing_that_is_found_without_it() -> None:
    free = cg.find_counterfactuals(box(*rule()), GRAPHS)
    distances = np.array([each.distance for each in free])
    for most in np.unique(distances).tolist():
        held = cg.find_counterfactuals(box(*rule()), GRAPHS, constraints=cg.Constraints(most=most))
        assert {each.graph_index for each in held.found} >= set(np.flatnonzero(distances <= most).tolist())
        assert all(each.distance <= min(most, distances[each.graph_index]) for each in held.found)
    alone = cg.find_counterfactual(box(*rule()), GRAPHS[0])
    held_alone = cg.find_counterfactual(box(*rule()), GRAPHS[0], constraints=cg.Constraints(most=alone.distance))
    assert held_alone.distance == alone.distance


def cheapest(graph: np.ndarray, weights: np.ndarray, threshold: float, costs: np.ndarray, most: int) -> float:
    """Return the least that at most so many changes can cost; infinity if there are none."""
    score = graph @ weights - threshold
    gains = np.where(graph, -weights, weights) * (-1 if score > 0 else 1)
    crosses, few = (
        LinearConstraint(gains[None], abs(score) + 1e-9),
        LinearConstraint(np.ones((1, PAIRS)), ub=most),
    )
    solved = milp(costs, integrality=np.ones(PAIRS), bounds=Bounds(0, 1), constraints=[crosses, few])
    return float(solved.fun) if solved.success else np.inf


@pytest.mark.parametrize("most", [5, 10])
def test_a_most_and_costs_are_both_minded(most: int) -> None:
    costs = np.exp(np.random.default_rng(3).normal(size=PAIRS))
    free = [each for each in cg.find_counterfactuals(box(*rule()), GRAPHS) if (each.distance or 0) <= most]
    held = cg.find_counterfactuals(box(*rule()), GRAPHS, constraints=cg.Constraints(most=most, cost=costs))
    assert len(held.found) > 0.9 * len(free)
    assert all((each.distance or 0) <= most for each in held.found)
    best = sum(cheapest(each.original, *rule(), costs, most) for each in held.found)
    assert best <= sum(each.cost or 0 for each in held.found) + 1e-9 < 2.5 * best


def fewest_swaps(graph: np.ndarray, weights: np.ndarray, threshold: float) -> int:
    """Return the fewest changes that keep the number of edges: the best additions, and as many of the best removals."""
    score = graph @ weights - threshold
    gains = np.where(graph, -weights, weights) * (-1 if score > 0 else 1)
    best = [np.sort(gains[pool])[::-1] for pool in (graph, ~graph)]
    n = min(map(len, best))
    return 2 * (1 + int(np.searchsorted(np.cumsum(best[0][:n] + best[1][:n]), abs(score), side="right")))


def test_keeping_the_edges_comes_near_the_fewest_swaps() -> None:
    results = cg.find_counterfactuals(box(*rule()), GRAPHS, constraints=cg.Constraints(keep_edges=True))
    assert all(len(each.added) == len(each.removed) > 0 for each in results)
    best = np.mean([fewest_swaps(graph, *rule()) for graph in GRAPHS])
    assert best <= np.mean([each.distance for each in results]) <= 1.15 * best


def test_who_finds_nothing_asks_again_when_all_others_have_learned() -> None:
    """Additions at random speak as much against a change as for it: only what others learned leads across."""
    weights = np.zeros(PAIRS)
    weights[pairs_within(range(15), N)] = 1
    weights[pairs_within(range(15, 40), N)] = -1
    graphs, asked = GRAPHS[:24], cg.Constraints(only="added")
    black_box = box(weights, np.sort(graphs @ weights)[-2] - 0.5)
    found = [len(cg.find_counterfactuals(black_box, graphs, constraints=asked, seed=seed).found) for seed in range(3)]
    assert np.mean(found) >= 19


def test_no_proposal_names_a_pair_twice_where_edges_are_kept() -> None:
    """Where few pairs may be added, the best ones are among the best again."""
    graph = GRAPHS[0]
    allowed = graph.copy()
    allowed[np.flatnonzero(~graph)[:6]] = True
    limits = Limits(allowed=allowed, keep_edges=True)
    guide = Guide(Memory(PAIRS), graph, 0, None, limits)
    rng = np.random.default_rng(0)
    task = Task(graph, 0, 5, 100, rng, limits=limits, guide=guide)
    for flips, flipped in ((np.flatnonzero(allowed)[:40], True), (np.flatnonzero(graph)[:3], False)):
        guide.learn(Answer(flips, flipped))
    for _ in range(200):
        best = task.alternate(rng.permutation(np.flatnonzero(allowed)))
        for way in TOGETHER:
            candidate = way(task, best)
            assert np.unique(candidate).size == candidate.size, way.__name__
