"""The driver: runs any number of searches in lockstep, with one batch to the black box for all of them.

It counts calls, enforces budgets, applies the constraints to each candidate and records the best counterfactual. It
knows no algorithm: phases that learn from the answers of all graphs bring their own shared state (`Phase.shared`). All
other searches get the same answers, and find the same counterfactual, in a joint run and one by one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from countergraph.graphs.pairs import Indices, Values
from countergraph.oracle.answers import Labels, Scored
from countergraph.search.job import UNCHANGED, Job, Reply, Steps, execute
from countergraph.search.network import Change
from countergraph.search.protocol import Reference, SharedState
from countergraph.search.record import Consistency, Record, Stopped

BUFFER_BYTES = 256 * 2**20
"""The memory for the graphs of the searches that run at the same time."""
NO_JOB = -1
Classify = Callable[[Values, Sequence[int]], Labels | Scored]
"""Classifies a batch of graphs (batch, pairs); the second argument is the number of the job of each graph.

The number is `NO_JOB` for a graph of the dataset that is classified for all searches.
"""


class Asked(NamedTuple):
    """A batch of graphs was classified."""

    batch_size: int
    """The number of graphs in the batch."""
    calls: int
    """The number of calls of the run so far."""
    finished: int
    """The number of searches that are finished, or wait for the others, so far."""
    shared_calls: int = 0
    """The number of calls so far that belong to no search: graphs of the dataset, classified for all of them."""


class JobImproved(NamedTuple):
    """The search of a job found a better counterfactual."""

    number: int


class JobFinished(NamedTuple):
    """The search of a job is finished; its record is complete."""

    number: int


class _Slot(NamedTuple):
    steps: Steps
    number: int
    values: Values
    record: Record


class _ActiveJobs:
    """The running jobs. Row i of ``values`` is the network of slot i; the slots in use are always the first."""

    def __init__(self, size: int, values: Values, shared: Mapping[str, SharedState]) -> None:
        self.shared, self.consistency = shared, Consistency()
        self.values = np.zeros((size, values.size), dtype=values.dtype)
        self.slots: list[_Slot] = []
        self.changes: list[Change] = []
        self.waiting: deque[_Slot] = deque()
        self.done_or_waiting = set[int]()

    def start(self, number: int, job: Job, record: Record) -> None:
        steps = execute(job, record, self.consistency, self.shared)
        self._insert(_Slot(steps, number, job.values, record))
        self._advance(len(self.slots) - 1)

    def _insert(self, slot: _Slot) -> None:
        self.values[len(self.slots)] = slot.values
        self.slots.append(slot)
        self.changes.append(UNCHANGED)

    def _remove(self, row: int) -> None:
        """Remove a slot, and move the last one to its row."""
        last = len(self.slots) - 1
        self.values[row] = self.values[last]
        self.slots[row], self.changes[row] = self.slots[last], self.changes[last]
        del self.slots[last], self.changes[last]

    def classify(self, classify: Classify, rows: slice) -> list[Reply]:
        """Classify the candidates of some slots as one batch: change their pairs, call, change them back."""
        changes = self.changes[rows]
        starts = np.arange(rows.start, rows.stop) * self.values.shape[1]
        cells = np.concatenate([change.pairs for change in changes])
        cells = cells + np.repeat(starts, [change.pairs.size for change in changes])
        flat = self.values.reshape(-1)
        originals = flat[cells]
        flat[cells] = np.concatenate([change.values for change in changes])
        try:
            batch = self.values[rows]
            batch.flags.writeable = False
            return _replies(classify(batch, [slot.number for slot in self.slots[rows]]))
        finally:
            flat[cells] = originals

    def receive(self, row: int, reply: Reply) -> bool:
        """Pass a reply to its job; return whether it found a better counterfactual."""
        steps, _, _, record = self.slots[row]
        record.answered.add(reply.label)
        before = len(record.trace)
        steps.send(reply)
        return len(record.trace) > before and record.best is not None and record.limits.within_most(record.best)

    def advance(self) -> list[int]:
        """Compute the next candidate of every slot; remove slots without one; return the numbers of finished jobs."""
        finished, removed = [], []
        for row, slot in enumerate(self.slots):
            try:
                if self._advance(row):
                    continue
                self.waiting.append(slot)
            except StopIteration:
                finished.append(slot.number)
            removed.append(row)
            self.done_or_waiting.add(slot.number)
        for row in reversed(removed):
            self._remove(row)
        return finished

    def _advance(self, row: int) -> bool:
        """Compute the next candidate of a slot; return False if its search waits."""
        message = next(self.slots[row].steps)
        if not isinstance(message, Change):
            return False
        self.changes[row] = message
        return True

    def resume_waiting(self) -> list[int]:
        """Continue waiting searches when no slot has a candidate; return the numbers of finished jobs."""
        finished = []
        while not self.slots and self.waiting:
            for _ in range(min(len(self.waiting), len(self.values))):
                self._insert(self.waiting.popleft())
            finished += self.advance()
        return finished


def _replies(answers: Labels | Scored) -> list[Reply]:
    if not isinstance(answers, Scored):
        return [Reply(label) for label in answers.tolist()]
    columns = answers.columns.tolist()
    return [
        Reply(label, dict(zip(columns, row, strict=True)))
        for label, row in zip(answers.labels.tolist(), answers.probabilities.tolist(), strict=True)
    ]


class _BatchSize:
    """The number of graphs per batch: it grows as long as that saves time.

    A service has a cost per batch, so it gets all graphs together. A black box with a cost per graph gets few at a
    time: then less is lost when it fails, and a run stops soon after it is cancelled.

    Parameters
    ----------
    largest
        The number of slots.
    time_limit
        Seconds for the whole run; a batch should take a small share of it.
    """

    QUICK, LONG, SAVING = 0.1, 5.0, 0.75

    def __init__(self, largest: int, time_limit: float | None = None) -> None:
        self.largest, self.size, self._best_rate = largest, 1, np.inf
        self.long = self.LONG if time_limit is None else min(self.LONG, max(5 * self.QUICK, time_limit / 20))

    def update(self, asked: int, seconds: float) -> None:
        """Adapt the size to the time that a batch took."""
        rate = seconds / asked
        if seconds > self.long:
            self.size = max(1, self.size // 2)
        elif asked == self.size and (seconds < self.QUICK or rate < self.SAVING * self._best_rate):
            self.size = min(2 * self.size, self.largest)
        self._best_rate = min(rate, self._best_rate)


def run(
    classify: Classify,
    jobs: Sequence[Job],
    records: list[Record],
    *,
    time_limit: float | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[Asked | JobImproved | JobFinished, None, None]:
    """Run all jobs in lockstep, and yield what happens.

    Parameters
    ----------
    classify
        Classifies a batch of graphs, with or without probabilities.
    jobs
        The searches to run. The graphs must have the same number of pairs.
    records
        An empty list; one record per job is appended before the first call. The records are consistent at any time,
        so they hold the partial results if something raises.
    time_limit
        Seconds after which every search stops with its best result.
    cancelled
        Checked before each batch: if true, every search stops with its best result.
    """
    records.extend(Record(dict.fromkeys((phase.name for phase in job.phases), 0)) for job in jobs)
    if not jobs:
        return
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    first = jobs[0].values
    phases = {phase.name: phase for job in jobs for phase in job.phases}
    reference = jobs[0].reference
    shared = {
        name: phase.shared(jobs[0].layout, reference) for name, phase in phases.items() if phase.shared is not None
    }
    active = _ActiveJobs(min(len(jobs), max(1, BUFFER_BYTES // first.nbytes)), first, shared)
    queue = zip(range(len(jobs)), jobs, records, strict=True)
    batch_size, calls = _BatchSize(len(active.values), time_limit), 0
    must_stop = partial(_must_stop, records, deadline, cancelled)
    for state in shared.values():
        asked = state.questions([job.values for job in jobs], jobs[0].options.max_reference_calls(len(jobs)))
        for n_classified in _learn_classes(state, reference, asked, classify, batch_size, must_stop):
            calls += n_classified
            yield Asked(n_classified, calls, 0, calls)
    shared_calls = calls
    _fill(active, queue)
    while active.slots:
        rows = slice(0, 0)
        while rows.stop < len(active.slots):
            if must_stop():
                return
            began = time.monotonic()
            rows = slice(rows.stop, min(rows.stop + batch_size.size, len(active.slots)))
            replies = active.classify(classify, rows)
            calls += len(replies)
            improved = [row for row, reply in enumerate(replies, rows.start) if active.receive(row, reply)]
            batch_size.update(len(replies), time.monotonic() - began)
            numbers = [active.slots[row].number for row in improved]
            yield Asked(len(replies), calls, len(active.done_or_waiting), shared_calls)
            yield from map(JobImproved, numbers)
        finished = active.advance()
        _fill(active, queue)
        yield from map(JobFinished, finished + active.resume_waiting())


def _fill(active: _ActiveJobs, queue: Iterator[tuple[int, Job, Record]]) -> None:
    for number, job, record in islice(queue, len(active.values) - len(active.slots)):
        active.start(number, job, record)


def _learn_classes(
    state: SharedState,
    reference: Reference | None,
    rows: Indices,
    classify: Classify,
    batch_size: _BatchSize,
    must_stop: Callable[[], bool],
) -> Iterator[int]:
    """Classify labelled networks for a shared state, and yield the size of each batch."""
    while reference is not None and rows.size and not must_stop():
        began = time.monotonic()
        batch, rows = rows[: batch_size.size], rows[batch_size.size :]
        replies = _replies(classify(reference.networks[batch], [NO_JOB] * batch.size))
        state.learn_classes(batch, [reply.label for reply in replies])
        batch_size.update(batch.size, time.monotonic() - began)
        yield int(batch.size)


def _must_stop(records: list[Record], deadline: float, cancelled: Callable[[], bool]) -> bool:
    """Check whether the run must stop before its next batch; if so, write the reason into the records."""
    too_late = time.monotonic() >= deadline
    if not too_late and not cancelled():
        return False
    reason: Stopped = "time_limit" if too_late else "cancelled"
    for record in records:
        if record.stopped is None:
            record.enforce_most()
            record.stopped = reason
    return True
