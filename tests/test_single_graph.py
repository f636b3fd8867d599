"""The learned search for a single graph: without other data, or with the labels of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import countergraph as cg
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.graphs.pairs import degrees_of, pair_ends
from countergraph.search.learned.experts import less_degree_contrast, more_degree_contrast
from countergraph.search.learned.single import MAX_PROBES, probe_all_sizes, probe_growing_sets, random_shrinking
from countergraph.search.limits import Limits
from countergraph.search.protocol import Answer, Ask, Attempt, Flips, Part
from tests.conftest import learned_task, random_graphs


def test_no_dataset_is_needed(cohort: cg.GraphDataset, model: cg.Model) -> None:
    graphs = cohort.edges[:10]
    learned = [cg.find_counterfactual(model, graph, "learned") for graph in graphs]
    ofs_obs = [cg.find_counterfactual(model, graph, "ofs+obs") for graph in graphs]
    assert np.mean([each.distance for each in learned]) <= np.mean([each.distance for each in ofs_obs])


@pytest.mark.parametrize("threshold", [30, 60])
def test_far_from_the_decision_boundary_half_of_the_calls_are_enough(threshold: int) -> None:
    weights = np.random.default_rng(6).normal(size=1770)
    graphs = random_graphs(10, 60, seed=6, density=0.2)
    oracle = cg.Oracle(lambda edges: (edges @ weights > threshold).astype(int), input="edges")
    learned, ofs_obs = (
        [
            cg.find_counterfactual(oracle, graph, method, seed=seed, effort="quick")
            for seed in range(3)
            for graph in graphs
        ]
        for method in ("learned", "ofs+obs")
    )
    assert all(each.found for each in learned)
    assert np.median([each.calls for each in learned]) <= np.median([each.calls for each in ofs_obs]) / 2
    distances = [(ours.distance, other.distance) for ours, other in zip(learned, ofs_obs, strict=True) if other.found]
    assert len(distances) >= 10
    assert np.mean([ours for ours, _ in distances]) <= 1.2 * np.mean([other for _, other in distances])


def test_black_box_whose_class_changes_easily(cohort: cg.GraphDataset) -> None:
    """Most small sets of changes are counterfactuals, so a search that starts close to the graph finds one early."""

    def one_in_eight(edges: np.ndarray) -> np.ndarray:
        return np.array([crc32(row.tobytes()) % 8 == 0 for row in edges]).astype(int)

    oracle = cg.Oracle(one_in_eight, input="edges")
    learned, ofs_obs = (
        [cg.find_counterfactual(oracle, graph, method, max_calls=60, effort="quick") for graph in cohort.edges]
        for method in ("learned", "ofs+obs")
    )
    assert np.median([each.trace[0][1] for each in learned]) < 20, "distance of the first counterfactual"
    assert np.median([each.distance for each in learned]) < 0.6 * np.median([each.distance for each in ofs_obs])
    assert np.median([each.calls for each in learned]) < 0.6 * np.median([each.calls for each in ofs_obs])


def test_black_box_with_small_weights_for_all_pairs(real_data: Path) -> None:
    """Thousands of pairs have a small effect each, so their estimated effects must add up."""
    data = cg.load_dataset("asd", root=real_data)
    svm = LinearSVC(random_state=0).fit(data.edges, data.labels)
    graphs = data.edges[::10]
    learned, ofs_obs = (
        [cg.find_counterfactual(svm, graph, method, effort="quick") for graph in graphs]
        for method in ("learned", "ofs+obs")
    )
    assert np.median([each.distance for each in learned]) < np.median([each.distance for each in ofs_obs])
    assert np.median([each.calls for each in learned]) < np.median([each.calls for each in ofs_obs]) / 2


def test_labels_that_differ_from_the_classes_do_not_mislead_the_search(real_data: Path) -> None:
    data, rule = cg.load_dataset("asd", root=real_data), load_published_rule("asd", root=real_data)
    some = data.subset(range(0, 101, 5))
    ofs_obs = cg.find_counterfactuals(rule, some, "ofs+obs", data)
    learned = [
        cg.find_counterfactuals(rule, data.subset([name]), "learned", data, effort="standard")[0] for name in some.names
    ]
    # A search that relies on the labels only has 1.6 times the distance. A tolerance of 10% covers the effect of
    # rounding differences between processors on one seed.
    assert np.mean([each.distance for each in learned]) <= 1.1 * np.mean([each.distance for each in ofs_obs])
    assert np.mean([each.calls for each in learned]) < np.mean([each.calls for each in ofs_obs])


def test_several_runs_of_one_graph_are_not_a_joint_run_of_several_graphs(real_data: Path) -> None:
    """All runs use the same labels, so all may be misled."""
    data, rule = cg.load_dataset("asd", root=real_data), load_published_rule("asd", root=real_data)
    some = range(0, 101, 20)
    optima = [cg.optimal_counterfactual(rule, data.edges[i]).distance for i in some]
    found = [cg.find_counterfactuals(rule, data.subset([i]), "learned", data, runs=6).closest() for i in some]
    assert np.mean([each.distance for each in found if each is not None]) <= np.mean(optima) + 0.2


def run_part(
    search: Part | Attempt, is_counterfactual: Callable[[Flips], bool]
) -> tuple[Any, list[tuple[Flips, bool]]]:
    """Run a part of a search to its end; return its result, and all candidates with their answers."""
    answers: list[tuple[Flips, bool]] = []
    try:
        message = next(search)
        while True:
            assert isinstance(message, Ask)
            answers.append((message.flips, is_counterfactual(message.flips)))
            message = search.send(Answer(*answers[-1]))
    except StopIteration as end:
        return end.value, answers


@given(st.integers(0, 9999), st.floats(0, 1))
def test_degree_biased_orders_contain_every_allowed_flip_once(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    graph, allowed = rng.random(190) < density, rng.random(190) < 0.7
    for order in (more_degree_contrast, less_degree_contrast):
        flips = order(learned_task(graph, seed, Limits(allowed=allowed)), None)
        assert sorted(flips) == np.flatnonzero(allowed).tolist()


def test_degree_biased_orders_prefer_rois_of_high_or_low_degree(cohort: cg.GraphDataset) -> None:
    first, second = pair_ends(cohort.n_rois)
    for graph in cohort.edges:
        degree_sums = degrees_of(graph)[first] + degrees_of(graph)[second]
        for order, sign in ((more_degree_contrast, 1), (less_degree_contrast, -1)):
            flips = order(learned_task(graph, seed=0), None)[:50]
            added, removed = flips[~graph[flips]], flips[graph[flips]]
            assert added.size
            assert removed.size
            assert sign * (degree_sums[added].mean() - degree_sums[~graph].mean()) > 0
            assert sign * (degree_sums[removed].mean() - degree_sums[graph].mean()) < 0


def test_black_box_that_depends_on_the_hub_only() -> None:
    """Only pairs of the ROI with the highest degree matter, and few uniformly random flips are such pairs."""
    graphs = random_graphs(30, 60, seed=2, density=0.15)
    hubs = {graph.tobytes(): degrees_of(graph).argmax() for graph in graphs}
    first, second = pair_ends(60)

    def total_calls(seed: int) -> int:
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

    assert sum(total_calls(seed) for seed in range(3)) / 90 < 10, "one of thirty pairs is at the hub"


@given(seed=st.integers(0, 999), needed=st.sets(st.integers(0, 199), min_size=1, max_size=5), few=st.booleans())
def test_random_shrinking_keeps_the_needed_changes_and_ends(seed: int, needed: set[int], few: bool) -> None:
    flips = np.array(sorted(needed | {200})) if few else np.arange(200)
    task = learned_task(np.zeros(1770, dtype=bool), seed)
    found, answers = run_part(random_shrinking(task, flips), lambda candidate: needed <= set(candidate.tolist()))
    best = flips
    for candidate, flipped in answers:
        assert np.isin(candidate, best).all()
        assert 0 < candidate.size < best.size, "a known answer is not requested again"
        best = candidate if flipped else best
    assert found is best
    assert len(answers) < 200
    assert best.size < 100


def test_random_shrinking_ends_if_all_changes_are_needed() -> None:
    """The chunks become smaller and smaller, and the number of attempts grows with the number of changes."""
    task, flips = learned_task(np.zeros(1770, dtype=bool), 0), np.arange(400)
    found, answers = run_part(random_shrinking(task, flips), lambda candidate: candidate.size == 400)
    assert found is flips
    assert len(answers) == np.ceil(task.patience(flips))
    sizes = [candidate.size for candidate, _ in answers]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (300, 396), "from a quarter to a hundredth of the changes"


def test_random_sets_grow_until_they_contain_every_flip() -> None:
    task = learned_task(random_graphs(1, 12, seed=4)[0], 0)
    found, answers = run_part(probe_growing_sets(task), lambda candidate: False)
    assert found is None
    sizes = [candidate.size for candidate, _ in answers]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (1, 66)
    assert all(np.unique(candidate).size == candidate.size for candidate, _ in answers)
    assert len({candidate.tobytes() for candidate, _ in answers if candidate.size > 1}) == sum(np.array(sizes) > 1)
    found, answers = run_part(probe_growing_sets(task), lambda candidate: candidate.size >= 9)
    assert found.tolist() == answers[-1][0].tolist(), "the first counterfactual ends the step"


@pytest.mark.parametrize("n_searches", [1, 5])
def test_searches_share_the_probes_of_a_constant_black_box(n_searches: int) -> None:
    task = learned_task(random_graphs(1, 12, seed=4)[0], 0)
    state = task.guide.state
    state.n_searches = n_searches
    found, answers = run_part(probe_all_sizes(task), lambda candidate: False)
    assert found is None
    assert 0.95 * MAX_PROBES < n_searches * len(answers) <= MAX_PROBES, "an empty set is not classified"
    state.counterfactuals[0] = (task.guide, np.arange(1), 1)
    assert len(run_part(probe_all_sizes(task), lambda candidate: False)[1]) > 0.95 * MAX_PROBES
    found, _ = run_part(probe_all_sizes(task), lambda candidate: candidate.size >= 20)
    assert found.size == 20, "the first counterfactual is bisected"


@given(st.integers(0, 9999), st.integers(1, 300))
def test_the_same_changes_in_another_order_do_not_cost_less(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    best, limits = rng.permutation(1770)[:size], Limits(costs=rng.random(1770) + 0.5)
    assert limits.prefix_below(rng.permutation(best), best).size < size
