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
from countergraph.errors import FileError, InputError, NotFoundError
from countergraph.graphs.pairs import to_adjacency
from tests.conftest import random_graphs


@pytest.fixture(scope="module")
def trained(cohort: cg.GraphDataset) -> dict[str, cg.Model]:
    """One model of each kind."""
    return {kind: cg.train(cohort, kind) for kind in cg.MODELS}


@pytest.mark.parametrize("kind", cg.MODELS)
@pytest.mark.parametrize("method", cg.METHODS)
def test_every_black_box_with_every_search(
    kind: str, method: str, cohort: cg.GraphDataset, trained: dict[str, cg.Model]
) -> None:
    model = trained[kind]
    results = cg.find_counterfactuals(model, cohort.subset(range(6)), method, cohort, max_calls=300)
    assert len(results.found) >= 5
    for result in results.found:
        assert result.edges is not None
        assert model.predict(result.edges[None])[0] != model.predict(result.original[None])[0]


@pytest.mark.parametrize("kind", cg.MODELS)
def test_every_black_box_is_saved_and_loaded(
    kind: str, cohort: cg.GraphDataset, trained: dict[str, cg.Model], tmp_path: Path
) -> None:
    model = trained[kind]
    back = cg.load_model(cg.save_model(model, tmp_path / "m.cgm"))
    assert back.describe() == model.describe()
    assert back.trained_on == cohort.fingerprint
    flipped = ~cohort.edges
    for graphs in (cohort.edges, flipped):
        assert (back.predict(graphs) == model.predict(graphs)).all()


@pytest.mark.parametrize("kind", cg.MODELS)
def test_batches_do_not_matter(kind: str, trained: dict[str, cg.Model]) -> None:
    graphs = random_graphs(512, 20, seed=1, density=0.1)
    whole = trained[kind].predict(graphs)
    assert len(set(whole.tolist())) == 2
    assert whole.tolist() == [int(trained[kind].predict(row[None])[0]) for row in graphs]


@pytest.mark.parametrize("classifier", cg.CLASSIFIERS)
def test_every_classifier(classifier: str, cohort: cg.GraphDataset, tmp_path: Path) -> None:
    model = cg.train(cohort, "raw-edges", classifier)
    assert model.settings == {"classifier": classifier}
    back = cg.load_model(cg.save_model(model, tmp_path / "m.cgm"))
    assert (back.predict(~cohort.edges) == model.predict(~cohort.edges)).all()
    assert (model.predict(cohort.edges) == model.estimator.predict(cohort.edges)).all()
    oracle = cg.Oracle(model)
    assert oracle.has_probabilities == (classifier != "svm")
    if oracle.has_probabilities:
        shares = oracle.probabilities(cohort.edges)
        assert shares.shape == (24, 2)
        assert np.allclose(shares.sum(axis=1), 1)
        assert oracle.asked == 24
    else:
        with pytest.raises(InputError, match="gives no probabilities"):
            oracle.probabilities(cohort.edges)


def test_select_compares_candidates_on_unseen_graphs(cohort: cg.GraphDataset) -> None:
    steps: list[tuple[int, int]] = []
    best = cg.select(cohort, "raw-edges", progress=lambda done, total: steps.append((done, total)))
    assert best.accuracy.chosen_from == 4
    assert steps == [(i, 6) for i in range(1, 7)]
    for classifier in ("svm", "knn", "forest", "logistic"):
        one = cg.train(cohort, "raw-edges", classifier).accuracy
        assert best.accuracy.cross_validated >= one.cross_validated
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


ANSWERS = """
import sys, countergraph as cg
data = cg.load_dataset(sys.argv[1])
model = cg.load_model(sys.argv[2])
trained_here = cg.train(data, model.kind)
print(model.predict(data.edges).tolist(), trained_here.predict(data.edges).tolist())
"""


@pytest.mark.parametrize("kind", ["graph2vec", "sub2vec"])
def test_two_processes_with_different_hash_seeds_agree(
    kind: str, cohort: cg.GraphDataset, trained: dict[str, cg.Model], tmp_path: Path
) -> None:
    files = [cg.save_dataset(cohort, tmp_path / "d.npz"), cg.save_model(trained[kind], tmp_path / "m.cgm")]
    said = {
        subprocess.run(
            [sys.executable, "-c", ANSWERS, *map(str, files)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    own = trained[kind].predict(cohort.edges).tolist()
    assert said == {f"{own} {own}\n"}


def test_accuracy_is_honest() -> None:
    """Labels that mean nothing can be learnt by heart, but not predicted."""
    data = cg.make_cohort(n_subjects=60, n_rois=40, contrast=0, seed=2)
    accuracy = cg.train(data).accuracy
    assert accuracy.training > 0.7
    assert accuracy.cross_validated < 0.7
    assert accuracy.majority == 0.5
    real = cg.train(cg.make_cohort(n_subjects=60, n_rois=40, contrast=1, seed=2)).accuracy
    assert min(real.cross_validated, real.balanced, real.auc or 0) > 0.85


def test_settings(cohort: cg.GraphDataset) -> None:
    assert cg.train(cohort, alpha=0.1).settings["alpha"] == 0.1
    with pytest.raises(NotFoundError, match="no classifier is called 'tree'"):
        cg.train(cohort, classifier="tree")
    with pytest.raises(InputError, match="contrast-subgraphs has no setting 'beta'; it takes alpha, n_starts"):
        cg.train(cohort, beta=1)
    with pytest.raises(NotFoundError, match="no model is called 'contrast'"):
        cg.train(cohort, "contrast")
    with pytest.raises(InputError, match="at least two classes, and 5 graphs of each"):
        cg.train(cohort.subset(range(6)))


def test_the_papers_settings_are_the_default_on_its_cohorts(asd: cg.GraphDataset) -> None:
    model = cg.train(asd)
    assert model.settings["alpha"] == 0.025
    assert model.accuracy.training == pytest.approx(0.77, abs=0.01), "the accuracy that the paper prints"


def test_a_model_fits_only_its_own_kind_of_data(model: cg.Model, cohort: cg.GraphDataset) -> None:
    model.check_fits(cohort)
    renamed = cg.GraphDataset(cohort.edges, cohort.labels, classes=("A", "B"), atlas=cohort.atlas)
    with pytest.raises(
        InputError, match=r"trained with classes \('TD', 'ASD'\), but the data has classes \('A', 'B'\)"
    ):
        model.check_fits(renamed)
    other_atlas = cg.GraphDataset(cohort.edges, cohort.labels, classes=cohort.classes)
    with pytest.raises(InputError, match="trained on other regions, or in another order: region 0 was .* 'region 0'"):
        model.check_fits(other_atlas)
    with pytest.raises(InputError, match="trained with atlas synthetic-20, but the data has atlas 20 numbered regions"):
        replace(model, roi_names=None, trained_on="").check_fits(other_atlas)  # a model file before 0.8.0
    other_names = replace(cohort, atlas=None)
    replace(model, roi_names=None).check_fits(other_names)  # the very graphs it was trained on
    renamed_atlas = cg.Atlas(cohort.atlas.names, name="another name of the same")
    model.check_fits(cg.GraphDataset(cohort.edges, cohort.labels, classes=cohort.classes, atlas=renamed_atlas))
    with pytest.raises(InputError, match="trained with regions 20, but the data has regions 116"):
        model.check_fits(cg.make_cohort(4))
    with pytest.raises(InputError, match="trained on 20 regions; the graphs have another number"):
        model.predict(np.zeros((1, 10), dtype=bool))


def test_a_model_answers_matrices_through_an_oracle(model: cg.Model, cohort: cg.GraphDataset) -> None:
    by_matrix = cg.Oracle(lambda a: model.predict(cg.GraphDataset(a, np.zeros(len(a))).edges))
    assert by_matrix.ask(cohort.edges).tolist() == model.predict(cohort.edges).tolist()
    assert to_adjacency(cohort.edges).shape == (24, 20, 20)


def rewrite(path: Path, **entries: bytes) -> None:
    """Replace entries of a model file by others, keeping the rest."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {name.replace("_", "."): value for name, value in entries.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)


class Evil:
    def __reduce__(self):
        return print, ("pwned",)


def test_strange_model_files_are_refused(model: cg.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = cg.save_model(model, tmp_path / "m.cgm")
    good = path.read_bytes()

    def refused(message: str) -> None:
        with pytest.raises(FileError, match=rf"m\.cgm: {message}"):
            cg.load_model(path)
        path.write_bytes(good)

    path.write_bytes(good[: len(good) // 2])
    refused("is not a model file of countergraph, or is damaged")
    path.write_bytes(b"not a zip")
    refused("is not a model file")
    altered = bytearray(good)
    altered[len(good) // 2] ^= 0xFF
    path.write_bytes(bytes(altered))
    refused("(is not a model file|was altered)")
    rewrite(path, estimator_skops=skops.io.dumps({"a": 1}))
    refused("was altered after it was written")
    rewrite(path, model_json=b'{"format": "countergraph-model/99"}')
    refused("is not of the format")
    rewrite(path, model_json=b"[]")
    refused("is not of the format")

    import hashlib

    def with_digest(estimator: bytes, **changes: object) -> None:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("model.json"))
        header["digest"] = hashlib.sha256(estimator).hexdigest()
        header["model"] |= changes
        rewrite(path, model_json=json.dumps(header).encode(), estimator_skops=estimator)

    with_digest(skops.io.dumps({"evil": Evil()}))
    refused("holds types that are not trusted: .*Evil; nothing was loaded")
    with_digest(b"junk")
    refused("holds no readable estimator")
    with_digest(skops.io.dumps(model.estimator), kind="crystal-ball")
    refused("cannot be loaded .*'crystal-ball', which this version does not know")
    assert "pwned" not in capsys.readouterr().out
    with pytest.raises(FileError, match="nowhere"):
        cg.load_model(tmp_path / "nowhere.cgm")
    assert cg.load_model(path).kind == model.kind


def test_a_forest_that_would_read_foreign_memory_is_refused(cohort: cg.GraphDataset, tmp_path: Path) -> None:
    for field, value in (("left_child", 10**6), ("left_child", 0), ("feature", 10**6), ("right_child", -7)):
        model = cg.train(cohort, "raw-edges", "forest")
        tree = model.estimator[-1].estimators_[3].tree_
        state = tree.__getstate__()
        nodes = state["nodes"].copy()
        nodes[field][0] = value
        tree.__setstate__({**state, "nodes": nodes})
        path = cg.save_model(model, tmp_path / "m.cgm")
        with pytest.raises(FileError, match="holds a decision tree that is not one"):
            cg.load_model(path)


def test_a_model_names_the_regions_where_nothing_else_does(model: cg.Model, cohort: cg.GraphDataset) -> None:
    for result in (cg.find_counterfactual(model, cohort.edges[0]), cg.optimal_counterfactual(model, cohort.edges[0])):
        assert result.atlas is not None
        assert result.atlas.names == cohort.atlas.names
        assert "region " not in result.sentence
