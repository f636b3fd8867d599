"""Warnings if a classifier and the networks do not belong together."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC

import countergraph as cg
from countergraph.datasets.cohorts import load_adhd
from countergraph.errors import MismatchWarning
from countergraph.finding.mismatch import answer_mismatches, estimator_mismatches
from countergraph.graphs.pairs import to_matrix


def correlations(n: int = 40, n_rois: int = 12, seed: int = 0) -> cg.GraphDataset:
    rng = np.random.default_rng(seed)
    labels, base = np.arange(n) % 2, rng.normal(size=(n_rois, 4))
    matrices = []
    for label in labels:
        series = rng.normal(size=(60, 4)) @ base.T + rng.normal(size=(60, n_rois))
        series[:, :3] += 1.5 * label * rng.normal(size=(60, 1))
        matrices.append(np.corrcoef(series.T))
    return cg.GraphDataset(np.array(matrices), labels, classes=("TD", "ASD"), measure="correlation")


DATA = correlations()
GRAPHS = DATA.binarize("percentile:80")
Z = cg.GraphDataset(np.arctanh(DATA.values), DATA.labels, classes=("TD", "ASD"), measure="fisher z")
ESTIMATORS = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(), SVC()),
    SVC(),
    KNeighborsClassifier(3),
    RandomForestClassifier(20, random_state=0),
    LogisticRegression(),
    make_pipeline(MinMaxScaler(), SVC()),
    make_pipeline(PCA(10, random_state=0), SVC()),
    GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}, cv=3),
    ExtraTreesClassifier(20, max_depth=3, random_state=0),
    GradientBoostingClassifier(n_estimators=10, random_state=0),
    make_pipeline(RobustScaler(), LogisticRegression()),
    make_pipeline(MaxAbsScaler(), LogisticRegression()),
    make_pipeline(VarianceThreshold(), SVC()),
    CalibratedClassifierCV(SVC(), cv=3),
]
FITTED_ON_VALUES = ESTIMATORS[:5] + ESTIMATORS[6:9] + ESTIMATORS[10:11]
"""Those that store something about the values of their training data."""


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("data", [GRAPHS, Z], ids=["graphs", "weighted"])
def test_no_false_alarms(estimator, data: cg.GraphDataset) -> None:
    box = estimator.fit(data.values, data.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        results = cg.find_counterfactuals(box, data, max_calls=50, effort="quick")
        cg.find_counterfactuals(box, data.subset([0]), dataset=data, max_calls=50, effort="quick")
    assert results.cautions == ()


@pytest.mark.parametrize("estimator", FITTED_ON_VALUES, ids=str)
def test_graphs_for_a_classifier_of_weighted_networks(estimator) -> None:
    """A user who binarises, but trained on Fisher z values."""
    box = estimator.fit(Z.values, Z.labels)
    with pytest.warns(MismatchWarning, match="fitted on other values than 0 and 1|cannot come from such data"):
        results = cg.find_counterfactuals(box, GRAPHS, max_calls=50, effort="quick")
    assert results.cautions
    assert "Caution: " in results._repr_html_()


@pytest.mark.parametrize("estimator", ESTIMATORS[1:5], ids=str)
def test_weighted_networks_for_a_classifier_of_graphs(estimator) -> None:
    box = estimator.fit(GRAPHS.values, GRAPHS.labels)
    with pytest.warns(MismatchWarning):
        cg.find_counterfactuals(box, Z, max_calls=50, effort="quick")


def test_lower_triangle() -> None:
    rows, columns = np.tril_indices(DATA.n_rois, -1)
    lower = np.array([to_matrix(values, 1.0)[rows, columns] for values in DATA.values])
    box = make_pipeline(StandardScaler(), LogisticRegression()).fit(lower, DATA.labels)
    with pytest.warns(MismatchWarning, match="lower triangle row by row, as nilearn's sym_matrix_to_vec"):
        cg.find_counterfactuals(box, DATA, max_calls=50)


def test_vectors_with_the_diagonal() -> None:
    rows, columns = np.triu_indices(DATA.n_rois)
    whole = np.array([to_matrix(values, 1.0)[rows, columns] for values in DATA.values])
    box = LogisticRegression().fit(whole, DATA.labels)
    with (
        pytest.warns(MismatchWarning, match="fitted on 78 features, which is the triangle with the diagonal"),
        pytest.raises(cg.errors.BlackBoxError),
    ):
        cg.find_counterfactuals(box, DATA, max_calls=50)


def test_scaler_of_other_data() -> None:
    box = make_pipeline(StandardScaler(), LogisticRegression()).fit(100 + 50 * Z.values, Z.labels)
    with pytest.warns(MismatchWarning, match="cannot come from such data: after scaling, the values"):
        cg.find_counterfactuals(box, Z, max_calls=50)


def test_answers_no_better_than_the_larger_class() -> None:
    with pytest.warns(MismatchWarning, match="agrees with the labels of 50% of 40 networks; always"):
        cg.find_counterfactuals(lambda a: np.arange(len(a)) // 2 % 2, DATA, "ofs", max_calls=2, confirm=False)
    with pytest.warns(MismatchWarning, match=r"gives all 40 networks the same class \(ASD\)"):
        cg.find_counterfactuals(lambda a: np.ones(len(a), int), DATA, "ofs", max_calls=2)


def test_one_network_is_checked_with_the_labelled_ones() -> None:
    """The answers on the reference cohort are compared with its labels, and count as shared calls."""
    labels = np.roll(DATA.labels, 1)
    box = LogisticRegression().fit(DATA.values, labels)
    with pytest.warns(MismatchWarning, match="agrees with the labels of 0% of 40 networks"):
        results = cg.find_counterfactuals(box, DATA.subset([3]), dataset=DATA)
    assert results.shared_calls == 40
    assert len(results.cautions) == 1
    with pytest.warns(MismatchWarning, match="agrees with the labels of 0% of 40 networks"):
        cg.find_counterfactual(box, DATA.values[3], dataset=DATA)


@pytest.mark.parametrize("kind", ["function", "oracle", "estimator"])
def test_one_class_of_people_and_one_person_are_checked(kind: str, tmp_path: Path) -> None:
    estimator = SVC().fit(Z.values, 1 - Z.labels)
    box = {
        "function": lambda matrices: estimator.predict(matrices[:, *np.triu_indices(Z.n_rois, 1)]),
        "oracle": cg.Oracle(estimator),
        "estimator": estimator,
    }[kind]
    patients = Z.subset(Z.labels == 1)
    for people in (patients, patients.subset([0])):
        with pytest.warns(MismatchWarning, match="agrees with the labels of"):
            cg.find_counterfactuals(box, people, "ofs+obs", Z, max_calls=20)
    with cg.Store(tmp_path / "store.db") as store, pytest.warns(MismatchWarning, match="agrees with the labels of"):
        cg.resume_counterfactuals(store, box, patients.subset([0]), "ofs+obs", Z, box="one", max_calls=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MismatchWarning)
        results = cg.find_counterfactuals(box, patients, "ofs+obs", Z, max_calls=20, reference_calls=0)
    assert results.shared_calls == 0


def test_rois_in_another_order() -> None:
    rng = np.random.default_rng(0)
    order = rng.permutation(DATA.n_rois)
    structure = to_matrix(np.linspace(-1, 1, DATA.values.shape[1]))
    matrices = structure + np.asarray(DATA.matrices)
    other = cg.GraphDataset(matrices[:, order][:, :, order], DATA.labels, measure="unknown")
    data = cg.GraphDataset(matrices, DATA.labels, measure="unknown")
    box = make_pipeline(StandardScaler(), SVC()).fit(other.values, other.labels)
    assert list(estimator_mismatches(box, other.values)) == []
    [found] = estimator_mismatches(box, data.values)
    assert "the ROIs seem to be in another order" in found


def test_stores_and_files_keep_cautions(tmp_path: Path) -> None:
    box = SVC().fit(Z.values, Z.labels)
    with cg.Store(tmp_path / "store.db") as store:
        with pytest.warns(MismatchWarning, match="other values than 0 and 1"):
            resumed = cg.resume_counterfactuals(store, box, GRAPHS, max_calls=50, effort="quick")
        report = cg.make_report(box, GRAPHS, subjects=1, local_runs=1, runs=1, max_calls=20, store=store)
    diverse = cg.find_diverse(box, GRAPHS.subset([0]), 2, dataset=GRAPHS, max_calls=50, runs=2)
    assert "fitted on other values than 0 and 1" in resumed.cautions[0]
    assert report.cautions[0].startswith("The classifier was fitted on other values than 0 and 1")
    assert diverse.cautions == resumed.cautions[:1]
    loaded = cg.load_results(resumed.save(tmp_path / "results.json"))
    assert loaded.cautions == resumed.cautions


REAL = [
    ("asd", LogisticRegression(C=0.01, max_iter=2000)),
    ("asd", SVC()),
    ("asd", KNeighborsClassifier(5)),
    ("adhd", make_pipeline(StandardScaler(), LogisticRegression(C=0.001, max_iter=2000))),
    ("adhd", make_pipeline(StandardScaler(), SVC())),
    ("adhd", RandomForestClassifier(50, random_state=0)),
    ("synthetic", SVC()),
]


@pytest.mark.parametrize(("name", "estimator"), REAL, ids=str)
def test_no_false_alarms_on_cohorts(name: str, estimator, request: pytest.FixtureRequest) -> None:
    if name == "synthetic":
        data = cg.load_dataset(name)
    elif name == "asd":
        data = request.getfixturevalue("asd")
    else:
        data = load_adhd(request.getfixturevalue("real_data"), binarize=None)
    train, held_out = data.subset(np.arange(len(data)) % 4 < 2), data.subset(np.arange(len(data)) % 4 >= 2)
    estimator.fit(train.values, train.labels)
    assert list(estimator_mismatches(estimator, held_out.values)) == []
    answers = estimator.predict(data.values).tolist()
    known = list(zip(answers, data.labels.tolist(), strict=True))
    assert list(answer_mismatches(known, data.classes)) == []
