"""The store: every finished search is a row of an SQLite file, committed immediately.

Killing a process loses the searches in progress, but no row and not the file: the database is in write-ahead mode. The
answers to searches that are finished together are kept until they are finished (see `replay`).

Processes that use the same store share the work. Before searching, a process *claims* searches (a graph and a run of a
setting). A claim ends with its row, when its process ends, or if it was not renewed for a minute.
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
from countergraph.store.row import NUMBERS, Row, SearchKey
from countergraph.store.setting import Setting

APPLICATION = 0x43475354  # "CGST", identifies a store among SQLite files
CLAIM_SECONDS = 60.0
"""How long a claim is valid unless it is renewed."""
BUSY_TIMEOUT = 60.0
"""Seconds to wait for a lock of another process."""
# The statements that upgrade a store from each version to the next. Never change one: add another.
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
    ("ALTER TABLE settings RENAME COLUMN asked TO options",),
    ("ALTER TABLE searches ADD COLUMN changed_values BLOB", "ALTER TABLE searches ADD COLUMN units BLOB"),
    ("ALTER TABLE searches ADD COLUMN valid_values BLOB",),
)


COLUMNS = ", ".join(Row._fields)


class Spent(NamedTuple):
    """The computing time of some searches, in seconds."""

    worker: float
    """The sum over all processes."""
    clock: float
    """The time in which at least one process was working."""

    @classmethod
    def of(cls, intervals: Iterable[tuple[float, float]]) -> Self:
        """Add up intervals, each given by its beginning and its end."""
        worker = clock = 0.0
        last = -math.inf
        for begin, end in sorted(intervals):
            worker += end - begin
            clock += max(0.0, end - max(begin, last))
            last = max(last, end)
        return cls(worker, clock)


class Store:
    """An open store. Use it in a ``with`` statement and in one thread; other threads and processes open their own.

    Parameters
    ----------
    path
        The file; it is created if it does not exist. It must be on a local disk.

    Raises
    ------
    FileError
        If the file is not a store, is damaged, or was written by a newer version of countergraph.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._numbers: dict[Setting, int] = {}
        self.owner = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        try:
            self._database = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
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
        """Release the claims of unfinished searches, and close the file."""
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
                raise FileError(f"{self.path}: is an SQLite database, but not a countergraph store")
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
            raise FileError(
                f"{self.path}: is on a disk that does not support access by several processes; choose a local disk"
            )
        self._database.execute("PRAGMA synchronous = NORMAL")

    def _pragma(self, name: str) -> int:
        return int(self._database.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # Ctrl-C may come between any two steps: an open transaction is rolled back here, or by the next one.
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
        """Store the name of a cohort or a black box, for display."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (fingerprint, name))

    def settings(self) -> list[Setting]:
        """Return all settings, oldest first."""
        names = list(Setting.__dataclass_fields__)
        rows = self._database.execute(f"SELECT {', '.join(names)} FROM settings ORDER BY id")
        return [replace(Setting(*row), confirm=bool(row[names.index("confirm")])) for row in rows]

    def _number(self, setting: Setting) -> int:
        """Return the id of a setting, -1 if it is not in the store."""
        if setting not in self._numbers:
            row = self._database.execute("SELECT id FROM settings WHERE key = ?", (setting.key,)).fetchone()
            if row is None:
                return -1
            self._numbers[setting] = int(row[0])
        return self._numbers[setting]

    def _numbered(self, setting: Setting) -> int:
        """Return the id of a setting, and insert it if it is not in the store."""
        if self._number(setting) == -1:
            values = asdict(setting)
            self._database.execute(
                f"INSERT INTO settings (key, {', '.join(values)}) VALUES (?{', ?' * len(values)})",
                (setting.key, *values.values()),
            )
        return self._number(setting)

    def missing(self, setting: Setting, graphs: Iterable[int], runs: Iterable[int]) -> list[SearchKey]:
        """Return the searches that have no row yet."""
        graphs, runs = list(graphs), list(runs)
        query = "SELECT graph, run FROM searches WHERE setting = ? AND graph BETWEEN ? AND ?"
        bounds = (min(graphs, default=0), max(graphs, default=0))
        done = set(self._database.execute(query, (self._number(setting), *bounds)))
        return [SearchKey(graph, run) for graph in graphs for run in runs if (graph, run) not in done]

    def claim(
        self, setting: Setting, graphs: Iterable[int], runs: Iterable[int], most: int | None = None
    ) -> list[SearchKey]:
        """Claim searches without a row and without a valid claim, all or the first ``most``, and return them.

        A run of a joint setting is claimed as a whole.
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
            free = [key for key in missing if key not in taken][:most]
            if setting.is_joint:
                started = {run for _, run in taken}
                whole = sorted({key.run for key in missing} - started)
                free = [SearchKey(graph, run) for graph in graphs for run in whole]
            self._database.executemany(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
                ((number, *key, self.owner, time.time() + CLAIM_SECONDS) for key in free),
            )
        return free

    def add(self, setting: Setting, row: Row, seconds: float = 0.0, finished_at: float | None = None) -> None:
        """Store a finished search immediately; an existing row is not changed.

        ``seconds`` is its computing time: in lockstep, the time since the search that finished before it.
        ``finished_at`` is the time when it finished, by default now.
        """
        if row.stopped in ("time_limit", "cancelled", "interrupted"):
            raise InputError(f"only finished searches can be stored, but this one was stopped: {row.stopped}")
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
        """Return the answers of an unfinished joint run, in order (see `replay`)."""
        answers = "SELECT graph, answer FROM answers WHERE setting = ? AND run = ? ORDER BY number"
        return self._database.execute(answers, (self._number(setting), run)).fetchall()

    def add_answers(self, setting: Setting, run: int, first: int, answers: Iterable[tuple[bytes, str]]) -> None:
        """Store answers of a joint run; ``first`` is the number of the first one."""
        with self._transaction():
            number = self._numbered(setting)
            self._database.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
                ((number, run, position, *answer) for position, answer in enumerate(answers, first)),
            )

    def delete_answers(self, setting: Setting, run: int) -> None:
        """Delete the answers of a joint run."""
        with self._transaction():
            self._database.execute("DELETE FROM answers WHERE setting = ? AND run = ?", (self._number(setting), run))

    @contextmanager
    def renewed_claims(self) -> Iterator[None]:
        """Renew the claims of this store in a thread while the block runs, then release the remaining ones."""
        ended = Event()

        def renew() -> None:
            with sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None) as database:
                while not ended.wait(CLAIM_SECONDS / 4):
                    expires = time.time() + CLAIM_SECONDS
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
        """Return the number of finished searches, of one setting or of all."""
        if setting is None:
            return int(self._database.execute("SELECT count(*) FROM searches").fetchone()[0])
        count = "SELECT count(*) FROM searches WHERE setting = ?"
        return int(self._database.execute(count, (self._number(setting),)).fetchone()[0])

    def spent(self, setting: Setting, graphs: Iterable[int], runs: Iterable[int]) -> Spent:
        """Return the computing time of some searches of a setting."""
        wanted_graphs, wanted_runs = set(graphs), set(runs)
        rows = self._database.execute(
            "SELECT graph, run, finished_at - seconds, finished_at FROM searches WHERE setting = ?",
            (self._number(setting),),
        )
        return Spent.of(
            [(begin, end) for graph, run, begin, end in rows if graph in wanted_graphs and run in wanted_runs]
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

        ``data`` is the cohort that was searched, ``classes`` are the names of the classes of the dataset, if that is
        another cohort.
        """
        if data.fingerprint != setting.cohort:
            raise InputError(
                f"the results are of the cohort {setting.cohort}, but data is the cohort {data.fingerprint}: pass the "
                "dataset that was searched"
            )
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
        """Return a table with one row per setting: its options, the number of finished searches, and their cost."""
        return pd.read_sql_query(
            """SELECT coalesce(cohorts.name, cohort) AS cohort, coalesce(boxes.name, box) AS box, method, k, max_calls,
                seed, target, confirm, options, version, count(*) AS searches, count(distance) AS found,
                avg(distance) AS distance, avg(calls) AS calls, total(seconds) AS seconds
            FROM searches JOIN settings ON settings.id = searches.setting
            LEFT JOIN names AS cohorts ON cohorts.fingerprint = settings.cohort
            LEFT JOIN names AS boxes ON boxes.fingerprint = settings.box
            GROUP BY settings.id ORDER BY settings.id""",
            self._database,
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over all finished searches as plain values; packed numbers are lists (see `NUMBERS`)."""
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
            for inner in ("id", "key", "setting", "trace", "valid_values"):
                del row[inner]
            for name, unpack in NUMBERS.items():
                row[name] = None if row[name] is None else unpack(row[name]).tolist()
            yield row


def _alive(owner: str) -> bool:
    """Check whether the process that owns a claim may be running. On other machines, only the expiry time counts."""
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
