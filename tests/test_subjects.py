"""A black box can receive the subject of each graph, so that it can use confounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import BlackBoxError, InputError
from countergraph.store.fingerprint import fingerprint
from tests.conftest import random_graphs

EDGES = random_graphs(9, 10, seed=2, density=0.4)
EDGES[5] = EDGES[1]  # two subjects with the same graph and different thresholds
NAMES = [f"sub-{i:02d}" for i in range(9)]
THRESHOLDS = {name: 14 + 3 * (i % 3) for i, name in enumerate(NAMES)}
DATA = cg.GraphDataset(EDGES, np.arange(9) % 2, NAMES, ("TD", "ASD"))


class Box:
    """The threshold on the number of edges depends on the subject; all calls are recorded."""

    classes_ = np.array([0, 1])

    def __init__(self) -> None:
        self.calls: list[tuple[str, bytes]] = []

    def predict(self, edges: np.ndarray, subjects: np.ndarray) -> np.ndarray:
        assert len(edges) == len(subjects)
        self.calls += [(str(subject), row.tobytes()) for subject, row in zip(subjects, edges, strict=True)]
        return np.array([row.sum() > THRESHOLDS[subject] for row, subject in zip(edges, subjects, strict=True)], int)

    def predict_proba(self, edges: np.ndarray, subjects: np.ndarray) -> np.ndarray:
        excess = [row.sum() - THRESHOLDS[subject] - 0.5 for row, subject in zip(edges, subjects, strict=True)]
        positive = 1 / (1 + np.exp(-np.array(excess)))
        return np.column_stack([1 - positive, positive])


def check(results: cg.Counterfactuals) -> None:
    """Check that each counterfactual crosses the threshold of its own subject, by as few edges as possible."""
    assert results.found
    for result in results.found:
        threshold = THRESHOLDS[result.subject]
        assert result.original_label == int(result.original.sum() > threshold)
        assert result.edges is not None
        assert int(result.edges.sum() > threshold) == result.counterfactual_label != result.original_label


@pytest.mark.parametrize("method", ["ofs+obs", "dfs+dbs", "bisect+ddmin", "learned"])
@pytest.mark.parametrize("remember", [False, True])
def test_joint_runs_pass_the_subject_of_each_graph(method: str, remember: bool) -> None:
    box = Box()
    oracle = cg.Oracle(box, with_subjects=True, remember=remember, batch_size=4)
    results = cg.find_counterfactuals(oracle, DATA, method, runs=2)
    check(results)
    assert {subject for subject, _ in box.calls} == set(NAMES)
    labels = {result.subject: result.original_label for result in results}
    assert (labels["sub-01"], labels["sub-05"]) == (1, 0), "same graph, other threshold"


def test_scores_subsets_and_repeats() -> None:
    oracle = cg.Oracle(Box(), with_subjects=True, check_repeats=True)
    check(cg.find_counterfactuals(oracle, DATA, scores=True))
    check(cg.find_counterfactuals(oracle, DATA.subset(["sub-07", "sub-02"]), "ofs+obs", dataset=DATA))
    assert oracle.inconsistent == 0


def test_networkx_and_adjacency() -> None:
    def one(graph, subject: str) -> int:
        return int(graph.number_of_edges() > THRESHOLDS[subject])

    def many(matrices: np.ndarray, subjects: np.ndarray) -> list[int]:
        return [int(matrix.sum() / 2 > THRESHOLDS[subject]) for matrix, subject in zip(matrices, subjects, strict=True)]

    results = [
        cg.find_counterfactuals(cg.Oracle(each, input=kind, with_subjects=True), DATA, "ofs+obs", max_calls=60)
        for each, kind in ((one, "networkx"), (many, "adjacency"))
    ]
    check(results[0])
    assert [each.to_dict() for each in results[0]] == [each.to_dict() for each in results[1]]


def test_graphs_without_names_are_passed_by_position() -> None:
    seen = set()

    def box(edges: np.ndarray, subjects: np.ndarray) -> np.ndarray:
        seen.update(subjects.tolist())
        return (edges.sum(axis=1) > 14 + subjects).astype(int)

    oracle = cg.Oracle(box, input="edges", with_subjects=True)
    results = cg.find_counterfactuals(oracle, EDGES, "ofs+obs")
    assert seen == set(range(9))
    for index, result in enumerate(results.found):
        assert cg.certify(oracle, result).certificate.minimal, index
    assert oracle.ask(EDGES[3:5]).tolist() == (EDGES[3:5].sum(axis=1) > [14, 15]).astype(int).tolist()
    assert oracle.ask(EDGES[3:5], subjects=[3, 4]).tolist() == (EDGES[3:5].sum(axis=1) > [17, 18]).astype(int).tolist()


def test_certificates_use_the_subject() -> None:
    box = Box()
    oracle = cg.Oracle(box, with_subjects=True)
    for result in cg.find_counterfactuals(oracle, DATA, "ofs+obs").found:
        box.calls.clear()
        proven = cg.certify(oracle, result, radius=1)
        assert {subject for subject, _ in box.calls} == {result.subject}
        assert proven.certificate.minimal


def test_stores_and_reports_use_the_subject(store: cg.Store, tmp_path: Path) -> None:
    oracle = cg.Oracle(Box(), with_subjects=True)
    with pytest.raises(InputError, match="cannot be inspected"):
        cg.resume_counterfactuals(store, oracle, DATA)
    for method in ("ofs+obs", "learned"):
        results = cg.resume_counterfactuals(store, oracle, DATA, method, box="thresholds 1")
        check(results)
        fresh = cg.find_counterfactuals(cg.Oracle(Box(), with_subjects=True), DATA, method)
        assert [each.to_dict() for each in results] == [each.to_dict() for each in fresh]
    renamed = cg.GraphDataset(DATA.edges, DATA.labels, NAMES[::-1], DATA.classes)
    before = oracle.asked
    check(cg.resume_counterfactuals(store, oracle, renamed, "ofs+obs", box="thresholds 1"))
    assert oracle.asked > before, "the same graphs of other subjects are other searches"
    report = cg.make_report(oracle, DATA, runs=1, local_runs=3, subjects=2, store=store, box="thresholds 1")
    report.save(tmp_path / "report.html")
    check(report.results)
    for name in report.local:
        assert report.person(name).certificate.minimal


def test_the_fingerprint_tells_oracles_with_subjects_apart(model: cg.Model) -> None:
    assert fingerprint(cg.Oracle(model)) != fingerprint(cg.Oracle(model, with_subjects=True))


def test_a_black_box_without_a_second_argument_is_named() -> None:
    oracle = cg.Oracle(lambda edges: [0] * len(edges), input="edges", with_subjects=True)
    with pytest.raises(BlackBoxError, match="raised TypeError for a batch of 1, input='edges', with subjects: "):
        cg.find_counterfactuals(oracle, DATA)


def test_one_adjacency_matrix_is_refused() -> None:
    """A 21 x 21 matrix could also be 21 edge vectors of graphs with 7 ROIs."""
    rng = np.random.default_rng(0)
    matrix = np.triu(rng.random((21, 21)) < 0.5, 1)
    matrix = matrix | matrix.T
    oracle = cg.Oracle(lambda edges: [0] * len(edges), input="edges")
    with pytest.raises(InputError, match=r"but this is one adjacency matrix \(21, 21\): take its upper triangle"):
        oracle.ask(matrix)
    assert oracle.asked == 0
    assert len(oracle.ask(matrix[np.triu_indices(21, 1)][None])) == 1
    assert len(oracle.ask(random_graphs(21, 7, seed=0))) == 21


def test_a_graph_without_a_name_is_refused() -> None:
    oracle = cg.Oracle(Box(), with_subjects=True)
    for function in (cg.find_counterfactual, cg.find_diverse):
        with pytest.raises(InputError, match="needs the subject of the graph .* use find_counterfactuals or find_div"):
            function(oracle, EDGES[3])
    with pytest.raises(InputError, match="subjects must have one entry for each of the 3 graphs, not 1"):
        oracle.ask(EDGES[:3], subjects=["sub-01"])
    assert oracle.asked == 0 or oracle.computed == 0
