"""The learned search for a single graph: without other data, or with the labels of a dataset."""

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
from countergraph.search.learning.bayesian_shrinking import bayesian_shrinking
from countergraph.search.learning.degree_bias import decrease_degree_contrast, increase_degree_contrast
from countergraph.search.learning.guide import Guide, GuidedTask
from countergraph.search.learning.probit_surrogate import ROI_STD, SIDE_STD, ProbitSurrogate
from countergraph.search.learning.random_shrinking import random_shrinking
from countergraph.search.learning.surrogate import SharedSurrogate
from countergraph.search.limits import Limits
from countergraph.search.options import SearchOptions
from countergraph.search.protocol import Answer, Ask, Flips, Part
from tests.conftest import random_graphs


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
        [cg.find_counterfactual(oracle, graph, method, seed=seed) for seed in range(3) for graph in graphs]
        for method in ("learned", "ofs+obs")
    )
    assert all(each.found for each in learned)
    assert np.median([each.calls for each in learned]) <= np.median([each.calls for each in ofs_obs]) / 2
    distances = [(ours.distance, other.distance) for ours, other in zip(learned, ofs_obs, strict=True) if other.found]
    assert len(distances) >= 10
    assert np.mean([ours for ours, _ in distances]) <= 1.1 * np.mean([other for _, other in distances])


def test_black_box_whose_class_changes_easily(cohort: cg.GraphDataset) -> None:
    """Most small sets of changes are counterfactuals, so a search that starts close to the graph finds one early."""

    def one_in_eight(edges: np.ndarray) -> np.ndarray:
        return np.array([crc32(row.tobytes()) % 8 == 0 for row in edges]).astype(int)

    oracle = cg.Oracle(one_in_eight, input="edges")
    learned, ofs_obs = (
        [cg.find_counterfactual(oracle, graph, method, max_calls=60) for graph in cohort.edges]
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
        [cg.find_counterfactual(svm, graph, method) for graph in graphs] for method in ("learned", "ofs+obs")
    )
    assert np.median([each.distance for each in learned]) < np.median([each.distance for each in ofs_obs])
    assert np.median([each.calls for each in learned]) < np.median([each.calls for each in ofs_obs]) / 2


def test_labels_that_differ_from_the_classes_do_not_mislead_the_search(real_data: Path) -> None:
    data, rule = cg.load_dataset("asd", root=real_data), load_published_rule("asd", root=real_data)
    some = data.subset(range(0, 101, 5))
    ofs_obs = cg.find_counterfactuals(rule, some, "ofs+obs", data)
    learned = [cg.find_counterfactuals(rule, data.subset([name]), "learned", data)[0] for name in some.names]
    # A search that relies on the labels only has 1.6 times the distance. A tolerance of 10% covers the effect of
    # rounding differences between processors on one seed.
    assert np.mean([each.distance for each in learned]) <= 1.1 * np.mean([each.distance for each in ofs_obs])
    assert np.mean([each.calls for each in learned]) <= 0.7 * np.mean([each.calls for each in ofs_obs])


def test_several_runs_of_one_graph_are_not_a_joint_run_of_several_graphs(real_data: Path) -> None:
    """All runs use the same labels, so all may be misled. Each repeats its search untrained, as a single run does."""
    data, rule = cg.load_dataset("asd", root=real_data), load_published_rule("asd", root=real_data)
    some = range(0, 101, 20)
    optima = [cg.optimal_counterfactual(rule, data.edges[i]).distance for i in some]
    found = [cg.find_counterfactuals(rule, data.subset([i]), "learned", data, runs=6).closest() for i in some]
    assert np.mean([each.distance for each in found if each is not None]) <= np.mean(optima) + 0.2


def run_part(search: Part, is_counterfactual: Callable[[Flips], bool]) -> tuple[Flips, list[tuple[Flips, bool]]]:
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


def make_task(graph: np.ndarray, seed: int, limits: Limits | None = None) -> GuidedTask:
    guide = Guide(SharedSurrogate(graph.size), graph, 0, None)
    return GuidedTask(graph, 0, SearchOptions(), np.random.default_rng(seed), limits=limits or Limits(), guide=guide)


@given(st.integers(0, 9999), st.floats(0, 1))
def test_degree_biased_orders_contain_every_allowed_flip_once(seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    graph, allowed = rng.random(190) < density, rng.random(190) < 0.7
    for order in (increase_degree_contrast, decrease_degree_contrast):
        flips = order(make_task(graph, seed, Limits(allowed=allowed)))
        assert sorted(flips) == np.flatnonzero(allowed).tolist()


def test_degree_biased_orders_prefer_rois_of_high_or_low_degree(cohort: cg.GraphDataset) -> None:
    first, second = pair_ends(cohort.n_rois)
    for graph in cohort.edges:
        degree_sums = degrees_of(graph)[first] + degrees_of(graph)[second]
        for order, sign in ((increase_degree_contrast, 1), (decrease_degree_contrast, -1)):
            flips = order(make_task(graph, seed=0))[:50]
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
    task = make_task(np.zeros(1770, dtype=bool), seed)
    found, answers = run_part(random_shrinking(task, flips), lambda candidate: needed <= set(candidate.tolist()))
    best = flips
    for candidate, flipped in answers:
        assert np.isin(candidate, best).all()
        assert 0 < candidate.size < best.size, "a known answer is not requested again"
        best = candidate if flipped else best
    assert found is best
    assert len(answers) < 200
    assert best.size < 100


def test_random_shrinking_ends_below_the_minimum_chunk() -> None:
    """All changes are needed, so the chunks become smaller and smaller."""
    task, flips = make_task(np.zeros(1770, dtype=bool), 0), np.arange(400)
    _, without_minimum = run_part(random_shrinking(task, flips), lambda candidate: candidate.size == 400)
    found, with_minimum = run_part(random_shrinking(task, flips, 1 / 16), lambda candidate: candidate.size == 400)
    assert found is flips
    assert min(candidate.size for candidate, _ in with_minimum) < 310
    assert len(with_minimum) < len(without_minimum)
    assert max(candidate.size for candidate, _ in with_minimum) <= 400 - 400 // 16


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("with_costs", [False, True])
def test_bayesian_shrinking_finds_a_closer_counterfactual(seed: int, with_costs: bool) -> None:
    rng = np.random.default_rng(seed)
    graph, flips = rng.random(1770) < 0.3, rng.permutation(1770)[:300]
    gains = np.where(graph, 0.5, 0.1) + rng.standard_normal(1770)
    limits = Limits(costs=rng.random(1770) + 0.5) if with_costs else Limits()
    threshold = 0.8 * gains[flips].sum()
    assert threshold > 0
    search = bayesian_shrinking(make_task(graph, seed, limits), ProbitSurrogate(flips, graph), flips)
    found, answers = run_part(search, lambda candidate: bool(gains[candidate].sum() > threshold))
    assert gains[found].sum() > threshold
    assert np.isin(found, flips).all()
    assert limits.cost(found) < 0.55 * limits.cost(flips)
    costs = [limits.cost(candidate) for candidate, _ in answers]
    assert max(costs) < limits.cost(flips), "every candidate is closer than the start"
    assert 0.2 < np.mean([flipped for _, flipped in answers]) < 0.9, "every answer is informative"


@given(st.integers(0, 9999), st.integers(1, 300))
def test_the_same_changes_in_another_order_do_not_cost_less(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    best, limits = rng.permutation(1770)[:size], Limits(costs=rng.random(1770) + 0.5)
    assert limits.prefix_below(rng.permutation(best), best).size < size


def test_bayesian_shrinking_improves_a_start_that_the_surrogate_cannot_explain() -> None:
    """Random shrinking halved the changes, and no answer shows yet which of them have an effect."""
    rng = np.random.default_rng(0)
    graph = rng.random(6670) < 0.3
    flips, gains = rng.permutation(6670)[:2000], rng.standard_normal(6670) + 0.05
    start = flips[np.argsort(-(gains[flips] + 3 * rng.standard_normal(2000)))][:1000]
    threshold = gains[start].sum() - 1
    assert threshold > 1.5 * gains[flips].sum()
    surrogate = ProbitSurrogate(flips, graph)
    surrogate.learn(start, True)
    search = bayesian_shrinking(make_task(graph, 0), surrogate, start)
    found, _ = run_part(search, lambda candidate: bool(gains[candidate].sum() > threshold))
    assert found.size < 500


def test_bayesian_shrinking_ends_if_all_changes_are_needed() -> None:
    graph, flips = np.zeros(1770, dtype=bool), np.arange(60)
    search = bayesian_shrinking(make_task(graph, 0), ProbitSurrogate(flips, graph), flips)
    found, answers = run_part(search, lambda candidate: False)
    assert found is flips
    assert 4 <= len(answers) <= 10


def dense_posterior(
    graph: np.ndarray, flips: Flips, answers: list[tuple[Flips, bool]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the probit surrogate, computed with the full covariance matrix."""
    size = flips.size
    mean, cov = np.zeros(size + 1), np.eye(size + 1)
    loadings = np.zeros((size, roi_count(graph.size) + 2))
    for ends in pair_ends(roi_count(graph.size)):
        loadings[np.arange(size), ends[flips]] = np.where(graph[flips], -ROI_STD, ROI_STD)
    loadings[:, -2:] = SIDE_STD * np.stack([graph[flips], ~graph[flips]], axis=1)
    cov[:-1, :-1] += loadings @ loadings.T
    cov[-1, -1] = size**2
    for chosen, flipped in [(flips, True), (flips[:0], False), *answers]:
        row = np.append(np.isin(flips, chosen), -1.0) * (1 if flipped else -1)
        variance, margin = row @ cov @ row, row @ mean
        z = margin / np.sqrt(variance)
        hazard = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / ndtr(z)
        mean, cov = (
            mean + hazard / np.sqrt(variance) * cov @ row,
            cov - hazard * (hazard + z) / variance * np.outer(cov @ row, cov @ row),
        )
    return mean, cov


@given(st.integers(0, 9999), st.integers(2, 12), st.integers(0, 80))
def test_probit_surrogate_equals_the_dense_gaussian_and_can_be_restricted(seed: int, size: int, n_answers: int) -> None:
    rng = np.random.default_rng(seed)
    graph, flips = rng.random(45) < 0.5, rng.permutation(45)[:size]
    gains = rng.standard_normal(45)
    sets = [rng.permutation(flips)[: rng.integers(1, size + 1)] for _ in range(n_answers)]
    answers = [(each, bool(gains[each].sum() > 1)) for each in sets]
    surrogate = ProbitSurrogate(flips, graph)
    for each, flipped in answers:
        surrogate.learn(each, flipped)
    mean, cov = dense_posterior(graph, flips, answers)
    np.testing.assert_allclose(surrogate.means, mean[:-1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(surrogate.stds, np.sqrt(cov.diagonal()[:-1]), rtol=1e-3, atol=1e-3)
    order = rng.permutation(flips)
    for length, margin in enumerate(surrogate.margins(order), start=1):
        row = np.append(np.isin(flips, order[:length]), -1.0)
        assert margin == pytest.approx(row @ mean, abs=1e-3)
        expected = ndtr(row @ mean / np.sqrt(row @ cov @ row))
        assert surrogate.probability(order[:length]) == pytest.approx(expected, abs=1e-3)
    kept = order[: max(1, size // 2)]
    margins, probability = surrogate.margins(kept), surrogate.probability(kept)
    surrogate.restrict_to(kept)
    np.testing.assert_allclose(surrogate.margins(kept), margins, atol=1e-9)
    assert surrogate.probability(kept) == pytest.approx(probability, abs=1e-9)
    assert surrogate.flips is kept
    assert surrogate.means.size == surrogate.stds.size == kept.size
