"""The search that learns: what it promises on any black box, and what it reaches on the real ones."""

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
from countergraph.graphs.pairs import pair_ends, to_adjacency
from countergraph.search.learning.bandit import Bandit
from countergraph.search.learning.guide import Guide
from countergraph.search.learning.improvement import needed as as_many
from countergraph.search.learning.memory import Memory
from countergraph.search.learning.smoothing import Smoother
from countergraph.search.protocol import Answer
from tests.conftest import random_graphs

SMALL = 6


SMALL_PAIRS = 15


ALL = 2**SMALL_PAIRS + 200


def box(function) -> cg.Oracle:
    return cg.Oracle(function, input="edges")


def linear(seed: int, pairs: int):
    rng = np.random.default_rng(seed)
    weights, shift = rng.normal(size=pairs), rng.normal()
    return lambda edges: (edges @ weights > shift).astype(int)


def hashed(seed: int, pairs: int):
    """As good as random, and the same graph always gets the same answer; three quarters of them are of one class."""
    return lambda edges: np.array([crc32(row.tobytes(), seed) % 4 == 0 for row in edges]).astype(int)


def parity(seed: int, pairs: int):
    return lambda edges: (edges[:, seed % pairs :].sum(axis=1) % 2).astype(int)


def true_optimum(function, graph: np.ndarray) -> int | None:
    own = function(graph[None])[0]
    for size in range(1, graph.size + 1):
        chosen = np.array(list(combinations(range(graph.size), size)))
        candidates = np.repeat(graph[None], len(chosen), axis=0)
        candidates[np.arange(len(chosen))[:, None], chosen] ^= True
        if (function(candidates) != own).any():
            return size
    return None


def changed(result: cg.Counterfactual) -> np.ndarray:
    assert result.edges is not None
    return result.edges[None]


kinds = st.sampled_from([linear, hashed, parity])


@given(kinds, st.integers(0, 999), st.lists(st.booleans(), min_size=SMALL_PAIRS, max_size=SMALL_PAIRS))
@settings(max_examples=25)
def test_it_finds_the_optimum_where_the_budget_allows_to_ask_everything(kind, seed: int, bits: list[bool]) -> None:
    function, graph = kind(seed, SMALL_PAIRS), np.array(bits)
    result = cg.find_counterfactual(box(function), graph, "learned", max_calls=ALL, seed=seed)
    assert result.distance == true_optimum(function, graph)
    assert result.calls <= ALL


@given(st.sets(st.integers(0, 9), min_size=1), st.integers(0, 999))
@settings(max_examples=25)
def test_it_finds_the_only_counterfactual_of_all(wanted: set[int], seed: int) -> None:
    """One graph of 1024 is of another class: nothing but asking everything finds it, and the budget allows for that."""
    graph = np.random.default_rng(seed).random(10) < 0.5
    only = graph.copy()
    only[sorted(wanted)] ^= True
    oracle = box(lambda edges: (edges == only).all(axis=1).astype(int))
    result = cg.find_counterfactual(oracle, graph, "learned", max_calls=2000, seed=seed)
    assert result.distance == len(wanted)


@given(kinds, st.integers(0, 999), st.integers(1, 4))
@settings(max_examples=25)
def test_the_same_seed_gives_the_same_run(kind, seed: int, runs: int) -> None:
    graphs, function = random_graphs(5, 8, seed=seed), kind(seed, 28)
    options = {"method": "learned", "seed": seed, "runs": runs, "max_calls": 60}
    first, second = (cg.find_counterfactuals(box(function), graphs, **options) for _ in range(2))
    assert [each.to_dict() for each in first] == [each.to_dict() for each in second]


def test_the_pace_of_a_slow_black_box_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, function = random_graphs(9, 10, seed=4), linear(4, 45)
    fast = cg.find_counterfactuals(box(function), graphs, "learned")
    monkeypatch.setattr("countergraph.search.driver._Pace.took", lambda self, asked, seconds: None)
    slow = cg.find_counterfactuals(box(function), graphs, "learned")
    assert [each.to_dict() for each in fast] == [each.to_dict() for each in slow]


@pytest.mark.parametrize("kind", [linear, hashed, parity])
def test_it_is_no_worse_than_ofs_and_obs_with_as_many_calls(kind) -> None:
    graphs, function = random_graphs(40, 20, seed=2, density=0.3), kind(5, 190)
    ours = cg.find_counterfactuals(box(function), graphs, "learned", max_calls=1000)
    theirs = cg.find_counterfactuals(box(function), graphs, "ofs+obs", max_calls=1000)
    assert len(ours.found) == len(graphs)
    reached = [
        min((distance for calls, distance in their.trace if calls <= our.calls), default=graphs.shape[1])
        for our, their in zip(ours, theirs, strict=True)
    ]
    for quantile in (0.1, 0.25, 0.5, 0.75):
        assert np.quantile([each.distance for each in ours], quantile) <= np.quantile(reached, quantile)
    assert np.mean([each.distance for each in ours]) <= np.mean(reached)


def spectral(data: cg.GraphDataset) -> cg.Oracle:
    """Measure the graph as a whole: no pair decides, and those at the hubs count most."""

    def largest(edges: np.ndarray) -> np.ndarray:
        return np.linalg.eigvalsh(to_adjacency(edges).astype(np.float64))[:, -1]

    median = np.median(largest(data.edges))
    return box(lambda edges: (largest(edges) > median).astype(int))


@pytest.mark.parametrize("company", [True, False])
def test_what_measures_the_whole_graph_is_changed_where_it_counts(company: bool) -> None:
    data = cg.make_cohort(40)
    theirs = cg.find_counterfactuals(spectral(data), data, "ofs+obs")
    if company:
        ours = list(cg.find_counterfactuals(spectral(data), data, "learned"))
    else:
        ours = [cg.find_counterfactual(spectral(data), graph, "learned") for graph in data.edges]
    for quantile in (0.5, 0.75, 0.9):
        reached = np.quantile([each.distance for each in theirs], quantile)
        assert np.quantile([each.distance for each in ours], quantile) <= 0.75 * reached
    assert np.median([each.calls for each in ours]) < 0.5 * np.median([each.calls for each in theirs])


def test_what_one_graph_taught_helps_the_others() -> None:
    graphs, function = random_graphs(40, 30, seed=3, density=0.2), linear(8, 435)
    together = cg.find_counterfactuals(box(function), graphs, "learned")
    alone = [cg.find_counterfactual(box(function), graph, "learned") for graph in graphs]
    assert np.mean([each.distance for each in together]) < np.mean([each.distance for each in alone])
    assert np.median([each.calls for each in together]) < np.median([each.calls for each in alone])


def test_three_pairs_out_of_6670() -> None:
    graphs = random_graphs(20, 116, seed=5, density=0.1)
    results = cg.find_counterfactuals(box(lambda e: e[:, [7, 700, 6000]].any(axis=1).astype(int)), graphs, "learned")
    for graph, result in zip(graphs, results, strict=True):
        assert result.found
        assert result.distance == max(1, int(graph[[7, 700, 6000]].sum()))


def test_a_constant_black_box_is_given_up() -> None:
    results = cg.find_counterfactuals(box(lambda e: np.zeros(len(e), dtype=int)), random_graphs(5, 30, 1), "learned")
    assert {each.stopped for each in results} == {"not found"}
    assert max(each.calls for each in results) < 300


@given(st.integers(0, 500))
def test_costs_are_minimised_where_all_can_be_asked(seed: int) -> None:
    rng, function, graph = np.random.default_rng(seed), linear(seed, 10), random_graphs(1, 5, seed=seed)[0]
    costs, own = np.exp(rng.normal(size=10)), function(graph[None])[0]
    sets = ((np.arange(1, 1024)[:, None] >> np.arange(10)) & 1).astype(bool)
    crossing = sets[function(sets ^ graph) != own]
    result = cg.find_counterfactual(box(function), graph, "learned", constraints=cg.Constraints(cost=costs))
    assert result.found == bool(len(crossing))
    if result.found:
        assert result.cost == pytest.approx((crossing @ costs).min())


def test_a_slow_black_box_and_a_time_limit() -> None:
    def slow(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.1)
        return (edges.sum(axis=1) > 90).astype(int)

    began = time.monotonic()
    results = cg.find_counterfactuals(box(slow), random_graphs(3, 30, 1, 0.2), "learned", time_limit=1.5)
    assert time.monotonic() - began < 3
    assert all(each.stopped in ("time_limit", "finished") for each in results)


def test_a_target_and_three_classes() -> None:
    def three(edges: np.ndarray) -> np.ndarray:
        return np.digitize(edges.sum(axis=1), [13, 16])

    graphs = random_graphs(12, 9, seed=1, density=0.4)
    for target in (0, 1, 2):
        for result in cg.find_counterfactuals(box(three), graphs, "learned", target=target):
            if result.original_class != target:
                assert result.counterfactual_class == target
                assert three(changed(result))[0] == target


def test_of_several_classes_the_nearer_is_reached() -> None:
    rng, rates = np.random.default_rng(0), np.full((3, 300), 0.15)
    for rate in rates:
        rate[rng.choice(300, 25, replace=False)] = 0.6
    labels = np.arange(45) % 3
    data = cg.GraphDataset(rng.random((45, 300)) < rates[labels], labels, classes=("a", "b", "c"))
    model = LogisticRegression().fit(data.edges, data.labels)
    to = {name: cg.find_counterfactuals(model, data, dataset=data, target=name) for name in data.classes}
    best = [
        min(each.distance or 99 for each in found if each.distance != 0) for found in zip(*to.values(), strict=True)
    ]
    free = [each.distance or 99 for each in cg.find_counterfactuals(model, data, dataset=data)]
    assert np.mean(free) <= 1.06 * np.mean(best), (
        "it took 1.13 times as many while it went away from its own class only"
    )


def test_a_class_that_nobody_knew_may_be_reached() -> None:
    weights = np.random.default_rng(0).normal(size=(5, 66))
    graphs = random_graphs(40, 12, seed=4)

    def five(edges: np.ndarray) -> np.ndarray:
        return np.asarray((edges @ weights.T).argmax(axis=1))

    for hidden in range(5):
        results = cg.find_counterfactuals(box(five), graphs[five(graphs) != hidden], max_calls=100)
        assert len(results.found) == len(results)


def test_searching_one_graph_more_often_does_not_lead_it_astray() -> None:
    data = cg.make_cohort(n_subjects=40, n_rois=40)
    model = LogisticRegression().fit(data.edges, data.labels)
    once, often = (
        [cg.find_counterfactuals(model, data.subset([i]), dataset=data, runs=n).closest() for i in range(0, 40, 8)]
        for n in (1, 6)
    )
    assert np.mean([each.distance for each in often if each]) <= np.mean([each.distance for each in once if each])


def test_the_account_is_complete() -> None:
    oracle, graphs = box(linear(2, 66)), random_graphs(15, 12, seed=9)
    results = cg.find_counterfactuals(oracle, graphs, "learned", runs=2)
    assert results.calls == oracle.asked == sum(each.calls for each in results)
    assert results.amortised_calls == results.calls / 30
    assert cg.find_counterfactuals(oracle, graphs[:0], "learned").amortised_calls == 0


def test_an_answer_moves_only_what_it_is_about() -> None:
    memory = Memory(45)
    guide = Guide(memory, np.zeros(45, dtype=bool), 0, None)
    Guide(memory, np.ones(45, dtype=bool), 1, None)
    memory.answers = 1000  # so that two more are no reason to compute the frequencies anew
    before = guide.gains()
    for flips, flipped in (([1, 2, 3], True), ([1, 2, 4, 5, 6, 7, 8, 9, 10], False)):
        guide.learn(Answer(np.array(flips), flipped))
    moved = np.flatnonzero(guide.gains() != before)
    assert moved.tolist() == [3, 4, 5, 6, 7, 8, 9, 10]
    assert guide.gains()[3] > before[3]
    assert (guide.doubts()[moved] < 1).all()


def test_what_was_never_looked_at_does_not_speak_for_zero() -> None:
    """Of the pairs inside a set of regions every second one is known to matter as much as any other."""
    n, rng = 80, np.random.default_rng(0)
    first, second = pair_ends(n)
    inside = np.flatnonzero((first < 40) & (second < 40))
    known = rng.permutation(inside)[::2]
    memory = Memory(first.size)
    guide = Guide(memory, np.zeros(first.size, dtype=bool), 0, None)
    memory._learned[0][known], memory.doubt[known] = -1, 0
    for answers in range(10):
        memory.answers = 2**answers
        guide.gains()
    unknown = np.setdiff1d(inside, known)
    plain = -Smoother(first.size)(memory._learned[0])[unknown].mean()
    assert 0.3 < plain < 0.5
    assert plain + 0.04 < guide.gains()[unknown].mean() < 1
    assert np.abs(np.delete(guide.gains(), inside)).mean() < 0.1


@given(st.integers(0, 999), st.integers(1, 30))
def test_as_many_are_needed_as_do_the_same(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    gains, flips = rng.normal(size=60), rng.choice(60, size, replace=False)
    order = np.sort(gains)[::-1]
    needed = as_many(gains, flips)
    assert 1 <= needed <= size
    assert needed == size or order[:needed].sum() >= gains[flips].sum()
    assert needed == 1 or order[: needed - 1].sum() < gains[flips].sum()


def test_luck_finds_the_way_that_pays() -> None:
    luck, rng = Bandit(), np.random.default_rng(0)
    for _ in range(200):
        way = luck.pick(3, rng)
        luck.tell(way, way == 1)
    assert np.mean([luck.pick(3, rng) == 1 for _ in range(100)]) > 0.9
    for _ in range(2000):
        luck.tell(1, 0)
    assert np.mean([luck.pick(3, rng) == 1 for _ in range(100)]) < 0.5, "what paid once may not pay for ever"


@pytest.mark.slow
def test_published_rule_of_asd(asd: cg.GraphDataset, real_data: Path) -> None:
    """Over four seeds: processors round differently, and a last digit may send a whole run along another way."""
    above, calls, _ = against_the_optimum(asd, "asd", real_data, seeds=4)
    assert (above == 0).mean() >= 0.95
    assert above.mean() <= 0.2
    assert np.median(calls) <= 40


@pytest.mark.slow
def test_published_rule_of_adhd(adhd: cg.GraphDataset, real_data: Path) -> None:
    above, calls, optima = against_the_optimum(adhd, "adhd", real_data, seeds=1)
    assert above.mean() <= 0.015 * optima.mean()
    assert np.median(calls) <= 150


def against_the_optimum(
    data: cg.GraphDataset, cohort: str, root: Path, seeds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rule = load_published_rule(cohort, root=root)
    runs = [cg.find_counterfactuals(rule, data, "learned", seed=seed) for seed in range(seeds)]
    optima = np.array([cg.optimal_counterfactual(rule, graph).distance for graph in data.edges])
    distances, calls = (
        np.array([[getattr(each, name) for each in run] for run in runs]) for name in ("distance", "calls")
    )
    return distances - optima, calls, optima
