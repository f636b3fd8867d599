"""Classifiers that are external programs, in R, Matlab or any other language."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Sequence

from countergraph.errors import BlackBoxError, InputError, check_integers
from countergraph.graphs.pairs import Label, Values
from countergraph.oracle.json_lines import decode, encode


class Program:
    """Query a program that reads graphs as JSON lines from standard input and writes labels as JSON lines.

    See `countergraph.oracle.json_lines` for the format of the lines.

    Parameters
    ----------
    command
        The program and its arguments, for example ``["Rscript", "model.R"]``.
    timeout
        The time limit of one batch, in seconds.
    retries
        How often the program is restarted and the batch is sent again, if the program ends or does not answer in time.
    keep_alive
        Whether to keep the program running between batches. It must then answer each batch without waiting for the end
        of its input, and flush its output. With False, the program is started again for each batch and can read its
        input to the end.
    """

    def __init__(
        self, command: Sequence[str], *, timeout: float = 60.0, retries: int = 1, keep_alive: bool = True
    ) -> None:
        if isinstance(command, str) or not command:
            raise InputError(f"command must be a list of strings such as ['Rscript', 'model.R'], not {command!r}")
        self.command = [str(word) for word in command]
        self.timeout = timeout
        self.retries = retries
        self.keep_alive = keep_alive
        check_integers(retries=(retries, 0))
        self._running: _RunningProgram | None = None
        self._finalizer: weakref.finalize[..., Program] | None = None
        self._n_sent = 0

    def predict(self, edges: Values) -> list[Label]:
        """Return the label of each graph (graphs, pairs)."""
        source = f"the program {shlex.join(self.command)!r}"
        for attempt in range(self.retries + 1):
            try:
                # Numbers are never used twice, so that a late answer cannot be taken for one to a later batch.
                first, self._n_sent = self._n_sent, self._n_sent + len(edges)
                lines = self._exchange(encode(edges, first), len(edges))
                return decode(lines, len(edges), source, first)
            except (OSError, TimeoutError, subprocess.TimeoutExpired, _ProgramEndedError) as error:
                self.close()
                if attempt == self.retries:
                    raise BlackBoxError(f"{source} {_reason(error, self)} (attempts: {attempt + 1})") from error
            except BlackBoxError:
                self.close()  # pending output would be read as the answer to the next batch
                raise
        raise AssertionError("unreachable")

    def _exchange(self, text: str, count: int) -> list[str]:
        if not self.keep_alive:
            with _start(self.command) as process:
                try:
                    answers, errors = process.communicate(text, self.timeout)
                finally:
                    _kill(process)
            if process.returncode:
                raise _ProgramEndedError(_exit_message(process.returncode, errors))
            return answers.split("\n")
        if self._running is None:
            self._running = _RunningProgram(self.command)
            self._finalizer = weakref.finalize(self, self._running.stop)  # for users who do not call close()
        return self._running.exchange(text, count, self.timeout)

    def close(self) -> None:
        """Stop the program."""
        if self._finalizer is not None:
            self._finalizer()
        self._running = self._finalizer = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _ProgramEndedError(Exception):
    pass


class _RunningProgram:
    """A process that is kept alive, with threads that read its output."""

    def __init__(self, command: list[str]) -> None:
        self.process = _start(command)
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.errors: list[str] = []
        self.readers = [threading.Thread(target=each, daemon=True) for each in (self._read_output, self._read_errors)]
        for reader in self.readers:
            reader.start()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while text := self.process.stderr.read(4096):
            self.errors = [*self.errors[-3:], text]

    def exchange(self, text: str, count: int, timeout: float) -> list[str]:
        assert self.process.stdin is not None
        deadline = time.monotonic() + timeout
        writer = threading.Thread(target=self._write, args=(text,), daemon=True)
        writer.start()  # in a thread, to avoid a deadlock when both pipes are full
        lines: list[str] = []
        while len(lines) < count:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if line is None:
                _kill(self.process)
                self._join()  # the error output may still be in the pipe
                raise _ProgramEndedError(_exit_message(self.process.returncode, "".join(self.errors)))
            if line.strip():
                lines.append(line)
        return lines

    def _write(self, text: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # the reader detects a program that has ended
            self.process.stdin.write(text)
            self.process.stdin.flush()

    def _join(self) -> None:
        for reader in self.readers:
            reader.join(timeout=1)

    def stop(self) -> None:
        _kill(self.process)
        self._join()
        if not any(reader.is_alive() for reader in self.readers):
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                with contextlib.suppress(OSError, ValueError):
                    if stream is not None:
                        stream.close()


def _start(command: list[str]) -> subprocess.Popen[str]:
    """Start a program in a new session, so that its child processes can be killed with it."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", start_new_session=True
    )


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a program and its child processes; a program that is about to exit gets 0.2 s to return its exit code."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.2)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _exit_message(code: int, errors: str) -> str:
    last = errors.strip()[-500:]
    return f"ended with exit code {code}{': ' if last else ''}{last}"


def _reason(error: Exception, program: Program) -> str:
    if isinstance(error, TimeoutError | subprocess.TimeoutExpired):
        hint = "; check that it flushes its output. If it reads its input to the end first, use keep_alive=False"
        return f"did not answer within {program.timeout:g} s{hint if program.keep_alive else ''}"
    if isinstance(error, OSError):
        return f"cannot be started ({error.strerror})"
    return str(error)
