"""Tests on the real cohorts; skipped if the data is not available."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.errors import FileError, InputError


def test_asd(asd: cg.GraphDataset, real_data: Path) -> None:
    assert asd.classes == ("TD", "ASD")
    assert asd.class_sizes.tolist() == [52, 49]
    assert asd.atlas == cg.load_atlas("aal116")
    for name, group in (("KKI_0050792", "asd"), ("KKI_0050776", "td")):
        matrix = np.loadtxt(real_data / "asd" / group / f"{name}.txt")
        assert (asd.adjacency[asd.index(name)] == matrix).all()
        assert asd.labels[asd.index(name)] == (group == "asd")


def test_adhd(adhd: cg.GraphDataset) -> None:
    assert adhd.classes == ("TD", "ADHD")
    assert adhd.class_sizes.tolist() == [330, 190]
    assert adhd.n_rois == 190
    assert (adhd.edges.sum(axis=1) == 1796).all()
    assert adhd.atlas.names[:2] == ("Brain-Stem (1)", "Right Frontal Pole (1)")
    assert adhd.attributes is not None
    assert adhd.attributes["diagnosis"][1] == "ADHD-Combined"


def test_raw_files_and_cohort_give_the_same_graphs(adhd: cg.GraphDataset, real_data: Path) -> None:
    labels = {"KKI_1018959": "TD", "KKI_1019436": "ADHD", "NYU_0010004": "TD", "another subject": "x"}
    raw = cg.load_dataset(real_data / "adhd" / "raw_sample", labels=labels)
    assert raw.names == ("KKI_1018959", "KKI_1019436", "NYU_0010004")
    assert raw.labels.tolist() == [0, 1, 0]
    assert raw.atlas == adhd.atlas
    assert (raw.edges == adhd.subset(raw.names).edges).all()


def test_raw_files_require_labels(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "adhd" / "raw_sample"
    with pytest.raises(InputError, match="these files contain no labels; pass labels="):
        cg.load_dataset(folder)
    table = tmp_path / "labels.csv"
    table.write_text("name,label\nKKI_1018959,TD\nKKI_1019436,ADHD\n")
    with pytest.raises(InputError, match="labels has no entry, or n/a, for NYU_0010004; every subject"):
        cg.load_dataset(folder, labels=table)
    table.write_text("who,what\nx,y\n")
    with pytest.raises(FileError, match=r"labels\.csv: needs a column name or .*; found the columns who, what"):
        cg.load_dataset(folder, labels=table)


@pytest.mark.parametrize(("cohort", "n_correct"), [("asd", 78), ("adhd", 368)])
def test_published_rules_have_the_published_accuracy(
    cohort: str, n_correct: int, real_data: Path, request: pytest.FixtureRequest
) -> None:
    data = request.getfixturevalue(cohort)
    rule = load_published_rule(cohort, root=real_data)
    assert (rule.predict(data.edges) == data.labels).sum() == n_correct
    published = json.loads((real_data / "published_rules.json").read_text())[cohort]
    rois = published[f"td_{cohort}"]
    inside = data.adjacency[:, rois][:, :, rois].sum(axis=(1, 2)) / 2
    assert (rule.embed(data.edges)[:, 0] == inside).all()
