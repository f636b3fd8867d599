"""Doing units: in this process, in several, or on a cluster. The rows are the same whatever does them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

from joblib import Parallel, delayed

from countergraph.errors import InputError
from countergraph.experiments.unit import Unit
from countergraph.store.resume import PAUSE
from countergraph.store.row import Row, SearchKey
from countergraph.store.store import Store

ProgressCallback = Callable[[int, int], None]
"""Called with the numbers of finished and of all searches."""
LOOK = 0.5


def run_units(
    path: Path,
    units: Sequence[Unit],
    workers: int = 1,
    scheduler: str | None = None,
    progress: ProgressCallback | None = None,
) -> None:
    """Do what is missing of some units, and return when the store has all of it.

    Parameters
    ----------
    path
        The store. Other processes may be at work on it; what they have claimed is waited for, not done twice.
    units
        What to do, in this order.
    workers
        How many processes. Each takes the next unit that nobody has claimed.
    scheduler
        The address of a Dask cluster that does the units instead; this process keeps the store.
    progress
        Called from time to time with the numbers of finished and of all searches.
    """
    with Store(path) as store:
        waiting = _unfinished(store, units)
    with _watching(path, units, progress):
        if scheduler is not None and waiting:
            _run_on_cluster(path, waiting, scheduler)
        elif workers == 1 or len(waiting) <= 1:
            _work(path, waiting)
        else:
            tasks = [delayed(_work)(path, waiting, os.getpid()) for _ in range(min(workers, len(waiting)))]
            Parallel(n_jobs=len(tasks), backend="loky")(tasks)


def _unfinished(store: Store, units: Sequence[Unit]) -> list[Unit]:
    return [unit for unit in units if store.missing(unit.setting, unit.graphs, unit.runs)]


def _claims(store: Store, units: Sequence[Unit]) -> Iterator[tuple[Unit, list[SearchKey]]]:
    """Go through units once, and claim what nobody has claimed."""
    for unit in units:
        places = store.claim(unit.setting, unit.graphs, unit.runs)
        if places:
            yield unit, places


def _work(path: Path, units: Sequence[Unit], parent: int | None = None) -> None:
    """Take unit after unit that nobody has claimed, until all are finished, whoever finishes them."""
    with Store(path) as store, store.alive():
        while units:
            for unit, places in _claims(store, units):
                _do(store, unit, places, parent)
            units = _unfinished(store, units)
            if units:
                time.sleep(PAUSE)
                _check_parent(parent)


def _do(store: Store, unit: Unit, places: list[SearchKey], parent: int | None) -> None:
    def keep(row: Row, seconds: float) -> None:
        store.add(unit.setting, row, seconds)
        _check_parent(parent)

    unit.search(places, keep, store)


def _check_parent(parent: int | None) -> None:
    """End a worker whose runner was killed: nobody waits for it, and its rows are safe."""
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def _run_on_cluster(path: Path, units: Sequence[Unit], scheduler: str) -> None:
    """Keep the cluster busy with units, and keep what it finds. Dask gives a lost worker's units to another."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise InputError("a cluster needs Dask: pip install 'countergraph[cluster]'") from error
    client: Any
    with Store(path) as store, store.alive(), Client(scheduler) as client:  # type: ignore[no-untyped-call]
        while units:
            claims, finished = _claims(store, units), as_completed()  # type: ignore[no-untyped-call]
            owners: dict[Any, Unit] = {}
            while True:
                room = 2 * sum(client.nthreads().values()) + 1
                for unit, places in islice(claims, max(0, room - len(owners))):
                    future = client.submit(_search, unit, places, pure=False)
                    owners[future] = unit
                    finished.add(future)  # type: ignore[no-untyped-call]
                if not owners:
                    break
                future = next(finished)
                unit = owners.pop(future)
                for row, seconds, finished_at in future.result():
                    store.add(unit.setting, row, seconds, finished_at)
            units = _unfinished(store, units)
            if units:
                time.sleep(PAUSE)


def _search(unit: Unit, places: list[SearchKey]) -> list[tuple[Row, float, float]]:
    found: list[tuple[Row, float, float]] = []
    unit.search(places, lambda row, seconds: found.append((row, seconds, time.time())))
    return found


@contextmanager
def _watching(path: Path, units: Sequence[Unit], progress: ProgressCallback | None) -> Iterator[None]:
    """Tell how far the store is, from a thread, as long as the block runs."""
    if progress is None:
        yield
        return
    total = sum(len(unit.graphs) * len(unit.runs) for unit in units)
    ended = Event()

    def look() -> None:
        with Store(path) as store:
            while True:
                last = ended.is_set()
                missing = sum(len(store.missing(unit.setting, unit.graphs, unit.runs)) for unit in units)
                progress(total - missing, total)
                if last:
                    return
                ended.wait(LOOK)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
