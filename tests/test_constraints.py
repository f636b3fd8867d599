from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import countergraph as cg
from countergraph.errors import InputError, NotFoundError
from countergraph.graphs.pairs import pair_ends, pairs_at, to_adjacency
from countergraph.results.wording import between_networks
from countergraph.search.network import Network
from tests.conftest import random_graphs

N = 6
FIRST, SECOND = pair_ends(N)
ATLAS = cg.Atlas(
    [f"r{i}" for i in range(N)],
    coordinates=np.random.default_rng(0).normal(size=(N, 3)),
    networks=["front", "front", "back", "back", "deep", "deep"],
)
METHODS = [
    *(name for name in cg.list_methods() if "+" not in name),
    "ofs+obs",
    "dfs+dbs",
    "ds+lbs",
    "bisect+ddmin",
    "bisect+evolve",
    "dfs+ddmin+evolve",
]


def small_data(seed: int, classes: int) -> tuple[cg.GraphDataset, Any]:
    rng, edges = np.random.default_rng(seed), random_graphs(8, N, seed, 0.5)
    weights = rng.normal(size=15)
    scores = np.unique(edges @ weights)
    cuts = np.sort(rng.choice((scores[1:] + scores[:-1]) / 2, classes - 1, replace=False))

    def box(edges: np.ndarray) -> np.ndarray:
        return np.searchsorted(cuts, edges[:, FIRST, SECOND] @ weights)

    labels = np.searchsorted(cuts, edges @ weights)
    names = tuple("abc"[:classes])
    return cg.GraphDataset(edges, labels, classes=names, atlas=ATLAS), box


any_constraints = st.builds(
    cg.Constraints,
    only=st.sampled_from([None, "added", "removed"]),
    frozen_pairs=st.lists(st.tuples(st.just("r0"), st.integers(1, N - 1)), max_size=3),
    frozen_rois=st.lists(st.integers(0, N - 1), max_size=1),
    frozen_networks=st.lists(st.sampled_from(["front", "deep"]), max_size=1),
    within=st.lists(st.sampled_from(["front", "back"]), max_size=2),
    between=st.lists(st.sampled_from([("front", "back"), ("deep", "deep")]), max_size=2),
    cost=st.sampled_from([None, "length", "plausible"]),
    most=st.sampled_from([None, 1, 3]),
    keep_connected=st.booleans(),
) | st.builds(
    cg.Constraints, keep_edges=st.just(True), keep_connected=st.booleans(), most=st.sampled_from([None, 2, 4])
)


def check(constraints: cg.Constraints, result: cg.Counterfactual) -> None:
    """Check each constraint with a second, simple implementation."""
    pairs = {*result.added, *result.removed}
    if constraints.only == "added":
        assert not result.removed
    if constraints.only == "removed":
        assert not result.added
    for name, roi in constraints.frozen_pairs:
        assert (0, roi) not in pairs, name
    assert not any(roi in pair for roi in constraints.frozen_rois for pair in pairs)
    networks = [{(ATLAS.networks or ())[i], (ATLAS.networks or ())[j]} for i, j in pairs]
    assert not any(name in both for name in constraints.frozen_networks for both in networks)
    if constraints.within or constraints.between:
        allowed = [{name} for name in constraints.within] + [set(both) for both in constraints.between]
        assert all(both in allowed for both in networks)
    if constraints.most is not None:
        assert len(pairs) <= constraints.most
    if constraints.keep_edges:
        assert len(result.added) == len(result.removed)
    if constraints.keep_connected:
        before, after = (nx.from_numpy_array(to_adjacency(each)) for each in (result.original, result.edges))
        assert nx.number_connected_components(after) <= nx.number_connected_components(before)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30)
@given(seed=st.integers(0, 1000), constraints=any_constraints, classes=st.integers(2, 3))
def test_constraints_are_never_violated(method: str, seed: int, constraints: cg.Constraints, classes: int) -> None:
    data, box = small_data(seed, classes)
    try:
        results = cg.find_counterfactuals(box, data, method, k=2, max_calls=60, constraints=constraints)
    except InputError as error:
        assert "forbid the change of every pair" in str(error)  # noqa: PT017
        return
    for result in results.found:
        check(constraints, result)
        assert box(to_adjacency(result.edges)[None])[0] == result.counterfactual_label != result.original_label
        if constraints.cost is not None:
            costs = constraints.limits(Network.of_graph(result.original), ATLAS, data).costs
            assert costs is not None
            assert result.cost == pytest.approx(costs[result.flips].sum())
    assert all(each.calls <= 60 * (1 + method.count("+")) for each in results)


@pytest.mark.parametrize("method", cg.list_methods())
def test_every_method_reduces_the_cost(cohort: cg.GraphDataset, model: cg.Model, method: str) -> None:
    costs = np.exp(np.random.default_rng(0).normal(size=190))
    unconstrained = cg.find_counterfactuals(model, cohort, method, runs=2)
    with_costs = cg.find_counterfactuals(model, cohort, method, runs=2, constraints=cg.Constraints(cost=costs))
    mean_cost = np.mean([costs[each.flips].sum() for each in unconstrained.found])
    assert np.mean([each.cost for each in with_costs.found]) < 0.95 * mean_cost


def test_cost_is_minimised_instead_of_the_number_of_changes() -> None:
    """One expensive edge or two cheap ones: both change the class."""

    def box(a: np.ndarray) -> np.ndarray:
        return (2 * a[:, 0, 1] + a[:, 2, 3] + a[:, 4, 5] >= 2).astype(int)

    graph, cost = np.zeros(15, dtype=bool), np.ones((N, N))
    cost[0, 1] = cost[1, 0] = 10
    plain = cg.find_counterfactual(box, graph, "ofs+obs", k=1)
    costly = cg.Constraints(cost=cost)
    cheap = [cg.find_counterfactual(box, graph, "ofs+obs", k=1, seed=seed, constraints=costly) for seed in range(8)]
    assert plain.distance == 1
    assert plain.cost is None
    assert min(each.cost or 0 for each in cheap) == 2
    assert {each.distance for each in cheap if each.cost == 2} == {2}


def test_most_is_never_exceeded() -> None:
    def box(a: np.ndarray) -> np.ndarray:
        return (a.sum(axis=(1, 2)) >= 10).astype(int)

    graph, constraints = np.zeros(15, dtype=bool), [cg.Constraints(most=most) for most in (4, 5)]
    results = [cg.find_counterfactual(box, graph, "ofs+obs", constraints=each) for each in constraints]
    assert [each.found for each in results] == [False, True]


def test_result_contains_its_constraints(cohort: cg.GraphDataset, model: cg.Model) -> None:
    constraints = cg.Constraints(only="removed", frozen_rois=[cohort.atlas.names[0]], cost=np.ones(190))
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs", dataset=cohort, constraints=constraints)
    described = result.parameters["constraints"]
    assert described["only"] == "removed"
    assert described["frozen_rois"] == [cohort.atlas.names[0]]
    assert isinstance(described["cost"], str)
    assert result.limited
    assert cg.Counterfactual.from_dict(result.to_dict(), result.atlas).to_dict() == result.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "changed"}, "only must be 'added' or 'removed'"),
        ({"only": "added", "keep_edges": True}, "keep_edges needs additions and removals"),
        ({"most": 0}, "most must be"),
        ({"frozen_rois": ["nowhere"]}, "unknown ROI 'nowhere'"),
        ({"frozen_rois": [6]}, "a number from 0 to 5"),
        ({"frozen_pairs": [(0, 1, 2)]}, "frozen_pairs must be a list of pairs"),
        ({"frozen_rois": "r1"}, "frozen_rois must be a list"),
        ({"frozen_rois": 5}, "frozen_rois must be a list"),
        ({"frozen_rois": [1.7]}, "an ROI must be a name or a number from 0 to 5, not 1.7"),
        ({"frozen_rois": [None]}, "from 0 to 5, not None"),
        ({"frozen_pairs": [3]}, "frozen_pairs must be a list of pairs, but contains 3"),
        ({"within": "front"}, "within must be a list"),
        ({"keep_connected": "no"}, "keep_connected must be True or False"),
        ({"keep_edges": True, "most": 1}, "most must be at least 2"),
        ({"within": ["front"], "frozen_networks": ["front"]}, "forbid the change of every pair; remove some of them"),
        ({"frozen_pairs": [(1, 1)]}, "a pair in frozen_pairs needs two different ROIs"),
        ({"within": ["sideways"]}, "unknown ROI, lobe or network 'sideways'"),
        ({"between": ["front"]}, "between must be a list of pairs, but contains 'front'"),
        ({"cost": "gold"}, "unknown cost 'gold'"),
        ({"cost": [["a"]]}, "cost must be one of length, plausible or numbers"),
        ({"cost": np.zeros(15)}, "costs must be finite and positive, not 0; use frozen_pairs"),
        ({"cost": np.ones(14)}, "a number for each of 15 pairs"),
        ({"cost": np.triu(np.ones((6, 6)))}, "must be symmetric"),
    ],
)
def test_invalid_constraints_raise(options: dict[str, Any], message: str) -> None:
    data, box = small_data(1, 2)
    with pytest.raises((InputError, NotFoundError), match=message):
        cg.find_counterfactuals(box, data, "ofs+obs", constraints=cg.Constraints(**options))


def test_missing_atlas_or_dataset_raises() -> None:
    graph = np.zeros(15, dtype=bool)
    for options, message in (
        ({"within": ["front"]}, "is not an ROI, and the atlas has no lobes or networks"),
        ({"frozen_rois": ["r1"]}, "no atlas to look up"),
        ({"cost": "length"}, "needs an atlas with coordinates"),
        ({"cost": "plausible"}, "needs a dataset"),
    ):
        with pytest.raises(InputError, match=message):
            cg.find_counterfactual(lambda a: a[:, 0, 1], graph, "ofs+obs", constraints=cg.Constraints(**options))


@pytest.mark.parametrize("kind", ["length", "random"])
def test_cost_and_most_can_be_combined(kind: str) -> None:
    data = cg.make_cohort(n_subjects=24, n_rois=30)
    box = LinearSVC().fit(data.edges, data.labels)
    random = np.random.default_rng(0).random(435) + 0.1
    most = 1 + max(cg.optimal_counterfactual(box, graph).distance or 0 for graph in data.edges)
    constraints = cg.Constraints(cost=random if kind == "random" else kind, most=most)
    results = cg.find_counterfactuals(box, data, constraints=constraints)
    assert len(results.found) >= 23
    assert all((each.distance or 0) <= most for each in results.found)
    if kind == "random":
        unconstrained = [random[each.flips].sum() for each in cg.find_counterfactuals(box, data)]
        assert np.mean([each.cost or 0 for each in results.found]) < np.mean(unconstrained)


@settings(max_examples=60)
@given(st.integers(0, 9999), st.integers(1, 3))
def test_minimum_cost_is_found_if_all_candidates_can_be_classified(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    weights, costs, graph = rng.normal(size=10), rng.random(10) + 0.1, rng.random(10) < 0.5
    shift = weights @ graph + rng.choice([-1, 1]) * rng.random()

    def box(edges: np.ndarray) -> np.ndarray:
        return (edges @ weights > shift).astype(int)

    sets = [np.array(each) for size in range(1, most + 1) for each in combinations(range(10), size)]
    flipped = [graph ^ np.isin(np.arange(10), each) for each in sets]
    changes_class = box(np.array(flipped)) != box(graph[None])[0]
    cheapest = min((costs[each].sum() for each, flip in zip(sets, changes_class, strict=True) if flip), default=None)
    result = cg.find_counterfactual(
        cg.Oracle(box, input="edges"), graph, constraints=cg.Constraints(cost=costs, most=most), max_calls=1500
    )
    assert result.cost == (None if cheapest is None else pytest.approx(cheapest))


def test_constraints_of_another_type_raise(cohort: cg.GraphDataset, model: cg.Model) -> None:
    with pytest.raises(InputError, match=r"constraints must be Constraints\(...\), not \{'only': 'added'\}"):
        cg.find_counterfactuals(model, cohort, constraints={"only": "added"})
    atlas = cg.Atlas(["a", "b", "c"], coordinates=[[0, 0, 0], [1, 1, 1], [1, 1, 1]])
    same_position = cg.GraphDataset([[1, 0, 1], [0, 1, 1]], [0, 1], atlas=atlas)
    with pytest.raises(InputError, match="b and c have the same"):
        cg.find_counterfactuals(lambda a: np.zeros(len(a)), same_position, constraints=cg.Constraints(cost="length"))


def test_plausibility_marks_outliers() -> None:
    """Nine graphs that differ in one or two pairs, one near counterfactual and one outlier."""
    edges = np.eye(9, 15, dtype=bool)
    data = cg.GraphDataset(edges, [0] * 5 + [1] * 4, atlas=ATLAS)

    def counterfactual(flips: list[int]) -> cg.Counterfactual:
        return cg.Counterfactual(edges[0], np.array(flips), 0, 1, {}, "x", {}, "finished")

    results = cg.Counterfactuals([counterfactual([0]), counterfactual(list(range(9, 15)))])
    near, far = cg.plausibility(results, data)["outlying"]
    assert (near, far) == (0, 1)


def test_names_of_networks_in_a_sentence() -> None:
    assert between_networks("Frontal lobe", "Zone 3") == "between the frontal lobe and zone 3"
    assert between_networks("V1", "V1") == "within V1"
    assert between_networks("Frontal Pole", "The rest") == "between the Frontal Pole and the rest"
    assert between_networks("Limbic", "Visual") == "between Limbic and Visual"
    assert between_networks("Cont", "Cont") == "within Cont"
    assert between_networks("Cerebellum", "Default Mode") == "between the cerebellum and the Default Mode"
    assert between_networks("1", "2") == "between network 1 and network 2"


def test_between_an_roi_and_a_network() -> None:
    data, _ = small_data(1, 2)
    constraints = cg.Constraints(between=[("r0", "back")])
    allowed = constraints.limits(Network.of_graph(data.edges[0]), ATLAS, data).allowed
    assert allowed is not None
    ends = {frozenset(pair) for pair in pairs_at(np.flatnonzero(allowed), N)}
    assert ends == {
        frozenset((0, roi)) for roi, network in enumerate(ATLAS.networks or ()) if network == "back" and roi
    }
