"""A store of a hundred thousand rows: time to add rows, find missing searches and export, and memory."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

from countergraph.store.export import export
from countergraph.store.row import Row
from countergraph.store.setting import Setting
from countergraph.store.store import Store

SETTINGS, GRAPHS, RUNS, UNIT = 40, 500, 5, 100


def main() -> None:
    settings = [Setting("cohort", "cohort", "box", "ofs+obs", seed=seed) for seed in range(SETTINGS)]
    row = Row(0, 0, 0, 1, 50, 400, '{"ofs": 200, "obs": 200}', bytes(200), bytes(80), "finished")
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
        began = time.perf_counter()
        for setting in settings:
            for graph in range(GRAPHS):
                for run in range(RUNS):
                    store.add(setting, row._replace(graph=graph, run=run))
        adding = time.perf_counter() - began
        before = _megabytes()
        began = time.perf_counter()
        missing = sum(
            len(store.missing(setting, range(start, start + UNIT), range(RUNS)))
            for setting in settings
            for start in range(0, GRAPHS, UNIT)
        )
        checking = time.perf_counter() - began
        began = time.perf_counter()
        count = export(store, Path(folder) / "rows.csv")
        exporting = time.perf_counter() - began
        size = store.path.stat().st_size / 2**20
        print(f"{count:,} rows, {size:.0f} MB: {1e6 * adding / count:.0f} µs to add one row")
        print(f"  find missing searches, {len(settings) * GRAPHS // UNIT} units ({missing} missing): {checking:.2f} s")
        print(f"  export to CSV: {exporting:.1f} s; memory of both: {_megabytes() - before:.0f} MB more\n")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
