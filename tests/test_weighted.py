"""Weighted networks: data, alternatives, searches, results, files and stores."""

# mypy: disable-error-code="operator,union-attr,index"
# Results may be None where nothing was found; the tests would fail then.

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

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
from countergraph.errors import FileError, InputError, NotFoundError
from countergraph.explain.litmus import litmus
from countergraph.finding.alternatives import Alternatives
from countergraph.graphs.pairs import to_matrix, upper_triangle
from countergraph.oracle.json_lines import encode
from countergraph.search.options import SearchOptions

N_ROIS, N_PAIRS, N_SUBJECTS = 12, 66, 50
CHANGES = ("quantile:0.9", "quantile:0.75", "target-median", "donor", "neutral")
WEIGHTED_METHODS = cg.list_methods()


def correlations(seed: int = 0, n: int = N_SUBJECTS) -> cg.GraphDataset:
    """Return correlation matrices of random time series; the first six ROIs are coupled more strongly in class 1."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    matrices = []
    for label in labels:
        series = rng.normal(size=(60, N_ROIS))
        series[:, :6] += (0.4 + 0.35 * label) * rng.normal(size=(60, 1))
        matrices.append(np.corrcoef(series.T))
    return cg.GraphDataset(np.array(matrices), labels, [f"sub-{k:02d}" for k in range(n)], ("TD", "ASD"))


DATA = correlations()
LINEAR = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(DATA.values, DATA.labels)
KERNEL = SVC(C=3.0).fit(DATA.values, DATA.labels)
FOREST = RandomForestClassifier(20, random_state=0).fit(DATA.values, DATA.labels)


def answer(black_box, values: np.ndarray) -> int:
    return int(black_box.predict(values[None])[0])


# Data


def test_a_dataset_of_correlations_is_weighted() -> None:
    assert DATA.weighted
    assert DATA.measure == "correlation"
    assert DATA.values.dtype == np.float32
    assert repr(DATA).endswith("weighted (correlation))")
    np.testing.assert_allclose(upper_triangle(DATA.matrices), DATA.values)
    assert (DATA.matrices.diagonal(axis1=1, axis2=2) == 1).all()
    assert DATA.summary().loc["ASD", "value (mean)"] > DATA.summary().loc["TD", "value (mean)"]


def test_weighted_networks_have_no_edges() -> None:
    for access in ("edges", "adjacency"):
        with pytest.raises(InputError, match="these networks are weighted, so they have no edges: use data.values"):
            getattr(DATA, access)
    graphs = DATA.binarize("percentile:80")
    assert not graphs.weighted
    assert graphs.edges.sum(axis=1).max() <= 14
    with pytest.raises(InputError, match="are graphs already"):
        graphs.binarize()


def test_zeros_and_ones_of_any_type_are_graphs() -> None:
    edges = np.random.default_rng(0).random((4, N_PAIRS)) < 0.3
    for values in (edges, edges.astype(int), edges.astype(np.float64)):
        data = cg.GraphDataset(values, [0, 1, 0, 1])
        assert not data.weighted
        assert data.measure == "edge"
        assert data.values.dtype == np.bool_


@pytest.mark.parametrize(
    ("values", "measure"),
    [
        (np.arctanh(DATA.matrices - 1e-12) + np.diag(np.full(N_ROIS, np.inf)), "fisher z"),
        (np.round(100 * np.abs(DATA.values)), "count"),
        (3 * DATA.values, "unknown"),
    ],
)
def test_the_measure_is_detected(values: np.ndarray, measure: str) -> None:
    assert cg.GraphDataset(values, DATA.labels).measure == measure


@pytest.mark.parametrize(
    ("values", "measure", "message"),
    [
        (3 * DATA.values, "correlation", "a correlation must be between -1 and 1, but the networks contain"),
        (-DATA.values, "count", "a count must not be negative"),
        (DATA.values, "edge", "measure is 'edge', but the networks contain other values than 0 and 1"),
        (DATA.values, "weight", "measure must be one of edge, correlation, fisher z, count, unknown, not 'weight'"),
    ],
)
def test_a_measure_that_does_not_fit_is_refused(values: np.ndarray, measure, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.GraphDataset(values, DATA.labels, measure=measure)


def test_missing_values_are_refused_with_their_position() -> None:
    values = DATA.values.copy()
    values[3, 11] = np.nan
    with pytest.raises(InputError, match="the connection of ROI 1 and ROI 2 in network 3 is nan"):
        cg.GraphDataset(values, DATA.labels)


def test_saved_datasets_keep_values_and_measure(tmp_path: Path) -> None:
    loaded = cg.load_dataset(DATA.save(tmp_path / "data.npz"))
    assert (loaded.values == DATA.values).all()
    assert (loaded.measure, loaded.fingerprint) == (DATA.measure, DATA.fingerprint)
    assert loaded.subset([4, 1]).measure == "correlation"
    counts = cg.GraphDataset([[0, 1, 5], [0, 1, 1], [2, 0, 0]], [0, 1, 0])
    assert counts.subset([1]).weighted, "a part of weighted networks stays weighted, even if it has only 0 and 1"


def test_folders_keep_weights(tmp_path: Path) -> None:
    for name, matrix, label in zip(DATA.names, DATA.matrices, DATA.labels, strict=True):
        (tmp_path / DATA.classes[label]).mkdir(exist_ok=True)
        np.savetxt(tmp_path / DATA.classes[label] / f"{name}.txt", matrix)
    data = cg.load_dataset(tmp_path)
    assert data.measure == "correlation"
    np.testing.assert_allclose(data.values, DATA.subset(data.names).values, atol=1e-6)


# Alternatives


def test_quantiles_are_observed_values_of_the_wanted_class_in_the_direction_of_the_medians() -> None:
    others, wanted = DATA.values[DATA.labels == 0], DATA.values[DATA.labels == 1]
    new = correlations(seed=9, n=2).values
    chosen = Alternatives("quantile:0.9", new, DATA, None).of(0, 0)
    increases = np.median(wanted, axis=0) >= np.median(others, axis=0)
    assert (chosen == np.where(increases, np.sort(wanted, axis=0)[22], np.sort(wanted, axis=0)[2])).all()
    assert (chosen == wanted).any(axis=0).all()
    assert ((wanted <= chosen).mean(axis=0) >= 0.9)[increases].all()
    assert ((wanted >= chosen).mean(axis=0) >= 0.9)[~increases].all()
    assert increases[:5].all()


@given(seed=st.integers(0, 99), change=st.sampled_from(CHANGES), label=st.integers(0, 1))
@settings(max_examples=20)
def test_the_label_of_a_person_does_not_change_her_alternatives(seed: int, change: str, label: int) -> None:
    labels = DATA.labels.copy()
    labels[seed % N_SUBJECTS] = 1 - labels[seed % N_SUBJECTS]
    flipped = cg.GraphDataset(DATA.values, labels, measure="correlation")
    [one, other] = (
        Alternatives(change, data.values, data, None).of(seed % N_SUBJECTS, label) for data in (DATA, flipped)
    )
    np.testing.assert_array_equal(one, other)


def test_alternatives_depend_on_the_answer() -> None:
    alternatives = Alternatives(None, DATA.values, DATA, None)
    assert not (alternatives.of(0, 0) == alternatives.of(0, 1)).all()


def test_a_donor_is_the_nearest_other_network_of_the_wanted_class() -> None:
    donor = Alternatives("donor", DATA.values, DATA, None).of(0, 0)
    distances = ((DATA.values - DATA.values[0]) ** 2).sum(axis=1) + 1e9 * (DATA.labels == 0)
    assert (donor == DATA.values[distances.argmin()]).all()


def test_neutral_and_median_and_arrays() -> None:
    neutral = Alternatives("neutral", DATA.values, DATA, None).of(3, 1)
    np.testing.assert_allclose(neutral, DATA.values.mean(axis=0), 1e-5)
    median = np.median(DATA.values[DATA.labels == 0], axis=0)
    np.testing.assert_allclose(Alternatives("target-median", DATA.values, DATA, None).of(3, 1), median, rtol=1e-5)
    given_matrix = np.full((N_ROIS, N_ROIS), 0.25)
    assert (Alternatives(given_matrix, DATA.values, None, None).of(7, 1) == 0.25).all()
    each = np.random.default_rng(0).random(DATA.values.shape)
    np.testing.assert_allclose(Alternatives(each, DATA.values, None, None).of(7, 1), each[7], rtol=1e-6)


@pytest.mark.parametrize(
    ("networks", "options", "error", "message"),
    [
        (DATA, {"change": "toggle"}, InputError, "change='toggle' is for graphs"),
        (DATA, {"change": "median"}, NotFoundError, "unknown change 'median'; did you mean target-median"),
        (DATA, {"change": "quantile:x"}, InputError, "change must be a quantile such as 'quantile:0.9', not"),
        (DATA, {"change": "quantile:0.2"}, InputError, "must be between 0.5 and 1, not 0.2"),
        (DATA, {"change": np.zeros(5)}, InputError, "5 entries fit no number of ROIs"),
        (DATA, {"change": np.full(10, 0.5)}, InputError, "change must have one value for each of 66 pairs"),
        (DATA.values, {}, InputError, "change='quantile:0.9' needs a reference cohort: pass dataset="),
        (DATA.binarize(), {"change": "neutral"}, InputError, "is for weighted networks; an edge can only be added"),
        (
            DATA,
            {"dataset": DATA.binarize()},
            InputError,
            "other values than 0 and 1 in the graphs to explain, but only 0 and 1 in the dataset",
        ),
        (DATA, {"constraints": cg.Constraints(keep_edges=True)}, InputError, "keep_edges is for graphs"),
        (DATA, {"constraints": cg.Constraints(keep_connected=True)}, InputError, "keep_connected is for graphs"),
        (DATA, {"constraints": cg.Constraints(cost="plausible")}, InputError, "cost='plausible' is for graphs"),
        (DATA.subset([0, 2]), {}, InputError, "the dataset contains none: pass a dataset of several classes"),
    ],
)
def test_invalid_requests_are_refused(networks, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        cg.find_counterfactuals(LINEAR, networks, **options)


# Searches


@pytest.mark.parametrize("method", WEIGHTED_METHODS)
def test_every_method_finds_counterfactuals_of_weighted_networks(method: str) -> None:
    results = cg.find_counterfactuals(LINEAR, DATA.subset(range(6)), method, DATA, max_calls=200)
    assert results.found
    for result in results.found:
        assert answer(LINEAR, result.values) == result.counterfactual_label != result.original_label
        assert answer(LINEAR, result.original) == result.original_label
        changed = np.flatnonzero(result.values != result.original)
        assert (changed == result.flips).all()
        assert (result.values[changed] == result.alternatives[changed]).all()
        assert result.distance == len(result.strengthened) + len(result.weakened)


@pytest.mark.parametrize("change", CHANGES)
@settings(max_examples=8)
@given(seed=st.integers(0, 1000), box=st.sampled_from([LINEAR, KERNEL, FOREST]))
def test_every_returned_network_is_of_another_class(change: str, seed: int, box) -> None:
    one = DATA.subset([seed % N_SUBJECTS])
    [result] = cg.find_counterfactuals(box, one, "learned", DATA, change=change, seed=seed, max_calls=150)
    if result.found:
        assert answer(box, result.values) != answer(box, one.values[0])
        low, high = (side(result.original, result.alternatives) for side in (np.minimum, np.maximum))
        assert ((low <= result.values) & (result.values <= high)).all()


def test_learned_is_near_the_optimum_of_a_linear_classifier() -> None:
    results = cg.find_counterfactuals(LINEAR, DATA, effort="quick")
    optima = [cg.optimal_counterfactual(LINEAR, values, DATA) for values in DATA.values]
    for result, optimum in zip(results, optima, strict=True):
        assert answer(LINEAR, optimum.values) == optimum.counterfactual_label == result.counterfactual_label
        assert result.distance >= optimum.distance
    assert np.mean([each.distance for each in results]) <= 1.05 * np.mean([each.distance for each in optima])


def test_a_black_box_receives_matrices_with_the_diagonal_of_the_measure() -> None:
    diagonals: list[np.ndarray] = []

    def box(matrices: np.ndarray) -> np.ndarray:
        diagonals.append(matrices.diagonal(axis1=1, axis2=2))
        return (matrices[:, 0, 1] > 0.3).astype(int)

    fisher = cg.GraphDataset(DATA.values, DATA.labels, measure="fisher z")
    for data, black_box, diagonal in ((DATA, box, 1), (fisher, box, 0), (DATA, cg.Oracle(box, diagonal=0.5), 0.5)):
        diagonals.clear()
        cg.find_counterfactuals(black_box, data.subset(range(3)), dataset=data, max_calls=30)
        assert all((each == diagonal).all() for each in diagonals)


def test_networkx_graphs_have_weights() -> None:
    oracle = cg.Oracle(lambda graph: int(graph[0][1]["weight"] > 0.3), "networkx")
    [result] = cg.find_counterfactuals(oracle, DATA.subset([0]), dataset=DATA, max_calls=100)
    assert result.found
    assert result.distance == 1


@pytest.mark.parametrize("only", ["strengthened", "weakened"])
def test_the_direction_can_be_constrained(only) -> None:
    constraints = cg.Constraints(only=only, frozen_rois=[0])
    results = cg.find_counterfactuals(LINEAR, DATA, constraints=constraints, max_calls=200).found
    assert results
    for result in results:
        assert not (result.weakened if only == "strengthened" else result.strengthened)
        assert all(0 not in pair for pair in [*result.strengthened, *result.weakened])


def test_pairs_without_another_value_do_not_change() -> None:
    alternatives = DATA.values.copy()
    alternatives[:, :20] = 1.0
    results = cg.find_counterfactuals(LINEAR, DATA, change=alternatives, max_calls=200)
    assert results.found
    assert all(result.flips.max() < 20 for result in results.found)


def test_toggle_on_zeros_and_ones_is_the_search_of_graphs() -> None:
    graphs = DATA.binarize("percentile:80")
    box = LogisticRegression().fit(graphs.edges, graphs.labels)
    numbers = cg.GraphDataset(graphs.edges.astype(float), graphs.labels, graphs.names, graphs.classes)
    for method in cg.list_methods():
        options = {"max_calls": 60, "effort": "quick"} if "learned" in method else {"max_calls": 60}
        one = cg.find_counterfactuals(box, graphs.subset(range(5)), method, graphs, **options)
        other = cg.find_counterfactuals(box, numbers.subset(range(5)), method, numbers, change="toggle", **options)
        assert [_trace(each) for each in one] == [_trace(each) for each in other]


def _trace(result: cg.Counterfactual) -> tuple:
    return None if result.flips is None else tuple(result.flips), result.calls, result.trace


# Results


@pytest.fixture(scope="module")
def result() -> cg.Counterfactual:
    [found] = cg.find_counterfactuals(LINEAR, DATA.subset([4]), dataset=DATA)
    assert found.found
    return found


def test_a_result_has_values_and_the_total_change(result: cg.Counterfactual) -> None:
    assert result.matrix.shape == (N_ROIS, N_ROIS)
    np.testing.assert_array_equal(upper_triangle(result.matrix), result.values)
    assert result.total_change == pytest.approx(np.abs(result.values - result.original).sum(), rel=1e-5)
    with pytest.raises(InputError, match="this network is weighted, so it has no edges: use values and matrix"):
        _ = result.edges
    table = result.changes
    assert set(table["change"]) <= {"weakened", "strengthened"}
    assert ((table["after"] > table["before"]) == (table["change"] == "strengthened")).all()


def test_the_sentence_names_the_values() -> None:
    values = np.array([[0.41, 0.2, 0.5], [0.1, 0.6, 0.5], [0.3, 0.3, 0.3]])
    data = cg.GraphDataset(values, ["TD", "ASD", "TD"], ["X", "Y", "Z"], ("TD", "ASD"), cg.Atlas(["A", "B", "C"]))
    box = cg.Oracle(lambda matrices: (matrices[:, 0, 1] < 0.2).astype(int), classes=("TD", "ASD"))
    [one] = cg.find_counterfactuals(box, data.subset(["X"]), dataset=data, change=np.array([0.12, 0.2, 0.5]))
    assert "If the connection between A and B were weaker (0.12 instead of 0.41), X would have been" in one.sentence
    both = cg.Oracle(lambda m: ((m[:, 0, 1] < 0.2) & (m[:, 0, 2] > 0.5)).astype(int), classes=("TD", "ASD"))
    [two] = cg.find_counterfactuals(both, data.subset(["X"]), dataset=data, change=np.array([0.12, 0.55, 0.5]))
    assert "between A and B were weaker (0.12 instead of 0.41) and the connection between A and C" in two.sentence
    assert "were stronger (0.55 instead of 0.20)" in two.sentence


def test_results_are_saved_with_values(result: cg.Counterfactual, tmp_path: Path) -> None:
    saved = cg.Counterfactuals([result]).save(tmp_path / "results.json")
    [loaded] = cg.load_results(saved)
    assert (loaded.values == result.values).all()
    assert (loaded.original == result.original).all()
    assert loaded.sentence == result.sentence
    assert loaded.to_dict() == result.to_dict()


def test_a_store_keeps_values(tmp_path: Path) -> None:
    with cg.Store(tmp_path / "store.sqlite") as store:
        some = DATA.subset(range(6))
        first = cg.resume_counterfactuals(store, LINEAR, some, "dfs+lbs", DATA, max_calls=200)
        again = cg.resume_counterfactuals(store, LINEAR, some, "dfs+lbs", DATA, max_calls=200)
        other = cg.resume_counterfactuals(store, LINEAR, some, "dfs+lbs", DATA, max_calls=200, change="neutral")
    assert first.found
    assert [each.to_dict() for each in first] == [each.to_dict() for each in again]
    assert [each.to_dict() for each in first] != [each.to_dict() for each in other]


def test_certificates_of_weighted_networks(result: cg.Counterfactual, tmp_path: Path) -> None:
    proven = cg.certify(LINEAR, result)
    assert proven.certificate.optimal
    assert answer(LINEAR, proven.values) == proven.counterfactual_label
    [forest] = cg.find_counterfactuals(FOREST, DATA.subset([4]), dataset=DATA)
    [loaded] = cg.load_results(cg.Counterfactuals([forest]).save(tmp_path / "x.json"))
    assert cg.certify(FOREST, loaded).certificate.minimal == cg.certify(FOREST, forest).certificate.minimal
    assert cg.certify(FOREST, loaded, radius=1).certificate.radius >= 1
    with pytest.raises(InputError, match="a radius needs the alternative values of all pairs"):
        cg.certify(FOREST, replace(forest, alternatives=None), radius=1)


def test_an_array_of_alternatives_is_described_by_its_fingerprint() -> None:
    described = SearchOptions(change=np.zeros(3)).describe()["change"]
    assert described.startswith("array:")
    assert described != SearchOptions(change=np.ones(3)).describe()["change"]
    assert "change" not in SearchOptions().describe()


# Black boxes that convert networks themselves


def test_a_model_of_graphs_refuses_weighted_networks() -> None:
    model = cg.train(DATA.binarize("percentile:80"))
    message = "this model was trained on graphs, but the networks are weighted: binarise them"
    with pytest.raises(InputError, match=message):
        cg.find_counterfactuals(model, DATA)
    with pytest.raises(InputError, match=message):
        model.predict(DATA.values)
    with pytest.raises(InputError, match="these networks are weighted, so they have no edges"):
        cg.train(DATA)


def test_programs_and_services_receive_the_values() -> None:
    line = json.loads(encode(DATA.values[:1]))
    assert line["n_regions"] == N_ROIS
    assert "edges" not in line
    assert (np.array(line["values"], dtype=np.float32) == DATA.values[0]).all()


def test_a_torch_module_receives_matrices_with_the_given_diagonal() -> None:
    torch = pytest.importorskip("torch")

    class Trace(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, matrices):
            return matrices.diagonal(dim1=1, dim2=2).sum(dim=1) - 6 + matrices[:, 0, 1]

    with pytest.raises(InputError, match=r"pass the diagonal of the matrices .*TorchModel\(module, diagonal=1.0\)"):
        cg.TorchModel(Trace()).predict(DATA.values)
    assert (cg.TorchModel(Trace(), diagonal=0.5).predict(DATA.values) == (DATA.values[:, 0] > 0)).all()
    assert cg.TorchModel(Trace(), diagonal=1.0).predict(DATA.values).all()


def test_plausibility_of_weighted_networks(result: cg.Counterfactual) -> None:
    [row] = cg.plausibility(result, DATA).to_dict("records")
    assert row["total change"] == pytest.approx(result.total_change)
    assert 0 <= row["seen"] <= 1
    before = np.linalg.eigvalsh(to_matrix(result.original, 1.0))[0]
    assert row["smallest eigenvalue before"] == pytest.approx(before, abs=1e-5)
    with pytest.raises(InputError, match="results and data must both be graphs, or both be weighted"):
        cg.plausibility(result, DATA.binarize())


def test_explanations_of_weighted_networks_count_directions(tmp_path: Path) -> None:
    results = cg.find_counterfactuals(LINEAR, DATA, effort="quick")
    explanation = cg.GlobalExplanation(results)
    assert explanation.change_names == ("weakened", "strengthened")
    strengthened, weakened = explanation.counters.sum(axis=(0, 2))
    assert strengthened == sum(len(each.strengthened) for each in results)
    assert weakened == sum(len(each.weakened) for each in results)
    assert len(explanation.roi_table) == N_ROIS
    runs = cg.find_counterfactuals(LINEAR, DATA.subset([3]), "ofs+obs", DATA, runs=20)
    local = cg.LocalExplanation(runs)
    assert set(local.table["change"]) <= {"weakened", "strengthened"}
    loaded = cg.GlobalExplanation(cg.load_results(results.save(tmp_path / "results.json")))
    assert (loaded.counters == explanation.counters).all()
    assert loaded.roi_table.equals(explanation.roi_table)


def test_stored_results_have_the_alternatives_of_all_pairs(tmp_path: Path) -> None:
    with cg.Store(tmp_path / "store.db") as store:
        resumed = [cg.resume_counterfactuals(store, KERNEL, DATA, "ofs+obs") for _ in range(2)]
        report = cg.make_report(KERNEL, DATA, "ofs+obs", subjects=1, local_runs=2, runs=1, amounts=False, store=store)
    fresh = cg.find_counterfactuals(KERNEL, DATA, "ofs+obs")
    tables = [cg.GlobalExplanation(results).roi_table for results in (fresh, *resumed, report.results)]
    assert all(table.equals(tables[0]) for table in tables)
    assert (resumed[1][0].alternatives == fresh[0].alternatives).all()


def test_a_file_of_results_stores_each_network_once(tmp_path: Path) -> None:
    results = cg.find_counterfactuals(KERNEL, DATA.subset([0, 1]), "ofs+obs", DATA, runs=3)
    plain = json.loads(results.save(tmp_path / "results.json").read_text())
    assert len(plain["arrays"]) == 4  # two networks, and the alternatives of two classes
    loaded = cg.load_results(tmp_path / "results.json")
    assert [each.to_dict() for each in loaded] == [each.to_dict() for each in results]
    plain["results"][0]["original"] = 9
    (tmp_path / "broken.json").write_text(json.dumps(plain))
    with pytest.raises(FileError, match=r"broken.json: cannot be read as results"):
        cg.load_results(tmp_path / "broken.json")


def test_the_matrix_of_a_counterfactual_has_the_diagonal_of_the_data(result: cg.Counterfactual) -> None:
    assert (result.matrix.diagonal() == 1).all()
    counts = cg.GraphDataset(np.round(50 + 100 * DATA.values).clip(0), DATA.labels, measure="count")
    box = SVC().fit(counts.values, counts.labels)
    [count] = cg.find_counterfactuals(box, counts.subset([0]), dataset=counts)
    assert (count.matrix.diagonal() == 0).all()


def test_a_report_of_weighted_networks_names_directions_and_values(tmp_path: Path) -> None:
    report = cg.make_report(LINEAR, DATA, "learned", effort="quick", subjects=1, local_runs=3, runs=1)
    report.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = page[: page.index('<script type="application/json" id="brain"')]
    assert "connections to weaken or strengthen" in text
    assert "connections to add or remove" not in text
    assert "smallest eigenvalue before" in text
    [name] = report.people
    changes = report.tables[f"changes of {name}"]
    assert {"before", "after"} <= set(changes.columns)
    assert set(changes["change"]) <= {"weakened", "strengthened"}
    assert report.person(name).sentence in text


def test_a_litmus_test_and_a_comparison_of_weighted_networks() -> None:
    box = cg.Oracle(
        lambda values: values[:, :5].mean(axis=1) > np.median(DATA.values[:, :5].mean(axis=1)), input="edges"
    )
    results = cg.find_counterfactuals(box, DATA, "ofs+obs")
    explanation = cg.GlobalExplanation(results)
    assert litmus(explanation, range(6)).roc_auc > 0.8
    both = cg.Comparison({"ofs+obs": results, "learned": cg.find_counterfactuals(box, DATA, "learned", effort="quick")})
    assert len(both.listing) == 2
