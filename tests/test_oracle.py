from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import countergraph as cg
from countergraph.errors import AnswerError, BlackBoxError, InconsistentAnswersWarning, InputError
from countergraph.graphs.pairs import to_adjacency
from tests.conftest import random_graphs

GRAPHS = random_graphs(9, 7, seed=4)
DENSE = GRAPHS.sum(axis=1) > 6


class Predictor:
    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def predict(self, edges: np.ndarray) -> np.ndarray:
        self.seen.append(edges.copy())
        return edges.sum(axis=1) > 6


def by_matrix(matrices: np.ndarray) -> np.ndarray:
    assert matrices.dtype == np.uint8
    assert matrices.shape[1:] == (7, 7)
    return matrices.sum(axis=(1, 2)) > 12


def by_networkx(graph: nx.Graph) -> int:
    assert list(graph) == list(range(7))
    return int(graph.number_of_edges() > 6)


@pytest.mark.parametrize(
    "oracle",
    [
        cg.Oracle(by_matrix),
        cg.Oracle(by_matrix, input="adjacency"),
        cg.Oracle(Predictor()),
        cg.Oracle(Predictor().predict, input="edges"),
        cg.Oracle(by_networkx, input="networkx"),
    ],
    ids=repr,
)
def test_all_types_of_black_boxes(oracle: cg.Oracle) -> None:
    assert oracle.ask(GRAPHS).tolist() == DENSE.astype(int).tolist()
    assert oracle.asked == oracle.computed == 9


def test_networkx_function_receives_the_edges() -> None:
    seen = []
    cg.Oracle(lambda graph: seen.append(nx.to_numpy_array(graph)) or 0, input="networkx").ask(GRAPHS[:2])
    assert (np.stack(seen) == to_adjacency(GRAPHS[:2])).all()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda m: [True] * m, [1] * 9),
        (lambda m: np.ones(m, dtype=np.float32), [1] * 9),
        (lambda m: ["ASD"] * m, [1] * 9),
        (lambda m: np.array(["TD"] * m, dtype=object), [0] * 9),
        (lambda m: np.arange(m, dtype=np.uint8) % 2, [0, 1, 0, 1, 0, 1, 0, 1, 0]),
    ],
)
def test_answers_are_converted_to_labels(answer, expected: list[int]) -> None:
    assert cg.Oracle(lambda a: answer(len(a)), classes=("TD", "ASD")).ask(GRAPHS).tolist() == expected


def test_without_class_names_any_integer_or_string_is_a_class() -> None:
    assert cg.Oracle(lambda a: ["x"] * len(a)).ask(GRAPHS).tolist() == ["x"] * 9
    assert cg.Oracle(lambda a: [17] * len(a)).ask(GRAPHS).tolist() == [17] * 9


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda m: [0] * (m - 1),
            r"one class for each of the 9 graphs, an array of shape \(9,\); it returned shape \(8,\)",
        ),
        (lambda m: 1, r"it returned shape \(\)"),
        (lambda m: np.zeros((m, 2)), r"it returned shape \(9, 2\)"),
        (lambda m: [[0], [1, 2]], "one class per graph"),
        (lambda m: [np.nan] * m, "the black box returned nan"),
        (lambda m: [0.3] * m, r"the black box returned 0\.3. If it returns probabilities"),
        (lambda m: [2] * m, r"returned 2, which is none of the classes 0 \(TD\), 1 \(ASD\)"),
        (lambda m: [-1] * m, "returned -1, which is none"),
        (lambda m: ["HC"] * m, r"returned 'HC', which is none of the classes 0 \(TD\), 1 \(ASD\)"),
        (lambda m: [None] * m, "a class must be an integer or a string"),
        (lambda m: None, "it returned shape"),
        (lambda m: [1, *["TD"] * (m - 1)], "all integers or all strings; the black box returned 'TD' and 1"),
        (lambda m: np.array([1, *["TD"] * (m - 1)], dtype=object), "all integers or all strings"),
        (lambda m: np.array([[1], [1, 2], *[[0]] * (m - 2)], dtype=object), "a class must be an integer or a string"),
        (lambda m: [2**70] * m, "a class must be an integer or a string"),
        (lambda m: [1e200] * m, "the black box returned 1e"),
    ],
)
def test_invalid_answers_raise(answer, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        cg.Oracle(lambda a: answer(len(a)), classes=("TD", "ASD")).ask(GRAPHS)


def test_integers_of_all_types_are_classes() -> None:
    for one in (True, np.bool_(True), 1.0, np.float32(1), np.uint8(1)):
        for answers in ([one] * 9, np.array([one] * 9), np.array([one] * 9, dtype=object)):
            assert cg.Oracle(lambda a, answers=answers: answers).ask(GRAPHS).tolist() == [1] * 9


def test_answers_of_different_types_in_two_batches_raise() -> None:
    strings = cg.Oracle(lambda a: np.array(["x"] * len(a)))
    strings.ask(GRAPHS[:0])
    assert strings.ask(GRAPHS).tolist() == ["x"] * 9, "an empty batch has no type"
    answers = iter(([1] * 9, ["1"] * 9))
    oracle = cg.Oracle(lambda a: next(answers))
    oracle.ask(GRAPHS)
    with pytest.raises(AnswerError, match="returned integers in one batch and strings in another"):
        oracle.ask(GRAPHS)
    answers = iter(([1] * 9, ["ASD"] * 9))
    named = cg.Oracle(lambda a: next(answers), classes=("TD", "ASD"))
    assert named.ask(GRAPHS).tolist() == named.ask(GRAPHS).tolist(), "classes with names allow both types"


def test_exception_of_the_black_box_is_the_cause() -> None:
    def broken(matrices: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("empty graph")

    with pytest.raises(BlackBoxError, match="the black box raised ZeroDivisionError.*empty graph") as caught:
        cg.Oracle(broken).ask(GRAPHS)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_batches_are_split_and_joined_in_order() -> None:
    box = Predictor()
    oracle = cg.Oracle(box, batch_size=4)
    assert oracle.ask(GRAPHS).tolist() == DENSE.tolist()
    assert [len(batch) for batch in box.seen] == [4, 4, 1]
    assert (np.concatenate(box.seen) == GRAPHS).all()


def test_large_batches_are_split_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("countergraph.oracle.oracle.BATCH_BYTES", 8 * 49 * 2)
    box = Predictor()
    cg.Oracle(box).ask(GRAPHS)
    assert max(len(batch) for batch in box.seen) == 2


def test_remember_caches_answers() -> None:
    box = Predictor()
    oracle = cg.Oracle(box, remember=True)
    first = oracle.ask(GRAPHS[[0, 1, 0, 2]])
    again = oracle.ask(GRAPHS[[2, 3, 1]])
    assert first.tolist() == DENSE[[0, 1, 0, 2]].tolist()
    assert again.tolist() == DENSE[[2, 3, 1]].tolist()
    assert (oracle.asked, oracle.computed) == (7, 4)
    assert [len(batch) for batch in box.seen] == [3, 1]


def test_inconsistent_answers_warn_once() -> None:
    rng = np.random.default_rng(0)
    oracle = cg.Oracle(lambda a: rng.integers(0, 2, len(a)), check_repeats=True)
    with pytest.warns(InconsistentAnswersWarning, match="gives different answers to the same graph"):
        oracle.ask(GRAPHS)
    before = oracle.inconsistent
    assert before > 0
    oracle.ask(GRAPHS)
    assert oracle.inconsistent > before
    assert (oracle.asked, oracle.computed) == (18, 36)


def test_answers_that_depend_on_the_batch_order_warn() -> None:
    with pytest.warns(InconsistentAnswersWarning):
        cg.Oracle(lambda a: np.arange(len(a)) == 0, check_repeats=True).ask(GRAPHS)


def test_consistent_answers_do_not_warn() -> None:
    oracle = cg.Oracle(by_matrix, check_repeats=True)
    oracle.ask(GRAPHS)
    assert oracle.inconsistent == 0


def test_scikit_learn_classifier_trained_on_class_names() -> None:
    names = np.where(DENSE, "ASD", "TD")
    box = LogisticRegression().fit(GRAPHS, names)
    expected = (box.predict(GRAPHS) == "ASD").astype(int)
    assert cg.Oracle(box, classes=("TD", "ASD")).ask(GRAPHS).tolist() == expected.tolist()


def test_invalid_arguments_raise() -> None:
    with pytest.raises(InputError, match="black_box must be callable or have a predict method; int is not"):
        cg.Oracle(3)
    with pytest.raises(InputError, match="input must be one of adjacency, edges, networkx, not 'matrix'"):
        cg.Oracle(by_matrix, input="matrix")
    with pytest.raises(InputError, match="batch_size must be an integer of at least 1, not 0"):
        cg.Oracle(by_matrix, batch_size=0)


def test_cached_answers_are_converted_to_the_classes_of_each_call() -> None:
    box = cg.Oracle(lambda e: np.where(e.sum(axis=1) > 6, "ASD", "TD"), input="edges", remember=True)
    assert box.ask(GRAPHS).tolist() == np.where(DENSE, "ASD", "TD").tolist()
    assert box.ask(GRAPHS, ("TD", "ASD")).tolist() == DENSE.astype(int).tolist()
    assert box.ask(GRAPHS, ("ASD", "TD")).tolist() == (~DENSE).astype(int).tolist()
    assert box.classes is None
    assert box.computed == 9


@pytest.mark.parametrize("scores", [False, True])
def test_classes_can_be_a_mapping_from_answers_to_names(cohort: cg.GraphDataset, scores: bool) -> None:
    signs = np.where(cohort.labels == 1, 1, -1)
    classifier = LogisticRegression().fit(cohort.edges, signs)
    oracle = cg.Oracle(classifier, classes={-1: cohort.classes[0], 1: cohort.classes[1]}, remember=True)
    assert oracle.classes == cohort.classes
    assert (np.where(oracle.ask(cohort.edges) == 1, 1, -1) == classifier.predict(cohort.edges)).all()
    named = LogisticRegression().fit(cohort.edges, cohort.labels)
    for graph in cohort.edges[:3]:
        mapped = cg.find_counterfactual(oracle, graph, "learned", dataset=cohort, scores=scores)
        plain = cg.find_counterfactual(named, graph, "learned", dataset=cohort, scores=scores)
        assert (mapped.sentence, mapped.calls) == (plain.sentence, plain.calls)
    with pytest.raises(AnswerError, match=r"returned -1, which is none of 0 \(TD\), 1 \(ASD\)"):
        cg.Oracle(classifier, classes={0: "TD", 1: "ASD"}).ask(cohort.edges)
    with pytest.raises(
        AnswerError, match=r"to translate its answers, use Oracle\(\.\.\., classes=\{-1: 'TD', \.\.\.\}\)"
    ):
        cg.find_counterfactuals(classifier, cohort)


def test_classes_in_another_order_are_mapped_by_name() -> None:
    box = cg.Oracle(lambda e: e.sum(axis=1) > 6, input="edges", classes=("ASD", "TD"))
    assert box.ask(GRAPHS, ("TD", "ASD")).tolist() == (~DENSE).astype(int).tolist()
    with pytest.raises(
        InputError, match="the classes of the oracle are ASD, TD, but the classes of the data are healthy, sick"
    ):
        box.ask(GRAPHS, ("healthy", "sick"))


def test_ask_takes_a_batch_of_edge_vectors() -> None:
    with pytest.raises(InputError, match=r"takes edge vectors \(batch, pairs\), not an array of shape \(21,\)"):
        cg.Oracle(by_matrix).ask(GRAPHS[0])
    with pytest.raises(InputError, match=r"but this is one adjacency matrix \(7, 7\): take its upper triangle"):
        cg.Oracle(by_matrix).ask(to_adjacency(GRAPHS[0]))
    assert cg.Oracle(by_matrix).ask(GRAPHS[:0]).tolist() == []


def test_integers_that_are_a_label_and_the_name_of_another_class(cohort: cg.GraphDataset) -> None:
    coded = cg.GraphDataset(cohort.edges, cohort.labels, classes=("1", "2"))
    by_label = LogisticRegression().fit(cohort.edges, cohort.labels)
    by_name = LogisticRegression().fit(cohort.edges, cohort.labels + 1)
    for classifier in (by_label, by_name):
        labels = [each.original_label for each in cg.find_counterfactuals(classifier, coded, "ofs+obs")]
        assert labels == by_label.predict(cohort.edges).tolist()
    scored = cg.Oracle(by_name).classify_with_scores(coded.edges, coded.classes)
    assert (scored.columns.tolist(), scored.labels.tolist()) == ([0, 1], by_label.predict(cohort.edges).tolist())
    swapped = cg.GraphDataset(cohort.edges, cohort.labels, classes=("1", "0"))
    with pytest.raises(AnswerError, match="may be the label or the name of a class .0 is '1', 1 is '0'."):
        cg.find_counterfactuals(by_label, swapped)
    explicit = cg.Oracle(LogisticRegression().fit(cohort.edges, 1 - cohort.labels), classes={0: "0", 1: "1"})
    assert (explicit.ask(swapped.edges, swapped.classes) == swapped.labels).mean() > 0.9
    plain = cg.GraphDataset(cohort.edges, cohort.labels, classes=("0", "1"))
    assert cg.find_counterfactuals(by_label, plain).found
