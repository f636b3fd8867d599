"""The store: what is kept, what is shared, what is refused."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import countergraph as cg
from countergraph.errors import BlackBoxError, FileError, InputError, Interrupted
from countergraph.search.driver import Progress
from countergraph.store import store as store_module
from countergraph.store.export import export
from countergraph.store.fingerprint import fingerprint
from countergraph.store.resume import FIRST, resume_counterfactuals
from countergraph.store.row import Place, Row
from countergraph.store.setting import Setting
from countergraph.store.store import Store

SETTING = Setting("cohort", "cohort", "box", "ofs+obs")
SHARED = replace(SETTING, method="learned")


def a_row(graph: int, run: int = 0, stopped: str = "finished") -> Row:
    return Row(graph, run, 0, 1, 2, 7, '{"ofs": 7}', b"\1\0\0\0\5\0\0\0", b"", stopped)


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.mark.parametrize("method", ["ofs+obs", "dfs+dbs", "ds"])
def test_what_comes_back_is_what_was_found(store, model, cohort, method: str) -> None:
    options = {"k": 3, "max_calls": 80, "seed": 5, "runs": 2}
    stored = resume_counterfactuals(store, model, cohort, method, target="ASD", **options)
    found = cg.find_counterfactuals(model, cohort, method, target="ASD", **options)
    assert [each.to_dict() for each in stored] == [each.to_dict() for each in found]
    assert stored[0].atlas == cohort.atlas
    assert store.count() == len(found)
    assert store.summary()["seconds"].sum() > 0


def test_classes_keep_their_names_in_another_order(store, model, cohort) -> None:
    low, high = cohort.classes
    swapped = replace(cohort, labels=1 - cohort.labels, classes=(high, low))
    stored = resume_counterfactuals(store, model, cohort.subset([0, 1, 2]), "ofs+obs", swapped)
    found = cg.find_counterfactuals(model, cohort.subset([0, 1, 2]), "ofs+obs", swapped)
    assert [each.sentence for each in stored] == [each.sentence for each in found]


ASKED: dict[str, dict[str, Any]] = {
    "additions": {"constraints": cg.Constraints(only="added")},
    "dear": {"constraints": cg.Constraints(cost="length", frozen_rois=np.arange(3, 5).tolist(), most=9)},
    "too few": {"constraints": cg.Constraints(most=1)},
    "scores": {"scores": True},
    "both": {"constraints": cg.Constraints(cost="plausible"), "scores": True},
}


@pytest.mark.parametrize("name", ASKED)
def test_constrained_and_scored_searches_come_back_too(store, cohort, name: str) -> None:
    model = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    options = {"method": "learned", "max_calls": 60, **ASKED[name]}
    found = cg.find_counterfactuals(model, cohort, **options)
    free = resume_counterfactuals(store, model, cohort, max_calls=60)
    for _ in "once", "again":
        stored = resume_counterfactuals(store, model, cohort, **options)
        assert [each.to_dict() for each in stored] == [each.to_dict() for each in found]
        assert [each.limited for each in stored] == [each.limited for each in found]
        assert [each.sentence for each in stored] == [each.sentence for each in found]
        assert any("more than 1 change" in each.why for each in stored) == (name == "too few")
        assert store.count() == 2 * len(cohort), "kept apart from the free ones, and not searched twice"
    assert [each.to_dict() for each in resume_counterfactuals(store, model, cohort, max_calls=60)] == [
        each.to_dict() for each in free
    ]
    assert [json.loads(each.asked).get("scores", False) for each in store.settings()] == [
        False,
        "scores" in ASKED[name],
    ]


def test_names_of_regions_mean_what_the_atlas_says(store, model, cohort) -> None:
    names = list(cohort.atlas.names)
    other = replace(cohort, atlas=cg.Atlas(names[::-1], name="upside down"))
    frozen = cg.Constraints(frozen_rois=names[:5])
    one, two = (
        resume_counterfactuals(store, model.estimator, data, "ofs+obs", max_calls=60, constraints=frozen, box="it")
        for data in (cohort, other)
    )
    assert store.count() == 2 * len(cohort)
    assert [each.to_dict() for each in one] != [each.to_dict() for each in two]
    with pytest.raises(InputError, match="trained with atlas synthetic-20, but the data has atlas upside down"):
        cg.find_counterfactuals(model, other)
    bare = replace(cohort, atlas=None)
    mixed = cg.find_counterfactuals(model, cohort, "ofs+obs", bare, max_calls=60, constraints=frozen)
    assert not any(min(pair) < 5 for each in mixed.found for pair in [*each.added, *each.removed])


@pytest.mark.parametrize(("what", "raised"), [(KeyboardInterrupt, Interrupted), (RuntimeError, BlackBoxError)])
def test_whoever_stops_gets_what_the_store_has_and_what_was_found(
    store, cohort, what: type[BaseException], raised: Any
) -> None:
    oracle = cg.Oracle(model_that_stops(cohort, what, after=10**9))
    first = resume_counterfactuals(store, oracle, cohort, "ofs+obs", runs=1, box="it")
    oracle = cg.Oracle(model_that_stops(cohort, what, after=25))
    with pytest.raises(raised) as stopped:
        resume_counterfactuals(store, oracle, cohort, "ofs+obs", runs=2, box="it")
    results = stopped.value.results
    begun = sorted([(graph, 0) for graph in range(len(cohort))] + [(graph, 1) for graph in range(FIRST)])
    assert [(each.graph_index, each.run) for each in results] == begun
    assert [each.to_dict() for each in results if each.run == 0] == [each.to_dict() for each in first]
    assert any(each.found for each in results if each.run == 1)
    assert {each.stopped for each in results if each.run == 1} >= {"interrupted"}


def model_that_stops(cohort: cg.GraphDataset, what: type[BaseException], after: int):
    """Return a rule on the number of edges that raises after some batches."""
    limit, batches = np.median(cohort.edges.sum(axis=1)), 0

    def answer(adjacency: np.ndarray) -> np.ndarray:
        nonlocal batches
        batches += 1
        if batches > after:
            raise what
        return (adjacency.sum(axis=(1, 2)) > 2 * limit).astype(int)

    return answer


class Mortal:
    """A forest that dies after some graphs, and then whenever it is asked."""

    def __init__(self, cohort: cg.GraphDataset, life: float) -> None:
        self.forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
        self.classes_, self.life = self.forest.classes_, life
        self.answered = 0

    def predict(self, edges: np.ndarray) -> np.ndarray:
        if self.answered + len(edges) > self.life:
            raise RuntimeError("dead")
        self.answered += len(edges)
        return np.array(self.forest.predict(edges))

    def predict_proba(self, edges: np.ndarray) -> np.ndarray:
        return np.array(self.forest.predict_proba(edges))


@pytest.mark.parametrize("scores", [False, True])
def test_a_run_that_was_stopped_is_not_asked_again_what_it_knows(store, cohort, tmp_path, scores: bool) -> None:
    options: dict[str, Any] = {"box": "it", "max_calls": 60, "scores": scores, "runs": 2}
    with Store(tmp_path / "undisturbed.sqlite") as other:
        healthy = Mortal(cohort, np.inf)
        expected = resume_counterfactuals(other, healthy, cohort, **options)
    answered = deaths = 0
    while True:
        mortal = Mortal(cohort, 150)
        try:
            results = resume_counterfactuals(store, mortal, cohort, **options)
        except BlackBoxError:
            deaths += 1
        else:
            break
        finally:
            answered += mortal.answered
    assert deaths > 2
    assert answered == healthy.answered, "no answer was asked for twice"
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert store._database.execute("SELECT count(*) FROM answers").fetchone() == (0,), "nothing is left behind"


def test_answers_of_another_run_do_not_count(store, cohort) -> None:
    options: dict[str, Any] = {"box": "it", "max_calls": 60}
    with pytest.raises(BlackBoxError):
        resume_counterfactuals(store, Mortal(cohort, 150), cohort, **options)
    [setting] = store.settings()
    told = store.answers(setting, 0)
    assert len(told) > 100
    store.tell(setting, 0, 30, [(b"something else", '["nonsense"]')] * (len(told) - 30))
    healthy = Mortal(cohort, np.inf)
    results = resume_counterfactuals(store, healthy, cohort, **options)
    expected = cg.find_counterfactuals(Mortal(cohort, np.inf), cohort, max_calls=60)
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert healthy.answered >= results.calls - 30


def test_only_what_is_missing_is_searched(store, model, cohort) -> None:
    oracle = cg.Oracle(model)
    first = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=1)
    asked = oracle.asked
    again = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=1)
    assert oracle.asked == asked == sum(each.calls for each in first)
    assert [each.to_dict() for each in again] == [each.to_dict() for each in first]
    more = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=3)
    assert oracle.asked == sum(each.calls for each in more)
    for other in ({"seed": 1}, {"k": 4}, {"max_calls": 61}, {"method": "ofs"}, {"target": 1}):
        asked = oracle.asked
        resume_counterfactuals(store, oracle, cohort, **{"max_calls": 60, **other})
        assert oracle.asked > asked


def test_what_was_found_before_an_interruption_is_kept(store, model, cohort) -> None:
    class Impatient:
        asked = 0

        def predict(self, edges):
            self.asked += 1
            if self.asked == 40:
                raise KeyboardInterrupt
            return model.predict(edges)

    with pytest.raises(Interrupted):
        resume_counterfactuals(store, Impatient(), cohort, "ofs+obs", max_calls=60, box="impatient")
    kept = store.count()
    assert 0 < kept < len(cohort)
    results = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60, box="impatient")
    assert [each.to_dict() for each in results] == [
        each.to_dict() for each in cg.find_counterfactuals(model, cohort, "ofs+obs", max_calls=60)
    ]


def test_what_stops_halfway_loses_no_more_than_what_ran_together(store, cohort, monkeypatch) -> None:
    """Searches in lockstep end at about the same time: if all began together, half of the questions would be lost."""
    monkeypatch.setattr("countergraph.store.resume.FIRST", 4)
    monkeypatch.setattr("countergraph.store.resume.QUICK", 0.0)

    def dense(edges: np.ndarray) -> np.ndarray:
        return (edges.sum(axis=1) > 30).astype(int)

    class Breaking(cg.Oracle):
        def ask(self, *args: Any, **options: Any) -> Any:
            if self.asked > half:
                raise KeyboardInterrupt
            return super().ask(*args, **options)

    whole = cg.find_counterfactuals(cg.Oracle(dense, input="edges"), cohort, "ofs+obs")
    half = whole.calls // 2
    with pytest.raises(Interrupted):
        resume_counterfactuals(store, Breaking(dense, input="edges"), cohort, "ofs+obs", box="dense")
    told: list[Progress] = []
    going_on = cg.Oracle(dense, input="edges")
    results = resume_counterfactuals(store, going_on, cohort, "ofs+obs", box="dense", progress=told.append)
    assert [each.to_dict() for each in results] == [each.to_dict() for each in whole]
    assert going_on.asked < 0.65 * whole.calls
    assert told[-1] == (len(cohort), len(cohort), going_on.asked)
    assert {each.total for each in told} == {len(cohort)}
    assert all(before.finished <= after.finished for before, after in pairwise(told))


def test_a_black_box_is_known_by_what_it_has_learnt(model, cohort, tmp_path: Path) -> None:
    loaded = cg.load_model(cg.save_model(model, tmp_path / "model.cgm"))
    assert fingerprint(loaded) == fingerprint(model)
    loaded.predict(cohort.edges)
    assert fingerprint(loaded) == fingerprint(model) != fingerprint(cg.Oracle(model))
    boxes = [
        cg.train(cohort, alpha=0.3),
        cg.LinearRule([[0, 1, 2]], [1.0], -1.0, 20),
        cg.LinearRule([[0, 1, 2]], [1.0], -2.0, 20),
        *(RandomForestClassifier(3, random_state=seed).fit(cohort.edges, cohort.labels) for seed in (0, 1)),
    ]
    assert len({fingerprint(box) for box in (model, *boxes)}) == len(boxes) + 1
    with pytest.raises(InputError, match="nobody can look into a function"):
        fingerprint(lambda graphs: graphs)


def test_two_owners_never_claim_the_same(store) -> None:
    with Store(store.path) as other:
        assert store.claim(SETTING, range(3), range(2)) == [Place(graph, run) for graph in range(3) for run in range(2)]
        assert other.claim(SETTING, range(4), range(2)) == [Place(3, 0), Place(3, 1)]
        store.add(SETTING, a_row(0))
        assert other.claim(SETTING, range(4), range(2)) == []
        other.claim(replace(SETTING, seed=1), range(1), range(1))
    assert store.claim(SETTING, range(4), range(2)) == [Place(3, 0), Place(3, 1)]
    assert store.missing(SETTING, range(2), range(2)) == [Place(0, 1), Place(1, 0), Place(1, 1)]


def test_searches_that_share_are_claimed_as_a_whole(store) -> None:
    with Store(store.path) as other:
        everything = [Place(graph, 0) for graph in range(3)]
        store.add(SHARED, a_row(1))
        assert store.claim(SHARED, range(3), range(1)) == everything
        assert other.claim(SHARED, range(3), range(1)) == []
        for graph in range(3):
            store.add(SHARED, a_row(graph))
        assert other.claim(SHARED, range(3), range(1)) == []


def test_the_claims_of_the_dead_are_taken_over(store, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from countergraph.store.store import Store, Setting\n"
        "import os; store = Store(sys.argv[1])\n"
        "store.claim(Setting('cohort', 'cohort', 'box', 'ofs+obs'), range(2), [0]); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(store.path)], check=True)
    assert store.claim(SETTING, range(2), [0]) == [Place(0, 0), Place(1, 0)]
    # An owner on another machine is believed to live until its lease runs out.
    with Store(store.path) as far:
        far.owner = "elsewhere 1 x"
        assert far.claim(replace(SETTING, seed=1), range(1), [0])
        assert not store.claim(replace(SETTING, seed=1), range(1), [0])
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + store_module.LEASE + 1)
        assert store.claim(replace(SETTING, seed=1), range(1), [0])


def test_a_lease_is_renewed_while_its_owner_lives(store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "LEASE", 0.2)
    store.owner = "elsewhere 1 x"
    with Store(store.path) as other, store.alive():
        store.claim(SETTING, range(1), [0])
        time.sleep(0.5)
        assert not other.claim(SETTING, range(1), [0])


def test_a_row_is_kept_once_and_only_when_finished(store) -> None:
    store.add(SETTING, a_row(0))
    store.add(SETTING, a_row(0)._replace(distance=9))
    assert [row["distance"] for row in store.rows()] == [2]
    for stopped in ("time_limit", "interrupted"):
        with pytest.raises(InputError, match="not finished, and not kept"):
            store.add(SETTING, a_row(1, stopped=stopped))


@pytest.mark.parametrize("step", ["BEGIN IMMEDIATE", "DELETE FROM claims", "COMMIT", "ROLLBACK"])
def test_ctrl_c_inside_a_transaction_leaves_nothing_open(store, step: str) -> None:
    class Interrupting(sqlite3.Connection):
        """Lets Ctrl-C come right after a step."""

        armed = False

        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            cursor = super().execute(statement, *values)
            if self.armed and statement.startswith((step, "DELETE FROM claims")):
                self.armed = step == "ROLLBACK" and not statement.startswith(step)
                raise KeyboardInterrupt
            return cursor

    with Store(store.path) as mine:
        mine._database.close()
        mine._database = sqlite3.connect(store.path, isolation_level=None, factory=Interrupting)
        mine._database.armed = True
        with pytest.raises(KeyboardInterrupt):
            mine.add(SETTING, a_row(0))
        assert not mine._database.in_transaction
        mine.add(SETTING, a_row(0))
    assert store.count(SETTING) == store.count() == 1, "a row of this setting, not of a number that was rolled back"
    assert store.claim(SETTING, [0, 1], [0]) == [Place(1, 0)]


def test_many_processes_may_make_the_same_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    code = "import sys; from countergraph.store.store import Store; Store(sys.argv[1]).close()"
    made = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [process.wait() for process in made] == [0] * 4


def test_results_are_refused_for_another_cohort(store, cohort) -> None:
    with pytest.raises(InputError, match="results of the cohort cohort, not of"):
        store.results(SETTING, cohort)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but a file that somebody needs" * 20)
    with pytest.raises(FileError, match=r"notes\.txt: cannot be used as a store"):
        Store(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE searches (everything)")
    database.close()
    with pytest.raises(FileError, match="is a database, but not a store"):
        Store(other)
    with pytest.raises(FileError, match="cannot be used as a store"):
        Store(tmp_path / "nowhere" / "store.sqlite")
    assert text.read_text().startswith("not a database")


def test_a_store_of_a_newer_version_is_refused(store) -> None:
    with sqlite3.connect(store.path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(FileError, match="written by a newer version of countergraph"):
        Store(store.path)


def test_a_store_of_an_older_version_is_migrated(store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(SETTING, a_row(0))
    later = (*store_module.MIGRATIONS, ("ALTER TABLE searches ADD COLUMN note TEXT DEFAULT 'old'",))
    monkeypatch.setattr(store_module, "MIGRATIONS", later)
    with Store(store.path) as migrated:
        assert [row["note"] for row in migrated.rows()] == ["old"]
    broken = (*later, ("ALTER TABLE searches ADD COLUMN other TEXT", "nonsense"))
    monkeypatch.setattr(store_module, "MIGRATIONS", broken)
    with pytest.raises(FileError, match="cannot be used as a store"):
        Store(store.path)
    monkeypatch.setattr(store_module, "MIGRATIONS", later)
    with Store(store.path) as whole:
        assert "other" not in next(whole.rows())


@pytest.mark.parametrize("version", range(1, len(store_module.MIGRATIONS)))
def test_a_store_of_every_older_version_is_as_good_as_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    path, whole = tmp_path / "old.sqlite", store_module.MIGRATIONS
    monkeypatch.setattr(store_module, "MIGRATIONS", whole[:version])
    with Store(path) as old:
        insert(old, "settings", {"id": 1, "key": SETTING.key, **asdict(SETTING)})
        insert(old, "searches", {"setting": 1, "seconds": 0.0, "finished_at": 0.0, **a_row(0)._asdict()})
    monkeypatch.setattr(store_module, "MIGRATIONS", whole)
    confirmed, limited = replace(SETTING, confirm=True), replace(SETTING, asked='{"scores": true}')
    with Store(path) as new:
        assert new.settings() == [SETTING]
        assert new.missing(SETTING, [0, 1], [0]) == [Place(1, 0)]
        for other in (confirmed, limited):
            assert new.missing(other, [0], [0]) == [Place(0, 0)]
            new.add(other, a_row(0))
        assert new.settings() == [SETTING, confirmed, limited]
        assert [row["cost"] for row in new.rows()] == [None, None, None]


def insert(store: Store, table: str, values: dict[str, object]) -> None:
    """Insert those values for which the table, as old as it is, has a column."""
    columns = {row[1] for row in store._database.execute(f"PRAGMA table_info({table})")}
    values = {name: value for name, value in values.items() if name in columns}
    store._database.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES (?{', ?' * (len(values) - 1)})", list(values.values())
    )


def test_confirmed_and_unconfirmed_searches_are_kept_apart(store, model, cohort) -> None:
    plain = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60, confirm=False)
    confirmed = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60)
    assert store.count() == 2 * len(cohort)
    assert sum(each.calls for each in confirmed) > sum(each.calls for each in plain)
    assert {each.parameters.get("confirm") for each in plain} == {False}
    resume_counterfactuals(store, model, cohort, max_calls=60, confirm=False)
    learned = resume_counterfactuals(store, model, cohort, max_calls=60)
    assert store.count() == 3 * len(cohort), "learned always confirms"
    assert learned[0].parameters == {"k": 5, "max_calls": 60, "seed": 0, "target": None}


def test_rows_of_another_version_of_countergraph_are_not_taken_for_ours(store) -> None:
    store.add(replace(SETTING, version="0.0.1"), a_row(0))
    assert store.missing(SETTING, range(1), range(1)) == [Place(0, 0)]


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
    with pytest.raises(InputError, match=r"exported to \.csv or \.parquet"):
        export(store, tmp_path / "rows.xlsx")


def test_memory_stays_flat_however_many_rows(store, tmp_path: Path) -> None:
    with store._transaction():
        number = store._numbered(SETTING)
        rows = ((number, *a_row(graph, run), 0.0, 0.0) for graph in range(2000) for run in range(10))
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


def test_the_clock_runs_while_anybody_works(store, monkeypatch: pytest.MonkeyPatch) -> None:
    for graph, (begun, end) in enumerate([(0, 10), (2, 6), (8, 14), (20, 21), (30, 90)]):
        monkeypatch.setattr(time, "time", lambda end=end: 1e9 + end)
        store.add(SETTING, a_row(graph), seconds=end - begun)
    assert store.spent(SETTING, range(4), [0]) == pytest.approx((10 + 4 + 6 + 1, 14 + 1))
    assert store.spent(SETTING, [], [0]) == (0, 0)


def test_flips_are_packed_small() -> None:
    result = cg.find_counterfactual(cg.LinearRule([[0, 1, 2]], [1.0], -1.0, 20), np.zeros(190, dtype=bool))
    row = Row.of(result, 4)
    assert row.flips is not None
    assert len(row.flips) == 4 * (result.distance or 0)
