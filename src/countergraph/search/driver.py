"""The driver: any number of searches in lockstep, one question to the black box for all of them.

It counts the calls, keeps the budgets, holds every candidate to its limits, remembers the best one that changed the
class, and nothing else. A search gets the same answers, and so finds the same counterfactual, alone or in any company.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Bits
from countergraph.oracle.answers import Label, Labels
from countergraph.search.conversation import NO_FLIPS, Answer, Flips, Reference, Task
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.methods import Phase

LANE_BYTES = 256 * 2**20
MOST_IN_VAIN = 10
"""How many forbidden candidates a search may propose for each question that it may ask."""
Stopped = Literal["finished", "not found", "max_calls", "time_limit", "already in target class", "interrupted"]


@dataclass(frozen=True, eq=False)
class Job:
    """One search to run: a graph, a way, and a seed of its own."""

    graph: Bits
    phases: tuple[Phase, ...]
    k: int
    max_calls: int
    seed: np.random.SeedSequence
    target: Label | None = None
    reference: Reference | None = None
    limits: Limits = NO_LIMITS
    moves: Sequence[Flips] = ()


@dataclass(eq=False)
class Record:
    """What the driver knows of one search; complete when ``stopped`` is set, and true at any time before."""

    calls: dict[str, int]
    limits: Limits = NO_LIMITS
    label: Label | None = None
    best: Flips | None = None
    best_label: Label | None = None
    trace: list[tuple[int, int]] = field(default_factory=list)
    stopped: Stopped | None = None

    def keep(self, flips: Flips, label: Label) -> None:
        """Keep a counterfactual if it is the best so far."""
        if self.best is None or self.limits.rank(flips) < self.limits.rank(self.best):
            self.best, self.best_label = flips, label
            self.trace.append((sum(self.calls.values()), flips.size))


class Progress(NamedTuple):
    """How far a run is."""

    finished: int
    total: int
    calls: int


Ask = Callable[[Bits], Labels]
Conversation = Generator[Flips, Label, None]


def converse(job: Job, record: Record) -> Conversation:
    """Run one job: ask for the class of the graph, then run phase after phase, each within its own budget.

    The question for the graph's own class is the first call of the first phase. Of a candidate only what the limits
    allow is asked about; one of which nothing is left is no counterfactual, and is not asked about.
    """
    first = job.phases[0].name
    label = yield NO_FLIPS
    record.label, record.calls[first] = label, 1
    if label == job.target:
        record.stopped = "already in target class"
        return
    rng = np.random.default_rng(job.seed)
    task = Task(job.graph, label, job.k, job.max_calls, rng, job.target, job.reference, job.limits, job.moves)
    spent = False
    for phase in job.phases:
        search = phase.search(task, NO_FLIPS if record.best is None else record.best)
        flips, vain = next(search, None), 0
        while flips is not None:
            if record.calls[phase.name] >= job.max_calls or vain > MOST_IN_VAIN * job.max_calls:
                spent = True
                search.close()
                break
            fitting = job.limits.fit(job.graph, flips)
            if fitting.size:
                heard = yield fitting
                record.calls[phase.name] += 1
                answer = Answer(heard, heard != label if job.target is None else heard == job.target)
            else:
                vain, answer = vain + 1, Answer(label, False)
            if answer.flipped:
                record.keep(fitting, answer.label)
            try:
                flips = search.send(answer)
            except StopIteration:
                break
        if record.best is None:
            break
        if np.unique(record.best).size != record.best.size:
            raise SearchError(f"the search {phase.name!r} asked about flips that name a pair twice")
    if record.best is not None and job.limits.most is not None and record.best.size > job.limits.most:
        record.best = record.best_label = None
    record.stopped = "max_calls" if spent else "finished" if record.best is not None else "not found"


class _Lane(NamedTuple):
    talk: Conversation
    number: int


class _Lanes:
    """The running conversations. Row i of ``bits`` is the graph of lane i; the lanes in use are always the first."""

    def __init__(self, width: int, n_pairs: int) -> None:
        self.bits = np.zeros((width, n_pairs), dtype=np.bool_)
        self.lanes: list[_Lane] = []
        self.questions: list[Flips] = []

    def enter(self, number: int, job: Job, record: Record) -> None:
        talk = converse(job, record)
        self.bits[len(self.lanes)] = job.graph
        self.lanes.append(_Lane(talk, number))
        self.questions.append(next(talk))

    def leave(self, row: int) -> None:
        """Take a lane out, and move the last one to its place."""
        last = len(self.lanes) - 1
        self.bits[row] = self.bits[last]
        self.lanes[row], self.questions[row] = self.lanes[last], self.questions[last]
        del self.lanes[last], self.questions[last]

    def ask(self, ask: Ask, rows: slice) -> list[Label]:
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
            labels: list[Label] = ask(batch).tolist()
            return labels
        finally:
            flat[cells] = originals

    def tell(self, row: int, label: Label) -> bool:
        """Hand a lane its answer; tell whether it has another question."""
        try:
            self.questions[row] = self.lanes[row].talk.send(label)
        except StopIteration:
            return False
        return True


class _Pace:
    """How many lanes to ask at once: all of them, unless the black box is so slow that time limits would suffer."""

    SLOW, FAST = 0.5, 0.1

    def __init__(self) -> None:
        self.step = 1

    def took(self, seconds: float) -> None:
        if seconds > self.SLOW:
            self.step = max(1, self.step // 2)
        elif seconds < self.FAST:
            self.step *= 2


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
        Answers a batch of graphs (batch, pairs).
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
    lanes = _Lanes(min(len(jobs), max(1, LANE_BYTES // n_pairs)), n_pairs)
    waiting = zip(range(len(jobs)), jobs, records, strict=True)
    _fill(lanes, waiting)
    pace, calls, ended = _Pace(), 0, 0
    while lanes.lanes:
        done = []
        rows = slice(0, 0)
        while rows.stop < len(lanes.lanes):
            began = time.monotonic()
            if began >= deadline:
                _out_of_time(records)
                return records
            rows = slice(rows.stop, min(rows.stop + pace.step, len(lanes.lanes)))
            labels = lanes.ask(ask, rows)
            calls += len(labels)
            done += [row for row, label in enumerate(labels, rows.start) if not lanes.tell(row, label)]
            pace.took(time.monotonic() - began)
        for row in reversed(done):
            if finished is not None:
                finished(lanes.lanes[row].number)
            lanes.leave(row)
        ended += len(done)
        _fill(lanes, waiting)
        if progress is not None:
            progress(Progress(ended, len(jobs), calls))
    return records


def _fill(lanes: _Lanes, waiting: Iterator[tuple[int, Job, Record]]) -> None:
    for number, job, record in islice(waiting, len(lanes.bits) - len(lanes.lanes)):
        lanes.enter(number, job, record)


def _out_of_time(records: list[Record]) -> None:
    for record in records:
        record.stopped = record.stopped or "time_limit"
