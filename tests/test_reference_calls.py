"""Reference calls: labelled graphs that the learned search has classified once for all searches of a run."""

from __future__ import annotations

import time

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import BlackBoxError, InputError, Interrupted
from countergraph.store.resume import resume_counterfactuals
from countergraph.store.store import Store
from tests.conftest import random_graphs

EDGES = random_graphs(50, 14, seed=21, density=0.35)
WEIGHTS = np.random.default_rng(4).normal(size=91)
THRESHOLD = np.median(EDGES @ WEIGHTS)
DATA = cg.GraphDataset(EDGES, np.arange(50) % 2, [f"sub-{i:02d}" for i in range(50)], ("TD", "ASD"))
SEARCHED = DATA.subset([31, 4, 17, 8, 40])
N_OTHERS = len(DATA) - len(SEARCHED)


def rule(edges: np.ndarray) -> np.ndarray:
    return (edges @ WEIGHTS > THRESHOLD).astype(int)


class Recording:
    """A black box that stores each graph that it classifies, and may raise an exception or take some time."""

    classes_ = np.array([0, 1])

    def __init__(
        self, fails_after: float = np.inf, error: type[BaseException] = ValueError, seconds: float = 0
    ) -> None:
        self.graphs: list[bytes] = []
        self.fails_after, self.error, self.seconds = fails_after, error, seconds

    def predict(self, edges: np.ndarray) -> np.ndarray:
        time.sleep(self.seconds * len(edges))
        if len(self.graphs) + len(edges) > self.fails_after:
            raise self.error
        self.graphs += [graph.tobytes() for graph in edges]
        return rule(edges)


def find(box: object = None, graphs: object = SEARCHED, **options) -> cg.Counterfactuals:
    options = {"dataset": DATA, "max_calls": 60, "effort": "quick", **options}
    return cg.find_counterfactuals(Recording() if box is None else box, graphs, **options)


@pytest.mark.parametrize(
    ("limit", "shared_calls"), [(None, N_OTHERS), (0, 0), (1, 1), (20, 15), (N_OTHERS, N_OTHERS), (1000, N_OTHERS)]
)
def test_shared_calls_are_counted_and_limited(limit: int | None, shared_calls: int) -> None:
    oracle = cg.Oracle(Recording())
    results = find(oracle, reference_calls=limit)
    assert results.shared_calls == shared_calls
    assert oracle.asked == results.calls + results.shared_calls
    assert results.calls == sum(each.calls for each in results), "they belong to no search"
    assert results.amortised_calls == (results.calls + shared_calls) / len(SEARCHED)
    assert len(results.found) == len(SEARCHED)
    assert max(each.calls for each in results) <= 60, "they are not part of the budget of a search"


def test_by_default_the_limit_is_twenty_per_search() -> None:
    edges = random_graphs(200, 14, seed=22)
    data = cg.GraphDataset(edges, np.arange(200) % 2)
    results = find(graphs=edges[:3], dataset=data, max_calls=10)
    assert 30 < results.shared_calls <= 60
    assert find(graphs=edges[:3], dataset=data, max_calls=10, runs=2).shared_calls > 60


def test_only_graphs_that_are_not_searched_are_classified_and_each_once() -> None:
    box = Recording()
    results = find(box)
    shared = box.graphs[: results.shared_calls]
    others = {graph.tobytes() for graph in EDGES} - {graph.tobytes() for graph in SEARCHED.edges}
    assert sorted(shared) == sorted(others)


def test_no_calls_are_shared_if_every_graph_is_searched() -> None:
    results = find(graphs=DATA)
    assert results.shared_calls == 0
    results = find(graphs=DATA, dataset=None)
    assert results.shared_calls == 0


@pytest.mark.parametrize("runs", [1, 3])
def test_no_calls_are_shared_for_one_or_two_graphs(runs: int) -> None:
    box = Recording()
    single = cg.find_counterfactual(box, EDGES[9], dataset=DATA, max_calls=60, runs=1)
    assert len(box.graphs) == single.calls
    for names in ([9], [9, 22]):
        oracle = cg.Oracle(Recording())
        results = find(oracle, DATA.subset(names), runs=runs, reference_calls=30)
        assert results.shared_calls == 0
        assert oracle.asked == results.calls


def test_no_calls_are_shared_without_labels_or_with_another_method() -> None:
    assert find(graphs=SEARCHED.edges, dataset=None).shared_calls == 0
    one_class = cg.GraphDataset(EDGES, np.zeros(50, dtype=int))
    assert find(dataset=one_class).shared_calls == 0
    for method in ("ofs+obs", "dfs+dbs"):
        oracle = cg.Oracle(Recording())
        results = find(oracle, method=method, effort=None, reference_calls=30)
        assert results.shared_calls == 0
        assert oracle.asked == results.calls


def test_no_calls_are_shared_if_the_black_box_needs_the_subject() -> None:
    class WithSubjects:
        def predict(self, edges: np.ndarray, subjects: np.ndarray) -> np.ndarray:
            assert {str(each) for each in subjects} <= set(SEARCHED.names)
            return rule(edges)

    oracle = cg.Oracle(WithSubjects(), with_subjects=True)
    results = find(oracle, reference_calls=30)
    assert results.shared_calls == 0
    assert oracle.asked == results.calls
    assert len(results.found) == len(SEARCHED)


@pytest.mark.parametrize("value", [-1, 2.5, "many"])
def test_a_bad_number_of_reference_calls_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="reference_calls must be an integer"):
        find(reference_calls=value)


def test_reference_calls_are_part_of_the_parameters_if_they_are_set() -> None:
    assert "reference_calls" not in find()[0].parameters
    assert find(reference_calls=7)[0].parameters["reference_calls"] == 7


def test_results_improve_with_reference_calls() -> None:
    """The labels are random, and the answers are those of the rule."""
    distances = [
        np.mean([each.trace[0][1] for seed in range(3) for each in find(reference_calls=limit, seed=seed)])
        for limit in (0, None)
    ]
    assert distances[1] < distances[0], "distance of the first counterfactual"


def test_events_include_shared_calls() -> None:
    oracle = cg.Oracle(Recording())
    with cg.SearchRun(oracle, SEARCHED, dataset=DATA, max_calls=60, effort="quick") as run:
        asked = [event for event in run if isinstance(event, cg.Asked)]
    assert sum(each.batch_size for each in asked) == asked[-1].calls == oracle.asked
    assert max(each.shared_calls for each in asked) == run.results.shared_calls == N_OTHERS
    assert run.progress.calls == run.results.calls + run.results.shared_calls
    first = [each for each in asked if each.calls <= N_OTHERS]
    assert [each.shared_calls for each in first] == [each.calls for each in first]
    assert {each.finished for each in first} == {0}


def check_nothing_found(results: cg.Counterfactuals, reason: str, shared_calls: int) -> None:
    """Check the results of a run that ended during the shared calls."""
    assert len(results) == len(SEARCHED)
    assert {each.stopped for each in results} == {reason}
    assert not results.found
    assert results.calls == 0
    assert results.shared_calls == shared_calls
    assert all(each.original_label is None and each.trace == () for each in results)
    assert all(each.sentence for each in results)


def test_cancel_during_shared_calls() -> None:
    box = Recording()
    with cg.SearchRun(box, SEARCHED, dataset=DATA) as run:
        for event in run:
            assert isinstance(event, cg.Asked)
            if event.calls > 10:
                run.cancel()
    assert 10 < len(box.graphs) < N_OTHERS
    check_nothing_found(run.results, "cancelled", len(box.graphs))


def test_a_time_limit_during_shared_calls() -> None:
    box = Recording(seconds=0.02)
    results = find(box, time_limit=0.1)
    assert 0 < len(box.graphs) < N_OTHERS
    check_nothing_found(results, "time_limit", len(box.graphs))


@pytest.mark.parametrize(("error", "raised"), [(ValueError, BlackBoxError), (KeyboardInterrupt, Interrupted)])
def test_an_exception_during_shared_calls(error: type[BaseException], raised: type[BaseException]) -> None:
    box = Recording(fails_after=20, error=error)
    with pytest.raises(raised) as stopped, cg.SearchRun(box, SEARCHED, dataset=DATA) as run:
        for _ in run:
            pass
    results = stopped.value.results  # type: ignore[attr-defined]
    check_nothing_found(results, "interrupted", len(box.graphs))
    assert [each.to_dict() for each in results] == [each.to_dict() for each in run.results]
    with pytest.raises(raised) as stopped:
        find(Recording(fails_after=20, error=error))
    check_nothing_found(stopped.value.results, "interrupted", len(box.graphs))  # type: ignore[attr-defined]


def test_shared_calls_with_scores() -> None:
    class Scoring(Recording):
        def predict_proba(self, edges: np.ndarray) -> np.ndarray:
            positive = 1 / (1 + np.exp(THRESHOLD - edges @ WEIGHTS))
            return np.column_stack([1 - positive, positive])

    oracle = cg.Oracle(Scoring())
    results = find(oracle, scores=True)
    assert oracle.asked == results.calls + results.shared_calls == results.calls + N_OTHERS
    assert len(results.found) == len(SEARCHED)


@pytest.mark.parametrize("label", [0, 1])
def test_a_black_box_that_gives_one_class_to_all_people(label: int) -> None:
    """The labels define the directions then. The class changes if enough edges of the other label are added."""
    data = cg.make_cohort(n_subjects=30, n_rois=20, contrast=0.9, seed=6)
    difference = data.edges[data.labels == 1].mean(axis=0) - data.edges[data.labels == 0].mean(axis=0)
    scores = data.edges @ difference * (1 - 2 * label)

    def one_class(edges: np.ndarray) -> np.ndarray:
        return np.where(edges @ difference * (1 - 2 * label) > scores.max() + 0.1, 1 - label, label)

    assert set(one_class(data.edges)) == {label}
    for graphs in (data, data.subset(range(5))):
        results = cg.find_counterfactuals(
            cg.Oracle(one_class, input="edges"), graphs, dataset=data, max_calls=200, effort="quick"
        )
        assert len(results.found) == len(graphs)
        first = [each.trace[0][1] for each in results]
        assert np.median(first) < 100, "random orders need more changes"


@pytest.mark.parametrize("limit", [None, 11])
def test_an_interrupted_joint_run_resumes_with_the_same_results(store: Store, tmp_path, limit: int | None) -> None:
    options = {"dataset": DATA, "box": "test box", "max_calls": 60, "effort": "quick", "reference_calls": limit}
    with Store(tmp_path / "undisturbed.sqlite") as other:
        unlimited = Recording()
        expected = resume_counterfactuals(other, unlimited, SEARCHED, **options)
    found = find(reference_calls=limit)
    assert [each.to_dict() for each in expected] == [each.to_dict() for each in found]
    classified, failures = [], 0
    while True:
        limited = Recording(fails_after=30)
        try:
            results = resume_counterfactuals(store, limited, SEARCHED, **options)
        except BlackBoxError:
            failures += 1
        else:
            break
        finally:
            classified += limited.graphs
        assert failures < 100
    assert failures > 2
    assert sorted(classified) == sorted(unlimited.graphs), "no call is repeated"
    assert len(classified) == found.calls + found.shared_calls
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]


def test_a_resumed_run_without_missing_searches_makes_no_call(store: Store) -> None:
    options = {"dataset": DATA, "box": "test box", "max_calls": 60, "effort": "quick"}
    first = resume_counterfactuals(store, Recording(), SEARCHED, **options)
    box = Recording()
    again = resume_counterfactuals(store, box, SEARCHED, **options)
    assert not box.graphs
    assert [each.to_dict() for each in again] == [each.to_dict() for each in first]
