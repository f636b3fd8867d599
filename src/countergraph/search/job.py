"""One search as a conversation with the black box: the phases of its method, its budget, and what is confirmed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Bits, Label
from countergraph.search.conversation import NO_FLIPS, REST, Answer, Flips, Reference, Task, crosses
from countergraph.search.evidence import Evidence
from countergraph.search.learning.guide import Guide
from countergraph.search.learning.memory import Memory
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.methods import Phase
from countergraph.search.record import Record, Trust

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


class Heard(NamedTuple):
    """What the black box said of one graph."""

    label: Label
    shares: Mapping[Label, float] | None = None
    """The probability of each class, where it was asked for them."""


TAKEN: Flips = np.empty(0, dtype=np.intp)
"""What a conversation yields when it has taken in an answer, before its next question."""
Conversation = Generator[Flips, Heard, None]
"""It yields a question, is sent the answer, takes it in and yields `TAKEN`. When every search of the round has had its
answer, it goes on to its next question; so what searches learn from each other does not depend on their order. One that
yields `REST` has no question now, and goes on when no other has any."""


def converse(job: Job, record: Record, trust: Trust, memory: Memory | None = None) -> Conversation:
    """Run one job: ask for the class of the graph, then run phase after phase, each within its own budget.

    The question for the graph's own class is the first call of the first phase. Of a candidate only what the limits
    allow is asked about; one of which nothing is left is no counterfactual, and is not asked about.

    With a memory the search takes part in what the run learns. A result that is to be confirmed is so at the end, on
    the account of the last phase; if nothing of it holds, or if the graph turns out to be of another class, it is
    searched again, as long as the budget lasts.
    """
    own = yield NO_FLIPS
    record.label, record.calls[job.phases[0].name] = own.label, 1
    task = _task(job, own, np.random.default_rng(job.seed), memory)
    yield TAKEN
    spent = False
    while True:
        if task is None:
            record.stopped = "already in target class"
            return
        evidence = Evidence(job.graph.size)
        spent = yield from _phases(job, record, task, trust, evidence)
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
    if job.confirm and trust.unbroken and record.best is not None:
        record.proven = evidence.about(record.best)
    record.stopped = "max_calls" if spent else "finished" if record.best is not None else "not found"


def _task(job: Job, own: Heard, rng: np.random.Generator, memory: Memory | None) -> Task | None:
    """Return what to search for, given the class of the graph; None if it is the wanted one."""
    label, score = own.label, _score(job, own.label, own)
    if label == job.target:
        return None
    guide = None if memory is None else Guide(memory, job.graph, label, job.target, job.limits, score)
    return Task(job.graph, label, job.k, job.max_calls, rng, job.target, job.reference, job.limits, job.moves, guide)


def _phases(job: Job, record: Record, task: Task, trust: Trust, evidence: Evidence) -> Generator[Flips, Heard, bool]:
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
            candidate = job.limits.fit(job.graph, _positions(flips, phase, job.graph.size))
            if candidate.size:
                heard = yield candidate
                record.calls[phase.name] += 1
                flipped, score = _flipped(job, task.label, heard), _score(job, task.label, heard)
                answer = Answer(candidate, flipped, score, heard.label)
                if answer.flipped:
                    evidence.only_below(record.keep(candidate, heard.label, spare=job.confirm).size)
                else:
                    record.failed += 1
                    evidence.refute(candidate)
                if task.guide is not None:
                    task.guide.learn(answer)
                yield TAKEN
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


def _positions(flips: Flips, phase: Phase, n_pairs: int) -> Flips:
    """Refuse what would not be flips of this graph, but of its neighbours in the batch."""
    good = isinstance(flips, np.ndarray) and flips.ndim == 1 and flips.dtype == np.intp
    if not good or (flips.size and not 0 <= flips.min() <= flips.max() < n_pairs):
        raise SearchError(
            f"the search {phase.name!r} must yield positions of pairs, an array of type intp with numbers from 0 to "
            f"{n_pairs - 1}, not {flips!r}"
        )
    return flips


def _confirm(job: Job, record: Record, label: Label, trust: Trust) -> Generator[Flips, Heard, bool]:
    """Ask about the best again, and drop what does not hold for the best before it; return False to search again.

    Whoever asks what is close to the boundary collects the errors of a black box that makes some.
    """
    while record.best is not None:
        agreed, others = yield from _again(job, record, record.best, lambda heard: _flipped(job, label, heard), trust)
        if agreed > len(others):
            return True
        record.fall_back()
    return record.calls[job.phases[-1].name] >= job.max_calls


def _another_class(job: Job, record: Record, label: Label, trust: Trust) -> Generator[Flips, Heard, Heard | None]:
    """Ask for the graph's own class again where that one answer decided it all; return the answer if it is another."""
    if record.best is None or not record.one_sided:
        return None
    agreed, others = yield from _again(job, record, NO_FLIPS, lambda heard: heard.label == label, trust)
    return others[-1] if len(others) > agreed else None


def _again(
    job: Job, record: Record, flips: Flips, agrees: Callable[[Heard], bool], trust: Trust
) -> Generator[Flips, Heard, tuple[int, list[Heard]]]:
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
        yield TAKEN
    return agreed, others


def _flipped(job: Job, label: Label, heard: Heard) -> bool:
    """Tell whether an answer makes a candidate of a graph of class ``label`` a counterfactual."""
    return crosses(heard.label, label, job.target)


def _score(job: Job, label: Label, heard: Heard) -> float | None:
    """Return the probability of a class that makes it one, where the black box was asked for any."""
    if heard.shares is None:
        return None
    return 1 - heard.shares.get(label, 0.0) if job.target is None else heard.shares.get(job.target, 0.0)
