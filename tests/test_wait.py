"""A search can wait (`Wait`) until all other searches of the run have no more candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from countergraph.search import driver
from countergraph.search.driver import Asked, JobFinished, run
from countergraph.search.job import Job
from countergraph.search.methods import Phase
from countergraph.search.network import Layout, Network, Problem
from countergraph.search.options import SearchOptions
from countergraph.search.protocol import Ask, Flips, Search, Task, Wait
from countergraph.search.record import Record
from tests.conftest import random_graphs

PAIRS = 28
GRAPHS = random_graphs(5, 8, seed=4)


def waits(task: Task, start: Flips) -> Search:
    """Yield one candidate, pause, and yield another candidate."""
    yield Ask(np.array([0]))
    yield Wait()
    yield Ask(np.array([1]))


def yields_many(task: Task, start: Flips) -> Search:
    for pair in range(2, 12):
        yield Ask(np.array([pair]))


def waits_forever(task: Task, start: Flips) -> Search:
    while True:
        yield Wait()


def job(graph: np.ndarray, search, max_calls: int = 50) -> Job:
    options = SearchOptions(Phase(search.__name__, "forward", search), max_calls=max_calls, confirm=False)
    return Job(
        graph,
        lambda label: Problem(Network.of_graph(graph)),
        options,
        np.random.SeedSequence(0),
        Layout.of_pairs(graph.size),
    )


def classified_pairs(searches: list) -> list[list[int]]:
    """Return all classified candidates in order: number of the graph, and flipped pair (-1: the graph itself)."""
    classified: list[list[int]] = []

    def classify(batch: np.ndarray, numbers: Sequence[int]) -> np.ndarray:
        for graph in batch:
            index = np.argmin((GRAPHS ^ graph).sum(axis=1))
            classified.append(
                [int(index), int((GRAPHS[index] ^ graph).argmax()) if (GRAPHS[index] != graph).any() else -1]
            )
        return np.zeros(len(batch), dtype=int)

    records: list[Record] = []
    jobs = [job(graph, search) for graph, search in zip(GRAPHS, searches, strict=False)]
    list(run(classify, jobs, records))
    assert [record.stopped for record in records] == ["not found"] * len(searches)
    assert sum(sum(record.calls.values()) for record in records) == len(classified)
    return classified


def test_paused_search_continues_after_all_others() -> None:
    classified = classified_pairs([waits, yields_many, waits])
    last = max(i for i, (graph, _) in enumerate(classified) if graph == 1)
    assert sorted(classified[last + 1 :]) == [[0, 1], [2, 1]]


def test_single_search_does_not_wait() -> None:
    assert classified_pairs([waits]) == [[0, -1], [0, 0], [0, 1]]


def test_queued_searches_run_before_waiting_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "BUFFER_BYTES", 2 * PAIRS)
    classified = classified_pairs([waits, waits, waits, yields_many, waits])
    resumed = [i for i, (_, pair) in enumerate(classified) if pair == 1]
    assert len(resumed) == 4
    assert min(resumed) > max(i for i, (graph, _) in enumerate(classified) if graph == 3)


def test_progress_is_monotonic_and_complete() -> None:
    jobs = [job(graph, search) for graph, search in zip(GRAPHS, [waits, yields_many, waits, waits], strict=False)]
    events = list(run(lambda batch, numbers: np.zeros(len(batch), dtype=int), jobs, []))
    assert sorted(each.number for each in events if isinstance(each, JobFinished)) == [0, 1, 2, 3]
    counts = [each.finished for each in events if isinstance(each, Asked)]
    assert counts == sorted(counts)
    assert counts[-1] == 4, "all searches but the waiting ones are finished, and those wait"


def test_endless_pause_ends_at_max_calls() -> None:
    records: list[Record] = []
    jobs = [job(graph, waits_forever, max_calls=3) for graph in GRAPHS]
    list(run(lambda batch, numbers: np.zeros(len(batch), dtype=int), jobs, records))
    assert [record.stopped for record in records] == ["max_calls"] * 5
