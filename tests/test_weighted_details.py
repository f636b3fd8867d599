"""Weighted networks: three classes, diagonals, certificates, stores, counts, and networks that cannot change."""

# mypy: disable-error-code="operator,union-attr,index,arg-type"
# Results may be None where nothing was found; the tests would fail then.

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

import countergraph as cg
from countergraph.classifiers.linear_form import linear_form
from countergraph.errors import InputError
from countergraph.finding.exact import EXACT
from countergraph.graphs.correlation import nearest_correlation
from countergraph.proofs.certify import certify
from countergraph.search.network import Network
from countergraph.search.options import SearchOptions
from countergraph.store.export import export
from tests.test_weighted import DATA, FOREST, KERNEL, LINEAR, N_PAIRS, answer, correlations


def three_classes(seed: int) -> cg.GraphDataset:
    rng = np.random.default_rng(seed)
    labels = np.arange(45) % 3
    values = rng.normal(0, 0.3, (45, N_PAIRS))
    values[:, :20] += 0.25 * labels[:, None]
    return cg.GraphDataset(values, labels, classes=("a", "b", "c"), measure="fisher z")


@settings(max_examples=6)
@given(seed=st.integers(0, 500), valid=st.sampled_from(["check", "nearest"]))
def test_amounts_and_projections_have_the_class_of_the_sentence(seed: int, valid) -> None:
    data = three_classes(seed)
    box = RandomForestClassifier(20, random_state=0).fit(data.values, data.labels)
    for result in cg.find_counterfactuals(box, data, amounts=True, valid=valid, effort="quick").found:
        assert answer(box, result.values) == result.counterfactual_label
        if result.valid_values is not None:
            assert answer(box, result.valid_values) == result.counterfactual_label


def test_certificates_and_stores_use_the_diagonal_of_the_data(tmp_path: Path) -> None:
    threshold = float(np.median(DATA.matrices.sum(axis=(1, 2))))

    def box(matrices: np.ndarray) -> np.ndarray:
        return (matrices.sum(axis=(1, 2)) > threshold).astype(int)

    oracle = cg.Oracle(box)
    before = oracle.ask(DATA.values)
    [result] = cg.find_counterfactuals(oracle, DATA.subset([0]), dataset=DATA, method="ofs+obs")
    assert certify(oracle, result).certificate.minimal
    assert (oracle.ask(DATA.values) == before).all(), "a search does not change the oracle"
    other = cg.GraphDataset(DATA.values, DATA.labels, DATA.names, DATA.classes, measure="unknown")
    assert other.fingerprint != DATA.fingerprint
    with cg.Store(tmp_path / "store.db") as store:
        stored = [
            cg.resume_counterfactuals(store, box, data, "ofs+obs", box="sum", reference_calls=0).to_frame()
            for data in (DATA, other)
        ]
    fresh = [cg.find_counterfactuals(box, data, "ofs+obs").to_frame() for data in (DATA, other)]
    for one, another in zip(stored, fresh, strict=True):
        assert (one["original_class"] == another["original_class"]).all()
    assert (stored[0]["original_class"] != stored[1]["original_class"]).any()


def test_a_certificate_shrinks_and_projects_the_optimum() -> None:
    results = cg.find_counterfactuals(LINEAR, DATA, "ofs+obs", amounts=True, valid="nearest")
    replaced = n_smaller = 0
    for result in results.found:
        proven = cg.certify(LINEAR, result)
        if proven.distance == result.distance:
            assert proven.changed_values is result.changed_values
            continue
        replaced += 1
        assert answer(LINEAR, proven.values) == proven.counterfactual_label
        alternatives = proven.alternatives[proven.flips]
        n_smaller += bool((proven.changed_values != alternatives).any())
        assert proven.certificate.calls > 3
        if proven.valid_values is not None:
            np.testing.assert_allclose(proven.valid_values, nearest_correlation(proven.values, "correlation"))
            assert answer(LINEAR, proven.valid_values) == proven.counterfactual_label
    assert replaced > 5
    assert n_smaller > 5


def test_a_scaler_that_clips_is_not_linear() -> None:
    try:
        scaler = MaxAbsScaler(clip=True)
    except TypeError:
        pytest.skip("this version of scikit-learn has no MaxAbsScaler(clip=)")
    assert linear_form(make_pipeline(scaler, LogisticRegression()).fit(DATA.values, DATA.labels)) is None
    plain = make_pipeline(MaxAbsScaler(), LogisticRegression()).fit(DATA.values, DATA.labels)
    assert linear_form(plain) is not None


def test_sparse_coefficients_are_linear() -> None:
    box = LogisticRegression(C=0.1).fit(DATA.values, DATA.labels)
    dense = cg.find_counterfactuals(box, DATA.subset([0, 1]), dataset=DATA)
    sparse = cg.find_counterfactuals(box.sparsify(), DATA.subset([0, 1]), dataset=DATA)
    assert [each.method for each in sparse] == [EXACT, EXACT]
    assert [each.distance for each in sparse] == [each.distance for each in dense]


def test_counts_of_zero_and_one_are_weighted_if_the_dataset_is() -> None:
    counts = np.round(4 * np.abs(DATA.values) + DATA.labels[:, None])
    data = cg.GraphDataset(counts, DATA.labels)
    assert data.measure == "count"
    box = LogisticRegression().fit(data.values, data.labels)
    network = np.minimum(data.values[0], 1)
    optimum = cg.optimal_counterfactual(box, network, data)
    assert optimum.weighted
    [found] = cg.find_counterfactuals(box, network[None], dataset=data)
    assert optimum.distance == found.distance == cg.find_counterfactual(box, network, dataset=data).distance
    with pytest.raises(InputError, match="other values than 0 and 1 in the dataset, but only 0 and 1 in the graphs"):
        cg.find_counterfactual(box, network.astype(bool), dataset=data)


def test_an_own_search_called_exact_proves_nothing() -> None:
    def exact(task, start):
        yield cg.search.protocol.Ask(np.arange(N_PAIRS))

    [result] = cg.find_counterfactuals(KERNEL, DATA.subset([0]), exact, DATA)
    assert result.method == "exact"
    assert not result.certificate.optimal


def test_a_tie_is_left_in_the_direction_of_the_other_class() -> None:
    box = LogisticRegression().fit(DATA.values > 0.2, DATA.labels)
    box.coef_, box.intercept_ = np.full((1, N_PAIRS), 0.1), np.array([-0.3])
    for n_edges in range(1, 6):
        edges = np.arange(N_PAIRS) < n_edges
        found = cg.find_counterfactual(box, edges)
        assert found.distance == cg.find_counterfactual(box, edges, "learned").distance


def test_stores_keep_exact_results_and_alternatives_of_each_person(tmp_path: Path) -> None:
    change = np.random.default_rng(0).normal(0.2, 0.4, DATA.values.shape).clip(-1, 1)
    with cg.Store(tmp_path / "store.db") as store:
        stored = cg.resume_counterfactuals(store, LINEAR, DATA)
        assert {each.method for each in stored} == {EXACT}
        again = cg.resume_counterfactuals(store, LINEAR, DATA)
        assert [each.to_dict() for each in again] == [each.to_dict() for each in stored]
        each = cg.resume_counterfactuals(store, KERNEL, DATA, "ofs+obs", change=change)
        direct = cg.find_counterfactuals(KERNEL, DATA, "ofs+obs", change=change)
        assert [result.distance for result in each] == [result.distance for result in direct]
        n_rows = export(store, tmp_path / "searches.csv")
        export(store, tmp_path / "searches.parquet")
    assert n_rows == 100
    with (tmp_path / "searches.csv").open() as file:
        first = next(csv.DictReader(file))
    found = stored[0]
    np.testing.assert_allclose([float(value) for value in first["changed_values"].split()], found.changed_values)
    table = pd.read_parquet(tmp_path / "searches.parquet")
    np.testing.assert_allclose(table["changed_values"][0], found.changed_values)


def test_a_person_who_cannot_change_has_no_result_and_the_others_have() -> None:
    results = cg.find_counterfactuals(KERNEL, DATA.subset([0, 1, 2]), dataset=DATA, change=DATA.values[0])
    assert not results[0].found
    assert "no pair can change: the alternative value of every allowed pair is its present value" in results[0].sentence
    assert results[0].calls == 1
    assert results[1].found or results[2].found


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_the_unit_of_the_data_does_not_matter(scale: float) -> None:
    data = cg.GraphDataset(DATA.values * scale, DATA.labels, measure="unknown")
    box = SVC(C=3.0, gamma="scale").fit(data.values, data.labels)
    results = cg.find_counterfactuals(box, data.subset(range(4)), "ofs+obs", data)
    assert results.cautions == ()
    assert len(results.found) == 4
    skewed = DATA.matrices * scale
    skewed[3, 0, 1] += 1e-3 * scale
    with pytest.raises(InputError, match="not symmetric"):
        cg.GraphDataset(skewed, DATA.labels)


def test_runs_of_a_linear_estimator_differ() -> None:
    results = cg.find_counterfactuals(LINEAR, DATA.subset([0]), dataset=DATA, runs=5, effort="quick")
    assert {each.method for each in results} == {"learned"}
    assert cg.find_counterfactuals(LINEAR, DATA.subset([0]), dataset=DATA)[0].method == EXACT


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="amounts must be True or False, not 'yes'"):
        SearchOptions(amounts="yes")
    table = pd.DataFrame(np.full(DATA.values.shape, 0.3))
    assert cg.find_counterfactuals(KERNEL, DATA.subset([0]), dataset=DATA, change=table[:1], method="ofs+obs")[0].calls
    for change in (np.full(N_PAIRS, 1.5), 2 * DATA.values):
        with pytest.raises(InputError, match="change: a correlation must be between -1 and 1, but"):
            cg.find_counterfactuals(KERNEL, DATA, change=change)
    unknown = cg.GraphDataset(3 * DATA.values, DATA.labels)
    fisher = cg.GraphDataset(np.arctanh(DATA.values), DATA.labels, measure="fisher z")
    with pytest.raises(InputError, match="are of the measure 'correlation', but those of the dataset of 'fisher z'"):
        cg.find_counterfactuals(KERNEL, DATA, dataset=fisher)
    with pytest.raises(InputError, match=r"graph must be one network, an array: data\.values"):
        cg.optimal_counterfactual(LINEAR, DATA.subset([0]), DATA)
    with pytest.raises(InputError, match="valid='nearest' is for correlations and Fisher z values, but the measure"):
        cg.find_counterfactuals(KERNEL, unknown, valid="nearest")


def test_the_null_model_draws_only_pairs_that_can_change() -> None:
    counts = np.random.default_rng(0).poisson(3, DATA.values.shape) + 2 * DATA.labels[:, None]
    counts[:, 30:] = 0
    data = cg.GraphDataset(counts, DATA.labels, measure="count")
    box = SVC().fit(data.values, data.labels)
    explanation = cg.GlobalExplanation(cg.find_counterfactuals(box, data, "ofs+obs"))
    test = explanation.significance()["pair"]
    assert (test["expected"][30:] == 0).all()
    assert test["expected"].sum() == pytest.approx(test["observed"].sum())
    roi = explanation.significance()["roi"]
    assert roi["expected"].sum() == pytest.approx(roi["observed"].sum(), rel=1e-6)


def test_there_is_no_significance_test_of_larger_units() -> None:
    results = cg.find_counterfactuals(KERNEL, DATA.subset(range(10)), dataset=DATA, unit="roi", effort="quick")
    assert cg.GlobalExplanation(results).significance()["pair"]["p"].isna().all()


@settings(max_examples=15)
@given(seed=st.integers(0, 99), method=st.sampled_from([m for m in cg.list_methods() if "learned" not in m]))
def test_a_graph_is_the_special_case_of_two_values(seed: int, method: str) -> None:
    """On zeros and ones as weights with the alternatives 1 - x, a search asks the same as on the graph."""
    graphs = correlations(seed, 12).binarize("percentile:70")
    weights = cg.GraphDataset(graphs.edges, graphs.labels, measure="unknown")
    coefficients = np.random.default_rng(seed).normal(size=N_PAIRS)
    threshold = float(np.median(graphs.edges @ coefficients)) + 1e-3

    def box(values: np.ndarray) -> np.ndarray:
        return (values.astype(float) @ coefficients > threshold).astype(int)

    oracle = cg.Oracle(box, input="edges")
    binary = cg.find_counterfactuals(oracle, graphs, method, change="toggle", max_calls=120)
    change = 1 - weights.values
    weighted = cg.find_counterfactuals(oracle, weights, method, change=change, max_calls=120)
    assert weights.weighted
    assert not graphs.weighted
    for one, other in zip(binary, weighted, strict=True):
        assert one.calls_by_phase == other.calls_by_phase
        assert (one.flips is None) == (other.flips is None)
        assert one.flips is None or (one.flips == other.flips).all()


def test_pairs_can_change_if_their_alternative_differs() -> None:
    network = Network(np.float32([0, 0.5, -2, 1e-7]), np.float32([0, 0.5, -2.1, 2e-7]))
    assert network.can_change.tolist() == [False, False, True, True]


@pytest.mark.parametrize("unit", ["pair", "roi"])
def test_a_claim_of_minimality_holds_for_the_shrunk_network(unit) -> None:
    box = KNeighborsClassifier(5).fit(DATA.values, DATA.labels)
    results = cg.find_counterfactuals(box, DATA, "ofs+obs", unit=unit, amounts=True, max_calls=400)
    claims = 0
    for result in results.found:
        for each in (result, cg.certify(box, result)):
            if each.certificate.minimal and each.distance > 1:
                claims += 1
                parts = [part.flips for part in each.units] or [np.array([pair]) for pair in each.flips]
                for number, part in enumerate(parts):
                    others = [other for k, other in enumerate(parts) if k != number]
                    undone = each.values.copy()
                    left_out = np.setdiff1d(part, np.concatenate(others))
                    undone[left_out] = each.original[left_out]
                    assert answer(box, undone) == each.original_label
    assert claims > 3


def test_proofs_name_their_condition() -> None:
    results = cg.find_counterfactuals(LINEAR, DATA.subset([0]), dataset=DATA)
    assert results[0].sentence.endswith("No counterfactual with these alternative values has fewer changes.")


@pytest.mark.parametrize("cost", [np.ones(N_PAIRS), np.ones((12, 12))], ids=["vector", "matrix"])
def test_costs_are_arrays(cost: np.ndarray) -> None:
    constraints = cg.Constraints(cost=cost)
    results = cg.find_counterfactuals(KERNEL, DATA.subset([0, 1]), "ofs+obs", DATA, constraints=constraints)
    assert all(each.cost == each.distance for each in results.found)


def test_a_report_shows_people_for_whom_only_learned_finds_something() -> None:
    report = cg.make_report(KERNEL, DATA, "ofs", subjects=1, local_runs=1, runs=1, max_calls=10, k=1, walks=1)
    assert not report.results.found
    [name] = report.people
    assert report.person(name).found
    usual = cg.make_report(KERNEL, DATA, subjects=1, local_runs=2, max_calls=200)
    assert {each.method for each in usual.results} == {"learned"}


def test_the_projection_of_the_full_changes_is_used_if_the_shrunk_one_fails() -> None:
    found = {}
    for amounts in (True, False):
        results = cg.find_counterfactuals(FOREST, DATA, "ofs+obs", amounts=amounts, valid="nearest")
        found[amounts] = sum(each.valid_values is not None for each in results)
        assert {each.calls_by_phase["valid"] for each in results.found} <= ({1, 2} if amounts else {1})
    assert found[True] >= found[False] > 0


def test_searches_over_pipelines_in_pipelines_are_exact() -> None:
    inner = make_pipeline(FunctionTransformer(), StandardScaler())
    nested = make_pipeline(inner, LogisticRegression(C=0.1)).fit(DATA.values, DATA.labels)
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1]}, cv=2)
    for box in (nested, search.fit(DATA.values, DATA.labels)):
        results = cg.find_counterfactuals(box, DATA.subset([0, 1]), dataset=DATA)
        expected = cg.find_counterfactuals(LINEAR, DATA.subset([0, 1]), dataset=DATA)
        assert [(each.method, each.distance) for each in results] == [(EXACT, each.distance) for each in expected]


def test_a_dataset_file_can_be_binarised(tmp_path: Path) -> None:
    path = DATA.save(tmp_path / "data.npz")
    assert (cg.load_dataset(path, binarize="percentile:80").edges == DATA.binarize("percentile:80").edges).all()
