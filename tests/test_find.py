from __future__ import annotations

import json
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


def test_matrices_and_vectors_are_the_same_to_it() -> None:
    by_vector = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs")
    by_matrix = cg.find_counterfactuals(box(dense), to_adjacency(GRAPHS), "ofs+obs")
    assert [r.to_dict() for r in by_vector] == [r.to_dict() for r in by_matrix]
    one = cg.find_counterfactual(box(dense), to_adjacency(GRAPHS[2]), "ofs+obs")
    assert (one.added, one.removed) == (by_vector[2].added, by_vector[2].removed)


def test_a_dataset_names_the_results_and_is_its_own_reference(cohort: cg.GraphDataset, model: cg.Model) -> None:
    some = cohort.subset([5, 2])
    results = cg.find_counterfactuals(model, some, "dfs+dbs", dataset=cohort, runs=2)
    assert [r.subject for r in results] == [some.names[0]] * 2 + [some.names[1]] * 2
    assert results[0].class_name(results[0].original_label) in ("TD", "ASD")
    assert cg.find_counterfactuals(model, cohort, "ds")[0].found


def test_seeds_and_runs_matter_and_nothing_else() -> None:
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
def test_a_target_class(target: int | str, method: str) -> None:
    data = cg.GraphDataset(random_graphs(30, 9, seed=1, density=0.4), np.arange(30) % 3, classes=("low", "mid", "high"))
    data = cg.GraphDataset(data.edges, three_classes(data.edges), classes=data.classes)
    wanted = data.classes.index(target) if isinstance(target, str) else target
    results = cg.find_counterfactuals(box(three_classes), data, method, target=target)
    for result in results:
        if result.original_label == wanted:
            assert (result.found, result.stopped, result.calls) == (False, "already in target class", 1)
        else:
            assert result.found or not method.startswith("ds"), "a random walk may miss a class"
            assert result.counterfactual_label in (wanted, None)
    assert any(result.found for result in results)


def test_without_a_target_any_other_class_counts() -> None:
    result = cg.find_counterfactual(box(three_classes), np.arange(36) < 15, k=1)
    assert (result.original_label, result.counterfactual_label, result.distance) in ((1, 2, 1), (1, 0, 3))


def test_string_classes() -> None:
    result = cg.find_counterfactual(box(lambda e: np.where(e.sum(axis=1) > 10, "ill", "well")), GRAPHS[0])
    assert {result.original_label, result.counterfactual_label} == {"ill", "well"}
    assert "classified as ill" in result.sentence


def test_with_a_time_limit_a_black_box_that_becomes_slow_is_asked_in_smaller_batches_at_once() -> None:
    pace = _BatchSize(500, time_limit=60)
    for _ in range(20):
        pace.update(pace.size, 0.3)
    assert pace.size == 500
    pace.update(500, 10.0)
    assert pace.size == 250


def test_what_takes_its_time_for_each_graph_is_asked_about_few() -> None:
    pace = _BatchSize(500)
    for _ in range(20):
        pace.update(pace.size, 0.4 * pace.size)
    assert pace.size == 2
    hasty = _BatchSize(500, time_limit=1)
    for _ in range(20):
        hasty.update(hasty.size, 0.03)
    assert hasty.size == 500, "though it takes a part of the time for each batch"


def test_a_service_that_takes_its_time_for_each_batch_is_asked_in_few() -> None:
    batches = []

    def distant(edges: np.ndarray) -> np.ndarray:
        batches.append(len(edges))
        time.sleep(0.12)
        return dense(edges)

    results = cg.find_counterfactuals(box(distant), GRAPHS, "ofs", max_calls=9, k=1, confirm=False)
    assert sum(batches) == results.calls
    assert batches[:3] == [1, 2, 4], "more and more at once"
    assert max(batches) == len(GRAPHS)
    assert len(batches) <= 2 + max(each.calls for each in results)


def test_what_a_black_box_keeps_stays_what_it_was_asked() -> None:
    kept = []

    def keeper(edges: np.ndarray) -> np.ndarray:
        kept.append((edges, edges.copy()))
        return dense(edges)

    cg.find_counterfactuals(box(keeper), GRAPHS, "ofs+obs")
    assert all((now == then).all() for now, then in kept)


def test_a_time_limit_keeps_the_best_so_far() -> None:
    def slow(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.02 * len(edges))
        return dense(edges)

    began = time.monotonic()
    results = cg.find_counterfactuals(box(slow), GRAPHS, k=1, runs=9, time_limit=0.6)
    assert time.monotonic() - began < 10
    assert {r.stopped for r in results} <= {"time_limit", "finished"}
    assert "time_limit" in {r.stopped for r in results}
    for result in results:
        assert (result.edges is None) or dense(result.edges[None])[0] == result.counterfactual_label


def test_progress_is_told() -> None:
    states: list[Progress] = []
    oracle = box(dense)
    results = cg.find_counterfactuals(oracle, GRAPHS, runs=3, progress=states.append)
    assert states[-1] == (21, 21, oracle.asked)
    assert oracle.asked == sum(r.calls for r in results)
    assert [s.finished for s in states] == sorted(s.finished for s in states)


def breaks_after(calls: int, error: BaseException):
    count = 0

    def black_box(edges: np.ndarray) -> np.ndarray:
        nonlocal count
        count += len(edges)
        if count > calls:
            raise error
        return dense(edges)

    return box(black_box)


def test_when_the_black_box_breaks_nothing_found_is_lost() -> None:
    with pytest.raises(BlackBoxError, match="raised OSError.*gone") as caught:
        cg.find_counterfactuals(breaks_after(60, OSError("gone")), GRAPHS, k=1)
    results = caught.value.results
    assert len(results) == 7
    assert any(r.found for r in results)
    for result in results:
        assert (result.edges is None) or dense(result.edges[None])[0] != result.original_label
    assert {r.stopped for r in results} <= {"interrupted", "finished"}


def test_ctrl_c_loses_nothing_either() -> None:
    with pytest.raises(Interrupted) as caught:
        cg.find_counterfactuals(breaks_after(60, KeyboardInterrupt()), GRAPHS, k=1)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception), "whoever catches exceptions does not swallow Ctrl-C"
    assert any(r.found for r in caught.value.results)


def test_answers_are_checked_during_a_search() -> None:
    with pytest.raises(AnswerError, match="none of the classes"):
        cg.find_counterfactuals(lambda a: np.full(len(a), 7), cg.GraphDataset(GRAPHS, [0, 1, 0, 1, 0, 1, 0]))


def test_a_black_box_cannot_change_what_it_is_asked() -> None:
    def vandal(edges: np.ndarray) -> np.ndarray:
        labels = dense(edges)
        edges[:] = True
        return labels

    harmed, spared = (cg.find_counterfactuals(box(each), GRAPHS, "ofs+obs") for each in (vandal, dense))
    assert [each.to_dict() for each in harmed] == [each.to_dict() for each in spared]


def test_narrow_lanes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs", runs=3)
    monkeypatch.setattr("countergraph.search.driver.BUFFER_BYTES", 36 * 2)
    narrow = cg.find_counterfactuals(box(dense), GRAPHS, "ofs+obs", runs=3)
    assert [r.to_dict() for r in narrow] == [r.to_dict() for r in wide]


def test_a_search_that_names_a_pair_twice_is_found_out() -> None:
    def cheat(task, start):
        yield Ask(np.array([3, 3]))
        for position in range(task.graph.size):
            yield Ask(np.array([position, position]))

    with pytest.raises(SearchError, match="'cheat' asked about flips that name a pair twice") as stopped:
        cg.find_counterfactual(box(dense), np.arange(36) < 10, cheat)
    assert len(stopped.value.results) == 1


def test_a_search_of_ones_own() -> None:
    """A search is an ordinary generator: here, all single flips."""

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


def test_a_model_is_known_by_the_names_of_its_classes(model: cg.Model, cohort: cg.GraphDataset) -> None:
    low, high = cohort.classes
    swapped = replace(cohort, labels=1 - cohort.labels, classes=(high, low))
    as_trained, other_way = (cg.find_counterfactuals(model, data, "ofs+obs") for data in (cohort, swapped))
    assert [each.sentence for each in as_trained] == [each.sentence for each in other_way]
    assert [each.original_class for each in as_trained] == [each.original_class for each in other_way]
    assert [each.original_label for each in as_trained] == [1 - each.original_label for each in other_way]
    assert cg.certify(model, other_way[0]).certificate.proof == cg.certify(model, as_trained[0]).certificate.proof
    with pytest.raises(InputError, match="the model was trained with classes .*'ASD'.*, but the data has"):
        cg.find_counterfactuals(model, replace(cohort, classes=("well", "ill")))


def test_regions_of_a_vector_are_called_as_in_the_dataset(model: cg.Model, cohort: cg.GraphDataset) -> None:
    result = cg.find_counterfactual(model, cohort.edges[1], dataset=cohort)
    assert result.found
    assert result.roi_name(0) == cohort.atlas.names[0]


def test_what_is_left_when_the_black_box_breaks_keeps_to_the_constraints() -> None:
    asked = 0

    def breaks(adjacency: np.ndarray) -> list[int]:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise RuntimeError
        return [int(asked > 1)] * len(adjacency)

    with pytest.raises(BlackBoxError) as stopped:
        cg.find_counterfactuals(breaks, random_graphs(1, 20, 0), "ofs+obs", k=30, constraints=cg.Constraints(most=3))
    assert not stopped.value.results[0].found


@pytest.mark.parametrize("target", ["ASD", 1])
def test_a_target_that_is_never_answered_is_refused_at_once(target: int | str) -> None:
    answers = [0] if isinstance(target, str) else ["TD"]
    oracle = cg.Oracle(lambda adjacency: answers * len(adjacency))
    with pytest.raises(InputError, match=f"the target is {target!r}, but the black box returns .* {answers[0]!r}"):
        cg.find_counterfactual(oracle, random_graphs(1, 8, 0)[0], target=target)
    assert oracle.asked == 1


def test_no_graphs_no_results() -> None:
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
def test_refusals(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.find_counterfactuals(box(dense), GRAPHS, **options)


def test_no_graph_is_refused() -> None:
    with pytest.raises(GraphError, match="graph is not symmetric"):
        cg.find_counterfactual(box(dense), np.triu(np.ones((4, 4)), 1))


def test_some_runs_alone_are_those_of_all_runs(model, cohort) -> None:
    everything = cg.find_counterfactuals(model, cohort, "ofs+obs", runs=4, max_calls=60)
    some = cg.find_counterfactuals(model, cohort, "ofs+obs", runs=[3, 1], max_calls=60)
    expected = [result for result in everything if result.run in (1, 3)]
    order = sorted(some, key=lambda result: (result.graph_index, result.run))
    assert [result.to_dict() for result in order] == [result.to_dict() for result in expected]
    for wrong in ([], [-1], [0.5]):
        with pytest.raises(InputError, match="runs must"):
            cg.find_counterfactuals(model, cohort, runs=wrong)


def test_each_result_is_told_when_it_is_finished_and_once(model, cohort) -> None:
    told: list[cg.Counterfactual] = []
    results = cg.find_counterfactuals(model, cohort, runs=2, max_calls=60, finished=told.append)
    order = sorted(told, key=lambda result: (result.graph_index, result.run))
    assert [result.to_dict() for result in order] == [result.to_dict() for result in results]
    assert order != told  # the searches do not end in the order in which they began


def test_a_result_in_one_line(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs")
    changes = "1 change" if result.distance == 1 else f"{result.distance} changes"
    assert repr(result) == f"<Counterfactual of subject-003: {changes}, {result.calls} questions by ofs+obs>"


def test_one_graph_is_an_array(cohort: cg.GraphDataset, model: cg.Model) -> None:
    for graph in ("subject-003", cohort.subset([3])):
        with pytest.raises(InputError, match="find_counterfactuals takes data.subset"):
            cg.find_counterfactual(model, graph, dataset=cohort)
    with pytest.raises(InputError, match=r"edge vectors \(graphs, pairs\), not an array of shape \(2, 20, 20\)"):
        model.predict(cohort.adjacency[:2])


def stubborn(adjacency: np.ndarray) -> np.ndarray:
    return np.zeros(len(adjacency), int)


def test_a_sentence_says_why_nothing_was_found() -> None:
    graph = np.zeros((6, 6), int)
    few = cg.find_counterfactual(
        lambda a: (a.sum(axis=(1, 2)) > 8).astype(int), graph, "ofs", constraints=cg.Constraints(most=3)
    )
    assert few.sentence.endswith(": all candidates that changed the class have more than 3 changes.")
    assert not few.found
    answers = iter([0, 1])
    once = cg.find_counterfactual(
        lambda a: np.array([next(answers, 0) for _ in a]), graph, "ofs+obs", constraints=cg.Constraints(most=15)
    )
    assert once.sentence.endswith(": what changed the class did not when the classifier was asked again.")
    spent = cg.find_counterfactual(stubborn, graph, "ofs", max_calls=3, confirm=False)
    assert spent.sentence.endswith("within 3 questions: the budget is used up.")
    tried = cg.find_counterfactual(stubborn, graph, "ofs", k=15)
    assert tried.sentence.endswith(": nothing that was tried changes the class.")
    bound = cg.find_counterfactual(stubborn, graph, "ofs", k=15, constraints=cg.Constraints(only="added"))
    assert "nothing that was tried within the constraints changes" in bound.sentence
    late = cg.find_counterfactual(stubborn, graph, "ofs", time_limit=1e-9)
    assert late.sentence == "The graph was not classified. No counterfactual was found: time was up."
    back = cg.Counterfactual.from_dict(json.loads(json.dumps(few.to_dict())))
    assert back.sentence == few.sentence


def test_a_target_that_is_never_answered_is_told() -> None:
    def box(adjacency: np.ndarray) -> np.ndarray:
        return np.where(adjacency.sum(axis=(1, 2)) > 8, "ASD", "TD")

    result = cg.find_counterfactual(box, np.zeros((6, 6), int), "ofs+obs", target="ADS")
    assert result.sentence.endswith(": no candidate was classified as ADS, only as ASD and TD.")
    assert cg.find_counterfactual(box, np.zeros((6, 6), int), "ofs+obs", target="ASD").found
    unexplained = replace(result, why="")
    assert unexplained.sentence.endswith(": nothing that was tried changes the class to ADS.")
    told: list[cg.Counterfactual] = []
    [returned] = cg.find_counterfactuals(box, np.zeros((1, 6, 6), int), "ofs+obs", target="ADS", finished=told.append)
    assert [each.sentence for each in told] == [returned.sentence] == [result.sentence]
    numbered = cg.find_counterfactual(lambda a: a[:, 0, 1], np.zeros((6, 6), int), "ofs+obs", target=7)
    assert "nothing that was asked was classified as class 7, only as class 0 and class 1" in numbered.sentence
