"""The steppable run: events, cancel, warm start, and partial results after any exception."""

from __future__ import annotations

import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import BlackBoxError, CallbackError, InputError, Interrupted, SearchError
from countergraph.finding.run import Progress
from countergraph.search.protocol import Ask
from tests.conftest import random_graphs

GRAPHS = random_graphs(7, 12, seed=6, density=0.4)


def dense(edges: np.ndarray) -> np.ndarray:
    return (edges.sum(axis=1) > 26).astype(int)


def box(function=dense) -> cg.Oracle:
    return cg.Oracle(function, input="edges")


def as_dicts(results: cg.Counterfactuals) -> list[dict]:
    return [each.to_dict() for each in results]


@pytest.mark.parametrize("method", ["ofs+obs", "bisect+ddmin", "learned"])
def test_events_describe_the_run(method: str) -> None:
    oracle = box()
    with cg.SearchRun(oracle, GRAPHS, method, runs=2, seed=3) as run:
        events = list(run)
    expected = cg.find_counterfactuals(box(), GRAPHS, method, runs=2, seed=3)
    assert as_dicts(run.results) == as_dicts(expected)

    asked = [each for each in events if isinstance(each, cg.Asked)]
    assert sum(each.batch_size for each in asked) == asked[-1].calls == oracle.asked == expected.calls
    assert all(before.calls < after.calls for before, after in pairwise(asked))

    finished = [each for each in events if isinstance(each, cg.Finished)]
    assert len(finished) == len(expected)
    by_key = {(each.graph_index, each.run): each.to_dict() for each in expected}
    assert {(each.graph_index, each.result.run): each.result.to_dict() for each in finished} == by_key

    best: dict[tuple[int, int], list[int]] = {}
    for event in events:
        if isinstance(event, cg.Improved):
            assert event.flips.size == event.distance
            best.setdefault((event.graph_index, event.run), []).append(event.distance)
    for result in expected:
        distances = best.get((result.graph_index, result.run), [])
        assert distances == sorted(distances, reverse=True), "distances decrease"
        assert distances == [distance for _, distance in result.trace], "one event per improvement"
    assert run.progress == Progress(14, 14, expected.calls)


def test_results_are_available_during_the_run() -> None:
    with cg.SearchRun(box(), GRAPHS, "ofs+obs") as run:
        assert len(run.results) == 0, "before the first call"
        for event in run:
            results = run.results
            assert len(results) == len(GRAPHS)
            if isinstance(event, cg.Improved):
                assert results[event.graph_index].distance == event.distance
                break
    assert len(run.results) == len(GRAPHS), "also after leaving the loop"
    assert any(each.stopped == "interrupted" for each in run.results)


def test_a_result_with_more_changes_than_allowed_is_not_a_partial_result() -> None:
    constraints = cg.Constraints(most=2)
    with cg.SearchRun(box(), GRAPHS, "ofs+obs", k=9, constraints=constraints) as run:
        for event in run:
            assert all(each.distance is None or each.distance <= 2 for each in run.results)
            assert not isinstance(event, cg.Improved) or event.distance <= 2
    expected = cg.find_counterfactuals(box(), GRAPHS, "ofs+obs", k=9, constraints=constraints)
    assert as_dicts(run.results) == as_dicts(expected), "reading results does not change the run"


@pytest.mark.parametrize("method", ["ofs+obs", "learned"])
def test_cancel_inside_the_loop(method: str) -> None:
    oracle = box()
    with cg.SearchRun(oracle, GRAPHS, method) as run:
        for event in run:
            if isinstance(event, cg.Asked) and event.calls >= 60:
                run.cancel()
    assert oracle.asked <= 60 + len(GRAPHS)
    stopped = {each.stopped for each in run.results}
    assert "cancelled" in stopped
    assert stopped <= {"cancelled", "finished", "not found"}
    for result in run.results.found:
        assert result.edges is not None
        assert dense(result.edges[None])[0] != result.original_label


def test_cancel_from_another_thread() -> None:
    started = threading.Event()

    def slow(edges: np.ndarray) -> np.ndarray:
        started.set()
        time.sleep(0.005 * len(edges))
        return dense(edges)

    def cancel() -> None:
        started.wait(10)
        time.sleep(0.05)
        run.cancel()

    with cg.SearchRun(box(slow), GRAPHS, "ofs+obs", max_calls=10**6, runs=100) as run:
        thread = threading.Thread(target=cancel)
        thread.start()
        for _ in run:
            pass
        thread.join()
    assert any(each.stopped == "cancelled" for each in run.results)
    assert not all(each.stopped == "finished" for each in run.results)


@pytest.mark.parametrize("method", ["ofs+obs", "bisect+ddmin", "learned"])
def test_warm_start_improves_a_known_counterfactual(method: str) -> None:
    far = cg.find_counterfactuals(box(), GRAPHS, "ofs", k=8)
    assert max(each.distance or 0 for each in far) > 2
    for start in (far, list(far), np.array([each.edges for each in far])):
        results = cg.find_counterfactuals(box(), GRAPHS, method, start=start)
        for before, after in zip(far, results, strict=True):
            assert (after.distance or 0) <= (before.distance or 0)
            first_calls, first_distance = after.trace[0]
            assert (first_calls, first_distance) == (2, before.distance), "own class, then the start"
    if method == "ofs+obs":
        assert all(each.calls_by_phase["ofs"] == 2 for each in results), "the forward search is skipped"


def test_warm_start_of_one_graph() -> None:
    far = cg.find_counterfactual(box(), GRAPHS[2], "ofs", k=8)
    near = cg.find_counterfactual(box(), GRAPHS[2], "ofs+obs", start=far)
    assert (near.distance or 0) < (far.distance or 0)
    again = cg.find_counterfactual(box(), GRAPHS[2], "ofs+obs", start=far.edges)
    assert again.to_dict() == near.to_dict()
    assert cg.find_counterfactual(box(), GRAPHS[2], "ofs+obs", start=far.adjacency).to_dict() == near.to_dict()


def test_a_start_that_is_not_a_counterfactual_is_ignored() -> None:
    unchanged = GRAPHS.copy()
    almost = GRAPHS.copy()
    almost[:, 0] ^= True
    cold = cg.find_counterfactuals(box(), GRAPHS, "ofs+obs")
    assert as_dicts(cg.find_counterfactuals(box(), GRAPHS, "ofs+obs", start=unchanged)) == as_dicts(cold)
    results = cg.find_counterfactuals(box(), GRAPHS, "ofs+obs", start=almost)
    for before, after in zip(cold, results, strict=True):
        assert after.found
        assert after.calls_by_phase["ofs"] in (2, before.calls_by_phase["ofs"] + 1), "one call for the start"


def test_a_start_respects_constraints_and_budget() -> None:
    far = cg.find_counterfactuals(box(), GRAPHS, "ofs", k=8)
    only = cg.Constraints(only="added")
    for result in cg.find_counterfactuals(box(), GRAPHS, "ofs+obs", start=far, constraints=only):
        assert not result.removed
    for max_calls in (1, 2, 3):
        for result in cg.find_counterfactuals(box(), GRAPHS, "ofs+obs", start=far, max_calls=max_calls):
            assert all(calls <= max_calls for calls in result.calls_by_phase.values())


def test_bad_starts_are_refused() -> None:
    far = cg.find_counterfactuals(box(), GRAPHS, "ofs", k=8)
    with pytest.raises(InputError, match="method 'ofs' cannot improve a start; add a backward search, .* 'ofs.obs'"):
        cg.find_counterfactuals(box(), GRAPHS, "ofs", start=far)
    with pytest.raises(InputError, match="start contains a counterfactual of Graph 0, which is not one of the graphs"):
        cg.find_counterfactuals(box(), GRAPHS[1:], start=far)
    with pytest.raises(InputError, match="one changed graph for each of the 7 graphs with 66 pairs; it contains 2"):
        cg.find_counterfactuals(box(), GRAPHS, start=GRAPHS[:2])


def test_partial_results_after_an_exception_in_the_loop() -> None:
    def stop_at_first_result() -> None:
        with run:
            for event in run:
                if isinstance(event, cg.Finished):
                    raise ZeroDivisionError

    run = cg.SearchRun(box(), GRAPHS, "ofs+obs")
    with pytest.raises(ZeroDivisionError):
        stop_at_first_result()
    assert len(run.results) == len(GRAPHS)
    assert any(each.stopped == "finished" for each in run.results)


@pytest.mark.parametrize("callback", ["progress", "finished"])
@pytest.mark.parametrize("method", ["ofs+obs", "learned"])
def test_partial_results_after_an_exception_in_a_callback(callback: str, method: str) -> None:
    seen = []

    def fail(value: object) -> None:
        seen.append(value)
        if len(seen) == 5:
            raise ZeroDivisionError("five")

    with pytest.raises(CallbackError, match="a callback raised ZeroDivisionError: five; .* partial results") as stopped:
        cg.find_counterfactuals(box(), GRAPHS, method, **{callback: fail})
    assert isinstance(stopped.value.__cause__, ZeroDivisionError)
    assert len(stopped.value.results) == len(GRAPHS)
    assert callback == "progress" or len(stopped.value.results.found) >= 4


@pytest.mark.parametrize("callback", ["progress", "finished"])
def test_ctrl_c_in_a_callback_keeps_partial_results(callback: str) -> None:
    def interrupt(value: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="partial results") as stopped:
        cg.find_counterfactuals(box(), GRAPHS, "ofs+obs", **{callback: interrupt})
    assert len(stopped.value.results) == len(GRAPHS)


@pytest.mark.parametrize(("raised", "expected"), [(ValueError, BlackBoxError), (KeyboardInterrupt, Interrupted)])
@pytest.mark.parametrize("method", ["ofs+obs", "learned"])
def test_partial_results_after_an_exception_in_the_black_box(
    raised: type[BaseException], expected: type[BaseException], method: str
) -> None:
    calls = 0

    def fails(edges: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += len(edges)
        if calls > 80:
            raise raised
        return dense(edges)

    with pytest.raises(expected) as stopped, cg.SearchRun(box(fails), GRAPHS, method) as run:
        for _ in run:
            pass
    assert as_dicts(stopped.value.results) == as_dicts(run.results)  # type: ignore[attr-defined]
    assert run.results.found
    assert any(each.stopped == "interrupted" for each in run.results)
    for result in run.results.found:
        assert result.edges is not None
        assert dense(result.edges[None])[0] != result.original_label


@pytest.mark.parametrize("method", ["ofs+obs", "learned"])
def test_two_runs_in_two_threads_do_not_disturb_each_other(method: str) -> None:
    def sparse(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.0005)
        return (edges.sum(axis=1) > 20).astype(int)

    expected = [as_dicts(cg.find_counterfactuals(box(each), GRAPHS, method)) for each in (dense, sparse)]
    found: dict[int, list[dict]] = {}

    def search(number: int, function) -> None:
        found[number] = as_dicts(cg.find_counterfactuals(box(function), GRAPHS, method))

    threads = [threading.Thread(target=search, args=(i, each)) for i, each in enumerate((dense, sparse))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[0], found[1]] == expected


def test_a_time_limit_ends_the_run() -> None:
    def slow(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.01)
        return dense(edges)

    with cg.SearchRun(box(slow), GRAPHS, "ofs+obs", time_limit=0.05) as run:
        for _ in run:
            pass
    assert {each.stopped for each in run.results} >= {"time_limit"}


@pytest.mark.parametrize("method", ["ofs+obs", "learned"])
def test_results_are_consistent_when_another_thread_reads_them(method: str) -> None:
    """A noisy black box makes searches fall back to earlier results."""
    rng = np.random.default_rng(0)

    def noisy(edges: np.ndarray) -> np.ndarray:
        return dense(edges) ^ (rng.random(len(edges)) < 0.05)

    inconsistent: list[tuple[int | None, int | None]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            for result in run.results:
                expected = result.trace[-1][1] if result.trace else None
                if expected != result.distance or result.found != (result.counterfactual_label is not None):
                    inconsistent.append((expected, result.distance))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with cg.SearchRun(box(noisy), GRAPHS, method, runs=3) as run:
            thread = threading.Thread(target=read)
            thread.start()
            for _ in run:
                pass
            done.set()
            thread.join()
    finally:
        done.set()
        sys.setswitchinterval(interval)
    assert not inconsistent


def raises_first(task, start):
    raise ZeroDivisionError("first")


def raises_later(task, start):
    yield Ask(np.array([0]))
    raise ZeroDivisionError("later")


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (raises_first, "the search 'raises_first' raised ZeroDivisionError: first"),
        (raises_later, "the search 'raises_later' raised ZeroDivisionError: later"),
        (lambda task, start: [1, 2], "the search 'lambda' must be a generator function, .* it returned a list"),
    ],
)
def test_partial_results_after_an_exception_in_a_search(search, message: str) -> None:
    with pytest.raises(SearchError, match=message) as stopped:
        cg.find_counterfactuals(box(), GRAPHS, search)
    assert len(stopped.value.results) == len(GRAPHS)


def test_a_start_is_not_lost_in_a_small_budget() -> None:
    far = cg.find_counterfactuals(box(), GRAPHS, "ofs", k=8)
    for max_calls in (2, 3, 4, 5):
        for before, after in zip(
            far, cg.find_counterfactuals(box(), GRAPHS, start=far, max_calls=max_calls), strict=True
        ):
            assert after.calls <= max_calls
            assert max_calls < 4 or after.distance is not None
            assert after.distance is None or after.distance <= (before.distance or 0)
