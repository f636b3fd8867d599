"""Runner processes that tests start and kill: ``python -m tests.run_experiment COHORT FOLDER RUNS WORKERS``.

Each line on standard input starts one more runner and prints its process id. Runners are forked from this process after
all imports, so they start fast.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from countergraph.experiments import runner
from countergraph.experiments import workspace as workspace_module
from countergraph.experiments.experiment import Experiment
from countergraph.experiments.workspace import Workspace
from countergraph.store.row import Row
from countergraph.store.setting import Setting
from countergraph.store.store import Store


class CountingStore(Store):
    """A store that counts the rows added by each process in a file."""

    def add(self, setting: Setting, row: Row, seconds: float = 0.0, finished_at: float | None = None) -> None:
        super().add(setting, row, seconds, finished_at)
        with (self.path.parent / f"added-{os.getpid()}").open("a") as file:
            file.write(".")


def main(cohort: str, folder: str, runs: str, workers: str) -> None:
    workspace_module.SIZE = 48
    runner.Store = CountingStore  # type: ignore[attr-defined]
    workspace = Workspace(None, Path(folder))
    units = list(workspace.units(Experiment.of(cohort, "contrast-subgraphs", runs=int(runs), max_calls=300)))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes ended runners without wait()
    for _ in sys.stdin:
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            runner.run_units(workspace.store, units, int(workers))
            os._exit(0)
        print(process, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
