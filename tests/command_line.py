"""Functions that run the command line in the tests."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_fork_server = multiprocessing.get_context("forkserver")
_fork_server.set_forkserver_preload(
    ["countergraph.report.make", "countergraph.classifiers.model_files", "nilearn.plotting"]
)


def countergraph(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in its own process, which is forked after the import of the large libraries."""
    environment = {**os.environ, "COLUMNS": "100"}
    environment.pop("COUNTERGRAPH_DATA", None)
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        arguments = ([*map(str, words)], cwd or Path.cwd(), environment, out, err)
        process = _fork_server.Process(target=_run, args=arguments)
        process.start()
        process.join()
        return subprocess.CompletedProcess(words, process.exitcode or 0, out.read_text(), err.read_text())


def _run(words: list[str], cwd: Path, environment: dict[str, str], out: Path, err: Path) -> None:
    for file, stream in ((out, sys.stdout), (err, sys.stderr)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), stream.fileno())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["countergraph", *words]
    from countergraph.cli import main

    main()


def start_command(*words: object, cwd: Path) -> subprocess.Popen[str]:
    """Start a command that Ctrl-C stops, even if the tests run as a background job, which ignores Ctrl-C."""
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{code}; from countergraph.cli import main; main()", *map(str, words)]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
