"""Constraints, costs and diverse counterfactuals on the command line."""

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
SUBJECT = "subject-002"


def explain(folder: Path, *words: object, code: int = 0) -> Any:
    """Return the JSON output of ``countergraph explain``."""
    command = ("explain", "cohort.npz", "model.cgm", "--subject", SUBJECT, "--json", *words)
    done = countergraph(*command, cwd=folder)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def error_message(folder: Path, *words: object, command: tuple[str, ...] = ("explain", "--subject", SUBJECT)) -> str:
    """Return the error message of a command with invalid options."""
    name, *options = command
    done = countergraph(name, "cohort.npz", "model.cgm", *options, *words, cwd=folder)
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_freeze_pairs_and_rois_by_name_and_number(workspace_folder: Path) -> None:
    [unconstrained] = explain(workspace_folder)
    first, *others = unconstrained["added"] + unconstrained["removed"]
    name, other = (DATA.atlas.names[roi] for roi in first)
    [result] = explain(
        workspace_folder, "--freeze-pair", f"{name}, {other}", *(f"--freeze-pair={i},{j}" for i, j in others)
    )
    assert result["parameters"]["constraints"]["frozen_pairs"] == [[name, other], *others]
    before, after = ({*map(tuple, each["added"] + each["removed"])} for each in (unconstrained, result))
    assert not before & after
    [without] = explain(workspace_folder, "--freeze-roi", first[0])
    assert all(first[0] not in pair for pair in without["added"] + without["removed"])


def test_invalid_pairs_raise(workspace_folder: Path) -> None:
    name = DATA.atlas.names[0]
    assert "--freeze-pair takes two names separated by a comma, 'A,B', not '3'" in error_message(
        workspace_folder, "--freeze-pair", "3"
    )
    assert f"or {name}" in error_message(workspace_folder, "--freeze-pair", f"{name[:-1]}x,1")
    assert "an ROI must be a name or a number from 0 to 19, not 20" in error_message(
        workspace_folder, "--freeze-pair", "1,20"
    )
    assert "a pair in frozen_pairs needs two different ROIs" in error_message(
        workspace_folder, "--freeze-pair", f"{name},0"
    )
    report = ("report", "--out", "report.html")
    assert "unknown ROI 'nowhere'" in error_message(workspace_folder, "--freeze-pair", "1,nowhere", command=report)


def test_names_may_contain_commas() -> None:
    from countergraph.cli.options import SearchFlags

    atlas = cg.Atlas(["Fusiform, anterior", "Fusiform, posterior", "7"])
    pairs = ["Fusiform, anterior,Fusiform, posterior", "7,0"]
    constraints = SearchFlags(freeze_roi=["7"], freeze_pair=pairs).constraints(atlas)
    assert constraints is not None
    assert constraints.frozen_pairs == [("Fusiform, anterior", "Fusiform, posterior"), ("7", 0)]
    assert constraints.frozen_rois == ["7"], "names come before numbers"


def test_costs_are_read_from_a_file(workspace_folder: Path) -> None:
    costs = np.random.default_rng(0).uniform(1, 9, (20, 20))
    costs += costs.T
    np.savetxt(workspace_folder / "costs.csv", costs, delimiter=",")
    np.save(workspace_folder / "costs.npy", costs[pair_ends(20)])
    np.savetxt(workspace_folder / "costs.txt", costs[pair_ends(20)])
    [result], [same], [column] = (
        explain(workspace_folder, "--cost", f"costs.{ending}") for ending in ("csv", "npy", "txt")
    )
    changed = tuple(np.array(result["added"] + result["removed"]).T)
    assert result["cost"] == pytest.approx(costs[changed].sum())
    assert same == result == column
    np.save(workspace_folder / "others.npy", costs + 1)
    words = ("--store", "searches.sqlite", "--cost")
    stored = [explain(workspace_folder, *words, file)[0] for file in ("costs.npy", "others.npy", "costs.npy")]
    assert stored[0] == stored[2] == result
    assert stored[1]["parameters"] != result["parameters"], "the store distinguishes different costs"
    assert explain(workspace_folder)[0]["cost"] is None


def test_invalid_costs_raise(workspace_folder: Path) -> None:
    assert "--cost must be length or plausible, or a file of numbers; the file no.csv does not exist" in error_message(
        workspace_folder, "--cost", "no.csv"
    )
    for name, costs, message in (
        ("small.npy", np.ones((5, 5)), "needs a number for each of 190 pairs, or 20 x 20, not (5, 5)"),
        ("asymmetric.npy", np.arange(1, 401).reshape(20, 20), "must be symmetric"),
        ("zero.npy", np.zeros(190), "costs must be finite and positive, not 0; use frozen_pairs"),
    ):
        np.save(workspace_folder / name, costs)
        assert f"error: {name}: " in error_message(workspace_folder, "--cost", name)
        assert message in error_message(workspace_folder, "--cost", name)
    assert "unknown file format '.cgm'. Supported" in error_message(workspace_folder, "--cost", "model.cgm")


def test_diverse_counterfactuals(workspace_folder: Path) -> None:
    printed = explain(
        workspace_folder, "--diverse", 3, "--method", "ofs+obs", "--out", "diverse.png", "--out", "diverse.json"
    )
    model = cg.load_model(workspace_folder / "model.cgm")
    pool = cg.find_diverse(model, DATA.subset([SUBJECT]), m=3, method="ofs+obs", dataset=DATA)
    diverse = cg.Diverse(pool, 3)
    assert [each["sentence"] for each in printed["counterfactuals"]] == [each.sentence for each in diverse.chosen]
    assert printed["diversity"] == pytest.approx(diverse.diversity)
    assert [row["at most"] for row in printed["curve"]] == diverse.curve["at most"].tolist()
    assert all(each["plausibility"]["nearest"] > 0 for each in printed["counterfactuals"])
    assert json.loads((workspace_folder / "diverse.json").read_text()) == printed
    assert (workspace_folder / "diverse.png").stat().st_size > 50_000
    words = ("explain", "cohort.npz", "model.cgm", "--subject", SUBJECT, "--diverse", 3, "--method", "ofs+obs")
    text = countergraph(*words, cwd=workspace_folder).stdout
    for number, each in enumerate(diverse.chosen, start=1):
        assert f"{number}. {each.sentence} ({each.distance} change" in text
    assert diverse.caption in text
    assert f"{pool.calls} calls of the model in 22 searches." in text
    not_found = explain(workspace_folder, "--diverse", 2, "--max-calls", 1, code=1)
    assert not_found["counterfactuals"] == []
    assert not_found["sentence"].endswith("the budget of calls is spent.")


@pytest.mark.parametrize("words", [("--runs", 2), ("--certify", 0), ("--time-limit", 5), ("--store", "s.sqlite")])
def test_options_that_cannot_be_combined_with_diverse_raise(workspace_folder: Path, words: tuple[object, ...]) -> None:
    assert f"--diverse runs its own searches, so it cannot be combined with {words[0]}" in error_message(
        workspace_folder, "--diverse", 3, *words
    )
    assert "error: diverse must be an integer of at least 2, not 1" in error_message(workspace_folder, "--diverse", 1)


def test_invalid_options_are_named(workspace_folder: Path) -> None:
    assert "error: most must be an integer of at least 1, not 0" in error_message(workspace_folder, "--most", 0)
    assert "error: only must be 'added' or 'removed'" in error_message(workspace_folder, "--only", "more")
    assert "error: target must be one of the classes TD, ASD" in error_message(workspace_folder, "--target", "ADS")
