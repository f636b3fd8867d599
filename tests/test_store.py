"""The store: rows, claims of several processes, migrations and invalid files."""

from __future__ import annotations

import csv
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import FileError, InputError
from countergraph.store import store as store_module
from countergraph.store.export import export
from countergraph.store.resume import resume_counterfactuals
from countergraph.store.row import Row, SearchKey
from countergraph.store.setting import Setting
from countergraph.store.store import Store

SETTING = Setting("cohort", "cohort", "box", "ofs+obs")
JOINT = replace(SETTING, method="learned")


def make_row(graph: int, run: int = 0, stopped: str = "finished") -> Row:
    return Row(graph, run, 0, 1, 2, 7, '{"ofs": 7}', b"\1\0\0\0\5\0\0\0", b"", stopped)


def test_two_owners_never_claim_the_same_search(store) -> None:
    with Store(store.path) as other:
        assert store.claim(SETTING, range(3), range(2)) == [
            SearchKey(graph, run) for graph in range(3) for run in range(2)
        ]
        assert other.claim(SETTING, range(4), range(2)) == [SearchKey(3, 0), SearchKey(3, 1)]
        store.add(SETTING, make_row(0))
        assert other.claim(SETTING, range(4), range(2)) == []
        other.claim(replace(SETTING, seed=1), range(1), range(1))
    assert store.claim(SETTING, range(4), range(2)) == [SearchKey(3, 0), SearchKey(3, 1)]
    assert store.missing(SETTING, range(2), range(2)) == [SearchKey(0, 1), SearchKey(1, 0), SearchKey(1, 1)]


def test_joint_runs_are_claimed_as_a_whole(store) -> None:
    with Store(store.path) as other:
        whole_run = [SearchKey(graph, 0) for graph in range(3)]
        store.add(JOINT, make_row(1))
        assert store.claim(JOINT, range(3), range(1)) == whole_run
        assert other.claim(JOINT, range(3), range(1)) == []
        for graph in range(3):
            store.add(JOINT, make_row(graph))
        assert other.claim(JOINT, range(3), range(1)) == []


def test_claims_of_ended_processes_are_taken_over(store, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from countergraph.store.store import Store, Setting\n"
        "import os; store = Store(sys.argv[1])\n"
        "store.claim(Setting('cohort', 'cohort', 'box', 'ofs+obs'), range(2), [0]); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(store.path)], check=True)
    assert store.claim(SETTING, range(2), [0]) == [SearchKey(0, 0), SearchKey(1, 0)]
    # A process on another machine cannot be checked: its claim is valid until it expires.
    with Store(store.path) as remote:
        remote.owner = "elsewhere 1 x"
        assert remote.claim(replace(SETTING, seed=1), range(1), [0])
        assert not store.claim(replace(SETTING, seed=1), range(1), [0])
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + store_module.CLAIM_SECONDS + 1)
        assert store.claim(replace(SETTING, seed=1), range(1), [0])


def test_claims_are_renewed_while_their_process_runs(store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "CLAIM_SECONDS", 0.2)
    store.owner = "elsewhere 1 x"
    with Store(store.path) as other, store.renewed_claims():
        store.claim(SETTING, range(1), [0])
        time.sleep(0.5)
        assert not other.claim(SETTING, range(1), [0])


def test_rows_are_stored_once_and_only_if_finished(store) -> None:
    store.add(SETTING, make_row(0))
    store.add(SETTING, make_row(0)._replace(distance=9))
    assert [row["distance"] for row in store.rows()] == [2]
    for stopped in ("time_limit", "interrupted"):
        with pytest.raises(InputError, match="only finished searches can be stored"):
            store.add(SETTING, make_row(1, stopped=stopped))


@pytest.mark.parametrize("step", ["BEGIN IMMEDIATE", "DELETE FROM claims", "COMMIT", "ROLLBACK"])
def test_ctrl_c_inside_a_transaction_leaves_no_open_transaction(store, step: str) -> None:
    class Interrupting(sqlite3.Connection):
        """Raises KeyboardInterrupt after a statement."""

        active = False

        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            cursor = super().execute(statement, *values)
            if self.active and statement.startswith((step, "DELETE FROM claims")):
                self.active = step == "ROLLBACK" and not statement.startswith(step)
                raise KeyboardInterrupt
            return cursor

    with Store(store.path) as other:
        other._database.close()
        other._database = sqlite3.connect(store.path, isolation_level=None, factory=Interrupting)
        other._database.active = True
        with pytest.raises(KeyboardInterrupt):
            other.add(SETTING, make_row(0))
        assert not other._database.in_transaction
        other.add(SETTING, make_row(0))
    assert store.count(SETTING) == store.count() == 1, "the row has the id of the setting after the rollback"
    assert store.claim(SETTING, [0, 1], [0]) == [SearchKey(1, 0)]


def test_several_processes_can_create_the_same_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    code = "import sys; from countergraph.store.store import Store; Store(sys.argv[1]).close()"
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4


def test_other_files_raise(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but a text file" * 20)
    with pytest.raises(FileError, match=r"notes\.txt: cannot be used as a store"):
        Store(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE searches (everything)")
    database.close()
    with pytest.raises(FileError, match="is an SQLite database, but not a countergraph store"):
        Store(other)
    with pytest.raises(FileError, match="cannot be used as a store"):
        Store(tmp_path / "nowhere" / "store.sqlite")
    assert text.read_text().startswith("not a database")


def test_store_of_a_newer_version_raises(store) -> None:
    with sqlite3.connect(store.path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(FileError, match="written by a newer version of countergraph"):
        Store(store.path)


def test_store_of_an_older_version_is_migrated(store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(SETTING, make_row(0))
    later = (*store_module.MIGRATIONS, ("ALTER TABLE searches ADD COLUMN note TEXT DEFAULT 'old'",))
    monkeypatch.setattr(store_module, "MIGRATIONS", later)
    with Store(store.path) as migrated:
        assert [row["note"] for row in migrated.rows()] == ["old"]
    broken = (*later, ("ALTER TABLE searches ADD COLUMN other TEXT", "invalid statement"))
    monkeypatch.setattr(store_module, "MIGRATIONS", broken)
    with pytest.raises(FileError, match="cannot be used as a store"):
        Store(store.path)
    monkeypatch.setattr(store_module, "MIGRATIONS", later)
    with Store(store.path) as unchanged:
        assert "other" not in next(unchanged.rows())


@pytest.mark.parametrize("version", range(1, len(store_module.MIGRATIONS)))
def test_store_of_every_older_version_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    path, migrations = tmp_path / "old.sqlite", store_module.MIGRATIONS
    monkeypatch.setattr(store_module, "MIGRATIONS", migrations[:version])
    with Store(path) as old:
        insert(old, "settings", {"id": 1, "key": SETTING.key, **asdict(SETTING)})
        insert(old, "searches", {"setting": 1, "seconds": 0.0, "finished_at": 0.0, **make_row(0)._asdict()})
    monkeypatch.setattr(store_module, "MIGRATIONS", migrations)
    confirmed, scored = replace(SETTING, confirm=True), replace(SETTING, options='{"scores": true}')
    with Store(path) as new:
        assert new.settings() == [SETTING]
        assert new.missing(SETTING, [0, 1], [0]) == [SearchKey(1, 0)]
        for other in (confirmed, scored):
            assert new.missing(other, [0], [0]) == [SearchKey(0, 0)]
            new.add(other, make_row(0))
        assert new.settings() == [SETTING, confirmed, scored]
        assert [row["cost"] for row in new.rows()] == [None, None, None]


def insert(store: Store, table: str, values: dict[str, object]) -> None:
    """Insert the values for which the table has a column."""
    columns = {row[1] for row in store._database.execute(f"PRAGMA table_info({table})")}
    values = {name: value for name, value in values.items() if name in columns}
    store._database.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES (?{', ?' * (len(values) - 1)})", list(values.values())
    )


def test_rows_of_another_version_of_countergraph_are_not_used(store) -> None:
    store.add(replace(SETTING, version="0.0.1"), make_row(0))
    assert store.missing(SETTING, range(1), range(1)) == [SearchKey(0, 0)]


def test_export_to_csv_and_parquet(store, model, cohort, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    store.name(cohort.fingerprint, "small")
    results = resume_counterfactuals(store, model, cohort, max_calls=40, runs=2)
    assert export(store, tmp_path / "rows.csv") == export(store, tmp_path / "rows.parquet") == len(results)
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    for row, plain, result in zip(rows, table, results, strict=True):
        assert row["cohort_name"] == plain["cohort_name"] == "small"
        assert (int(row["graph"]), int(row["run"])) == (result.graph_index, result.run)
        assert plain["flips"] == (None if result.flips is None else result.flips.tolist())
        assert row["flips"] == ("" if result.flips is None else " ".join(map(str, result.flips)))
        assert plain["calls"] == result.calls
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        export(store, tmp_path / "rows.xlsx")
    with pytest.raises(FileError, match=r"cannot be written \(No such file"):
        export(store, tmp_path / "nowhere" / "rows.csv")


def test_memory_does_not_grow_with_the_number_of_rows(store, tmp_path: Path) -> None:
    with store._transaction():
        number = store._numbered(SETTING)
        rows = ((number, *make_row(graph, run), 0.0, 0.0) for graph in range(2000) for run in range(10))
        values = ", ".join("?" * (len(Row._fields) + 3))
        store._database.executemany(
            f"INSERT INTO searches (setting, {store_module.COLUMNS}, seconds, finished_at) VALUES ({values})", rows
        )
    tracemalloc.start()
    assert sum(1 for _ in store.rows()) == 20_000
    assert not store.missing(SETTING, range(500, 510), range(10))
    export(store, tmp_path / "rows.csv")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 2**20


def test_clock_time_counts_overlapping_work_once(store, monkeypatch: pytest.MonkeyPatch) -> None:
    for graph, (start, end) in enumerate([(0, 10), (2, 6), (8, 14), (20, 21), (30, 90)]):
        monkeypatch.setattr(time, "time", lambda end=end: 1e9 + end)
        store.add(SETTING, make_row(graph), seconds=end - start)
    assert store.spent(SETTING, range(4), [0]) == pytest.approx((10 + 4 + 6 + 1, 14 + 1))
    assert store.spent(SETTING, [], [0]) == (0, 0)


def test_flips_are_stored_with_four_bytes_each() -> None:
    result = cg.find_counterfactual(LinearRule([[0, 1, 2]], [1.0], -1.0, 20), np.zeros(190, dtype=bool))
    row = Row.of(result, 4)
    assert row.flips is not None
    assert len(row.flips) == 4 * (result.distance or 0)


def test_results_for_another_cohort_raise(store, cohort) -> None:
    with pytest.raises(
        InputError, match="the results are of the cohort cohort, but data is .*: pass the dataset that was"
    ):
        store.results(SETTING, cohort)


KEYS = {
    "plain": "a41fe704fcd0c48e885332e310951cea",
    "confirmed": "6ae1a904bf296b2803405f266f5569a5",
    "scores": "80977b34e23d0d99e9178d4061a169f2",
}


def test_keys_of_0_9_0_are_unchanged() -> None:
    """Literal keys of version 0.9.0, so that the rows of its stores are found."""
    plain = Setting("cohort", "dataset", "box", "ofs+obs", version="0.9.0")
    assert plain.key == KEYS["plain"]
    assert replace(plain, confirm=True).key == KEYS["confirmed"]
    assert replace(plain, options='{"scores": true}', method="learned", target=1).key == KEYS["scores"]
