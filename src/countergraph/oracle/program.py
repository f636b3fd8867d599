"""A program as a black box: for models in R, Matlab or anything that reads and writes lines."""

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
from countergraph.graphs.pairs import Bits, Label
from countergraph.oracle.json_lines import decode, encode


class Program:
    """Ask a program that reads graphs as JSON lines on standard input and writes labels as JSON lines.

    See `countergraph.oracle.json_lines` for the lines.

    Parameters
    ----------
    command
        The program and its arguments, for example ``["Rscript", "model.R"]``.
    timeout
        Seconds that it may take for one batch.
    retries
        How often it is started again, and asked again, when it dies or does not answer in time.
    keep_alive
        Keep the program running and give it a batch after the other; it must then answer each batch without waiting
        for the end of its input, and flush what it writes. With False it is started for each batch, and reads to the
        end.
    """

    def __init__(
        self, command: Sequence[str], *, timeout: float = 60.0, retries: int = 1, keep_alive: bool = True
    ) -> None:
        if isinstance(command, str) or not command:
            raise InputError(f"command must be a list of words such as ['Rscript', 'model.R'], not {command!r}")
        self.command = [str(word) for word in command]
        self.timeout = timeout
        self.retries = retries
        self.keep_alive = keep_alive
        check_integers(retries=(retries, 0))
        self._running: _Running | None = None
        self._end: weakref.finalize[..., Program] | None = None
        self._asked = 0

    def predict(self, edges: Bits) -> list[Label]:
        """Return the label of each graph (graphs, pairs)."""
        who = f"the program {shlex.join(self.command)!r}"
        for attempt in range(self.retries + 1):
            try:
                first, self._asked = self._asked, self._asked + len(edges)  # so that no late answer fits a new question
                lines = self._exchange(encode(edges, first), len(edges))
                return decode(lines, len(edges), who, first)
            except (OSError, TimeoutError, subprocess.TimeoutExpired, _DiedError) as error:
                self.close()
                if attempt == self.retries:
                    raise BlackBoxError(f"{who} {_reason(error, self)} (attempts: {attempt + 1})") from error
            except BlackBoxError:
                self.close()  # what it still has to say would be taken for the next answer
                raise
        raise AssertionError("unreachable")

    def _exchange(self, text: str, count: int) -> list[str]:
        if not self.keep_alive:
            with _start(self.command) as process:
                try:
                    answers, complaints = process.communicate(text, self.timeout)
                finally:
                    _kill(process)
            if process.returncode:
                raise _DiedError(_ending(process.returncode, complaints))
            return answers.split("\n")
        if self._running is None:
            self._running = _Running(self.command)
            self._end = weakref.finalize(self, self._running.end)  # whoever forgets to close it leaves nothing behind
        return self._running.exchange(text, count, self.timeout)

    def close(self) -> None:
        """End the program."""
        if self._end is not None:
            self._end()
        self._running = self._end = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _DiedError(Exception):
    pass


class _Running:
    """A process that is kept alive, with a thread that reads what it writes."""

    def __init__(self, command: list[str]) -> None:
        self.process = _start(command)
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.complaints: list[str] = []
        self.readers = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_complaints)]
        for reader in self.readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_complaints(self) -> None:
        assert self.process.stderr is not None
        while text := self.process.stderr.read(4096):
            self.complaints = [*self.complaints[-3:], text]

    def exchange(self, text: str, count: int, timeout: float) -> list[str]:
        assert self.process.stdin is not None
        deadline = time.monotonic() + timeout
        writer = threading.Thread(target=self._write, args=(text,), daemon=True)
        writer.start()  # beside reading, so that neither side waits for the other when a pipe is full
        lines: list[str] = []
        while len(lines) < count:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if line is None:
                _kill(self.process)
                self._join()  # its last words may still be in the pipe
                raise _DiedError(_ending(self.process.returncode, "".join(self.complaints)))
            if line.strip():
                lines.append(line)
        return lines

    def _write(self, text: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # a program that died is noticed by the reader
            self.process.stdin.write(text)
            self.process.stdin.flush()

    def _join(self) -> None:
        for reader in self.readers:
            reader.join(timeout=1)

    def end(self) -> None:
        _kill(self.process)
        self._join()
        if not any(reader.is_alive() for reader in self.readers):
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                with contextlib.suppress(OSError, ValueError):
                    if stream is not None:
                        stream.close()


def _start(command: list[str]) -> subprocess.Popen[str]:
    """Start a program in a session of its own, so that whatever it starts can be ended with it."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", start_new_session=True
    )


def _kill(process: subprocess.Popen[str]) -> None:
    """End a program and all that it started; one that is ending by itself gets a moment to say how."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.2)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ending(code: int, complaints: str) -> str:
    last = complaints.strip()[-500:]
    return f"ended with code {code}{': ' if last else ''}{last}"


def _reason(error: Exception, program: Program) -> str:
    if isinstance(error, TimeoutError | subprocess.TimeoutExpired):
        hint = "; does it flush what it writes? If it reads to the end first, use keep_alive=False"
        return f"did not answer within {program.timeout:g} s{hint if program.keep_alive else ''}"
    if isinstance(error, OSError):
        return f"cannot be started ({error.strerror})"
    return str(error)
