from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import skops.io

import countergraph as cg
from countergraph.classifiers.model import CLASSIFIERS, MODELS
from countergraph.errors import FileError, InputError, NotFoundError
from countergraph.graphs.pairs import to_adjacency
from tests.conftest import random_graphs


@pytest.fixture(scope="module")
def trained(cohort: cg.GraphDataset) -> dict[str, cg.Model]:
    """Train one model of each kind."""
    return {kind: cg.train(cohort, kind) for kind in MODELS}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("method", cg.list_methods())
def test_every_model_with_every_search_method(
    kind: str, method: str, cohort: cg.GraphDataset, trained: dict[str, cg.Model]
) -> None:
    model = trained[kind]
    results = cg.find_counterfactuals(model, cohort.subset(range(6)), method, cohort, max_calls=300)
    assert len(results.found) >= 5
    for result in results.found:
        assert result.edges is not None
        assert model.predict(result.edges[None])[0] != model.predict(result.original[None])[0]


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_can_be_saved_and_loaded(
    kind: str, cohort: cg.GraphDataset, trained: dict[str, cg.Model], tmp_path: Path
) -> None:
    model = trained[kind]
    loaded = cg.load_model(model.save(tmp_path / "m.cgm"))
    assert loaded.describe() == model.describe()
    assert loaded.trained_on == cohort.fingerprint
    flipped = ~cohort.edges
    for graphs in (cohort.edges, flipped):
        assert (loaded.predict(graphs) == model.predict(graphs)).all()


@pytest.mark.parametrize("kind", MODELS)
def test_predictions_do_not_depend_on_the_batch(kind: str, trained: dict[str, cg.Model]) -> None:
    graphs = random_graphs(512, 20, seed=1, density=0.1)
    labels = trained[kind].predict(graphs)
    assert len(set(labels.tolist())) == 2
    assert labels.tolist() == [int(trained[kind].predict(row[None])[0]) for row in graphs]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_can_be_trained_saved_and_loaded(
    classifier: str, cohort: cg.GraphDataset, tmp_path: Path
) -> None:
    model = cg.train(cohort, "raw-edges", classifier)
    assert model.settings == {"classifier": classifier}
    loaded = cg.load_model(model.save(tmp_path / "m.cgm"))
    assert (loaded.predict(~cohort.edges) == model.predict(~cohort.edges)).all()
    assert (model.predict(cohort.edges) == model.estimator.predict(cohort.edges)).all()
    oracle = cg.Oracle(model)
    assert oracle.has_probabilities == (classifier != "svm")
    if oracle.has_probabilities:
        probabilities = oracle.probabilities(cohort.edges)
        assert probabilities.shape == (24, 2)
        assert np.allclose(probabilities.sum(axis=1), 1)
        assert oracle.asked == 24
    else:
        with pytest.raises(InputError, match="returns no probabilities"):
            oracle.probabilities(cohort.edges)


def test_select_compares_candidates_on_held_out_graphs(cohort: cg.GraphDataset) -> None:
    steps: list[tuple[int, int]] = []
    best = cg.select(cohort, "raw-edges", progress=lambda done, total: steps.append((done, total)))
    assert best.accuracy.chosen_from == 4
    assert steps == [(i, 6) for i in range(1, 7)]
    for classifier in ("svm", "knn", "forest", "logistic"):
        accuracy = cg.train(cohort, "raw-edges", classifier).accuracy
        assert best.accuracy.cross_validated >= accuracy.cross_validated
    assert cg.select(cohort, "raw-edges", classifiers=["forest"]).settings == {"classifier": "forest"}
    sized = cg.select(cohort, "graph2vec", classifiers=["knn", "svm"], epochs=3)
    assert sized.accuracy.chosen_from == 6
    assert sized.settings["dimensions"] in (25, 50, 100)
    assert cg.select(cohort, "graph2vec", classifiers=["knn"], epochs=3, dimensions=7).settings["dimensions"] == 7


def test_more_than_two_classes(cohort: cg.GraphDataset) -> None:
    data = cg.GraphDataset(cohort.edges, np.arange(24) % 3, classes=("a", "b", "c"))
    model = cg.train(data, "raw-edges", "knn")
    assert model.accuracy.auc is None
    assert set(model.predict(data.edges).tolist()) <= {0, 1, 2}


PREDICT = """
import sys, countergraph as cg
data = cg.load_dataset(sys.argv[1])
model = cg.load_model(sys.argv[2])
trained_here = cg.train(data, model.kind)
print(model.predict(data.edges).tolist(), trained_here.predict(data.edges).tolist())
"""


@pytest.mark.parametrize("kind", ["graph2vec", "sub2vec"])
def test_predictions_do_not_depend_on_the_hash_seed(
    kind: str, cohort: cg.GraphDataset, trained: dict[str, cg.Model], tmp_path: Path
) -> None:
    files = [cohort.save(tmp_path / "d.npz"), trained[kind].save(tmp_path / "m.cgm")]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PREDICT, *map(str, files)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    expected = trained[kind].predict(cohort.edges).tolist()
    assert outputs == {f"{expected} {expected}\n"}


def test_cross_validated_accuracy_is_not_biased() -> None:
    """Random labels can be fitted on the training graphs, but not predicted on held-out graphs."""
    data = cg.make_cohort(n_subjects=60, n_rois=40, contrast=0, seed=2)
    accuracy = cg.train(data).accuracy
    assert accuracy.training > 0.7
    assert accuracy.cross_validated < 0.7
    assert accuracy.majority == 0.5
    real = cg.train(cg.make_cohort(n_subjects=60, n_rois=40, contrast=1, seed=2)).accuracy
    assert min(real.cross_validated, real.balanced, real.auc or 0) > 0.85


def test_settings_are_used_and_checked(cohort: cg.GraphDataset) -> None:
    assert cg.train(cohort, alpha=0.1).settings["alpha"] == 0.1
    with pytest.raises(NotFoundError, match="unknown classifier 'tree'"):
        cg.train(cohort, classifier="tree")
    with pytest.raises(InputError, match="unknown setting 'beta' of contrast-subgraphs. Supported: alpha, n_starts"):
        cg.train(cohort, beta=1)
    with pytest.raises(NotFoundError, match="unknown model 'contrast'"):
        cg.train(cohort, "contrast")
    with pytest.raises(InputError, match="at least two classes with at least 5 graphs each; got GraphDataset"):
        cg.train(cohort.subset(range(6)))


def test_default_settings_on_the_cohorts_of_the_paper(asd: cg.GraphDataset) -> None:
    model = cg.train(asd)
    assert model.settings["alpha"] == 0.025
    assert model.accuracy.training == pytest.approx(0.77, abs=0.01), "the accuracy in the paper"


def test_check_fits_raises_for_other_data(model: cg.Model, cohort: cg.GraphDataset) -> None:
    model.check_fits(cohort)
    renamed = cg.GraphDataset(cohort.edges, cohort.labels, classes=("A", "B"), atlas=cohort.atlas)
    with pytest.raises(
        InputError, match=r"trained with classes \('TD', 'ASD'\), but the data has classes \('A', 'B'\)"
    ):
        model.check_fits(renamed)
    other_atlas = cg.GraphDataset(cohort.edges, cohort.labels, classes=cohort.classes)
    with pytest.raises(InputError, match="trained on other ROIs, .* in another order: ROI 0 is .* 'ROI 0' in the data"):
        model.check_fits(other_atlas)
    with pytest.raises(InputError, match="trained with atlas synthetic-20, but the data has atlas 20 numbered ROIs"):
        replace(model, roi_names=None, trained_on="").check_fits(other_atlas)  # a model file before 0.8.0
    other_names = replace(cohort, atlas=None)
    replace(model, roi_names=None).check_fits(other_names)  # the fingerprint shows that these are the training graphs
    renamed_atlas = cg.Atlas(cohort.atlas.names, name="another name of the same atlas")
    model.check_fits(cg.GraphDataset(cohort.edges, cohort.labels, classes=cohort.classes, atlas=renamed_atlas))
    with pytest.raises(InputError, match="trained with 20 ROIs, but the data has 116 ROIs"):
        model.check_fits(cg.make_cohort(4))
    with pytest.raises(InputError, match=r"trained on graphs with 20 ROIs \(190 pairs\); got 10 pairs"):
        model.predict(np.zeros((1, 10), dtype=bool))


def test_models_can_be_queried_with_matrices(model: cg.Model, cohort: cg.GraphDataset) -> None:
    oracle = cg.Oracle(lambda a: model.predict(cg.GraphDataset(a, np.zeros(len(a))).edges))
    assert oracle.ask(cohort.edges).tolist() == model.predict(cohort.edges).tolist()
    assert to_adjacency(cohort.edges).shape == (24, 20, 20)


def rewrite(path: Path, **entries: bytes) -> None:
    """Replace some entries of a model file."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {name.replace("_", "."): value for name, value in entries.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)


class CodeInPickle:
    def __reduce__(self):
        return print, ("executed",)


def test_invalid_model_files_raise(model: cg.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = model.save(tmp_path / "m.cgm")
    good = path.read_bytes()

    def check_raises(message: str) -> None:
        with pytest.raises(FileError, match=rf"m\.cgm: {message}"):
            cg.load_model(path)
        path.write_bytes(good)

    path.write_bytes(good[: len(good) // 2])
    check_raises("is not a model file of countergraph, or is damaged")
    path.write_bytes(b"not a zip")
    check_raises("is not a model file")
    modified = bytearray(good)
    modified[len(good) // 2] ^= 0xFF
    path.write_bytes(bytes(modified))
    check_raises("(is not a model file|was modified)")
    rewrite(path, estimator_skops=skops.io.dumps({"a": 1}))
    check_raises("was modified after it was written")
    rewrite(path, model_json=b'{"format": "countergraph-model/99"}')
    check_raises("does not have the format")
    rewrite(path, model_json=b"[]")
    check_raises("does not have the format")

    import hashlib

    def with_digest(estimator: bytes, **changes: object) -> None:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("model.json"))
        header["digest"] = hashlib.sha256(estimator).hexdigest()
        header["model"] |= changes
        rewrite(path, model_json=json.dumps(header).encode(), estimator_skops=estimator)

    with_digest(skops.io.dumps({"code": CodeInPickle()}))
    check_raises("contains types that are not trusted: .*CodeInPickle; nothing was loaded")
    with_digest(b"junk")
    check_raises("contains no readable estimator")
    with_digest(skops.io.dumps(model.estimator), kind="no-such-kind")
    check_raises("cannot be loaded .*unknown kind 'no-such-kind'")
    assert "executed" not in capsys.readouterr().out
    with pytest.raises(FileError, match="missing.cgm: model file not found"):
        cg.load_model(tmp_path / "missing.cgm")
    assert cg.load_model(path).kind == model.kind


def test_forests_with_invalid_indices_raise(cohort: cg.GraphDataset, tmp_path: Path) -> None:
    for field, value in (("left_child", 10**6), ("left_child", 0), ("feature", 10**6), ("right_child", -7)):
        model = cg.train(cohort, "raw-edges", "forest")
        tree = model.estimator[-1].estimators_[3].tree_
        state = tree.__getstate__()
        nodes = state["nodes"].copy()
        nodes[field][0] = value
        tree.__setstate__({**state, "nodes": nodes})
        path = model.save(tmp_path / "m.cgm")
        with pytest.raises(FileError, match="contains an invalid decision tree"):
            cg.load_model(path)


def test_results_have_the_roi_names_of_the_model(model: cg.Model, cohort: cg.GraphDataset) -> None:
    for result in (cg.find_counterfactual(model, cohort.edges[0]), cg.optimal_counterfactual(model, cohort.edges[0])):
        assert result.atlas is not None
        assert result.atlas.names == cohort.atlas.names
        assert "region " not in result.sentence
