from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import AnswerError, BlackBoxError, GraphError, InputError, Interrupted, SearchError
from countergraph.finding.run import Progress
from countergraph.graphs.pairs import to_adjacency
from countergraph.search.driver import _BatchSize
from countergraph.search.methods import Phase
from countergraph.search.protocol import Ask
from tests.conftest import random_graphs

GRAPHS = random_graphs(7, 9, seed=6)


def dense(edges: np.ndarray) -> np.ndarray:
    return (edges.sum(axis=1) > 10).astype(int)


def three_classes(edges: np.ndarray) -> np.ndarray:
    return np.digitize(edges.sum(axis=1), [13, 16])


def box(function) -> cg.Oracle:
    return cg.Oracle(function, input="edges")


def test_matrices_and_vectors_give_the_same_results() -> None:
    by_vector = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs")
    by_matrix = cg.find_counterfactuals(box(dense), to_adjacency(GRAPHS), "ofs+obs")
    assert [r.to_dict() for r in by_vector] == [r.to_dict() for r in by_matrix]
    one = cg.find_counterfactual(box(dense), to_adjacency(GRAPHS[2]), "ofs+obs")
    assert (one.added, one.removed) == (by_vector[2].added, by_vector[2].removed)


def test_dataset_provides_names_and_reference_graphs(cohort: cg.GraphDataset, model: cg.Model) -> None:
    some = cohort.subset([5, 2])
    results = cg.find_counterfactuals(model, some, "dfs+dbs", dataset=cohort, runs=2)
    assert [r.subject for r in results] == [some.names[0]] * 2 + [some.names[1]] * 2
    assert results[0].class_name(results[0].original_label) in ("TD", "ASD")
    assert cg.find_counterfactuals(model, cohort, "ds")[0].found


def test_results_depend_only_on_seed_and_run() -> None:
    def flips(**options):
        results = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs", k=2, **options)
        return [tuple(each.flips) for each in results if each.flips is not None]

    assert flips(seed=1) == flips(seed=1)
    assert flips(seed=1) != flips(seed=2)
    two = flips(seed=1, runs=2)
    assert two[::2] == flips(seed=1)
    assert two[1::2] != two[::2]


@pytest.mark.parametrize("target", [0, 1, 2, "low", "high"])
@pytest.mark.parametrize("method", ["ofs+obs", "dfs+dbs", "ds+lbs"])
def test_target_class(target: int | str, method: str) -> None:
    data = cg.GraphDataset(random_graphs(30, 9, seed=1, density=0.4), np.arange(30) % 3, classes=("low", "mid", "high"))
    data = cg.GraphDataset(data.edges, three_classes(data.edges), classes=data.classes)
    target_label = data.classes.index(target) if isinstance(target, str) else target
    results = cg.find_counterfactuals(box(three_classes), data, method, target=target)
    for result in results:
        if result.original_label == target_label:
            assert (result.found, result.stopped, result.calls) == (False, "already in target class", 1)
        else:
            assert result.found or not method.startswith("ds"), "only a random walk may miss a class"
            assert result.counterfactual_label in (target_label, None)
    assert any(result.found for result in results)


def test_without_target_any_other_class_is_accepted() -> None:
    result = cg.find_counterfactual(box(three_classes), np.arange(36) < 15, k=1)
    assert (result.original_label, result.counterfactual_label, result.distance) in ((1, 2, 1), (1, 0, 3))


def test_string_classes() -> None:
    result = cg.find_counterfactual(box(lambda e: np.where(e.sum(axis=1) > 10, "ill", "well")), GRAPHS[0])
    assert {result.original_label, result.counterfactual_label} == {"ill", "well"}
    assert "classified as ill" in result.sentence


def test_batch_size_halves_after_a_slow_batch_with_time_limit() -> None:
    batch_size = _BatchSize(500, time_limit=60)
    for _ in range(20):
        batch_size.update(batch_size.size, 0.3)
    assert batch_size.size == 500
    batch_size.update(500, 10.0)
    assert batch_size.size == 250


def test_batch_size_is_small_if_time_is_proportional_to_the_number_of_graphs() -> None:
    batch_size = _BatchSize(500)
    for _ in range(20):
        batch_size.update(batch_size.size, 0.4 * batch_size.size)
    assert batch_size.size == 2
    constant_time = _BatchSize(500, time_limit=1)
    for _ in range(20):
        constant_time.update(constant_time.size, 0.03)
    assert constant_time.size == 500, "the time per batch is constant, so large batches are better"


def test_classifier_with_constant_time_per_batch_gets_few_batches() -> None:
    batches = []

    def slow_per_batch(edges: np.ndarray) -> np.ndarray:
        batches.append(len(edges))
        time.sleep(0.12)
        return dense(edges)

    results = cg.find_counterfactuals(box(slow_per_batch), GRAPHS, "ofs", max_calls=9, k=1, confirm=False)
    assert sum(batches) == results.calls
    assert batches[:3] == [1, 2, 4], "the batches grow"
    assert max(batches) == len(GRAPHS)
    assert len(batches) <= 2 + max(each.calls for each in results)


def test_arrays_passed_to_the_classifier_are_not_modified_later() -> None:
    received = []

    def recorder(edges: np.ndarray) -> np.ndarray:
        received.append((edges, edges.copy()))
        return dense(edges)

    cg.find_counterfactuals(box(recorder), GRAPHS, "ofs+obs")
    assert all((array == copy).all() for array, copy in received)


def test_time_limit_keeps_the_best_results() -> None:
    def slow(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.02 * len(edges))
        return dense(edges)

    start = time.monotonic()
    results = cg.find_counterfactuals(box(slow), GRAPHS, k=1, runs=9, time_limit=0.6)
    assert time.monotonic() - start < 10
    assert {r.stopped for r in results} <= {"time_limit", "finished"}
    assert "time_limit" in {r.stopped for r in results}
    for result in results:
        assert (result.edges is None) or dense(result.edges[None])[0] == result.counterfactual_label


def test_progress_callback_reports_all_searches_and_calls() -> None:
    states: list[Progress] = []
    oracle = box(dense)
    results = cg.find_counterfactuals(oracle, GRAPHS, runs=3, progress=states.append)
    assert states[-1] == (21, 21, oracle.asked)
    assert oracle.asked == sum(r.calls for r in results)
    assert [s.finished for s in states] == sorted(s.finished for s in states)


def raises_after(calls: int, error: BaseException):
    count = 0

    def black_box(edges: np.ndarray) -> np.ndarray:
        nonlocal count
        count += len(edges)
        if count > calls:
            raise error
        return dense(edges)

    return box(black_box)


def test_exception_of_the_classifier_keeps_partial_results() -> None:
    with pytest.raises(BlackBoxError, match="raised OSError.*gone") as caught:
        cg.find_counterfactuals(raises_after(60, OSError("gone")), GRAPHS, k=1)
    results = caught.value.results
    assert len(results) == 7
    assert any(r.found for r in results)
    for result in results:
        assert (result.edges is None) or dense(result.edges[None])[0] != result.original_label
    assert {r.stopped for r in results} <= {"interrupted", "finished"}


def test_keyboard_interrupt_keeps_partial_results() -> None:
    with pytest.raises(Interrupted) as caught:
        cg.find_counterfactuals(raises_after(60, KeyboardInterrupt()), GRAPHS, k=1)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception), "'except Exception' must not catch Ctrl-C"
    assert any(r.found for r in caught.value.results)


def test_search_checks_the_answers_of_the_classifier() -> None:
    with pytest.raises(AnswerError, match="none of the classes"):
        cg.find_counterfactuals(lambda a: np.full(len(a), 7), cg.GraphDataset(GRAPHS, [0, 1, 0, 1, 0, 1, 0]))


def test_classifier_that_modifies_its_input_does_not_change_the_results() -> None:
    def modifies_input(edges: np.ndarray) -> np.ndarray:
        labels = dense(edges)
        edges[:] = True
        return labels

    results, expected = (cg.find_counterfactuals(box(each), GRAPHS, "ofs+obs") for each in (modifies_input, dense))
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]


def test_buffer_size_does_not_change_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    large = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs", runs=3)
    monkeypatch.setattr("countergraph.search.driver.BUFFER_BYTES", 36 * 2)
    small = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs", runs=3)
    assert [r.to_dict() for r in small] == [r.to_dict() for r in large]


def test_search_that_yields_a_pair_twice_raises() -> None:
    def yields_twice(task, start):
        yield Ask(np.array([3, 3]))
        for position in range(task.graph.size):
            yield Ask(np.array([position, position]))

    with pytest.raises(SearchError, match="'yields_twice' must yield Ask.flips. with different pairs") as stopped:
        cg.find_counterfactual(box(dense), np.arange(36) < 10, yields_twice)
    assert len(stopped.value.results) == 1


def test_custom_search() -> None:
    """A search is a generator; this one yields all single flips."""

    def singles(task, start):
        for position in range(task.graph.size):
            if (yield Ask(np.array([position]))).flipped:
                return

    for method in (singles, Phase("singles", "forward", singles)):
        result = cg.find_counterfactual(box(dense), np.arange(36) < 10, method, confirm=False)
        assert result.flips is not None
        assert result.flips.tolist() == [10]
        assert result.calls_by_phase == {"singles": 12}
        assert result.method == "singles"


def test_classes_of_a_model_are_matched_by_name(model: cg.Model, cohort: cg.GraphDataset) -> None:
    low, high = cohort.classes
    swapped = replace(cohort, labels=1 - cohort.labels, classes=(high, low))
    same_order, reversed_order = (cg.find_counterfactuals(model, data, "ofs+obs") for data in (cohort, swapped))
    assert [each.sentence for each in same_order] == [each.sentence for each in reversed_order]
    assert [each.original_class for each in same_order] == [each.original_class for each in reversed_order]
    labels, swapped_labels = ([each.original_label for each in results] for results in (same_order, reversed_order))
    assert np.array_equal(labels, 1 - np.array(swapped_labels))
    assert cg.certify(model, reversed_order[0]).certificate.proof == cg.certify(model, same_order[0]).certificate.proof
    with pytest.raises(InputError, match="the model was trained with classes .*'ASD'.*, but the data has"):
        cg.find_counterfactuals(model, replace(cohort, classes=("well", "ill")))


def test_roi_names_of_an_edge_vector_come_from_the_dataset(model: cg.Model, cohort: cg.GraphDataset) -> None:
    result = cg.find_counterfactual(model, cohort.edges[1], dataset=cohort)
    assert result.found
    assert result.roi_name(0) == cohort.atlas.names[0]


def test_partial_results_satisfy_the_constraints() -> None:
    batches = 0

    def raises_in_third_batch(adjacency: np.ndarray) -> list[int]:
        nonlocal batches
        batches += 1
        if batches > 2:
            raise RuntimeError
        return [int(batches > 1)] * len(adjacency)

    with pytest.raises(BlackBoxError) as stopped:
        cg.find_counterfactuals(
            raises_in_third_batch, random_graphs(1, 20, 0), "ofs+obs", k=30, constraints=cg.Constraints(most=3)
        )
    assert not stopped.value.results[0].found


@pytest.mark.parametrize("target", ["ASD", 1])
def test_target_of_another_type_than_the_answers_raises_after_one_call(target: int | str) -> None:
    answers = [0] if isinstance(target, str) else ["TD"]
    oracle = cg.Oracle(lambda adjacency: answers * len(adjacency))
    with pytest.raises(InputError, match=f"the target is {target!r}, but the black box returns .* {answers[0]!r}"):
        cg.find_counterfactual(oracle, random_graphs(1, 8, 0)[0], target=target)
    assert oracle.asked == 1


def test_no_graphs_give_no_results() -> None:
    assert len(cg.find_counterfactuals(box(dense), np.zeros((0, 36), dtype=bool))) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, not 0"),
        ({"max_calls": 0}, "max_calls must be an integer"),
        ({"runs": 0}, "runs must be an integer"),
        ({"runs": [1, 1]}, "runs must not contain a run twice"),
        ({"k": 1.5}, "k must be an integer"),
        ({"seed": -1}, "seed must be an integer of at least 0, not -1"),
        ({"time_limit": 0}, "time_limit must be a positive number"),
        (
            {"method": "dfs+obs"},
            "dfs needs labelled graphs of several classes, but no dataset was given: pass a GraphDataset as dataset=",
        ),
        (
            {"dataset": cg.GraphDataset(random_graphs(2, 4, 0), [0, 1])},
            "the graphs have 36 pairs, but the dataset has 6",
        ),
        ({"dataset": "asd"}, "dataset must be a GraphDataset, not str"),
        (
            {"target": "x", "dataset": cg.GraphDataset(GRAPHS, [0, 1] * 3 + [0])},
            "target must be one of the classes control, condition",
        ),
    ],
)
def test_invalid_options_raise(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.find_counterfactuals(box(dense), GRAPHS, **options)


def test_matrix_that_is_not_symmetric_raises() -> None:
    with pytest.raises(GraphError, match="graph is not symmetric"):
        cg.find_counterfactual(box(dense), np.triu(np.ones((4, 4)), 1))


def test_selected_runs_equal_those_of_all_runs(model, cohort) -> None:
    all_runs = cg.find_counterfactuals(model, cohort, "ofs+obs", runs=4, max_calls=60)
    some = cg.find_counterfactuals(model, cohort, "ofs+obs", runs=[3, 1], max_calls=60)
    expected = [result for result in all_runs if result.run in (1, 3)]
    order = sorted(some, key=lambda result: (result.graph_index, result.run))
    assert [result.to_dict() for result in order] == [result.to_dict() for result in expected]
    for wrong in ([], [-1], [0.5]):
        with pytest.raises(InputError, match="runs must"):
            cg.find_counterfactuals(model, cohort, runs=wrong)


def test_finished_callback_is_called_once_per_result(model, cohort) -> None:
    received: list[cg.Counterfactual] = []
    results = cg.find_counterfactuals(model, cohort, runs=2, max_calls=60, finished=received.append)
    order = sorted(received, key=lambda result: (result.graph_index, result.run))
    assert [result.to_dict() for result in order] == [result.to_dict() for result in results]
    assert order != received, "the searches do not end in the order in which they start"


def test_repr_of_a_result(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs")
    changes = "1 change" if result.distance == 1 else f"{result.distance} changes"
    assert repr(result) == f"<Counterfactual of subject-003: {changes}, {result.calls} calls by ofs+obs>"


def test_find_counterfactual_accepts_only_one_array(cohort: cg.GraphDataset, model: cg.Model) -> None:
    for graph in ("subject-003", cohort.subset([3])):
        with pytest.raises(InputError, match="find_counterfactuals takes data.subset"):
            cg.find_counterfactual(model, graph, dataset=cohort)
    with pytest.raises(InputError, match=r"edge vectors \(graphs, pairs\), not an array of shape \(2, 20, 20\)"):
        model.predict(cohort.adjacency[:2])
