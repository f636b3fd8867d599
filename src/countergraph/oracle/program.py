"""A program as a black box: for models in R, Matlab or anything that reads and writes lines."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections.abc import Sequence

from countergraph.errors import BlackBoxError, InputError
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
        self._running: _Running | None = None

    def predict(self, edges: Bits) -> list[Label]:
        """Return the label of each graph (graphs, pairs)."""
        who = f"the program {self.command[0]!r}"
        for attempt in range(self.retries + 1):
            try:
                return decode(self._exchange(encode(edges), len(edges)), len(edges), who)
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
            done = subprocess.run(
                self.command, input=text, capture_output=True, text=True, timeout=self.timeout, check=False
            )
            if done.returncode:
                raise _DiedError(_ending(done.returncode, done.stderr))
            return done.stdout.splitlines()
        if self._running is None:
            self._running = _Running(self.command)
        return self._running.exchange(text, count, self.timeout)

    def close(self) -> None:
        """End the program."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _DiedError(Exception):
    pass


class _Running:
    """A process that is kept alive, with a thread that reads what it writes."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.complaints: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_complaints, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_complaints(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.complaints = [*self.complaints[-20:], line]

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
                code = self.process.wait(timeout=5)
                raise _DiedError(_ending(code, "".join(self.complaints)))
            if line.strip():
                lines.append(line)
        return lines

    def _write(self, text: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # a program that died is noticed by the reader
            self.process.stdin.write(text)
            self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()


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
