"""The command line as the tests call it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["countergraph.report.make", "countergraph.classifiers.model_files", "nilearn.plotting"])


def countergraph(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command, in a process of its own, which begins where the heavy libraries are there already."""
    environment = {**os.environ, "COLUMNS": "100"}
    environment.pop("COUNTERGRAPH_DATA", None)
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        arguments = ([*map(str, words)], cwd or Path.cwd(), environment, out, err)
        process = _forks.Process(target=_run, args=arguments)
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


def begun(*words: object, cwd: Path) -> subprocess.Popen[str]:
    """Begin a command that Ctrl-C stops, even where the tests run in the background of a shell, which ignores it."""
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{code}; from countergraph.cli import main; main()", *map(str, words)]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
