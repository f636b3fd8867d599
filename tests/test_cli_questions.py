"""The questions people really ask, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import countergraph as cg
from countergraph.graphs.pairs import pair_ends
from tests.command_line import countergraph

DATA = cg.make_cohort(n_subjects=24, n_rois=20, contrast=0.8, seed=3)
PERSON = "subject-002"


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
    assert "unknown ROI 'nowhere'" in refused(place, "--freeze-pair", "1,nowhere", command=report)


def test_names_with_commas_are_found() -> None:
    from countergraph.cli.shared import constraints_of

    atlas = cg.Atlas(["Fusiform, anterior", "Fusiform, posterior", "7"])
    pairs = ["Fusiform, anterior,Fusiform, posterior", "7,0"]
    asked = constraints_of(atlas, None, ["7"], pairs, None, None, None, None, None, False, False)
    assert asked is not None
    assert asked.frozen_pairs == [("Fusiform, anterior", "Fusiform, posterior"), ("7", 0)]
    assert asked.frozen_rois == ["7"], "names come before numbers"


def test_costs_are_read_from_a_file(place: Path) -> None:
    costs = np.random.default_rng(0).uniform(1, 9, (20, 20))
    costs += costs.T
    np.savetxt(place / "costs.csv", costs, delimiter=",")
    np.save(place / "costs.npy", costs[pair_ends(20)])
    np.savetxt(place / "costs.txt", costs[pair_ends(20)])
    [result], [same], [column] = (explained(place, "--cost", f"costs.{ending}") for ending in ("csv", "npy", "txt"))
    changed = tuple(np.array(result["added"] + result["removed"]).T)
    assert result["cost"] == pytest.approx(costs[changed].sum())
    assert same == result == column
    np.save(place / "others.npy", costs + 1)
    words = ("--store", "kept.sqlite", "--cost")
    kept = [explained(place, *words, file)[0] for file in ("costs.npy", "others.npy", "costs.npy")]
    assert kept[0] == kept[2] == result
    assert kept[1]["parameters"] != result["parameters"], "a store tells two files apart"
    assert explained(place)[0]["cost"] is None


def test_bad_costs_are_refused(place: Path) -> None:
    assert "--cost is length or plausible, or a file of numbers; there is no file no.csv" in refused(
        place, "--cost", "no.csv"
    )
    for name, costs, message in (
        ("small.npy", np.ones((5, 5)), "needs a number for each of 190 pairs, or 20 x 20, not (5, 5)"),
        ("slanted.npy", np.arange(1, 401).reshape(20, 20), "must be symmetric"),
        ("free.npy", np.zeros(190), "above 0"),
    ):
        np.save(place / name, costs)
        assert f"error: {name}: " in refused(place, "--cost", name)
        assert message in refused(place, "--cost", name)
    assert "unknown file format '.cgm'. Supported" in refused(place, "--cost", "model.cgm")


def test_counterfactuals_that_differ(place: Path) -> None:
    told = explained(place, "--diverse", 3, "--method", "ofs+obs", "--out", "differ.png", "--out", "differ.json")
    model = cg.load_model(place / "model.cgm")
    pool = cg.find_diverse(model, DATA.subset([PERSON]), m=3, method="ofs+obs", dataset=DATA)
    diverse = cg.Diverse(pool, 3)
    assert [each["sentence"] for each in told["counterfactuals"]] == [each.sentence for each in diverse.chosen]
    assert told["diversity"] == pytest.approx(diverse.diversity)
    assert [row["at most"] for row in told["curve"]] == diverse.curve["at most"].tolist()
    assert all(each["plausibility"]["nearest"] > 0 for each in told["counterfactuals"])
    assert json.loads((place / "differ.json").read_text()) == told
    assert (place / "differ.png").stat().st_size > 50_000
    words = ("explain", "cohort.npz", "model.cgm", "--subject", PERSON, "--diverse", 3, "--method", "ofs+obs")
    said = countergraph(*words, cwd=place).stdout
    for number, each in enumerate(diverse.chosen, start=1):
        assert f"{number}. {each.sentence} ({each.distance} change" in said
    assert diverse.caption in said
    assert f"{pool.calls} questions to the model in 22 searches." in said
    nothing = explained(place, "--diverse", 2, "--max-calls", 1, code=1)
    assert nothing["counterfactuals"] == []
    assert nothing["sentence"].endswith("the budget is used up.")


@pytest.mark.parametrize("words", [("--runs", 2), ("--certify", 0), ("--time-limit", 5), ("--store", "s.sqlite")])
def test_what_does_not_go_with_diverse_is_refused(place: Path, words: tuple[object, ...]) -> None:
    assert f"so {words[0]} does not go with it" in refused(place, "--diverse", 3, *words)
    assert "error: diverse must be an integer of at least 2, not 1" in refused(place, "--diverse", 1)


def test_options_that_cannot_be_are_named(place: Path) -> None:
    assert "error: most must be an integer of at least 1, not 0" in refused(place, "--most", 0)
    assert "error: only must be 'added' or 'removed'" in refused(place, "--only", "more")
    assert "error: target must be one of the classes TD, ASD" in refused(place, "--target", "ADS")
