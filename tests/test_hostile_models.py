"""Malicious model files with a valid digest."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import countergraph as cg
from countergraph.errors import FileError


def forge(model: cg.Model, estimator: object, path: Path) -> Path:
    """Write a model file that contains another estimator."""
    model.save(path)
    content = estimator if isinstance(estimator, bytes) else skops.io.dumps(estimator)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
    header["digest"] = hashlib.sha256(content).hexdigest()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(header))
        archive.writestr("estimator.skops", content)
    return path


@pytest.fixture(scope="module")
def forest(cohort: cg.GraphDataset) -> cg.Model:
    return cg.train(cohort, "raw-edges", "forest")


def pipeline(last: object) -> Pipeline:
    return Pipeline([("classifier", last)])


def test_only_pipelines_of_the_documented_form_are_loaded(
    cohort: cg.GraphDataset, forest: cg.Model, tmp_path: Path
) -> None:
    edges, labels = cohort.edges, cohort.labels
    for estimator in (
        pipeline(DecisionTreeClassifier().fit(edges, labels)),
        pipeline(ExtraTreesClassifier(3).fit(edges, labels)),
        pipeline(SVC(kernel="rbf").fit(edges, labels)),
        pipeline(forest.estimator),
        pipeline("passthrough"),
        Pipeline([("a", forest.estimator[-1]), ("b", forest.estimator[-1])]),
        forest.estimator[-1],
        {"a": 1},
    ):
        with pytest.raises(
            FileError, match=r"m\.cgm: .*(does not contain a pipeline of the kind raw-edges|not trusted)"
        ):
            cg.load_model(forge(forest, estimator, tmp_path / "m.cgm"))
    empty = pipeline(forest.estimator[-1])
    empty.steps = []
    with pytest.raises(FileError, match=r"m\.cgm"):
        cg.load_model(forge(forest, empty, tmp_path / "m.cgm"))


def test_attributes_are_checked(cohort: cg.GraphDataset, forest: cg.Model, tmp_path: Path) -> None:
    knn = KNeighborsClassifier(algorithm="brute").fit(cohort.edges, cohort.labels)
    knn._tree = SVC().fit(cohort.edges, cohort.labels)
    with pytest.raises(FileError, match=r"m\.cgm: .*(contains an unexpected object of type SVC|not trusted)"):
        cg.load_model(forge(forest, pipeline(knn), tmp_path / "m.cgm"))


def test_small_files_with_a_large_unpacked_size_raise(forest: cg.Model, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        for number in range(11):
            archive.writestr(f"{number}.npy", bytes(50 * 2**20))
    with pytest.raises(FileError, match="is larger than the maximum of 512 MB when unpacked"):
        cg.load_model(forge(forest, buffer.getvalue(), tmp_path / "m.cgm"))


def test_linear_svm_agrees_with_scikit_learn(cohort: cg.GraphDataset) -> None:
    from countergraph.classifiers.linear_svm import LinearSVM

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(90, 5))
    for classes in (2, 3, 4):
        labels = np.array(["a", "b", "c", "d"])[rng.integers(classes, size=90)]
        ours, theirs = LinearSVM().fit(vectors, labels), SVC(kernel="linear").fit(vectors, labels)
        test_vectors = rng.normal(size=(500, 5))
        assert (ours.predict(test_vectors) == theirs.predict(test_vectors)).mean() > (0.999 if classes == 2 else 0.97)
    model = cg.train(cohort, "raw-edges", "svm")
    floats = cohort.edges.astype(float)
    assert (model.predict(floats) == model.predict(cohort.edges)).all()
