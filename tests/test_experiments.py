"""Running experiments: the rows are the same in one process, in several, on a cluster, and after killed processes."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import InputError
from countergraph.experiments import workspace as workspace_module
from countergraph.experiments.exhibits import EXHIBITS
from countergraph.experiments.exhibits.exhibit import by_graph, first_distance, format_numbers, percentiles
from countergraph.experiments.experiment import Experiment
from countergraph.experiments.reproduction import choose_exhibits
from countergraph.experiments.runner import run_units
from countergraph.experiments.workspace import Workspace
from countergraph.store.store import Store

RUNS = 40
COLUMNS = (
    "setting, graph, run, original_class, counterfactual_class, distance, calls, calls_by_phase, flips, trace, stopped"
)


@pytest.fixture(scope="module")
def cohort_file(tmp_path_factory: pytest.TempPathFactory, cohort: cg.GraphDataset) -> Path:
    return cohort.save(tmp_path_factory.mktemp("data") / "small.npz")


@pytest.fixture(scope="module")
def experiment(cohort_file: Path) -> Experiment:
    return Experiment.of(str(cohort_file), "contrast-subgraphs", runs=RUNS, max_calls=300)


@pytest.fixture
def workspace(tmp_path: Path, model: cg.Model) -> Workspace:
    return make_workspace(tmp_path, model)


def make_workspace(folder: Path, model: cg.Model) -> Workspace:
    workspace = Workspace(None, folder)
    (folder / "boxes").mkdir()
    model.save(folder / "boxes" / "small-contrast-subgraphs.cgm")
    return workspace


@pytest.fixture(scope="module")
def expected_rows(tmp_path_factory: pytest.TempPathFactory, experiment: Experiment, model: cg.Model) -> list:
    workspace = make_workspace(tmp_path_factory.mktemp("uninterrupted"), model)
    run_units(workspace.store, list(workspace.units(experiment)))
    return rows_of(workspace)


@pytest.fixture
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_module, "SIZE", 48)


def rows_of(workspace: Workspace) -> list:
    """Return all columns except times; check that the file is not damaged and that there are no claims."""
    with sqlite3.connect(workspace.store) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM claims").fetchone() == (0,)
        rows = database.execute(f"SELECT {COLUMNS} FROM searches ORDER BY setting, graph, run").fetchall()
    database.close()
    return rows


def count_rows(workspace: Workspace) -> int:
    if not workspace.store.exists():
        return 0
    with sqlite3.connect(workspace.store, timeout=60) as database:
        has_table = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'searches'").fetchone()[0]
        count = database.execute("SELECT count(*) FROM searches").fetchone()[0] if has_table else 0
    database.close()
    return int(count)


class Runners:
    """Processes that run an experiment; the tests start and kill them."""

    def __init__(self, workspace: Workspace, experiment: Experiment, workers: int = 1) -> None:
        words = [
            "-m",
            "tests.run_experiment",
            experiment.cohort,
            str(workspace.folder),
            str(experiment.runs),
            str(workers),
        ]
        self.workspace = workspace
        self._parent = subprocess.Popen(
            [sys.executable, *words],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> Runners:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()

    def start(self) -> int:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write("start\n")
        return int(self._parent.stdout.readline())

    def wait(self, process: int) -> None:
        while is_alive(process):
            time.sleep(0.01)

    def wait_for_rows(self, process: int, more_than: int) -> None:
        while is_alive(process) and count_rows(self.workspace) <= more_than:
            time.sleep(0.002)

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        self.wait(process)

    def added(self, process: int) -> int:
        path = self.workspace.folder / f"added-{process}"
        return path.stat().st_size if path.exists() else 0


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_units_are_small_and_depend_only_on_the_experiment(
    workspace: Workspace, experiment: Experiment, cohort
) -> None:
    units = list(workspace.units(experiment))
    assert units == list(workspace.units(experiment)) == pickle.loads(pickle.dumps(units))
    assert len(pickle.dumps(units[0])) < 2000
    searches = [(graph, run) for unit in units for graph in unit.graphs for run in unit.runs]
    assert sorted(searches) == [(graph, run) for graph in range(len(cohort)) for run in range(RUNS)]
    many = list(workspace.units(replace(experiment.with_runs(1200), subject=cohort.names[5])))
    assert [(list(unit.graphs), len(unit.runs)) for unit in many] == [([5], 400)] * 3


def test_joint_searches_are_one_unit_per_run(workspace: Workspace, experiment: Experiment, cohort) -> None:
    units = list(
        workspace.units(replace(experiment, options=replace(experiment.options, method="learned", runs=3), every=8))
    )
    assert [(unit.graphs, unit.runs) for unit in units] == [
        (range(len(cohort)), range(run, run + 1)) for run in range(3)
    ]


def test_quick_rows_are_a_subset_of_all_rows(workspace: Workspace, experiment: Experiment) -> None:
    few = experiment.with_runs(2)
    run_units(workspace.store, list(workspace.units(few.quick)))
    quick = rows_of(workspace)
    assert len(quick) == 3
    run_units(workspace.store, list(workspace.units(few)))
    assert set(quick) < set(rows_of(workspace))


def test_other_files_or_versions_raise(workspace: Workspace, experiment: Experiment) -> None:
    [unit, *_] = workspace.units(experiment)
    for other in (
        replace(unit.setting, box="0"),
        replace(unit.setting, cohort="0"),
        replace(unit.setting, version="0"),
    ):
        with pytest.raises(InputError, match="every machine needs the same files"):
            run_units(workspace.store, [replace(unit, setting=other)])


@pytest.mark.usefixtures("small_units")
def test_progress_is_reported_and_no_search_runs_twice(
    workspace: Workspace, experiment: Experiment, expected_rows: list
) -> None:
    reports: list[tuple[int, int]] = []
    units = list(workspace.units(experiment))
    run_units(workspace.store, units, progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (len(expected_rows), len(expected_rows))
    assert rows_of(workspace) == expected_rows
    seconds = store_seconds(workspace)
    run_units(workspace.store, units, workers=2)
    assert store_seconds(workspace) == seconds


def store_seconds(workspace: Workspace) -> float:
    with Store(workspace.store) as store:
        return float(store.summary()["seconds"].sum())


@pytest.mark.slow
@pytest.mark.usefixtures("small_units")
def test_several_processes_find_the_same_rows(
    workspace: Workspace, experiment: Experiment, expected_rows: list
) -> None:
    run_units(workspace.store, list(workspace.units(experiment)), workers=2)
    assert rows_of(workspace) == expected_rows


@pytest.mark.slow
def test_killed_processes_lose_no_rows(workspace: Workspace, experiment: Experiment, expected_rows: list) -> None:
    rng = random.Random(0)
    with Runners(workspace, experiment) as runners:
        for _ in range(10):
            before = count_rows(workspace)
            process = runners.start()
            runners.wait_for_rows(process, before)
            time.sleep(rng.random() * 0.05)
            assert is_alive(process), "the process finished before it was killed: increase RUNS"
            runners.kill(process)
            assert before < count_rows(workspace) < len(expected_rows)
        last = runners.start()
        runners.wait(last)
    assert 0 < runners.added(last) < len(expected_rows)
    assert rows_of(workspace) == expected_rows


@pytest.mark.slow
def test_two_runners_share_the_work(workspace: Workspace, experiment: Experiment, expected_rows: list) -> None:
    with Runners(workspace, experiment) as runners:
        both = [runners.start(), runners.start()]
        for process in both:
            runners.wait(process)
    added = [runners.added(process) for process in both]
    assert min(added) > 0
    assert sum(added) == len(expected_rows)
    assert rows_of(workspace) == expected_rows


@pytest.mark.slow
def test_workers_stop_when_their_runner_is_killed(workspace: Workspace, experiment: Experiment) -> None:
    with Runners(workspace, experiment.with_runs(400), workers=2) as runners:
        process = runners.start()
        runners.wait_for_rows(process, 100)
        runners.kill(process)
        before = -1
        while before != count_rows(workspace):
            before = count_rows(workspace)
            time.sleep(1)
    assert 100 < before < 24 * 400


@contextmanager
def local_cluster(count: int) -> Iterator:
    """Start a cluster of worker processes that are not restarted."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.usefixtures("small_units")
@pytest.mark.filterwarnings("ignore")
def test_cluster_with_a_killed_worker_finds_the_same_rows(
    workspace: Workspace, experiment: Experiment, expected_rows: list
) -> None:
    with local_cluster(3) as cluster:
        worker = cluster.workers[1].pid
        killed: list[int] = []

        def kill(done: int, total: int) -> None:
            if done and not killed and done < total:
                killed.append(done)
                os.kill(worker, signal.SIGKILL)

        run_units(
            workspace.store, list(workspace.units(experiment)), scheduler=cluster.scheduler_address, progress=kill
        )
    assert killed, "the experiment finished before a worker was killed: increase RUNS"
    assert rows_of(workspace) == expected_rows


def test_by_graph_returns_the_mean_over_the_runs(model, cohort) -> None:
    results = cg.find_counterfactuals(model, cohort, "ofs+obs", runs=3, max_calls=40)
    means = by_graph(results, lambda each: each.calls)
    assert means.tolist() == [sum(each.calls for each in results[i : i + 3]) / 3 for i in range(0, len(results), 3)]
    assert by_graph(results, lambda each: None).tolist() == [np.inf] * len(cohort)
    assert format_numbers(percentiles(np.array([1, 2, 3, np.inf, np.inf]))) == "1.4 / 2 / 3 / inf / inf"
    assert format_numbers(percentiles(means[:1])) == " / ".join([f"{means[0]:.1f}".removesuffix(".0")] * 5)
    forward = cg.find_counterfactuals(model, cohort, "ofs", runs=3, max_calls=40)
    assert [first_distance(each) for each in results] == [each.distance for each in forward]


def test_exhibits_are_selected_by_name_in_the_order_of_the_paper() -> None:
    assert [each.name for each in choose_exhibits(["figure6", "table1"])] == ["table1", "figure6"]
    assert len(choose_exhibits(["figure6", "all"])) == len(EXHIBITS)
    for exhibit in EXHIBITS.values():
        quick = [each.quick for each in exhibit.experiments]
        assert all(a.runs <= b.runs and a.every >= b.every for a, b in zip(quick, exhibit.experiments, strict=True))
