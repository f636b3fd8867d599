from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import countergraph as cg
from countergraph.classifiers.linear_rule import linear_form
from countergraph.errors import BlackBoxError, InputError, NotFoundError
from countergraph.graphs.pairs import pair_ends, to_adjacency
from countergraph.search.methods import FORWARD
from countergraph.white_box import white_box
from tests.conftest import random_graphs

N = 6
FIRST, SECOND = pair_ends(N)
ATLAS = cg.Atlas(
    [f"r{i}" for i in range(N)],
    coordinates=np.random.default_rng(0).normal(size=(N, 3)),
    regions=["front", "front", "back", "back", "deep", "deep"],
)
METHODS = [*FORWARD, "ofs+obs", "dfs+dbs", "ds+lbs", "bisect+ddmin", "bisect+evolve", "dfs+ddmin+evolve"]


def small_data(seed: int, classes: int) -> tuple[cg.GraphDataset, Any]:
    rng = np.random.default_rng(seed)
    weights, cuts = rng.normal(size=15), np.sort(rng.normal(size=classes - 1))

    def box(edges: np.ndarray) -> np.ndarray:
        return np.searchsorted(cuts, edges[:, FIRST, SECOND] @ weights)

    edges = random_graphs(8, N, seed, 0.5)
    labels = np.searchsorted(cuts, edges @ weights)
    names = tuple("abc"[:classes])
    return cg.GraphDataset(edges, labels, classes=names, atlas=ATLAS), box


constraints = st.builds(
    cg.Constraints,
    only=st.sampled_from([None, "added", "removed"]),
    frozen_pairs=st.lists(st.tuples(st.just("r0"), st.integers(1, N - 1)), max_size=3),
    frozen_rois=st.lists(st.integers(0, N - 1), max_size=1),
    frozen_regions=st.lists(st.sampled_from(["front", "deep"]), max_size=1),
    within=st.lists(st.sampled_from(["front", "back"]), max_size=2),
    between=st.lists(st.sampled_from([("front", "back"), ("deep", "deep")]), max_size=2),
    cost=st.sampled_from([None, "length", "plausible"]),
    most=st.sampled_from([None, 1, 3]),
    keep_connected=st.booleans(),
) | st.builds(
    cg.Constraints, keep_edges=st.just(True), keep_connected=st.booleans(), most=st.sampled_from([None, 2, 4])
)


def check(asked: cg.Constraints, result: cg.Counterfactual) -> None:
    """Say again, slowly, what each constraint means."""
    pairs = {*result.added, *result.removed}
    if asked.only == "added":
        assert not result.removed
    if asked.only == "removed":
        assert not result.added
    for name, vertex in asked.frozen_pairs:
        assert (0, vertex) not in pairs, name
    assert not any(roi in pair for roi in asked.frozen_rois for pair in pairs)
    regions = [{(ATLAS.regions or ())[i], (ATLAS.regions or ())[j]} for i, j in pairs]
    assert not any(name in both for name in asked.frozen_regions for both in regions)
    if asked.within or asked.between:
        allowed = [{name} for name in asked.within] + [set(both) for both in asked.between]
        assert all(both in allowed for both in regions)
    if asked.most is not None:
        assert len(pairs) <= asked.most
    if asked.keep_edges:
        assert len(result.added) == len(result.removed)
    if asked.keep_connected:
        before, after = (nx.from_numpy_array(to_adjacency(each)) for each in (result.original, result.edges))
        assert nx.number_connected_components(after) <= nx.number_connected_components(before)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30)
@given(seed=st.integers(0, 1000), asked=constraints, classes=st.integers(2, 3))
def test_constraints_are_never_violated(method: str, seed: int, asked: cg.Constraints, classes: int) -> None:
    data, box = small_data(seed, classes)
    try:
        results = cg.find_counterfactuals(box, data, method, k=2, max_calls=60, constraints=asked)
    except InputError as refusal:
        assert "no pair that may change" in str(refusal) or method == "moves"  # noqa: PT017 - either is right
        return
    for result in results.found:
        check(asked, result)
        assert box(to_adjacency(result.edges)[None])[0] == result.counterfactual_class != result.original_class
        if asked.cost is not None:
            costs = asked.limits(result.original, ATLAS, data).costs
            assert costs is not None
            assert result.cost == pytest.approx(costs[result.flips].sum())
    assert all(each.calls <= 60 * (1 + method.count("+")) for each in results)


@pytest.mark.parametrize("method", cg.METHODS)
def test_every_method_minds_the_costs(cohort: cg.GraphDataset, model: cg.Model, method: str) -> None:
    costs = np.exp(np.random.default_rng(0).normal(size=190))
    free = cg.find_counterfactuals(model, cohort, method, runs=2)
    cheap = cg.find_counterfactuals(model, cohort, method, runs=2, constraints=cg.Constraints(cost=costs))
    usual = np.mean([costs[each.flips].sum() for each in free.found])
    assert np.mean([each.cost for each in cheap.found]) < 0.95 * usual


def test_a_cost_is_minimised_instead_of_the_count() -> None:
    """One dear edge or two cheap ones: either changes the class."""

    def box(a: np.ndarray) -> np.ndarray:
        return (2 * a[:, 0, 1] + a[:, 2, 3] + a[:, 4, 5] >= 2).astype(int)

    graph, cost = np.zeros(15, dtype=bool), np.ones((N, N))
    cost[0, 1] = cost[1, 0] = 10
    plain = cg.find_counterfactual(box, graph, "ofs+obs", k=1)
    dear = cg.Constraints(cost=cost)
    cheap = [cg.find_counterfactual(box, graph, "ofs+obs", k=1, seed=seed, constraints=dear) for seed in range(8)]
    assert plain.distance == 1
    assert plain.cost is None
    assert min(each.cost or 0 for each in cheap) == 2
    assert {each.distance for each in cheap if each.cost == 2} == {2}


def test_most_is_kept_even_if_nothing_is_found_then() -> None:
    def box(a: np.ndarray) -> np.ndarray:
        return (a.sum(axis=(1, 2)) >= 10).astype(int)

    graph, asked = np.zeros(15, dtype=bool), [cg.Constraints(most=most) for most in (4, 5)]
    results = [cg.find_counterfactual(box, graph, "ofs+obs", constraints=each) for each in asked]
    assert [each.found for each in results] == [False, True]


def test_what_was_asked_is_kept_with_the_result(cohort: cg.GraphDataset, model: cg.Model) -> None:
    asked = cg.Constraints(only="removed", frozen_rois=[cohort.atlas.names[0]], cost=np.ones(190))
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs", dataset=cohort, constraints=asked)
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
        ({"frozen_rois": ["nowhere"]}, "no region is called 'nowhere'"),
        ({"frozen_rois": [6]}, "numbered from 0 to 5"),
        ({"frozen_pairs": [(0, 1, 2)]}, "frozen_pairs takes pairs"),
        ({"frozen_rois": "r1"}, "frozen_rois must be a list"),
        ({"frozen_rois": 5}, "frozen_rois must be a list"),
        ({"frozen_rois": [1.7]}, "a region is named, or numbered from 0 to 5; it is not 1.7"),
        ({"frozen_rois": [None]}, "it is not None"),
        ({"frozen_pairs": [3]}, "frozen_pairs takes pairs, not 3"),
        ({"within": "front"}, "within must be a list"),
        ({"keep_connected": "no"}, "keep_connected must be True or False"),
        ({"keep_edges": True, "most": 1}, "most must be at least 2"),
        ({"within": ["front"], "frozen_regions": ["front"]}, "leave no pair that may change"),
        ({"frozen_pairs": [(1, 1)]}, "a pair has two regions"),
        ({"within": ["sideways"]}, "no coarse region is called 'sideways'"),
        ({"between": ["front"]}, "between takes pairs, not 'front'"),
        ({"cost": "gold"}, "no cost is called 'gold'"),
        ({"cost": [["a"]]}, "cost must be length, plausible or numbers"),
        ({"cost": np.zeros(15)}, "finite and above 0"),
        ({"cost": np.ones(14)}, "a number for each of 15 pairs"),
        ({"cost": np.triu(np.ones((6, 6)))}, "must be symmetric"),
    ],
)
def test_bad_constraints_are_refused(options: dict[str, Any], message: str) -> None:
    data, box = small_data(1, 2)
    with pytest.raises((InputError, NotFoundError), match=message):
        cg.find_counterfactuals(box, data, "ofs+obs", constraints=cg.Constraints(**options))


def test_constraints_that_need_an_atlas_or_data_say_so() -> None:
    graph = np.zeros(15, dtype=bool)
    for options, message in (
        ({"within": ["front"]}, "the atlas must say which coarse region"),
        ({"frozen_rois": ["r1"]}, "no atlas to look up"),
        ({"cost": "length"}, "needs an atlas with coordinates"),
        ({"cost": "plausible"}, "needs a dataset"),
    ):
        with pytest.raises(InputError, match=message):
            cg.find_counterfactual(lambda a: a[:, 0, 1], graph, "ofs+obs", constraints=cg.Constraints(**options))


# Whole moves


def test_moves_are_whole_and_said(cohort: cg.GraphDataset, model: cg.Model) -> None:
    results = cg.find_counterfactuals(model, cohort, "moves")
    assert results.found
    for result in results.found:
        assert result.moves
        said = np.unique(np.concatenate([move.flips for move in result.moves]))
        np.testing.assert_array_equal(said, result.flips)
        for move in result.moves:
            assert move.words in result.sentence
            assert (result.original[move.flips] == (move.change == "removed")).all()
        assert cg.Counterfactual.from_dict(result.to_dict(), result.atlas).sentence == result.sentence


def test_a_box_that_counts_a_region_is_answered_with_that_region() -> None:
    """All connections of r2 are what this box looks at."""
    edges = random_graphs(1, N, 0, 0.9)
    data = cg.GraphDataset(edges, [0], classes=("a", "b"), atlas=ATLAS)
    [result] = cg.find_counterfactuals(lambda a: (a[:, 2].sum(axis=1) == 0).astype(int), data, "moves")
    assert [move.words for move in result.moves] == ["all connections of r2"]
    assert result.sentence.startswith("graph 0 is classified as a. If all connections of r2 (")


def test_moves_that_are_not_needed_are_taken_back() -> None:
    """No single move does what this box wants, so moves are made until it changes; those that are left are needed."""
    graph = np.zeros((6, 6), dtype=int)
    for i, j in ((0, 1), (0, 2), (3, 4), (3, 5), (1, 4), (2, 5)):
        graph[i, j] = graph[j, i] = 1
    atlas = cg.Atlas([f"r{i}" for i in range(6)])
    data = cg.GraphDataset(graph[None], [0], classes=("a", "b"), atlas=atlas)

    def box(a: np.ndarray) -> np.ndarray:
        return ((a[:, 0].sum(axis=1) == 0) & (a[:, 3].sum(axis=1) == 0)).astype(int)

    distances = [each.distance for each in cg.find_counterfactuals(box, data, "moves", runs=20).found]
    assert {*distances} <= {4, 6}, "r0 and r3, or one of them and the neighbours of the other; never five"
    assert 4 in distances


def test_what_lies_outside_the_cohort_is_called_outlying() -> None:
    """Nine graphs that differ in a pair or two, and counterfactuals as near, or far away."""
    edges = np.eye(9, 15, dtype=bool)
    data = cg.GraphDataset(edges, [0] * 5 + [1] * 4, atlas=ATLAS)

    def changed(flips: list[int]) -> cg.Counterfactual:
        return cg.Counterfactual(edges[0], np.array(flips), 0, 1, {}, "x", {}, "finished")

    near, far = cg.plausibility(cg.Counterfactuals([changed([0]), changed(list(range(9, 15)))]), data)["outlying"]
    assert (near, far) == (0, 1)


def test_the_closest_single_move_is_found() -> None:
    data, box = small_data(4, 2)
    from countergraph.vocabulary import vocabulary

    for result in cg.find_counterfactuals(box, data, "moves"):
        singles = []
        for move in vocabulary(result.original, ATLAS):
            changed = result.original.copy()
            changed[move.flips] ^= True
            if box(to_adjacency(changed)[None])[0] != result.original_class:
                singles.append(move.flips.size)
        if singles:
            assert result.distance == min(singles)


# Certificates


def brute_force(box: Any, graph: np.ndarray) -> int:
    own = box(to_adjacency(graph)[None])[0]
    for size in range(1, graph.size + 1):
        for flips in combinations(range(graph.size), size):
            changed = graph.copy()
            changed[list(flips)] ^= True
            if box(to_adjacency(changed)[None])[0] != own:
                return size
    return graph.size + 1


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), radius=st.integers(0, 2))
def test_certificates_are_true(seed: int, radius: int) -> None:
    data, box = small_data(seed, 2)
    oracle = cg.Oracle(box)
    found = cg.find_counterfactuals(oracle, data, "ofs", k=2).found
    for result in found[:3]:
        before = oracle.asked
        proven = cg.certify(oracle, result, radius)
        certificate = proven.certificate
        assert certificate.calls == oracle.asked - before
        optimum = brute_force(box, result.original)
        assert (proven.distance or 0) >= optimum
        assert certificate.radius < optimum
        if certificate.optimal:
            assert proven.distance == optimum
        undone = []
        assert proven.flips is not None
        for i in range(proven.flips.size):
            changed = proven.original.copy()
            changed[np.delete(proven.flips, i)] ^= True
            undone.append(box(to_adjacency(changed)[None])[0] != proven.original_class)
        assert certificate.minimal == (not any(undone))
        assert proven.sentence.endswith(certificate.sentence)
        if optimum <= radius:
            assert certificate.proof == "optimal"


def test_a_linear_box_proves_the_optimum_for_nothing(cohort: cg.GraphDataset, model: cg.Model) -> None:
    farther = 0
    for result in cg.find_counterfactuals(model, cohort, "dfs").found:
        proven, optimum = cg.certify(model, result), cg.optimal_counterfactual(model, result.original)
        assert proven.certificate.proof == optimum.certificate.proof == "optimal"
        assert proven.certificate.calls == 2
        assert proven.distance == optimum.distance
        if result.distance == optimum.distance:
            assert proven.flips is result.flips
        farther += result.distance != optimum.distance
    assert farther, "so that there was something to find"
    assert optimum.sentence.startswith("The graph is classified as ")
    assert ", the graph would have been classified as " in optimum.sentence
    assert {"TD", "ASD"} <= set(optimum.sentence.replace(".", "").split())


class Cautious(LogisticRegression):  # type: ignore[misc]
    """Linear, but for its threshold."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] > 0.2).astype(int)])


def test_what_decides_in_its_own_way_is_not_taken_for_linear(cohort: cg.GraphDataset) -> None:
    cautious = Cautious().fit(cohort.edges, cohort.labels)
    assert linear_form(cautious) is None
    assert linear_form(make_pipeline(StandardScaler(), cautious)) is None
    for result in cg.find_counterfactuals(cautious, cohort.subset(range(6))).found:
        proven = cg.certify(cautious, result)
        assert proven.distance == result.distance
        assert proven.certificate.proof != "optimal" or proven.distance == 1
    plain = LogisticRegression().fit(cohort.edges, cohort.labels)
    assert white_box(cg.Oracle(plain)) is plain
    assert white_box(cg.Oracle(plain, input="adjacency")) is None


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e9])
def test_the_optimum_does_not_depend_on_the_unit_of_the_weights(cohort: cg.GraphDataset, scale: float) -> None:
    plain = LogisticRegression().fit(cohort.edges, cohort.labels)
    scaled = LogisticRegression().fit(cohort.edges, cohort.labels)
    scaled.coef_, scaled.intercept_ = scale * plain.coef_, scale * plain.intercept_
    for graph in cohort.edges:
        before, after = (cg.optimal_counterfactual(each, graph) for each in (plain, scaled))
        assert before.distance == after.distance
        assert before.original_class == after.original_class == plain.predict(graph[None])[0]


@pytest.mark.parametrize("scaler", [StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)])
def test_a_scaled_linear_classifier_is_linear(cohort: cg.GraphDataset, scaler: StandardScaler) -> None:
    pipeline = make_pipeline(scaler, LogisticRegression()).fit(cohort.edges, cohort.labels)
    rule = linear_form(pipeline)
    assert rule is not None
    scores = cohort.edges @ rule.coef_[0] + rule.intercept_[0]
    assert scores == pytest.approx(pipeline.decision_function(cohort.edges))
    for graph in cohort.edges[:5]:
        optimum = cg.optimal_counterfactual(pipeline, graph)
        assert optimum.edges is not None
        assert pipeline.predict(optimum.edges[None])[0] != pipeline.predict(graph[None])[0]
    curved = make_pipeline(scaler, SVC(kernel="rbf")).fit(cohort.edges, cohort.labels)
    assert linear_form(curved) is None


def test_what_cannot_be_proven_is_refused(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [person] = cg.find_counterfactuals(model, cohort.subset([3]), dataset=cohort)
    with pytest.raises(InputError, match="does not change its answer"):
        cg.certify(lambda a: np.zeros(len(a), dtype=int), person)
    [whole] = cg.find_counterfactuals(model, cohort.subset([3]), "moves", dataset=cohort)
    closer = cg.certify(model, whole, 1)
    assert bool(closer.moves) == (closer.distance == whole.distance)
    [nothing] = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([0]), "ofs", max_calls=3)
    with pytest.raises(InputError, match="no counterfactual to prove"):
        cg.certify(model, nothing)
    limited = cg.find_counterfactuals(model, cohort, "ofs", constraints=cg.Constraints(keep_connected=True)).found[0]
    with pytest.raises(InputError, match="not for one under constraints"):
        cg.certify(model, limited, 1)
    assert not cg.certify(model, limited).certificate.optimal
    forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    far = max(cg.find_counterfactuals(forest, cohort, "ofs").found, key=lambda each: each.distance or 0)
    with pytest.raises(InputError, match="takes more than 10,000,000 questions"):
        cg.certify(forest, far, 6)


# Diversity and plausibility


def test_diverse_counterfactuals_end_where_nothing_is_left_to_change() -> None:
    pool = cg.find_diverse(lambda a: (a.sum(axis=(1, 2)) > 2).astype(int), np.zeros((3, 3), int), m=5, runs=2)
    assert 2 <= len(pool) < 6
    assert pool.found
    person = cg.make_cohort(10, 20, seed=1).subset([0])
    plausible, most = cg.Constraints(cost="plausible"), 2 * person.edges.sum() + 3
    dense = cg.find_diverse(lambda a: a.sum(axis=(1, 2)) > most, person, m=4, runs=1, constraints=plausible)
    assert len(dense) == 4, "the cohort itself tells what is plausible"
    pair = cg.find_diverse(lambda a: a.any(axis=(1, 2)).astype(int), [0], m=2, runs=1)
    assert [each.distance for each in pair] == [1]
    with pytest.raises(InputError, match="of one graph, not of 4"):
        cg.find_diverse(lambda a: a[:, 0, 1], np.zeros((4, 6, 6), int))


def test_what_a_diverse_search_found_is_not_lost() -> None:
    left = 0

    def breaks(adjacency: np.ndarray) -> np.ndarray:
        nonlocal left
        left -= len(adjacency)
        if left < 0:
            raise RuntimeError("spent")
        return (adjacency.sum(axis=(1, 2)) > 8).astype(int)

    options: dict[str, Any] = {"runs": 4, "method": "ofs", "confirm": False}
    left = whole = 10**6
    first = cg.find_counterfactuals(breaks, np.zeros((1, 8, 8), int), **options)
    left = whole - left + 1
    with pytest.raises(BlackBoxError) as stopped:
        cg.find_diverse(breaks, np.zeros((8, 8), int), m=3, **options)
    assert [each.to_dict() for each in stopped.value.results[:4]] == [each.to_dict() for each in first]
    assert len(stopped.value.results) == 5


def test_diverse_counterfactuals_differ(cohort: cg.GraphDataset, model: cg.Model) -> None:
    person = cohort.subset([3])
    pool = cg.find_diverse(model, person, m=3, runs=10, method="ofs+obs", dataset=cohort)
    diverse = cg.Diverse(pool, 3)
    plain = cg.Diverse(pool[:10], 3)
    assert len(diverse.chosen) == 3
    assert diverse.curve["diversity"].iloc[-1] >= plain.curve["diversity"].iloc[-1]
    assert diverse.curve["at most"].is_monotonic_increasing
    first, second, usual = pool[10], pool.closest(), pool[:10].closest()
    assert second is not None
    assert usual is not None
    assert not {*first.added, *first.removed} & {*usual.added, *usual.removed}
    assert diverse.chosen[0].distance == second.distance
    one = cg.find_diverse(model, cohort.edges[3], m=2, runs=2, method="ofs+obs")
    assert len(one) == 3


def test_diversity_of_nothing_is_refused(cohort: cg.GraphDataset, model: cg.Model) -> None:
    with pytest.raises(InputError, match="of one graph, not of 24"):
        cg.find_diverse(model, cohort)
    with pytest.raises(InputError, match="these results are of several"):
        cg.Diverse(cg.find_counterfactuals(model, cohort, "ofs"))


def test_plausibility_of_a_real_graph_and_of_nonsense() -> None:
    edges = random_graphs(10, N, 5, 0.4)
    data = cg.GraphDataset(edges, [0, 1] * 5, atlas=ATLAS)
    truth = {row.tobytes(): label for row, label in zip(edges, data.labels, strict=True)}

    def box(a: np.ndarray) -> list[int]:
        return [truth.get(row[FIRST, SECOND].astype(bool).tobytes(), 0) for row in a]

    results = cg.find_counterfactuals(box, data, "ds")
    table = cg.plausibility(results, data)
    found = [each.found for each in results]
    assert (table["seen"][found] == 1).all()  # every change is one that a graph of the other class has
    assert (table["nearest before"][found] <= [each.distance for each in results.found]).all()
    for row, result in zip(table.to_dict("records"), results, strict=True):
        if result.edges is not None:
            degrees = [to_adjacency(each).sum(axis=1).astype(int) for each in (result.edges, result.original)]
            assert row["degree change"] == np.abs(degrees[0] - degrees[1]).max()
            assert row["density change"] == pytest.approx((result.edges.sum() - result.original.sum()) / 15)
    with pytest.raises(InputError, match="differ in regions"):
        cg.plausibility(results, cg.GraphDataset(random_graphs(2, 5, 0), [0, 1]))
