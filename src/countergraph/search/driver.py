"""The driver: any number of searches in lockstep, one question to the black box for all of them.

It counts the calls, keeps the budgets, holds every candidate to its limits and remembers the best one that changed the
class. Searches that learn share a memory; any other gets the same answers, and so finds the same counterfactual, alone
or in any company.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from countergraph.graphs.pairs import Bits
from countergraph.oracle.answers import Labels, Scored
from countergraph.search.conversation import NO_FLIPS, REST, Flips
from countergraph.search.job import Conversation, Heard, Job, converse
from countergraph.search.learning.memory import Memory
from countergraph.search.record import Record, Trust

LANE_BYTES = 256 * 2**20


class Progress(NamedTuple):
    """How far a run is."""

    finished: int
    """How many searches are finished, or wait for what the others learn."""
    total: int
    calls: int


Ask = Callable[[Bits], Labels | Scored]


class _Lane(NamedTuple):
    talk: Conversation
    number: int
    graph: Bits
    record: Record


class _Lanes:
    """The running conversations. Row i of ``bits`` is the graph of lane i; the lanes in use are always the first."""

    def __init__(self, width: int, n_pairs: int, memory: Memory | None) -> None:
        self.memory, self.trust = memory, Trust()
        self.bits = np.zeros((width, n_pairs), dtype=np.bool_)
        self.lanes: list[_Lane] = []
        self.questions: list[Flips] = []
        self.resting: deque[_Lane] = deque()
        self.through = set[int]()
        """The numbers of those that are finished, or wait for the others."""

    def enter(self, number: int, job: Job, record: Record) -> None:
        talk = converse(job, record, self.trust, self.memory)
        self._take(_Lane(talk, number, job.graph, record))
        self.questions[-1] = next(talk)

    def _take(self, lane: _Lane) -> None:
        self.bits[len(self.lanes)] = lane.graph
        self.lanes.append(lane)
        self.questions.append(NO_FLIPS)

    def leave(self, row: int) -> None:
        """Take a lane out, and move the last one to its place."""
        last = len(self.lanes) - 1
        self.bits[row] = self.bits[last]
        self.lanes[row], self.questions[row] = self.lanes[last], self.questions[last]
        del self.lanes[last], self.questions[last]

    def ask(self, ask: Ask, rows: slice) -> list[Heard]:
        """Ask about the candidates of some lanes at once: flip their bits, ask, flip them back."""
        questions = self.questions[rows]
        starts = np.arange(rows.start, rows.stop) * self.bits.shape[1]
        cells = np.concatenate(questions) + np.repeat(starts, [flips.size for flips in questions])
        flat = self.bits.reshape(-1)
        originals = flat[cells]
        flat[cells] = ~originals
        try:
            batch = self.bits[rows]
            batch.flags.writeable = False
            return _heard(ask(batch))
        finally:
            flat[cells] = originals

    def think(self) -> list[int]:
        """Let every lane find its next question; take out those without, and return the numbers of the finished."""
        done, out = [], []
        for row, lane in enumerate(self.lanes):
            try:
                self.questions[row] = next(lane.talk)
            except StopIteration:
                done.append(lane.number)
            else:
                if self.questions[row] is not REST:
                    continue
                self.resting.append(lane)
            out.append(row)
            self.through.add(lane.number)
        for row in reversed(out):
            self.leave(row)
        return done

    def wake(self) -> list[int]:
        """Let those that rest go on when no lane has a question any more; return the numbers of the finished."""
        done = []
        while not self.lanes and self.resting:
            for _ in range(min(len(self.resting), len(self.bits))):
                self._take(self.resting.popleft())
            done += self.think()
        return done

    def tell(self, row: int, heard: Heard) -> None:
        """Hand a lane its answer."""
        self.lanes[row].record.heard.add(heard.label)
        self.lanes[row].talk.send(heard)


def _heard(answers: Labels | Scored) -> list[Heard]:
    if not isinstance(answers, Scored):
        return [Heard(label) for label in answers.tolist()]
    columns = answers.columns.tolist()
    return [
        Heard(label, dict(zip(columns, row, strict=True)))
        for label, row in zip(answers.labels.tolist(), answers.shares.tolist(), strict=True)
    ]


class _Pace:
    """How many lanes to ask at once: more and more, as long as that saves time.

    A service takes its time for each batch, so it is asked about all graphs together. What takes its time for each
    graph is asked about few: so much is lost when it fails, and so long it takes to stop.

    Parameters
    ----------
    most
        The number of lanes.
    time_limit
        Seconds for the whole run; a batch is to take no more than a part of it.
    """

    QUICK, LONG, SAVING = 0.1, 5.0, 0.75

    def __init__(self, most: int, time_limit: float | None = None) -> None:
        self.most, self.step, self._rate = most, 1, np.inf
        self.long = self.LONG if time_limit is None else min(self.LONG, max(5 * self.QUICK, time_limit / 20))

    def took(self, asked: int, seconds: float) -> None:
        """Take in how long a batch took."""
        rate = seconds / asked
        if seconds > self.long:
            self.step = max(1, self.step // 2)
        elif asked == self.step and (seconds < self.QUICK or rate < self.SAVING * self._rate):
            self.step = min(2 * self.step, self.most)
        self._rate = min(rate, self._rate)


def run(
    ask: Ask,
    jobs: Sequence[Job],
    *,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    finished: Callable[[int], None] | None = None,
    records: list[Record] | None = None,
) -> list[Record]:
    """Run all jobs in lockstep and return their records, in the same order.

    Parameters
    ----------
    ask
        Answers a batch of graphs (batch, pairs), with or without probabilities.
    jobs
        What to search. The graphs must have the same number of pairs.
    time_limit
        Seconds after which every search stops with the best it has.
    progress
        Called after every round.
    finished
        Called with the number of each job as soon as it is finished.
    records
        An empty list to fill instead of a new one, so that a caller has what was found when something raises.
    """
    records = [] if records is None else records
    records.extend(Record(dict.fromkeys((phase.name for phase in job.phases), 0), job.limits) for job in jobs)
    if not jobs:
        return records
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    n_pairs = jobs[0].graph.size
    learns = any(phase.learns for job in jobs for phase in job.phases)
    memory = Memory(n_pairs, jobs[0].reference) if learns else None
    lanes = _Lanes(min(len(jobs), max(1, LANE_BYTES // n_pairs)), n_pairs, memory)
    waiting = zip(range(len(jobs)), jobs, records, strict=True)
    _fill(lanes, waiting)
    pace, calls = _Pace(len(lanes.bits), time_limit), 0
    while lanes.lanes:
        rows = slice(0, 0)
        while rows.stop < len(lanes.lanes):
            began = time.monotonic()
            if began >= deadline:
                _out_of_time(records)
                return records
            rows = slice(rows.stop, min(rows.stop + pace.step, len(lanes.lanes)))
            answers = lanes.ask(ask, rows)
            calls += len(answers)
            for row, heard in enumerate(answers, rows.start):
                lanes.tell(row, heard)
            pace.took(len(answers), time.monotonic() - began)
        done = lanes.think()
        _fill(lanes, waiting)
        done += lanes.wake()
        if finished is not None:
            for number in done:
                finished(number)
        if progress is not None:
            progress(Progress(len(lanes.through), len(jobs), calls))
    return records


def _fill(lanes: _Lanes, waiting: Iterator[tuple[int, Job, Record]]) -> None:
    for number, job, record in islice(waiting, len(lanes.bits) - len(lanes.lanes)):
        lanes.enter(number, job, record)


def _out_of_time(records: list[Record]) -> None:
    for record in records:
        if record.stopped is None:
            record.hold_to_most()
            record.stopped = "time_limit"
