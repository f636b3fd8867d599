"""How much the pairs of a weighted network must change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import countergraph as cg
from countergraph.graphs.correlation import nearest_correlation, smallest_eigenvalue
from countergraph.graphs.measure import Measure
from tests.test_mismatch import DATA as CORRELATIONS
from tests.test_mismatch import Z as FISHER_Z
from tests.test_units import WEIGHTED as DATA
from tests.test_units import weighted_data


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    unit=st.sampled_from(["pair", "roi", "network"]),
    method=st.sampled_from(["learned", "ofs+obs", "auto"]),
    linear=st.booleans(),
    max_calls=st.sampled_from([5, 60, 500]),
)
def test_amounts_are_between_value_and_alternative(
    seed: int, unit: str, method: str, linear: bool, max_calls: int
) -> None:
    data = weighted_data(seed)
    box = (LogisticRegression(C=0.1) if linear else SVC()).fit(data.values, data.labels)
    options = {"unit": unit, "max_calls": max_calls}
    results = cg.find_counterfactuals(box, data.subset([0, 1, 2]), method, data, amounts=True, **options)
    for result in results.found:
        assert result.flips is not None
        assert result.values is not None
        assert result.alternatives is not None
        assert result.changed_values is not None
        assert box.predict(result.values[None])[0] == result.counterfactual_label != result.original_label
        before, full = result.original[result.flips], result.alternatives[result.flips]
        assert (np.minimum(before, full) <= result.changed_values).all()
        assert (result.changed_values <= np.maximum(before, full)).all()
        assert result.calls_by_phase["amounts"] <= max_calls
        assert result.total_change <= np.abs(full - before).sum() + 1e-4


def test_amounts_of_a_single_pair() -> None:
    """The class changes when the first value is above 0.5: the change ends just above."""
    data = weighted_data(3)
    box = cg.Oracle(lambda values: (values[:, 0] > 0.5).astype(int), input="edges")
    row = int(np.flatnonzero(data.values[:, 0] < 0.2)[0])
    change = data.values[row].copy()
    change[0] = 1.0
    [result] = cg.find_counterfactuals(box, data.subset([row]), "learned", data, change=change, amounts=True)
    assert result.distance == 1
    assert result.values is not None
    assert 0.5 < result.values[0] < 0.53
    table = result.changes
    assert table["after"][0] - table["before"][0] == pytest.approx(result.total_change)
    assert cg.certify(box, result).certificate.optimal
    [whole] = cg.find_counterfactuals(box, data.subset([row]), "learned", data, change=change)
    assert whole.changed_values is not None
    assert whole.changed_values[0] == 1.0
    assert "amounts" not in whole.calls_by_phase


def test_graphs_have_no_amounts() -> None:
    data = DATA.binarize("percentile:70")
    box = LogisticRegression().fit(data.edges, data.labels)
    with_amounts, without = (cg.find_counterfactuals(box, data, amounts=each) for each in (True, False))
    assert [each.to_dict() for each in with_amounts] == [each.to_dict() for each in without]


def test_the_exact_optimum_is_the_default_for_linear_estimators() -> None:
    box = LogisticRegression(C=0.1).fit(DATA.values, DATA.labels)
    for result in cg.find_counterfactuals(box, DATA):
        assert result.method == "exact"
        assert result.certificate.optimal
        assert result.distance == cg.optimal_counterfactual(box, result.original, dataset=DATA).distance
        assert result.calls <= 4
        assert result.values is not None
        assert box.predict(result.values[None])[0] == result.counterfactual_label
    assert cg.find_counterfactuals(box, DATA.subset([0]), "learned", DATA)[0].method == "learned"
    for options in ({"unit": "roi"}, {"constraints": cg.Constraints(most=30)}):
        assert cg.find_counterfactuals(box, DATA.subset([0]), dataset=DATA, **options)[0].method == "learned"
    assert (
        cg.find_counterfactuals(SVC().fit(DATA.values, DATA.labels), DATA.subset([0]), dataset=DATA)[0].method
        == "learned"
    )


@pytest.mark.parametrize("measure", ["correlation", "fisher z"])
def test_results_are_projected_to_the_nearest_correlation_matrix(measure: Measure, tmp_path: Path) -> None:
    data = CORRELATIONS if measure == "correlation" else FISHER_Z
    box = SVC().fit(data.values, data.labels)
    results = cg.find_counterfactuals(box, data, "learned", valid="nearest", effort="quick")
    projected = [each for each in results.found if each.valid_values is not None]
    assert len(projected) >= 10
    for result in projected:
        assert result.valid_values is not None
        assert result.smallest_eigenvalue is not None
        assert smallest_eigenvalue(result.valid_values, measure) > -1e-5
        assert box.predict(result.valid_values[None])[0] == result.counterfactual_label
        assert result.calls_by_phase["valid"] == 1
        assert result.valid_matrix is not None
    assert min(each.smallest_eigenvalue or 0.0 for each in results.found) < -0.01
    results.save(tmp_path / "results.json")
    loaded = cg.load_results(tmp_path / "results.json")
    np.testing.assert_array_equal(loaded[0].valid_values, results[0].valid_values)
    off = cg.find_counterfactuals(box, data.subset([0]), "learned", data, valid="off")
    assert off[0].smallest_eigenvalue is None


def test_a_correlation_matrix_is_its_own_projection() -> None:
    values = CORRELATIONS.values[0]
    np.testing.assert_allclose(nearest_correlation(values, "correlation"), values, atol=1e-6)
    broken = values.copy()
    broken[:8] = -0.95
    assert smallest_eigenvalue(broken, "correlation") < 0
    nearest = nearest_correlation(broken, "correlation")
    assert smallest_eigenvalue(nearest, "correlation") > -1e-6
    clipped = np.linalg.norm(nearest - broken)
    assert clipped < np.linalg.norm(values - broken), "nearer than the original matrix"
