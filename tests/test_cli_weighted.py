"""Weighted networks on the command line: import, alternatives, units, amounts and warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import countergraph as cg
from tests.command_line import countergraph
from tests.test_units import WEIGHTED
from tests.test_weighted import DATA

MODULE = """
import numpy as np
from sklearn.svm import SVC
import countergraph as cg

DATA = cg.load_dataset("data.npz")
BOX = SVC().fit(DATA.values, DATA.labels)
REVERSED = SVC().fit(DATA.values, 1 - DATA.labels)
ON_GRAPHS = SVC().fit(DATA.values > np.median(DATA.values), DATA.labels)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Write a dataset with networks, and a module with black boxes, in the working directory."""
    name = f"weighted_boxes_{abs(hash(request.node.name))}"
    WEIGHTED.save(tmp_path / "data.npz")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return f"python:{name}:"


class Shown(NamedTuple):
    stdout: str
    output: str


def run(*arguments: str, code: int = 0) -> Shown:
    done = countergraph(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return Shown(done.stdout, done.stdout + done.stderr)


def explained(module: str, *options: str) -> dict:
    [plain] = json.loads(run("explain", "data.npz", f"{module}BOX", "--subject", "graph 1", "--json", *options).stdout)
    return plain


def test_import_keeps_weights_unless_they_are_binarised(tmp_path: Path) -> None:
    for name, matrix, label in zip(DATA.names, DATA.matrices, DATA.labels, strict=True):
        (tmp_path / "study" / DATA.classes[label]).mkdir(parents=True, exist_ok=True)
        np.savetxt(tmp_path / "study" / DATA.classes[label] / f"{name}.txt", matrix)
    source, target = str(tmp_path / "study"), tmp_path / "study.npz"
    assert "weighted (correlation)" in run("data", "import", source, "--out", str(target)).stdout
    data = cg.load_dataset(target)
    assert data.measure == "correlation"
    assert "value (mean)" in run("data", "show", str(target)).stdout
    with np.load(target) as archive:
        assert archive["values"].dtype == np.float32
    assert target.stat().st_size < 1.1 * data.values.nbytes + 4000
    run("data", "import", source, "--out", str(target), "--force", "--measure", "unknown")
    assert cg.load_dataset(target).measure == "unknown"
    run("data", "import", source, "--out", str(target), "--force", "--binarize", "percentile:80")
    assert not cg.load_dataset(target).weighted
    failed = run("data", "import", source, "--out", str(target), "--force", "--measure", "z", code=2)
    assert "measure must be one of edge, correlation, fisher z, count, unknown, not 'z'" in failed.output


def test_explain_shows_the_fewest_connections_and_the_fewest_networks(module: str) -> None:
    output = run("explain", "data.npz", f"{module}BOX", "--subject", "graph 1").output
    assert "graph 1 is classified as" in output
    assert "instead of" in output
    assert "In terms of networks: graph 1 is classified as" in output
    by_network = run("explain", "data.npz", f"{module}BOX", "--subject", "graph 1", "--unit", "network").output
    assert "on average)" in by_network
    assert "In terms of networks" not in by_network


def test_amounts_alternatives_and_units_are_options(module: str, tmp_path: Path) -> None:
    usual, whole = explained(module), explained(module, "--no-amounts")
    assert usual["calls_by_phase"]["amounts"] > 0
    assert "amounts" not in whole["calls_by_phase"]
    assert explained(module, "--unit", "roi")["units"]
    np.savetxt(tmp_path / "alternatives.txt", np.zeros(WEIGHTED.values.shape[1]))
    zeros = explained(module, "--change", "alternatives.txt", "--no-amounts")
    assert all(change["after"] == 0 for change in zeros["connections"])
    failed = run("explain", "data.npz", f"{module}BOX", "--subject", "graph 1", "--change", "median", code=2)
    assert "unknown change 'median'; did you mean target-median" in failed.output


def test_mismatches_are_shown(module: str) -> None:
    shown = run("explain", "data.npz", f"{module}REVERSED", "--subject", "graph 1", code=1).output
    assert "agrees with the labels of" in shown
    shown = run("explain", "data.npz", f"{module}ON_GRAPHS", "--subject", "graph 1").output
    assert "fitted on graphs (values 0 and 1), but the networks are weighted" in " ".join(shown.split())
    assert "agrees with" not in run("explain", "data.npz", f"{module}BOX", "--subject", "graph 1").output
