"""A search can pause (`REST`) until all other searches of the run have no more candidates."""

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


def pauses(task: Task, start: Flips) -> Search:
    """Yield one candidate, pause, and yield another candidate."""
    yield np.array([0])
    yield REST
    yield np.array([1])


def yields_many(task: Task, start: Flips) -> Search:
    for pair in range(2, 12):
        yield np.array([pair])


def pauses_forever(task: Task, start: Flips) -> Search:
    while True:
        yield REST


def job(graph: np.ndarray, search, max_calls: int = 50) -> Job:
    phase = Phase(search.__name__, "forward", search, "", "")
    return Job(graph, (phase,), 5, max_calls, np.random.SeedSequence(0))


def classified_pairs(searches: list) -> list[list[int]]:
    """Return all classified candidates in order: number of the graph, and flipped pair (-1: the graph itself)."""
    classified: list[list[int]] = []

    def classify(batch: np.ndarray) -> np.ndarray:
        for graph in batch:
            index = np.argmin((GRAPHS ^ graph).sum(axis=1))
            classified.append(
                [int(index), int((GRAPHS[index] ^ graph).argmax()) if (GRAPHS[index] != graph).any() else -1]
            )
        return np.zeros(len(batch), dtype=int)

    records = run(classify, [job(graph, search) for graph, search in zip(GRAPHS, searches, strict=False)])
    assert [record.stopped for record in records] == ["not found"] * len(searches)
    assert sum(sum(record.calls.values()) for record in records) == len(classified)
    return classified


def test_paused_search_continues_after_all_others() -> None:
    classified = classified_pairs([pauses, yields_many, pauses])
    last = max(i for i, (graph, _) in enumerate(classified) if graph == 1)
    assert sorted(classified[last + 1 :]) == [[0, 1], [2, 1]]


def test_single_search_does_not_wait() -> None:
    assert classified_pairs([pauses]) == [[0, -1], [0, 0], [0, 1]]


def test_searches_that_wait_for_a_lane_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LANE_BYTES", 2 * PAIRS)
    classified = classified_pairs([pauses, pauses, pauses, yields_many, pauses])
    resumed = [i for i, (_, pair) in enumerate(classified) if pair == 1]
    assert len(resumed) == 4
    assert min(resumed) > max(i for i, (graph, _) in enumerate(classified) if graph == 3)


def test_progress_is_monotonic_and_complete() -> None:
    reports: list[Progress] = []
    jobs = [job(graph, search) for graph, search in zip(GRAPHS, [pauses, yields_many, pauses, pauses], strict=False)]
    finished: list[int] = []
    run(lambda batch: np.zeros(len(batch), dtype=int), jobs, progress=reports.append, finished=finished.append)
    assert sorted(finished) == [0, 1, 2, 3]
    counts = [each.finished for each in reports]
    assert counts == sorted(counts)
    assert counts[-1] == 4


def test_endless_pause_ends_at_max_calls() -> None:
    records = run(
        lambda batch: np.zeros(len(batch), dtype=int), [job(graph, pauses_forever, max_calls=3) for graph in GRAPHS]
    )
    assert [record.stopped for record in records] == ["max_calls"] * 5
