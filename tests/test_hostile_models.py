"""Model files that somebody made to do harm. Each has a digest that fits: it was not altered, but written so."""

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
    """Write a model file that holds another estimator."""
    cg.save_model(model, path)
    content = estimator if isinstance(estimator, bytes) else skops.io.dumps(estimator)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
    header["digest"] = hashlib.sha256(content).hexdigest()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(header))
        archive.writestr("estimator.skops", content)
    return path


@pytest.fixture(scope="module")
def raw(cohort: cg.GraphDataset) -> cg.Model:
    return cg.train(cohort, "raw-edges", "forest")


def pipeline(last: object) -> Pipeline:
    return Pipeline([("classifier", last)])


def test_only_the_pipelines_that_we_write_are_read(cohort: cg.GraphDataset, raw: cg.Model, tmp_path: Path) -> None:
    edges, labels = cohort.edges, cohort.labels
    for estimator in (
        pipeline(DecisionTreeClassifier().fit(edges, labels)),
        pipeline(ExtraTreesClassifier(3).fit(edges, labels)),
        pipeline(SVC(kernel="rbf").fit(edges, labels)),
        pipeline(raw.estimator),
        pipeline("passthrough"),
        Pipeline([("a", raw.estimator[-1]), ("b", raw.estimator[-1])]),
        raw.estimator[-1],
        {"a": 1},
    ):
        with pytest.raises(FileError, match=r"m\.cgm: .*(does not hold a pipeline of the kind raw-edges|not trusted)"):
            cg.load_model(forge(raw, estimator, tmp_path / "m.cgm"))
    empty = pipeline(raw.estimator[-1])
    empty.steps = []
    with pytest.raises(FileError, match=r"m\.cgm"):
        cg.load_model(forge(raw, empty, tmp_path / "m.cgm"))


def test_attributes_are_looked_at_too(cohort: cg.GraphDataset, raw: cg.Model, tmp_path: Path) -> None:
    knn = KNeighborsClassifier(algorithm="brute").fit(cohort.edges, cohort.labels)
    knn._tree = SVC().fit(cohort.edges, cohort.labels)
    with pytest.raises(FileError, match=r"m\.cgm: .*(holds a SVC where none belongs|not trusted)"):
        cg.load_model(forge(raw, pipeline(knn), tmp_path / "m.cgm"))


def test_a_small_file_that_unpacks_to_a_large_one(raw: cg.Model, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        for number in range(11):
            archive.writestr(f"{number}.npy", bytes(50 * 2**20))
    with pytest.raises(FileError, match="is larger than a model file can be"):
        cg.load_model(forge(raw, buffer.getvalue(), tmp_path / "m.cgm"))


def test_the_linear_svm_answers_like_scikit_learns(cohort: cg.GraphDataset) -> None:
    from countergraph.classifiers.linear_svm import LinearSVM

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(90, 5))
    for classes in (2, 3, 4):
        labels = np.array(["a", "b", "c", "d"])[rng.integers(classes, size=90)]
        ours, theirs = LinearSVM().fit(vectors, labels), SVC(kernel="linear").fit(vectors, labels)
        fresh = rng.normal(size=(500, 5))
        assert (ours.predict(fresh) == theirs.predict(fresh)).mean() > (0.999 if classes == 2 else 0.97)
    box = cg.train(cohort, "raw-edges", "svm")
    floats = cohort.edges.astype(float)
    assert (box.predict(floats) == box.predict(cohort.edges)).all()
