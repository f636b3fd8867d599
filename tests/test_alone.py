"""One graph alone: with nothing to learn from but its own answers, or with the labels of a dataset as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.svm import LinearSVC

import countergraph as cg
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.graphs.pairs import degrees_of, pair_ends, roi_count
from countergraph.search.learning.bayesian_shrinking import sifted
from countergraph.search.learning.degree_bias import contrasted, levelled
from countergraph.search.learning.guide import Guide
from countergraph.search.learning.memory import Memory
from countergraph.search.learning.probit_surrogate import AT_A_REGION, OF_A_KIND, ProbitSurrogate
from countergraph.search.learning.random_shrinking import winnowed
from countergraph.search.limits import Limits
from countergraph.search.protocol import Answer, Flips, Part, Task
from tests.conftest import random_graphs


def test_one_graph_alone_needs_no_dataset(cohort: cg.GraphDataset, model: cg.Model) -> None:
    graphs = cohort.edges[:10]
    ours = [cg.find_counterfactual(model, graph, "learned") for graph in graphs]
    theirs = [cg.find_counterfactual(model, graph, "ofs+obs") for graph in graphs]
    assert np.mean([each.distance for each in ours]) <= np.mean([each.distance for each in theirs])


@pytest.mark.parametrize("far", [30, 60])
def test_one_graph_alone_far_from_the_boundary_takes_half_of_the_calls(far: int) -> None:
    weights = np.random.default_rng(6).normal(size=1770)
    graphs = random_graphs(10, 60, seed=6, density=0.2)
    oracle = cg.Oracle(lambda edges: (edges @ weights > far).astype(int), input="edges")
    ours, theirs = (
        [cg.find_counterfactual(oracle, graph, method, seed=seed) for seed in range(3) for graph in graphs]
        for method in ("learned", "ofs+obs")
    )
    assert all(each.found for each in ours)
    assert np.median([each.calls for each in ours]) <= np.median([each.calls for each in theirs]) / 2
    pairs = [(our.distance, their.distance) for our, their in zip(ours, theirs, strict=True) if their.found]
    assert len(pairs) >= 10
    assert np.mean([our for our, _ in pairs]) <= 1.1 * np.mean([their for _, their in pairs])


def test_one_graph_alone_of_a_box_that_changes_its_mind_easily(cohort: cg.GraphDataset) -> None:
    """Almost any few changes do: whoever looks close to the graph first finds them at once."""

    def fickle(edges: np.ndarray) -> np.ndarray:
        return np.array([crc32(row.tobytes()) % 8 == 0 for row in edges]).astype(int)

    oracle = cg.Oracle(fickle, input="edges")
    ours, theirs = (
        [cg.find_counterfactual(oracle, graph, method, max_calls=60) for graph in cohort.edges]
        for method in ("learned", "ofs+obs")
    )
    assert np.median([each.trace[0][1] for each in ours]) < 20, "the first that is found"
    assert np.median([each.distance for each in ours]) < 0.6 * np.median([each.distance for each in theirs])
    assert np.median([each.calls for each in ours]) < 0.6 * np.median([each.calls for each in theirs])


def test_one_graph_alone_of_a_box_that_looks_at_everything(real_data: Path) -> None:
    """Thousands of pairs do a little each: what is learned of them must add up."""
    data = cg.load_dataset("asd", root=real_data)
    svm = LinearSVC(random_state=0).fit(data.edges, data.labels)
    graphs = data.edges[::10]
    ours, theirs = (
        [cg.find_counterfactual(svm, graph, method) for graph in graphs] for method in ("learned", "ofs+obs")
    )
    assert np.median([each.distance for each in ours]) < np.median([each.distance for each in theirs])
    assert np.median([each.calls for each in ours]) < np.median([each.calls for each in theirs]) / 2


def test_one_graph_with_a_dataset_is_not_misled_by_its_labels(real_data: Path) -> None:
    data, rule = cg.load_dataset("asd", root=real_data), load_published_rule("asd", root=real_data)
    some = data.subset(range(0, 101, 5))
    theirs = cg.find_counterfactuals(rule, some, "ofs+obs", data)
    ours = [cg.find_counterfactuals(rule, data.subset([name]), "learned", data)[0] for name in some.names]
    # Followed blindly, the labels lead 1.6 times as far; a tenth is what a processor's rounding may do to one seed.
    assert np.mean([each.distance for each in ours]) <= 1.1 * np.mean([each.distance for each in theirs])
    assert np.mean([each.calls for each in ours]) <= 0.7 * np.mean([each.calls for each in theirs])


def test_many_runs_of_one_graph_are_no_company(real_data: Path) -> None:
    """They know the same labels, so they may all be misled: each looks a second time, as one run does."""
    data, rule = cg.load_dataset("asd", root=real_data), load_published_rule("asd", root=real_data)
    some = range(0, 101, 20)
    optima = [cg.optimal_counterfactual(rule, data.edges[i]).distance for i in some]
    found = [cg.find_counterfactuals(rule, data.subset([i]), "learned", data, runs=6).closest() for i in some]
    assert np.mean([each.distance for each in found if each is not None]) <= np.mean(optima) + 0.2


def answered(search: Part, crosses: Callable[[Flips], bool]) -> tuple[Flips, list[tuple[Flips, bool]]]:
    """Answer a part of a search to its end; return what it found, and all that it asked."""
    told: list[tuple[Flips, bool]] = []
    try:
        candidate = next(search)
        while True:
            told.append((candidate, crosses(candidate)))
            candidate = search.send(Answer(candidate, told[-1][1]))
    except StopIteration as end:
        return end.value, told


def task_of(graph: np.ndarray, seed: int, limits: Limits | None = None) -> Task:
    guide = Guide(Memory(graph.size), graph, 0, None)
    return Task(graph, 0, 5, 2000, np.random.default_rng(seed), limits=limits or Limits(), guide=guide)


@given(st.integers(0, 9999), st.floats(0, 1))
def test_slanted_orders_hold_every_flip_that_is_allowed_once(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    graph, allowed = rng.random(190) < density, rng.random(190) < 0.7
    for order in (contrasted, levelled):
        flips = order(task_of(graph, seed, Limits(allowed=allowed)))
        assert sorted(flips) == np.flatnonzero(allowed).tolist()


def test_slanted_orders_give_to_the_hubs_or_take_from_them(cohort: cg.GraphDataset) -> None:
    first, second = pair_ends(cohort.n_rois)
    for graph in cohort.edges:
        ends = degrees_of(graph)[first] + degrees_of(graph)[second]
        for order, sign in ((contrasted, 1), (levelled, -1)):
            flips = order(task_of(graph, seed=0))[:50]
            added, removed = flips[~graph[flips]], flips[graph[flips]]
            assert added.size
            assert removed.size
            assert sign * (ends[added].mean() - ends[~graph].mean()) > 0
            assert sign * (ends[removed].mean() - ends[graph].mean()) < 0


def test_one_graph_alone_of_a_box_that_looks_at_hubs() -> None:
    """What matters is at the region with the most connections: random flips anywhere are rarely there."""
    graphs = random_graphs(30, 60, seed=2, density=0.15)
    hubs = {graph.tobytes(): degrees_of(graph).argmax() for graph in graphs}
    first, second = pair_ends(60)

    def questions(seed: int) -> int:
        total = 0
        for graph in graphs:
            at_hub = (first == hubs[graph.tobytes()]) | (second == hubs[graph.tobytes()])
            oracle = cg.Oracle(
                lambda edges, g=graph, h=at_hub: ((edges != g) & h).any(axis=1).astype(int), input="edges"
            )
            result = cg.find_counterfactual(oracle, graph, "learned", seed=seed)
            assert result.distance == 1
            total += result.calls
        return total

    assert sum(questions(seed) for seed in range(3)) / 90 < 10, "anywhere, one flip in thirty is there"


@given(seed=st.integers(0, 999), needed=st.sets(st.integers(0, 199), min_size=1, max_size=5), few=st.booleans())
def test_winnowing_keeps_what_is_needed_and_comes_to_an_end(seed: int, needed: set[int], few: bool) -> None:
    flips = np.array(sorted(needed | {200})) if few else np.arange(200)
    task = task_of(np.zeros(1770, dtype=bool), seed)
    found, told = answered(winnowed(task, flips), lambda candidate: needed <= set(candidate.tolist()))
    best = flips
    for candidate, crossed in told:
        assert np.isin(candidate, best).all()
        assert 0 < candidate.size < best.size, "what is known is not asked"
        best = candidate if crossed else best
    assert found is best
    assert len(told) < 200
    assert best.size < 100


def test_winnowing_may_stop_where_only_little_can_be_undone() -> None:
    """All changes are needed, so the chunks get smaller and smaller."""
    task, flips = task_of(np.zeros(1770, dtype=bool), 0), np.arange(400)
    _, fine = answered(winnowed(task, flips), lambda candidate: candidate.size == 400)
    whole, coarse = answered(winnowed(task, flips, 1 / 16), lambda candidate: candidate.size == 400)
    assert whole is flips
    assert min(candidate.size for candidate, _ in coarse) < 310
    assert len(coarse) < len(fine)
    assert max(candidate.size for candidate, _ in coarse) <= 400 - 400 // 16


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("costly", [False, True])
def test_sifting_finds_a_closer_set_that_crosses(seed: int, costly: bool) -> None:
    rng = np.random.default_rng(seed)
    graph, flips = rng.random(1770) < 0.3, rng.permutation(1770)[:300]
    gains = np.where(graph, 0.5, 0.1) + rng.standard_normal(1770)
    limits = Limits(costs=rng.random(1770) + 0.5) if costly else Limits()
    needed = 0.8 * gains[flips].sum()
    assert needed > 0
    search = sifted(task_of(graph, seed, limits), ProbitSurrogate(flips, graph), flips)
    found, told = answered(search, lambda candidate: bool(gains[candidate].sum() > needed))
    assert gains[found].sum() > needed
    assert np.isin(found, flips).all()
    assert limits.cost(found) < 0.55 * limits.cost(flips)
    asked = [limits.cost(candidate) for candidate, _ in told]
    assert max(asked) < limits.cost(flips), "nothing is asked that is no closer"
    assert 0.2 < np.mean([crossed for _, crossed in told]) < 0.9, "every answer tells something"


@given(st.integers(0, 9999), st.integers(1, 300))
def test_the_same_changes_in_another_order_are_no_cheaper(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    best, limits = rng.permutation(1770)[:size], Limits(costs=rng.random(1770) + 0.5)
    assert limits.cheaper(rng.permutation(best), best).size < size


def test_sifting_gets_away_from_a_lucky_start() -> None:
    """Winnowing halved the changes by luck; nothing says yet which of them did it."""
    rng = np.random.default_rng(0)
    graph = rng.random(6670) < 0.3
    flips, gains = rng.permutation(6670)[:2000], rng.standard_normal(6670) + 0.05
    start = flips[np.argsort(-(gains[flips] + 3 * rng.standard_normal(2000)))][:1000]
    needed = gains[start].sum() - 1
    assert needed > 1.5 * gains[flips].sum()
    look = ProbitSurrogate(flips, graph)
    look.learn(start, True)
    found, _ = answered(sifted(task_of(graph, 0), look, start), lambda candidate: bool(gains[candidate].sum() > needed))
    assert found.size < 500


def test_sifting_ends_where_nothing_can_be_spared() -> None:
    graph, flips = np.zeros(1770, dtype=bool), np.arange(60)
    found, told = answered(sifted(task_of(graph, 0), ProbitSurrogate(flips, graph), flips), lambda candidate: False)
    assert found is flips
    assert 4 <= len(told) <= 10


def dense(graph: np.ndarray, flips: Flips, told: list[tuple[Flips, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariances of the close look, written down with a whole matrix."""
    size = flips.size
    mean, cov = np.zeros(size + 1), np.eye(size + 1)
    traits = np.zeros((size, roi_count(graph.size) + 2))
    for ends in pair_ends(roi_count(graph.size)):
        traits[np.arange(size), ends[flips]] = np.where(graph[flips], -AT_A_REGION, AT_A_REGION)
    traits[:, -2:] = OF_A_KIND * np.stack([graph[flips], ~graph[flips]], axis=1)
    cov[:-1, :-1] += traits @ traits.T
    cov[-1, -1] = size**2
    for chosen, crossed in [(flips, True), (flips[:0], False), *told]:
        row = np.append(np.isin(flips, chosen), -1.0) * (1 if crossed else -1)
        variance, level = row @ cov @ row, row @ mean
        z = level / np.sqrt(variance)
        pull = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / ndtr(z)
        mean, cov = (
            mean + pull / np.sqrt(variance) * cov @ row,
            cov - pull * (pull + z) / variance * np.outer(cov @ row, cov @ row),
        )
    return mean, cov


@given(st.integers(0, 9999), st.integers(2, 12), st.integers(0, 80))
def test_the_close_look_is_a_gaussian_and_may_forget_some_of_it(seed: int, size: int, answers: int) -> None:
    rng = np.random.default_rng(seed)
    graph, flips = rng.random(45) < 0.5, rng.permutation(45)[:size]
    gains = rng.standard_normal(45)
    sets = [rng.permutation(flips)[: rng.integers(1, size + 1)] for _ in range(answers)]
    told = [(each, bool(gains[each].sum() > 1)) for each in sets]
    look = ProbitSurrogate(flips, graph)
    for each, crossed in told:
        look.learn(each, crossed)
    mean, cov = dense(graph, flips, told)
    np.testing.assert_allclose(look.means, mean[:-1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(look.doubts, np.sqrt(cov.diagonal()[:-1]), rtol=1e-3, atol=1e-3)
    order = rng.permutation(flips)
    for length, level in enumerate(look.levels(order), start=1):
        row = np.append(np.isin(flips, order[:length]), -1.0)
        assert level == pytest.approx(row @ mean, abs=1e-3)
        assert look.chance(order[:length]) == pytest.approx(ndtr(row @ mean / np.sqrt(row @ cov @ row)), abs=1e-3)
    kept = order[: max(1, size // 2)]
    levels, chance = look.levels(kept), look.chance(kept)
    look.forget_but(kept)
    np.testing.assert_allclose(look.levels(kept), levels, atol=1e-9)
    assert look.chance(kept) == pytest.approx(chance, abs=1e-9)
    assert look.flips is kept
    assert look.means.size == look.doubts.size == kept.size
