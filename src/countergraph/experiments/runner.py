"""Run units in this process, in several processes, or on a cluster. The stored rows are the same."""

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

from countergraph.errors import missing_extra
from countergraph.experiments.unit import Unit
from countergraph.store.resume import POLL_SECONDS
from countergraph.store.row import Row, SearchKey
from countergraph.store.store import Store

ProgressCallback = Callable[[int, int], None]
"""Called with the numbers of finished and of all searches."""
PROGRESS_SECONDS = 0.5


def run_units(
    path: Path,
    units: Sequence[Unit],
    workers: int = 1,
    scheduler: str | None = None,
    progress: ProgressCallback | None = None,
) -> None:
    """Run the missing searches of some units, and return when all are in the store.

    Parameters
    ----------
    path
        The store. Searches that other processes have claimed are not repeated; the function waits for them.
    units
        The units, in this order.
    workers
        The number of processes. Each takes the next unclaimed unit.
    scheduler
        The address of a Dask cluster that runs the units instead; this process writes to the store.
    progress
        Called from time to time with the numbers of finished and of all searches.
    """
    with Store(path) as store:
        waiting = _unfinished(store, units)
    with _reported_progress(path, units, progress):
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
    """Iterate over the units, and claim their unclaimed searches."""
    for unit in units:
        keys = store.claim(unit.setting, unit.graphs, unit.runs)
        if keys:
            yield unit, keys


def _work(path: Path, units: Sequence[Unit], parent: int | None = None) -> None:
    """Run unclaimed units until all units are finished, by this or other processes."""
    with Store(path) as store, store.renewed_claims():
        while units:
            for unit, keys in _claims(store, units):
                _run_unit(store, unit, keys, parent)
            units = _unfinished(store, units)
            if units:
                time.sleep(POLL_SECONDS)
                _check_parent(parent)


def _run_unit(store: Store, unit: Unit, keys: list[SearchKey], parent: int | None) -> None:
    def keep(row: Row, seconds: float) -> None:
        store.add(unit.setting, row, seconds)
        _check_parent(parent)

    unit.search(keys, keep, store)


def _check_parent(parent: int | None) -> None:
    """End a worker process whose parent was killed; its finished rows are in the store."""
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def _run_on_cluster(path: Path, units: Sequence[Unit], scheduler: str) -> None:
    """Send units to the cluster and store their results. Dask reassigns the units of a lost worker."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise missing_extra("running on a cluster", "Dask", "cluster") from error
    client: Any
    with Store(path) as store, store.renewed_claims(), Client(scheduler) as client:  # type: ignore[no-untyped-call]
        while units:
            claims, finished = _claims(store, units), as_completed()  # type: ignore[no-untyped-call]
            owners: dict[Any, Unit] = {}
            while True:
                free = 2 * sum(client.nthreads().values()) + 1
                for unit, keys in islice(claims, max(0, free - len(owners))):
                    future = client.submit(_search, unit, keys, pure=False)
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
                time.sleep(POLL_SECONDS)


def _search(unit: Unit, keys: list[SearchKey]) -> list[tuple[Row, float, float]]:
    found: list[tuple[Row, float, float]] = []
    unit.search(keys, lambda row, seconds: found.append((row, seconds, time.time())))
    return found


@contextmanager
def _reported_progress(path: Path, units: Sequence[Unit], progress: ProgressCallback | None) -> Iterator[None]:
    """Report the progress from a thread while the block runs."""
    if progress is None:
        yield
        return
    total = sum(len(unit.graphs) * len(unit.runs) for unit in units)
    ended = Event()

    def report() -> None:
        with Store(path) as store:
            while True:
                last = ended.is_set()
                missing = sum(len(store.missing(unit.setting, unit.graphs, unit.runs)) for unit in units)
                progress(total - missing, total)
                if last:
                    return
                ended.wait(PROGRESS_SECONDS)

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
