from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import countergraph as cg
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.errors import InputError
from countergraph.explain.litmus import litmus, used_rois
from countergraph.explain.quality import typical_people
from countergraph.explain.significance import changes_by_graph, exact_pair_test, permutation_test
from countergraph.graphs.pairs import pair_position, pairs_at
from tests.conftest import random_graphs

RULE = LinearRule([range(6), range(8, 13)], [-0.5, 0.5], 0.1, n_rois=20)


@pytest.fixture(scope="module")
def results(cohort: cg.GraphDataset) -> cg.Counterfactuals:
    return cg.find_counterfactuals(RULE, cohort, "ofs+obs", runs=3)


@pytest.fixture(scope="module")
def local(cohort: cg.GraphDataset) -> cg.LocalExplanation:
    far = int(np.argmax(np.abs(RULE.decision_function(cohort.edges))))
    return cg.LocalExplanation(cg.find_counterfactuals(RULE, cohort.subset([far]), "ofs+obs", runs=80))


def test_local_shares_equal_counts(local: cg.LocalExplanation) -> None:
    found = local.results.found
    for row in local.table.to_dict("records"):
        pair = (row["i"], row["j"])
        count = sum(pair in (each.added if row["change"] == "added" else each.removed) for each in found)
        assert count == row["count"] > 0
        assert row["share"] == pytest.approx(count / len(found))
        assert row["low"] <= row["share"] <= row["high"]
    assert local.table["share"].is_monotonic_decreasing
    assert local.table["share"].sum() == pytest.approx(np.mean([each.distance for each in found]))
    for change in ("removed", "added"):
        top = local.top(2)
        assert top[top["change"] == change].equals(local.table[local.table["change"] == change].head(2))


def test_confidence_intervals() -> None:
    """The 95% interval of a share of 0.5 of 100 counterfactuals is about 0.4 to 0.6."""
    flips = [np.array([0, 1]) if i % 2 else np.array([0]) for i in range(100)]
    many = cg.Counterfactuals(
        [cg.Counterfactual(np.zeros(6, dtype=bool), each, 0, 1, {}, "x", {}, "finished") for each in flips]
    )
    table = cg.LocalExplanation(many).table
    assert table["share"].tolist() == [1.0, 0.5]
    assert (table.loc[0, "low"], table.loc[0, "high"]) == (1, 1)
    assert table.loc[1, "low"] == pytest.approx(0.4, abs=0.03)
    assert table.loc[1, "high"] == pytest.approx(0.6, abs=0.03)


def test_stability_grows_with_the_number_of_runs() -> None:
    """Pairs change with probabilities from 0 to 1: few runs do not determine their order, many runs do."""
    rng = np.random.default_rng(0)
    runs = [np.flatnonzero(rng.random(45) < np.linspace(0.02, 0.98, 45)) for _ in range(400)]
    many = cg.Counterfactuals(
        [cg.Counterfactual(np.zeros(45, dtype=bool), each, 0, 1, {}, "x", {}, "finished") for each in runs]
    )
    assert cg.LocalExplanation(many[:8]).stability < 0.9 < 0.98 < cg.LocalExplanation(many).stability <= 1
    assert np.isnan(cg.LocalExplanation(many[:2]).stability)


def test_global_counters(results: cg.Counterfactuals) -> None:
    explanation = cg.GlobalExplanation(results)
    assert explanation.counters.shape == (2, 2, 190)
    assert explanation.counter_names == ["TD +", "TD -", "ASD +", "ASD -"]
    assert explanation.counters.sum() == sum(each.distance or 0 for each in results)
    some = [each for each in results.found if each.original_label == 1]
    i, j = next(pair for each in some for pair in each.removed)
    count = sum((i, j) in each.removed for each in some)
    assert explanation.counters[1, 1, pair_position(i, j, 20)] == count
    assert explanation.roi_importance.sum() == 2 * explanation.counters.sum()
    at_roi_3 = sum(3 in pair for each in results.found for pair in each.added + each.removed)
    assert explanation.roi_importance.iloc[3] == at_roi_3


def test_heatmaps_sum_the_right_counters(results: cg.Counterfactuals) -> None:
    explanation = cg.GlobalExplanation(results)
    added, removed = explanation.heatmaps(1)
    assert (added.to_numpy() == added.to_numpy().T).all()
    assert np.triu(added).sum() == explanation.counters[0, 0].sum(), "added to graphs of the other class"
    assert np.triu(removed).sum() == explanation.counters[1, 1].sum(), "removed from graphs of the class"
    share, _ = explanation.heatmaps(1, normalised=True)
    networks = explanation.atlas.networks
    assert networks is not None
    a, b = explanation.network_names[:2]
    pairs = [p for p in pairs_at(np.arange(190), 20) if {networks[p[0]], networks[p[1]]} == {a, b}]
    assert float(share.loc[a, b]) == pytest.approx(float(added.loc[a, b]) / len(pairs))


def test_significance_of_random_changes_and_of_a_planted_change() -> None:
    """Random changes are rarely significant; a pair that changes in every counterfactual is significant."""
    rng = np.random.default_rng(0)
    atlas = cg.make_cohort(2, 20).atlas

    def make_results(planted: bool) -> cg.Counterfactuals:
        rows = []
        for index in range(60):
            graph = rng.random(190) < 0.2
            flips = np.sort(rng.permutation(190)[:6])
            if planted:
                flips = np.union1d(flips, [17])
            rows.append(
                cg.Counterfactual(
                    graph, flips, 0, 1, {}, "x", {}, "finished", graph_index=index, atlas=atlas, classes=("a", "b")
                )
            )
        return cg.Counterfactuals(rows)

    tests = cg.GlobalExplanation(make_results(False)).significance(300)
    assert (tests["pair"]["q"] < 0.05).sum() <= 2
    assert tests["roi"]["expected"].sum() == pytest.approx(tests["roi"]["observed"].sum())
    explanation = cg.GlobalExplanation(make_results(True))
    tests = explanation.significance(300)
    assert tests["pair"]["p"].idxmin() == tests["pair"].index[17]
    assert tests["pair"]["observed"].iloc[17] == 60
    assert tests["pair"]["q"].iloc[17] < 1e-6, "exact, independent of the number of simulations"
    table = explanation.pair_table
    i, j = pairs_at([17], 20)[0]
    assert (table.loc[0, "first"], table.loc[0, "second"]) == (atlas.names[i], atlas.names[j])


def test_typical_people_are_nearest_to_the_median_of_each_class() -> None:
    data = cg.make_cohort(10, 20)

    def make_result(index: int) -> cg.Counterfactual:
        flips, label = np.arange(1 + index // 2), index % 2
        return cg.Counterfactual(
            data.edges[index], flips, label, 1 - label, {}, "x", {}, "finished", graph_index=index, subject=f"s{index}"
        )

    results = cg.Counterfactuals([make_result(index) for index in range(10)])  # 1, 2, 3, 4 and 5 changes in each class
    assert typical_people(results, data, 2) == ["s5", "s4"]
    assert {*typical_people(results, data, 6)} == {"s5", "s4", "s2", "s3", "s6", "s7"}


def test_p_values_are_uniform_under_the_null_for_any_length() -> None:
    """A counterfactual changes a pair at most once: if all change nearly every pair, no pair is significant."""
    rng, atlas = np.random.default_rng(0), cg.make_cohort(2, 10).atlas

    def p_values(size: int) -> np.ndarray:
        rows = [
            cg.Counterfactual(graph, flips, 0, 1, {}, "x", {}, "finished", atlas=atlas, classes=("a", "b"))
            for graph, flips in ((rng.random(45) < 0.5, np.sort(rng.permutation(45)[:size])) for _ in range(20))
        ]
        return cg.GlobalExplanation(cg.Counterfactuals(rows)).significance(10)["pair"]["p"].to_numpy()

    np.testing.assert_allclose(p_values(45), 1)
    for size in (3, 36):
        share = float(np.mean([p_values(size) <= 0.2 for _ in range(20)]))
        assert 0.1 < share <= 0.25, "share of 900 p-values; ties make it smaller than 0.2"


def random_results(n_graphs: int, runs: int, equal_runs: bool, seed: int = 0) -> cg.Counterfactuals:
    """Return counterfactuals with random changes; with ``equal_runs`` all runs of a graph have the same changes."""
    rng, atlas, rows = np.random.default_rng(seed), cg.Atlas.numbered(10), []
    for index in range(n_graphs):
        graph, flips = rng.random(45) < 0.4, rng.permutation(45)
        for run in range(runs):
            flips = flips if equal_runs else rng.permutation(45)
            options = {"graph_index": index, "run": run, "atlas": atlas, "classes": ("a", "b")}
            rows.append(cg.Counterfactual(graph, np.sort(flips[:7]), 0, 1, {}, "x", {}, "finished", **options))
    return cg.Counterfactuals(rows)


def test_significance_does_not_depend_on_the_number_of_runs() -> None:
    tests = [cg.GlobalExplanation(random_results(30, runs, equal_runs=True)).significance() for runs in (1, 20)]
    for level in ("pair", "roi", "network"):
        single, repeated = (each[level] for each in tests)
        assert (20 * single["observed"] == repeated["observed"]).all()
        assert (single["q"] > 0.05).all()
        if level == "pair":
            np.testing.assert_allclose(single["p"], repeated["p"])
        np.testing.assert_allclose(single["p"], repeated["p"], atol=0.1)


@pytest.mark.parametrize("size", [4, 20])
def test_exact_p_values_equal_simulated_p_values(size: int) -> None:
    """The two sizes test both sampling algorithms of the simulation."""
    results = random_results(size, 3, equal_runs=False)
    totals = cg.GlobalExplanation(results).counters.sum(axis=(0, 1))
    graphs = changes_by_graph(results)
    exact = exact_pair_test(totals, graphs)
    rng = np.random.default_rng(1)
    simulated = permutation_test(totals, lambda totals: {"pair": totals}, graphs, 5000, rng)["pair"]
    np.testing.assert_allclose(exact.p, simulated.p, atol=0.04)
    np.testing.assert_allclose(exact.expected, simulated.expected, atol=0.15)
    assert exact.expected.sum() == pytest.approx(totals.sum())


def test_litmus_separates_used_from_unused_rois(results: cg.Counterfactuals) -> None:
    explanation = cg.GlobalExplanation(results)
    used = np.array([*range(6), *range(8, 13)])
    correct = litmus(explanation, used)
    assert litmus(explanation, [explanation.atlas.names[i] for i in used]).roc_auc == correct.roc_auc
    assert correct.roc_auc > 0.9
    inverted = litmus(explanation, np.setdiff1d(np.arange(20), used))
    assert inverted.roc_auc == pytest.approx(1 - correct.roc_auc)
    assert correct.used.sum() == used.size


@pytest.mark.slow
def test_published_rule_passes_the_litmus_test(asd: cg.GraphDataset, real_data: Path) -> None:
    rule = load_published_rule("asd", root=real_data)
    explanation = cg.GlobalExplanation(cg.find_counterfactuals(rule, asd, "ofs+obs", runs=5))
    used = sorted(set(rule.vertex_sets[0]) | set(rule.vertex_sets[1]))
    assert len(used) == 38
    assert litmus(explanation, used).roc_auc >= 0.97
    added, removed = explanation.heatmaps(1)
    both = (added + removed).to_numpy()
    strongest = np.unravel_index(np.argsort(-both, axis=None)[:3], both.shape)
    names = np.array(explanation.network_names)
    assert all("Deep grey matter" in pair for pair in zip(names[strongest[0]], names[strongest[1]], strict=True))


def test_heatmaps_of_three_classes_count_only_changes_to_the_class() -> None:
    """The classes depend on the number of edges: an added edge never leads to the class with the fewest edges."""

    def box(edges: np.ndarray) -> np.ndarray:
        return np.digitize(edges.sum(axis=1), [12, 24])

    edges = np.concatenate([random_graphs(6, 9, seed=1, density=share) for share in (0.15, 0.5, 0.85)])
    data = cg.GraphDataset(edges, box(edges), classes=("low", "middle", "high"), atlas=cg.Atlas.numbered(9))
    found = cg.find_counterfactuals(cg.Oracle(box, input="edges"), data)
    assert {each.counterfactual_label for each in found} == {0, 1, 2}
    explanation = cg.GlobalExplanation(found)
    added = [explanation.heatmaps(label)[0].to_numpy() for label in range(3)]
    removed = [explanation.heatmaps(label)[1].to_numpy() for label in range(3)]
    assert added[0].sum() == removed[0].sum() == 0
    assert min(added[1].sum(), added[2].sum(), removed[1].sum(), removed[2].sum()) > 0
    counts = [sum(len(each.added) for each in found if each.counterfactual_label == label) for label in range(3)]
    assert [np.triu(each).sum() for each in added] == counts


def test_invalid_results_raise(results: cg.Counterfactuals, cohort: cg.GraphDataset) -> None:
    not_found = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([1]), max_calls=3)
    for kind in (cg.LocalExplanation, cg.GlobalExplanation):
        with pytest.raises(InputError, match="found a counterfactual; there is nothing to explain"):
            kind(not_found)
    with pytest.raises(InputError, match="must be of one graph; these results are of several graphs"):
        cg.LocalExplanation(results)
    unnamed = cg.find_counterfactuals(lambda a: a.sum(axis=(1, 2)) > 76, cohort.edges[:3])
    with pytest.raises(InputError, match="needs results with class names"):
        cg.GlobalExplanation(unnamed)
    with pytest.raises(InputError, match="ROI numbers from 0 to 19"):
        litmus(cg.GlobalExplanation(results), [20])
    with pytest.raises(InputError, match="ROIs that the model does not use"):
        litmus(cg.GlobalExplanation(results), range(20))


def test_comparison_of_black_boxes(cohort: cg.GraphDataset, results: cg.Counterfactuals) -> None:
    other = LinearRule([range(13, 20)], [1.0], -2.5, n_rois=20)
    similar = LinearRule(RULE.vertex_sets, [-1.0, 1.0], 0.2, n_rois=20)
    boxes = {"rule": results} | {
        name: cg.find_counterfactuals(box, cohort, "ofs+obs", runs=3)
        for name, box in (("similar", similar), ("other", other))
    }
    comparison = cg.Comparison(boxes)
    agreement = comparison.agreement().to_numpy()
    assert np.allclose(np.diag(agreement), 1)
    assert agreement[0, 1] > 0.9
    assert agreement[0, 2] < 0
    summary = comparison.summary()
    assert summary.loc["rule", "distance 50%"] == np.median([each.distance for each in results.found])
    assert summary["searches"].tolist() == [72, 72, 72]
    assert comparison.roi_importance().sum().tolist() == pytest.approx([1, 1, 1])
    with pytest.raises(InputError, match="at least two black boxes or methods, not 1"):
        cg.Comparison({"rule": results})
    with pytest.raises(InputError, match="'half' are not of the same graphs"):
        cg.Comparison({"rule": results, "half": results[:30]})


def test_local_explanation_of_a_subject_equals_a_search(cohort: cg.GraphDataset) -> None:
    local = cg.LocalExplanation.of(RULE, cohort, cohort.names[3], runs=10, seed=4)
    runs = cg.find_counterfactuals(RULE, cohort.subset([3]), "ofs+obs", cohort, runs=10, seed=4)
    assert [each.to_dict() for each in local.results] == [each.to_dict() for each in runs]
    assert local.results[0].parameters["seed"] == 4


def test_comparison_of_settings_with_costs_and_failures(cohort: cg.GraphDataset, model: cg.Model) -> None:
    costs = cg.Constraints(cost=np.random.default_rng(0).lognormal(size=190))
    seeds = {str(seed): cg.find_counterfactuals(model, cohort, seed=seed, constraints=costs) for seed in (0, 1)}
    comparison = cg.Comparison(seeds)
    assert comparison.caption == "2 settings on the same graphs."
    assert comparison.summary().loc["0", "cost (median)"] == np.median([each.cost for each in seeds["0"].found])
    not_found = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort, max_calls=3)
    failed = cg.Comparison({"failed": not_found, "found": seeds["0"]})
    assert failed.roi_importance()["failed"].isna().all()
    failed.plot()
    plt.close("all")
    reversed_names = replace(cohort, atlas=cg.Atlas(cohort.atlas.names[::-1]))
    named = {
        name: cg.find_counterfactuals(model.estimator, data, constraints=costs)
        for name, data in (("one", cohort), ("two", reversed_names))
    }
    importance = cg.Comparison(named).roi_importance()
    assert importance["two"].to_numpy() == pytest.approx(importance["one"][::-1].to_numpy()), (
        "matched by name, not by position"
    )
    unnamed = [cg.find_counterfactuals(lambda a, n=n: a.sum(axis=(1, 2)) > n, cohort.edges) for n in (70, 76)]
    assert cg.Comparison(dict(zip("ab", unnamed, strict=True))).agreement().shape == (2, 2)


def test_comparison_of_methods_names_them(cohort: cg.GraphDataset, model: cg.Model) -> None:
    found = {method: cg.find_counterfactuals(model, cohort, method) for method in ("ofs+obs", "bisect+ddmin")}
    comparison = cg.Comparison(found)
    assert comparison.caption == "2 methods on the same graphs."
    assert comparison.summary().index.name == "method"


def test_litmus_accepts_numbers_names_or_a_mask(results: cg.Counterfactuals) -> None:
    explanation = cg.GlobalExplanation(results)
    mask = np.arange(20) < 3
    for given in (mask, [0, 1, 2], explanation.atlas.names[:3]):
        assert litmus(explanation, given).used.tolist() == mask.tolist()
    for invalid in ([1.7], mask[:5], ~np.ones(20, dtype=bool), [-1], []):
        with pytest.raises(
            InputError, match="non-empty list of ROI numbers from 0 to 19 or ROI names, or a Boolean mask"
        ):
            litmus(explanation, invalid)


def test_vertex_set_with_negligible_weight_is_unused() -> None:
    rule = LinearRule([range(5), range(7, 12)], [1e-17, 1.0], -3.0, 20)
    assert set().union(*used_rois(rule, ("TD", "ASD")).values()) == set(range(7, 12))


def test_results_of_different_cohorts_raise(cohort: cg.GraphDataset) -> None:
    found = cg.find_counterfactuals(RULE, cohort, "ofs+obs")
    renamed = cg.GraphDataset(cohort.edges, cohort.labels, classes=("young", "old"), atlas=cohort.atlas)
    with pytest.raises(InputError, match="must have the same ROIs and the same classes"):
        cg.GlobalExplanation(found + cg.find_counterfactuals(RULE, renamed, "ofs+obs"))


def test_stability_of_equal_counterfactuals_is_nan(cohort: cg.GraphDataset) -> None:
    [one] = cg.find_counterfactuals(RULE, cohort.subset([0]), "ofs+obs")
    equal = cg.LocalExplanation(cg.Counterfactuals([replace(one, run=run) for run in range(6)]))
    assert np.isnan(equal.stability)
    assert equal.caption.endswith("in 6 counterfactuals.")
