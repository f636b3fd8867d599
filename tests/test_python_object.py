"""Black boxes given as text, also for the weighted networks of units of work on a cluster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import countergraph as cg
from countergraph.cli.app import app
from countergraph.errors import InputError
from countergraph.experiments.unit import Source, Unit
from countergraph.oracle.python_object import load_object
from countergraph.search.options import SearchOptions
from countergraph.store.row import Row, SearchKey
from countergraph.store.setting import Setting
from tests.test_weighted import DATA

MODULE = """
import numpy as np
from sklearn.linear_model import LogisticRegression
import countergraph as cg

DATA = cg.load_dataset({path!r})
ESTIMATOR = LogisticRegression(C=0.1).fit(DATA.values, DATA.labels)

class Box:
    def predict(self, values):
        return ESTIMATOR.predict(values)

def function(matrices):
    return ESTIMATOR.predict(matrices[:, *np.triu_indices(DATA.n_rois, 1)])

def broken():
    raise ValueError("no model here")
"""


@pytest.fixture
def data_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Write a dataset, and a module of its own for each test, in the working directory."""
    path = DATA.save(tmp_path / "data.npz")
    (tmp_path / f"{module_of(request)}.py").write_text(MODULE.format(path=str(path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return path


def module_of(request: pytest.FixtureRequest) -> str:
    return f"boxes_{abs(hash(request.node.name))}"


@pytest.mark.parametrize("name", ["ESTIMATOR", "Box()", "function", "Box.predict"])
def test_objects_and_calls(name: str, data_file: Path, request: pytest.FixtureRequest) -> None:
    found = load_object(f"python:{module_of(request)}:{name}")
    assert callable(getattr(found, "predict", found))


def test_refusals(data_file: Path, request: pytest.FixtureRequest) -> None:
    module = module_of(request)
    for text, message in {
        f"python:{module}": "write python:module:object or python:module:function",
        f"python:{module}:a-b": "write python:module:object",
        "python:no_such_module:box": "the module 'no_such_module' cannot be imported",
        f"python:{module}:missing": "has no attribute 'missing'",
        f"python:{module}:Box": r"Box is a class; write python:.*:Box\(\) to create",
        f"python:{module}:broken()": r"broken\(\) raised ValueError: no model here",
        f"python:{module}:DATA()": "DATA is a GraphDataset, which cannot be called; remove the brackets",
    }.items():
        with pytest.raises(InputError, match=message):
            load_object(text)


@pytest.mark.parametrize("name", ["ESTIMATOR", "function"])
def test_explain_a_weighted_network_on_the_command_line(
    name: str, data_file: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    box = f"python:{module_of(request)}:{name}"
    arguments = ["explain", str(data_file), box, "--subject", "sub-04", "--valid", "nearest", "--store", "store.db"]
    result = CliRunner().invoke(app, [*arguments, "--out", "result.json", "--out", "result.png"])
    assert result.exit_code == 0, result.output
    assert "sub-04 is classified as TD. If the connection" in result.output
    assert "instead of" in result.output
    assert "earest correlation matrix" in result.output
    [loaded] = cg.load_results("result.json")
    assert loaded.weighted
    assert loaded.method == ("exact" if name == "ESTIMATOR" else "learned")
    assert Path("result.png").stat().st_size > 10_000


def test_a_unit_of_work_of_weighted_networks(data_file: Path, request: pytest.FixtureRequest) -> None:
    source = Source(str(data_file), None, f"python:{module_of(request)}:ESTIMATOR")
    options = SearchOptions("ofs+obs", runs=2)
    setting = Setting.of(options, source.data.fingerprint, source.data.fingerprint, source.box_fingerprint)
    unit = Unit(setting, options, source, range(3), range(2))
    rows: list[Row] = []
    unit.search([SearchKey(graph, run) for graph in range(3) for run in range(2)], lambda row, _: rows.append(row))
    rows.sort(key=lambda row: (row.graph, row.run))
    expected = cg.find_counterfactuals(source.black_box, DATA.subset(range(3)), "ofs+obs", DATA, runs=2)
    assert [row.distance for row in rows] == [each.distance for each in expected]
    unpacked = [row.unpack(setting, source.data) for row in rows]
    for one, other in zip(unpacked, expected, strict=True):
        assert one.values is not None
        np.testing.assert_array_equal(one.values, other.values)
