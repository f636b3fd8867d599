"""A search may rest until no other of its run has a question."""

from __future__ import annotations

import numpy as np
import pytest

from countergraph.search import driver
from countergraph.search.protocol import REST, Flips, Search, Task
from countergraph.search.driver import Progress, run
from countergraph.search.job import Job
from countergraph.search.methods import Phase
from tests.conftest import random_graphs

PAIRS = 28
GRAPHS = random_graphs(5, 8, seed=4)


def rests(task: Task, start: Flips) -> Search:
    """Ask one question, rest, and ask another."""
    yield np.array([0])
    yield REST
    yield np.array([1])


def asks_for_long(task: Task, start: Flips) -> Search:
    for pair in range(2, 12):
        yield np.array([pair])


def rests_for_ever(task: Task, start: Flips) -> Search:
    while True:
        yield REST


def job(graph: np.ndarray, search, max_calls: int = 50) -> Job:
    phase = Phase(search.__name__, "forward", search, "", "")
    return Job(graph, (phase,), 5, max_calls, np.random.SeedSequence(0))


def asked_pairs(searches: list) -> list[list[int]]:
    """Return what each search asked about (-1: its own graph), with the number of the round."""
    asked: list[list[int]] = []

    def ask(batch: np.ndarray) -> np.ndarray:
        for graph in batch:
            index = np.argmin((GRAPHS ^ graph).sum(axis=1))
            asked.append([int(index), int((GRAPHS[index] ^ graph).argmax()) if (GRAPHS[index] != graph).any() else -1])
        return np.zeros(len(batch), dtype=int)

    records = run(ask, [job(graph, search) for graph, search in zip(GRAPHS, searches, strict=False)])
    assert [record.stopped for record in records] == ["not found"] * len(searches)
    assert sum(sum(record.calls.values()) for record in records) == len(asked)
    return asked


def test_a_search_that_rests_goes_on_after_all_others() -> None:
    asked = asked_pairs([rests, asks_for_long, rests])
    last = max(i for i, (graph, _) in enumerate(asked) if graph == 1)
    assert sorted(asked[last + 1 :]) == [[0, 1], [2, 1]]


def test_whoever_is_alone_need_not_wait() -> None:
    assert asked_pairs([rests]) == [[0, -1], [0, 0], [0, 1]]


def test_those_that_still_wait_for_a_lane_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LANE_BYTES", 2 * PAIRS)
    asked = asked_pairs([rests, rests, rests, asks_for_long, rests])
    again = [i for i, (_, pair) in enumerate(asked) if pair == 1]
    assert len(again) == 4
    assert min(again) > max(i for i, (graph, _) in enumerate(asked) if graph == 3)


def test_progress_never_goes_back_and_ends_with_all() -> None:
    seen: list[Progress] = []
    jobs = [job(graph, search) for graph, search in zip(GRAPHS, [rests, asks_for_long, rests, rests], strict=False)]
    finished: list[int] = []
    run(lambda batch: np.zeros(len(batch), dtype=int), jobs, progress=seen.append, finished=finished.append)
    assert sorted(finished) == [0, 1, 2, 3]
    counts = [each.finished for each in seen]
    assert counts == sorted(counts)
    assert counts[-1] == 4


def test_nobody_rests_for_ever() -> None:
    records = run(
        lambda batch: np.zeros(len(batch), dtype=int), [job(graph, rests_for_ever, max_calls=3) for graph in GRAPHS]
    )
    assert [record.stopped for record in records] == ["max_calls"] * 5
