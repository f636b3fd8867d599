"""The questions people really ask, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import countergraph as cg
from tests.test_cli import countergraph

DATA = cg.make_cohort(n_subjects=24, n_regions=20, contrast=0.8, seed=3)
PERSON = "subject-002"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset file and a trained model."""
    folder = tmp_path_factory.mktemp("questions")
    cg.save_dataset(DATA, folder / "cohort.npz")
    cg.save_model(cg.train(DATA), folder / "model.cgm")
    return folder


def explained(place: Path, *words: object, code: int = 0) -> Any:
    asked = ("explain", "cohort.npz", "model.cgm", "--subject", PERSON, "--json", *words)
    done = countergraph(*asked, cwd=place)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def refused(place: Path, *words: object, command: tuple[str, ...] = ("explain", "--subject", PERSON)) -> str:
    first, *options = command
    done = countergraph(first, "cohort.npz", "model.cgm", *options, *words, cwd=place)
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_pairs_and_regions_are_frozen_by_name_and_number(place: Path) -> None:
    [free] = explained(place)
    first, *others = free["added"] + free["removed"]
    name, other = (DATA.atlas.names[vertex] for vertex in first)
    [result] = explained(place, "--freeze-pair", f"{name}, {other}", *(f"--freeze-pair={i},{j}" for i, j in others))
    assert result["parameters"]["constraints"]["frozen_pairs"] == [[name, other], *others]
    assert not {*map(tuple, free["added"] + free["removed"])} & {*map(tuple, result["added"] + result["removed"])}
    [without] = explained(place, "--freeze-roi", first[0])
    assert all(first[0] not in pair for pair in without["added"] + without["removed"])


def test_bad_pairs_are_refused(place: Path) -> None:
    name = DATA.atlas.names[0]
    assert "--freeze-pair takes two names with a comma between, 'A,B', not '3'" in refused(place, "--freeze-pair", "3")
    assert f"or {name}" in refused(place, "--freeze-pair", f"{name[:-1]}x,1")
    assert "numbered from 0 to 19; there is none with number 20" in refused(place, "--freeze-pair", "1,20")
    assert "a pair has two regions" in refused(place, "--freeze-pair", f"{name},0")
    report = ("report", "--out", "report.html")
    assert "no region is called 'nowhere'" in refused(place, "--freeze-pair", "1,nowhere", command=report)


def test_names_with_commas_are_found() -> None:
    from countergraph.cli.shared import constraints_of

    atlas = cg.Atlas(["Fusiform, anterior", "Fusiform, posterior", "7"])
    pairs = ["Fusiform, anterior,Fusiform, posterior", "7,0"]
    asked = constraints_of(atlas, None, ["7"], pairs, None, None, None, None, None, False, False)
    assert asked is not None
    assert asked.frozen_pairs == [("Fusiform, anterior", "Fusiform, posterior"), ("7", 0)]
    assert asked.frozen_rois == ["7"], "names come before numbers"
