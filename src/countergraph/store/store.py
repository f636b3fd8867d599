"""The store: every finished search is a row of an SQLite file, committed at once.

Killing a process loses what it was searching, never a row, and never the file: the database is in write-ahead mode.
Of searches that are finished together or not at all, it keeps the answers until they are (see `replay`).
Processes that share a store share the work. Before searching, a process *claims* places (a graph and a run of a
setting); a claim ends with its row, with its owner's death, or when its owner has not renewed it for a minute.
"""

from __future__ import annotations

import math
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple, Self

import pandas as pd

from countergraph.errors import FileError, InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.results.counterfactual import Counterfactuals
from countergraph.store.row import Row, SearchKey, unpack_numbers
from countergraph.store.setting import Setting

APPLICATION = 0x43475354  # "CGST": how a store is told from other SQLite files
LEASE = 60.0
PATIENCE = 60.0
# Statement by statement, what takes a store from each version to the next. Never change one: add another.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        f"PRAGMA application_id = {APPLICATION}",
        "CREATE TABLE names (fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL)",
        """CREATE TABLE settings (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, cohort TEXT NOT NULL, dataset TEXT NOT NULL,
            box TEXT NOT NULL, method TEXT NOT NULL, k INTEGER NOT NULL, max_calls INTEGER NOT NULL,
            seed INTEGER NOT NULL, target, version TEXT NOT NULL)""",
        """CREATE TABLE searches (
            id INTEGER PRIMARY KEY, setting INTEGER NOT NULL REFERENCES settings, graph INTEGER NOT NULL,
            run INTEGER NOT NULL, original_class, counterfactual_class, distance INTEGER, calls INTEGER NOT NULL,
            calls_by_phase TEXT NOT NULL, flips BLOB, trace BLOB NOT NULL, stopped TEXT NOT NULL,
            seconds REAL NOT NULL, finished_at REAL NOT NULL, UNIQUE (setting, graph, run))""",
        """CREATE TABLE claims (
            setting INTEGER NOT NULL REFERENCES settings, graph INTEGER NOT NULL, run INTEGER NOT NULL,
            owner TEXT NOT NULL, expires REAL NOT NULL, PRIMARY KEY (setting, graph, run)) WITHOUT ROWID""",
    ),
    ("ALTER TABLE settings ADD COLUMN confirm INTEGER NOT NULL DEFAULT 0",),
    (
        "ALTER TABLE settings ADD COLUMN asked TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE searches ADD COLUMN cost REAL",
    ),
    (
        """CREATE TABLE answers (
            setting INTEGER NOT NULL REFERENCES settings, run INTEGER NOT NULL, number INTEGER NOT NULL,
            graph BLOB NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (setting, run, number)) WITHOUT ROWID""",
    ),
    ("ALTER TABLE searches ADD COLUMN why TEXT NOT NULL DEFAULT ''",),
    (
        "ALTER TABLE searches ADD COLUMN minimal INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE searches ADD COLUMN radius INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE searches ADD COLUMN optimal INTEGER NOT NULL DEFAULT 0",
    ),
)


COLUMNS = ", ".join(Row._fields)


class Spent(NamedTuple):
    """Seconds that went into some searches."""

    worker: float
    """Of all processes together."""
    clock: float
    """While at least one of them was at work."""

    @classmethod
    def on(cls, stretches: Iterable[tuple[float, float]]) -> Self:
        """Add up stretches of time, each from its beginning to its end."""
        worker = clock = 0.0
        last = -math.inf
        for begun, end in sorted(stretches):
            worker += end - begun
            clock += max(0.0, end - max(begun, last))
            last = max(last, end)
        return cls(worker, clock)


class Store:
    """A store, open. Use it in a ``with`` statement, in one thread of one process; others open their own.

    Parameters
    ----------
    path
        The file; made if there is none. It must lie on a disk of this machine.

    Raises
    ------
    FileError
        If the file is something else, is damaged, or was written by a newer version of countergraph.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._numbers: dict[Setting, int] = {}
        self.owner = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        try:
            self._database = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            self._prepare()
        except sqlite3.Error as error:
            raise FileError(f"{self.path}: cannot be used as a store ({error})") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {self.count()} searches)"

    def close(self) -> None:
        """Give back what was claimed and not finished, and close the file."""
        self._release()
        self._database.close()

    def _release(self) -> None:
        with self._transaction():
            self._database.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))

    def _prepare(self) -> None:
        with self._transaction():
            version, application = self._pragma("user_version"), self._pragma("application_id")
            empty = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if not empty and application != APPLICATION:
                raise FileError(f"{self.path}: is a database, but not a store of countergraph")
            if version > len(MIGRATIONS):
                raise FileError(
                    f"{self.path}: was written by a newer version of countergraph (its format is {version}, this "
                    f"version reads up to {len(MIGRATIONS)}); nothing was read"
                )
            for statements in MIGRATIONS[version:]:
                for statement in statements:
                    self._database.execute(statement)
            self._database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        if self._database.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise FileError(f"{self.path}: lies on a disk that many processes cannot share; choose a local one")
        self._database.execute("PRAGMA synchronous = NORMAL")

    def _pragma(self, name: str) -> int:
        return int(self._database.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # Ctrl-C may come between any two steps: whatever it leaves open is rolled back, here or by the next.
        self._roll_back()
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._numbers.clear()
            self._database.execute("ROLLBACK")

    def name(self, fingerprint: str, name: str) -> None:
        """Keep what a cohort or a black box is called, for people."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (fingerprint, name))

    def settings(self) -> list[Setting]:
        """Return all settings of which something was ever claimed, the oldest first."""
        names = list(Setting.__dataclass_fields__)
        rows = self._database.execute(f"SELECT {', '.join(names)} FROM settings ORDER BY id")
        return [replace(Setting(*row), confirm=bool(row[names.index("confirm")])) for row in rows]

    def _number(self, setting: Setting) -> int:
        """Return the number of a setting, -1 if it has none."""
        if setting not in self._numbers:
            row = self._database.execute("SELECT id FROM settings WHERE key = ?", (setting.key,)).fetchone()
            if row is None:
                return -1
            self._numbers[setting] = int(row[0])
        return self._numbers[setting]

    def _numbered(self, setting: Setting) -> int:
        """Return the number of a setting, and give it one if it has none."""
        if self._number(setting) == -1:
            values = asdict(setting)
            self._database.execute(
                f"INSERT INTO settings (key, {', '.join(values)}) VALUES (?{', ?' * len(values)})",
                (setting.key, *values.values()),
            )
        return self._number(setting)

    def missing(self, setting: Setting, graphs: Iterable[int], runs: Iterable[int]) -> list[SearchKey]:
        """Return the places that have no row yet."""
        graphs, runs = list(graphs), list(runs)
        places = "SELECT graph, run FROM searches WHERE setting = ? AND graph BETWEEN ? AND ?"
        reach = (min(graphs, default=0), max(graphs, default=0))
        done = set(self._database.execute(places, (self._number(setting), *reach)))
        return [SearchKey(graph, run) for graph in graphs for run in runs if (graph, run) not in done]

    def claim(
        self, setting: Setting, graphs: Iterable[int], runs: Iterable[int], most: int | None = None
    ) -> list[SearchKey]:
        """Claim the places that have no row and that nobody alive has claimed, all or the first few, and return them.

        Of a setting whose searches share what they learn, a run is claimed as a whole, or not at all.
        """
        graphs, runs = list(graphs), list(runs)
        with self._transaction():
            number = self._numbered(setting)
            claims = "SELECT graph, run, owner, expires FROM claims WHERE setting = ?"
            taken = {
                (graph, run)
                for graph, run, owner, expires in self._database.execute(claims, (number,)).fetchall()
                if expires > time.time() and _alive(owner)
            }
            missing = self.missing(setting, graphs, runs)
            free = [place for place in missing if place not in taken][:most]
            if setting.shares:
                begun = {run for _, run in taken}
                whole = sorted({place.run for place in missing} - begun)
                free = [SearchKey(graph, run) for graph in graphs for run in whole]
            self._database.executemany(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
                ((number, *place, self.owner, time.time() + LEASE) for place in free),
            )
        return free

    def add(self, setting: Setting, row: Row, seconds: float = 0.0, finished_at: float | None = None) -> None:
        """Keep a finished search, at once. A row that is there already stays as it is.

        ``seconds`` is how long its process worked for it: in lockstep, since the search that ended before it.
        ``finished_at`` is when it ended, if not now.
        """
        if row.stopped in ("time_limit", "interrupted"):
            raise InputError(f"a search that was stopped by {row.stopped} is not finished, and not kept")
        with self._transaction():
            number = self._numbered(setting)
            self._database.execute(
                f"INSERT OR IGNORE INTO searches (setting, {COLUMNS}, seconds, finished_at) "
                f"VALUES (?{', ?' * len(row)}, ?, ?)",
                (number, *row, seconds, time.time() if finished_at is None else finished_at),
            )
            self._database.execute(
                "DELETE FROM claims WHERE setting = ? AND graph = ? AND run = ?", (number, row.graph, row.run)
            )

    def answers(self, setting: Setting, run: int) -> list[tuple[bytes, str]]:
        """Return what was answered so far in a run that is not finished, in order (see `replay`)."""
        answers = "SELECT graph, answer FROM answers WHERE setting = ? AND run = ? ORDER BY number"
        return self._database.execute(answers, (self._number(setting), run)).fetchall()

    def tell(self, setting: Setting, run: int, first: int, answers: Iterable[tuple[bytes, str]]) -> None:
        """Keep answers of a run, the ``first`` of which has this number."""
        with self._transaction():
            number = self._numbered(setting)
            self._database.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
                ((number, run, place, *answer) for place, answer in enumerate(answers, first)),
            )

    def forget(self, setting: Setting, run: int) -> None:
        """Drop the answers of a run."""
        with self._transaction():
            self._database.execute("DELETE FROM answers WHERE setting = ? AND run = ?", (self._number(setting), run))

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Renew the claims of this store, in a thread, as long as the block runs; then give back what is left."""
        ended = Event()

        def renew() -> None:
            with sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None) as database:
                while not ended.wait(LEASE / 4):
                    expires = time.time() + LEASE
                    database.execute("UPDATE claims SET expires = ? WHERE owner = ?", (expires, self.owner))
            database.close()

        thread = Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self._release()

    def count(self, setting: Setting | None = None) -> int:
        """Return how many finished searches there are, of one setting or of all."""
        if setting is None:
            return int(self._database.execute("SELECT count(*) FROM searches").fetchone()[0])
        count = "SELECT count(*) FROM searches WHERE setting = ?"
        return int(self._database.execute(count, (self._number(setting),)).fetchone()[0])

    def spent(self, setting: Setting, graphs: Iterable[int], runs: Iterable[int]) -> Spent:
        """Return how long processes worked for some places of a setting."""
        wanted_graphs, wanted_runs = set(graphs), set(runs)
        rows = self._database.execute(
            "SELECT graph, run, finished_at - seconds, finished_at FROM searches WHERE setting = ?",
            (self._number(setting),),
        )
        return Spent.on(
            [(begun, end) for graph, run, begun, end in rows if graph in wanted_graphs and run in wanted_runs]
        )

    def results(
        self,
        setting: Setting,
        data: GraphDataset,
        graphs: Iterable[int] | None = None,
        runs: Iterable[int] | None = None,
        classes: tuple[str, ...] | None = None,
    ) -> Counterfactuals:
        """Return the finished searches of a setting (of some graphs, some runs), in the order of the graphs.

        ``data`` is the cohort that was searched, ``classes`` the names by label of the dataset that was searched with,
        where that is another.
        """
        if data.fingerprint != setting.cohort:
            raise InputError(f"these are results of the cohort {setting.cohort}, not of {data.fingerprint}")
        rows = self._database.execute(
            f"SELECT {COLUMNS} FROM searches WHERE setting = ? ORDER BY graph, run", (self._number(setting),)
        )
        wanted_graphs, wanted_runs = (None if each is None else set(each) for each in (graphs, runs))
        return Counterfactuals(
            [
                Row(*row).unpack(setting, data, classes)
                for row in rows
                if (wanted_graphs is None or row[0] in wanted_graphs) and (wanted_runs is None or row[1] in wanted_runs)
            ]
        )

    def summary(self) -> pd.DataFrame:
        """Return a row for each setting: what it is, how many searches are finished, and what they cost."""
        return pd.read_sql_query(
            """SELECT coalesce(cohorts.name, cohort) AS cohort, coalesce(boxes.name, box) AS box, method, k, max_calls,
                seed, target, confirm, asked, version, count(*) AS searches, count(distance) AS found,
                avg(distance) AS distance, avg(calls) AS calls, total(seconds) AS seconds
            FROM searches JOIN settings ON settings.id = searches.setting
            LEFT JOIN names AS cohorts ON cohorts.fingerprint = settings.cohort
            LEFT JOIN names AS boxes ON boxes.fingerprint = settings.box
            GROUP BY settings.id ORDER BY settings.id""",
            self._database,
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Go through all finished searches as plain values, one at a time; ``flips`` is a list of positions."""
        cursor = self._database.execute(
            """SELECT cohorts.name AS cohort_name, boxes.name AS box_name, settings.*, searches.*
            FROM searches JOIN settings ON settings.id = searches.setting
            LEFT JOIN names AS cohorts ON cohorts.fingerprint = settings.cohort
            LEFT JOIN names AS boxes ON boxes.fingerprint = settings.box
            ORDER BY searches.setting, graph, run"""
        )
        names = [column[0] for column in cursor.description]
        for values in cursor:
            row = dict(zip(names, values, strict=True))
            for inner in ("id", "key", "setting", "trace"):
                del row[inner]
            yield {**row, "flips": None if row["flips"] is None else unpack_numbers(row["flips"]).tolist()}


def _alive(owner: str) -> bool:
    """Tell whether the owner of a claim may still be at work. Of other machines, only time tells."""
    host, process, _ = owner.rsplit(" ", 2)
    if host != socket.gethostname() or os.name != "posix":
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
