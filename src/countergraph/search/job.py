"""One search as a sequence of calls: the phases of its method, its budget, and the confirmation of the result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from countergraph.errors import SearchError
from countergraph.graphs.pairs import Label, Values
from countergraph.search.amounts import smaller_amounts
from countergraph.search.methods import Phase
from countergraph.search.network import Change, Layout, Problem, ProblemOf
from countergraph.search.options import SearchOptions
from countergraph.search.proof import RefutedSets
from countergraph.search.protocol import (
    NO_ANSWER,
    NO_FLIPS,
    Answer,
    Ask,
    Flips,
    Message,
    Reference,
    SharedState,
    Task,
    Wait,
    is_counterfactual_class,
)
from countergraph.search.record import Consistency, Record

AMOUNTS = "amounts"
"""The name of the step that shrinks the changes of weighted networks, among the phases."""
VALID = "valid"
"""The name of the step that projects the result to the nearest valid network."""
MAX_REJECTED = 10
"""The number of forbidden candidates that a search may propose per call of its budget."""


@dataclass(frozen=True, eq=False)
class Job:
    """One search to run: a network, the phases of a method, and a seed."""

    values: Values
    """The network as the black box receives it."""
    problem_of: ProblemOf
    """Returns what can be changed, and the constraints, given the class of the network."""
    options: SearchOptions
    seed: np.random.SeedSequence
    layout: Layout
    """The ends of the positions of the search."""
    reference: Reference | None = None
    project: Callable[[Values], Values] | None = None
    """Returns the nearest valid network, if the result is to be projected."""
    start: Flips | None = None
    """A known counterfactual to improve (warm start)."""

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The searches that run one after the other."""
        return self.options.phases

    @cached_property
    def max_calls(self) -> int:
        """The maximum number of calls of each phase."""
        return self.options.max_calls

    @cached_property
    def target(self) -> Label | None:
        """The class to reach; None for any other class."""
        return self.options.target

    @cached_property
    def confirm(self) -> bool:
        """Whether the result is classified a second time."""
        return self.options.confirms


class Reply(NamedTuple):
    """The answer of the black box for one graph."""

    label: Label
    probabilities: Mapping[Label, float] | None = None
    """The probability of each class, if scores are used."""


@dataclass(frozen=True)
class Received:
    """A job yields this after it has processed a reply, before it computes its next message.

    The driver continues it when every job of the round has its reply. So what the searches of a run learn from each
    other does not depend on their order.
    """


RECEIVED = Received()


UNCHANGED = Change(NO_FLIPS, np.empty(0, dtype=np.bool_))
SearchGenerator = Generator[Message, Answer, object]
Step = Change | Wait | Received
Steps = Generator[Step, Reply, None]
Tasks = dict[str, Task]
"""The task of each phase, by the name of the phase."""


def execute(job: Job, record: Record, consistency: Consistency, shared: Mapping[str, SharedState]) -> Steps:
    """Run one job: classify the original graph, then run phase after phase, each within its own budget.

    The call for the class of the original graph, and the call for a start, count for the first phase. Constraints are
    applied to each candidate before it is classified; a candidate of which they leave nothing is not a call.

    If ``job.confirm``, the result is classified a second time at the end, on the budget of the last phase. If no
    recorded result is confirmed, or if the class of the original graph was a wrong answer, the search is repeated while
    the budget lasts.
    """
    own = yield UNCHANGED
    record.calls[job.phases[0].name] = 1
    record.start(own.label, job.problem_of(own.label))
    rng = np.random.default_rng(job.seed)
    tasks = _tasks(job, record.problem, own, rng, shared)
    yield RECEIVED
    spent = False
    while True:
        if tasks is None:
            record.stopped = "already in target class"
            return
        if not record.problem.changeable.size:
            record.stopped = "not found"
            return
        refuted = RefutedSets(record.problem.network.values.size, record.problem.changeable.size)
        spent = yield from _phases(job, record, tasks, consistency, refuted)
        if not job.confirm or record.best is None:
            break
        assert record.label is not None
        if (yield from _confirm(job, record, record.label, consistency)):
            other = yield from _other_class(job, record, record.label, consistency)
            if other is None:
                break
            record.start(other.label, job.problem_of(other.label))
            tasks = _tasks(job, record.problem, other, rng, shared)
    record.previous.clear()
    record.enforce_most()
    if job.options.amounts and record.best is not None:
        yield from _shrink_amounts(job, record)
    if job.project is not None and record.best is not None:
        yield from _project(job, record, job.project)
    if job.confirm and consistency.holds and record.best is not None:
        record.proof = refuted.proof_of(record.best)
    record.stopped = "max_calls" if spent else "finished" if record.best is not None else "not found"


def _shrink_amounts(job: Job, record: Record) -> Steps:
    """Find how much the pairs of the result must change to the same class, with a budget of its own; confirm it."""
    assert record.best is not None
    steps = smaller_amounts(record.problem, record.best)
    record.calls[AMOUNTS] = 0
    smallest: Change | None = None
    change = next(steps, None)
    while change is not None and record.calls[AMOUNTS] < job.max_calls - 1:
        reply = yield change
        record.calls[AMOUNTS] += 1
        smaller = reply.label == record.found.label
        smallest = change if smaller else smallest
        yield RECEIVED
        try:
            change = steps.send(smaller)
        except StopIteration:
            break
    if smallest is not None:
        reply = yield smallest
        record.calls[AMOUNTS] += 1
        if reply.label == record.found.label:
            record.amounts = smallest
        yield RECEIVED


def _project(job: Job, record: Record, project: Callable[[Values], Values]) -> Steps:
    """Classify the valid network that is nearest to the result, and record it if its class is the same.

    A result with smaller amounts is near the decision boundary. If its projection loses the class, the result with the
    full changes is projected.
    """
    assert record.best is not None
    whole = record.problem.change(record.best)
    record.calls[VALID] = 0
    for pairs, changed in (whole,) if record.amounts is None else (record.amounts, whole):
        values = job.values.copy()
        values[pairs] = changed
        projected = project(values)
        reply = yield Change(np.arange(values.size), projected)
        record.calls[VALID] += 1
        same = reply.label == record.found.label
        yield RECEIVED
        if same:
            record.projected = projected
            return


def _tasks(
    job: Job, problem: Problem, own: Reply, rng: np.random.Generator, shared: Mapping[str, SharedState]
) -> Tasks | None:
    """Return the task of each phase, given the class of the graph; None if that is the target already."""
    if own.label == job.target:
        return None
    task = Task(problem.network, own.label, job.options, rng, job.reference, problem.limits)
    score = _score(job, own.label, own)
    return {phase.name: shared[phase.name].join(task, score) if phase.name in shared else task for phase in job.phases}


def _phases(
    job: Job, record: Record, tasks: Tasks, consistency: Consistency, refuted: RefutedSets
) -> Generator[Step, Reply, bool]:
    """Run phase after phase; return whether a budget was spent.

    The calls that confirming the result may take are reserved in the budget of the last phase.
    """
    yield from _classify_start(job, record, tasks, consistency, refuted)
    spent = False
    for phase in job.phases:
        if record.best is not None and phase.direction == "forward" and not phase.improves_start:
            continue
        search = _start(phase, tasks[phase.name], NO_FLIPS if record.best is None else record.best)
        message, rejected = _next_message(phase, search, None), 0
        while message is not None:
            reserved = consistency.reserved_calls(record) if job.confirm and phase is job.phases[-1] else 0
            if record.calls[phase.name] >= job.max_calls - reserved or rejected > MAX_REJECTED * job.max_calls:
                spent = True
                search.close()
                break
            candidate = _candidate(record.problem, phase, message)
            if candidate.size:
                reply = yield record.problem.change(candidate)
                answer = _process(job, record, tasks, refuted, phase, candidate, reply)
                yield RECEIVED
            else:
                if isinstance(message, Wait):
                    yield message
                rejected, answer = rejected + 1, NO_ANSWER
            message = _next_message(phase, search, answer)
        if record.best is None:
            break
        if np.unique(record.best).size != record.best.size:
            raise SearchError(
                f"the search {phase.name!r} must yield Ask(flips) with different pairs, but it yielded a pair twice"
            )
    return spent


def _classify_start(job: Job, record: Record, tasks: Tasks, consistency: Consistency, refuted: RefutedSets) -> Steps:
    """Classify the start, if there is one, the budget allows it, and it was not classified before."""
    reserved = consistency.reserved_calls(record) if job.confirm and len(job.phases) == 1 else 0
    if job.start is None or sum(record.calls.values()) > 1 or job.max_calls < 2 + reserved:
        return
    problem = record.problem
    candidate = problem.limits.fit(problem.network.decreases, job.start)
    if candidate.size:
        reply = yield record.problem.change(candidate)
        _process(job, record, tasks, refuted, job.phases[0], candidate, reply)
        yield RECEIVED


def _start(phase: Phase, task: Task, start: Flips) -> SearchGenerator:
    try:
        search = phase.search(task, start)
    except Exception as error:
        raise SearchError(f"the search {phase.name!r} raised {type(error).__name__}: {error}") from error
    if not isinstance(search, Generator):
        raise SearchError(
            f"the search {phase.name!r} must be a generator function, which yields Ask(flips); it returned a "
            f"{type(search).__name__}"
        )
    return search


def _next_message(phase: Phase, search: SearchGenerator, answer: Answer | None) -> Message | None:
    """Return the next message of a search, given the answer to its last one; None if the search is finished."""
    try:
        return next(search) if answer is None else search.send(answer)
    except StopIteration:
        return None
    except Exception as error:
        raise SearchError(f"the search {phase.name!r} raised {type(error).__name__}: {error}") from error


def _candidate(problem: Problem, phase: Phase, message: object) -> Flips:
    """Return the candidate of a message after the constraints were applied, empty for `Wait`; check the message."""
    graph = problem.network.decreases
    if isinstance(message, Wait):
        return NO_FLIPS
    flips = message.flips if isinstance(message, Ask) else None
    valid = isinstance(flips, np.ndarray) and flips.ndim == 1 and flips.dtype == np.intp
    if flips is None or not valid or (flips.size and not 0 <= flips.min() <= flips.max() < graph.size):
        raise SearchError(
            f"the search {phase.name!r} must yield Ask(flips), with flips an array of type intp of numbers from 0 to "
            f"{graph.size - 1}, or Wait(); it yielded {message!r}"
        )
    return problem.limits.fit(graph, flips)


def _process(
    job: Job, record: Record, tasks: Tasks, refuted: RefutedSets, phase: Phase, candidate: Flips, reply: Reply
) -> Answer:
    """Update the record and the shared state with a reply, and return the answer for the search."""
    record.calls[phase.name] += 1
    label = tasks[phase.name].label
    answer = Answer(candidate, _flips(job, label, reply), _score(job, label, reply), reply.label)
    if answer.flipped:
        refuted.keep_below(record.keep(candidate, reply.label, keep_previous=job.confirm).size)
    else:
        record.refuted += 1
        refuted.add(candidate)
    if job.options.parsed_method.is_joint:
        for task in tasks.values():
            task.observe(answer)
    return answer


def _confirm(job: Job, record: Record, label: Label, consistency: Consistency) -> Generator[Step, Reply, bool]:
    """Classify the best result again; if that fails, the previous ones. Return False to repeat the search.

    A search near the decision boundary selects the wrong answers of a noisy black box.
    """
    while record.best is not None:
        agreed, others = yield from _repeat(
            job, record, record.best, lambda reply: _flips(job, label, reply), consistency
        )
        if agreed > len(others):
            return True
        record.fall_back()
    return record.calls[job.phases[-1].name] >= job.max_calls


def _other_class(
    job: Job, record: Record, label: Label, consistency: Consistency
) -> Generator[Step, Reply, Reply | None]:
    """If most candidates were counterfactuals, classify the original graph again; return the reply if it differs."""
    if record.best is None or not record.mostly_flipped:
        return None
    agreed, others = yield from _repeat(job, record, NO_FLIPS, lambda reply: reply.label == label, consistency)
    return others[-1] if len(others) > agreed else None


def _repeat(
    job: Job, record: Record, flips: Flips, agrees: Callable[[Reply], bool], consistency: Consistency
) -> Generator[Step, Reply, tuple[int, list[Reply]]]:
    """Repeat a call; return the number of replies that agree, and the replies that do not.

    One agreeing reply is enough unless the black box has contradicted itself. Then the majority of five replies decides
    or, if the budget of the last phase is smaller, the majority of the replies within the budget.
    """
    name, agreed, others = job.phases[-1].name, 0, list[Reply]()
    while max(agreed, len(others)) < consistency.confirmations and record.calls[name] < job.max_calls:
        reply = yield record.problem.change(flips)
        record.calls[name] += 1
        if agrees(reply):
            agreed += 1
        else:
            others.append(reply)
            consistency.report_contradiction()
        yield RECEIVED
    return agreed, others


def _flips(job: Job, label: Label, reply: Reply) -> bool:
    """Check whether a reply makes a candidate of a graph of class ``label`` a counterfactual."""
    return is_counterfactual_class(reply.label, label, job.target)


def _score(job: Job, label: Label, reply: Reply) -> float | None:
    """Return the probability of the classes that make a candidate a counterfactual, if scores are used."""
    if reply.probabilities is None:
        return None
    return 1 - reply.probabilities.get(label, 0.0) if job.target is None else reply.probabilities.get(job.target, 0.0)
