"""The driver: any number of searches in lockstep, one question to the black box for all of them.

It counts the calls, keeps the budgets, holds every candidate to its limits and remembers the best one that changed the
class. Searches that learn share a memory; any other gets the same answers, and so finds the same counterfactual, alone
or in any company.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Bits
from countergraph.oracle.answers import Label, Labels, Scored
from countergraph.search.conversation import NO_FLIPS, REST, Answer, Flips, Reference, Task
from countergraph.search.learning.guide import Guide
from countergraph.search.learning.memory import Memory
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.methods import Phase
from countergraph.search.record import Record, Trust

LANE_BYTES = 256 * 2**20
ATTEMPTS = 4
"""How often a graph is searched when nothing that was found can be confirmed."""
MOST_IN_VAIN = 10
"""How many forbidden candidates a search may propose for each question that it may ask."""


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
    confirm: bool = False
    """Whether the result is to be asked about again."""


class Progress(NamedTuple):
    """How far a run is."""

    finished: int
    """How many searches are finished, or wait for what the others learn."""
    total: int
    calls: int


class Heard(NamedTuple):
    """What the black box said of one graph."""

    label: Label
    shares: Mapping[Label, float] | None = None
    """The probability of each class, where it was asked for them."""


Ask = Callable[[Bits], Labels | Scored]
Conversation = Generator[Flips | None, Heard, None]
"""It yields a question, is sent the answer, takes it in and yields None. When every search of the round has had its
answer, it goes on to its next question; so what searches learn from each other does not depend on their order. One that
yields `REST` has no question now, and goes on when no other has any."""


def converse(job: Job, record: Record, trust: Trust, memory: Memory | None = None) -> Conversation:
    """Run one job: ask for the class of the graph, then run phase after phase, each within its own budget.

    The question for the graph's own class is the first call of the first phase. Of a candidate only what the limits
    allow is asked about; one of which nothing is left is no counterfactual, and is not asked about.

    With a memory the search takes part in what the run learns. A result that is to be confirmed is so at the end, on
    the account of the last phase; if nothing of it holds, or if the graph turns out to be of another class, it is
    searched again.
    """
    own = yield NO_FLIPS
    record.label, record.calls[job.phases[0].name] = own.label, 1
    task = _task(job, own, np.random.default_rng(job.seed), memory)
    yield None
    spent = False
    for _ in range(ATTEMPTS):
        if task is None:
            record.stopped = "already in target class"
            return
        spent = yield from _phases(job, record, task, trust)
        if not job.confirm or record.best is None:
            break
        if (yield from _confirm(job, record, task.label, trust)):
            other = yield from _another_class(job, record, task.label, trust)
            if other is None:
                break
            record.rename(other.label)
            task = _task(job, other, task.rng, memory)
    record.earlier.clear()
    record.hold_to_most()
    record.stopped = "max_calls" if spent else "finished" if record.best is not None else "not found"


def _task(job: Job, own: Heard, rng: np.random.Generator, memory: Memory | None) -> Task | None:
    """Return what to search for, given the class of the graph; None if it is the wanted one."""
    label, score = own.label, _score(job, own.label, own)
    if label == job.target:
        return None
    guide = None if memory is None else Guide(memory, job.graph, label, job.target, job.limits, score)
    return Task(job.graph, label, job.k, job.max_calls, rng, job.target, job.reference, job.limits, job.moves, guide)


def _phases(job: Job, record: Record, task: Task, trust: Trust) -> Generator[Flips | None, Heard, bool]:
    """Run phase after phase, and hand on what the black box answers; return whether a budget was spent.

    What it takes to confirm the result is left of the budget of the last phase.
    """
    spent = False
    for phase in job.phases:
        search = phase.search(task, NO_FLIPS if record.best is None else record.best)
        flips, vain = next(search, None), 0
        while flips is not None:
            kept_back = trust.questions(record) if job.confirm and phase is job.phases[-1] else 0
            if record.calls[phase.name] >= job.max_calls - kept_back or vain > MOST_IN_VAIN * job.max_calls:
                spent = True
                search.close()
                break
            candidate = job.limits.fit(job.graph, flips)
            if candidate.size:
                heard = yield candidate
                record.calls[phase.name] += 1
                answer = Answer(candidate, _flipped(job, task.label, heard), _score(job, task.label, heard))
                if answer.flipped:
                    record.keep(candidate, heard.label, spare=job.confirm)
                else:
                    record.failed += 1
                if task.guide is not None:
                    task.guide.learn(answer)
                yield None
            else:
                if flips is REST:
                    yield REST
                vain, answer = vain + 1, Answer(NO_FLIPS, False)
            try:
                flips = search.send(answer)
            except StopIteration:
                break
        if record.best is None:
            break
        if np.unique(record.best).size != record.best.size:
            raise SearchError(f"the search {phase.name!r} asked about flips that name a pair twice")
    return spent


def _confirm(job: Job, record: Record, label: Label, trust: Trust) -> Generator[Flips | None, Heard, bool]:
    """Ask about the best again, and drop what does not hold for the best before it; return False to search again.

    Whoever asks what is close to the boundary collects the errors of a black box that makes some.
    """
    while record.best is not None:
        agreed, others = yield from _again(job, record, record.best, lambda heard: _flipped(job, label, heard), trust)
        if agreed > len(others):
            return True
        record.fall_back()
    return record.calls[job.phases[-1].name] >= job.max_calls


def _another_class(
    job: Job, record: Record, label: Label, trust: Trust
) -> Generator[Flips | None, Heard, Heard | None]:
    """Ask for the graph's own class again where that one answer decided it all; return the answer if it is another."""
    if record.best is None or not record.one_sided:
        return None
    agreed, others = yield from _again(job, record, NO_FLIPS, lambda heard: heard.label == label, trust)
    return others[-1] if len(others) > agreed else None


def _again(
    job: Job, record: Record, flips: Flips, agrees: Callable[[Heard], bool], trust: Trust
) -> Generator[Flips | None, Heard, tuple[int, list[Heard]]]:
    """Ask a question again; return how often the answer agreed, and the answers that did not.

    Once is enough, unless the black box contradicts itself: then the majority of five counts or, where the budget of
    the last phase does not allow for five, the majority of those it does.
    """
    name, agreed, others = job.phases[-1].name, 0, list[Heard]()
    while max(agreed, len(others)) < trust.confirmations and record.calls[name] < job.max_calls:
        heard = yield flips
        record.calls[name] += 1
        if agrees(heard):
            agreed += 1
        else:
            others.append(heard)
            trust.contradicted()
        yield None
    return agreed, others


def _flipped(job: Job, label: Label, heard: Heard) -> bool:
    """Tell whether an answer makes a candidate of a graph of class ``label`` a counterfactual."""
    return heard.label != label if job.target is None else heard.label == job.target


def _score(job: Job, label: Label, heard: Heard) -> float | None:
    """Return the probability of a class that makes it one, where the black box was asked for any."""
    if heard.shares is None:
        return None
    return 1 - heard.shares.get(label, 0.0) if job.target is None else heard.shares.get(job.target, 0.0)


def _question(talk: Conversation) -> Flips:
    """Return what a conversation asks next; `StopIteration` if nothing."""
    question = next(talk)
    return NO_FLIPS if question is None else question


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
        self.questions[-1] = _question(talk)

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
                self.questions[row] = _question(lane.talk)
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
    """How many lanes to ask at once: all of them, unless the black box is so slow that time limits would suffer."""

    SLOW, FAST = 0.5, 0.1

    def __init__(self, most: int) -> None:
        self.most, self.step = most, 1

    def took(self, seconds: float) -> None:
        if seconds > self.SLOW:
            self.step = max(1, self.step // 2)
        elif seconds < self.FAST:
            self.step = min(2 * self.step, self.most)


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
    pace, calls = _Pace(len(lanes.bits)), 0
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
            pace.took(time.monotonic() - began)
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
