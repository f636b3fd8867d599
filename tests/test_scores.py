"""Scores (probabilities) of the black box: number of calls, unchanged classes, and better results."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import countergraph as cg
from countergraph.cli.app import app
from countergraph.errors import AnswerError, InputError
from countergraph.search.learned.state import log_odds
from tests.conftest import random_graphs


class ScoringBox:
    """A linear black box with probabilities and classes of any names; it counts the graphs that it classifies."""

    def __init__(self, n_pairs: int, seed: int = 0, names: tuple[object, ...] = (0, 1)) -> None:
        rng = np.random.default_rng(seed)
        self.weights = rng.normal(size=(n_pairs, len(names)))
        self.classes_ = np.array(names)
        self.predicted = self.scored = 0

    def _logits(self, edges):
        return edges @ self.weights

    def predict(self, edges):
        self.predicted += len(edges)
        return self.classes_[self._logits(edges).argmax(axis=1)]

    def predict_proba(self, edges):
        self.scored += len(edges)
        exponentials = np.exp(self._logits(edges) - self._logits(edges).max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)


@given(st.integers(0, 99), st.sampled_from([(0, 1), (1, 0), ("sick", "well"), (5, 3, 9)]))
@settings(max_examples=20)
def test_a_graph_is_one_call_and_its_class_is_that_of_predict(seed: int, names: tuple[object, ...]) -> None:
    graphs, box = random_graphs(6, 12, seed=seed), ScoringBox(66, seed, names)
    oracle = cg.Oracle(box)
    results = cg.find_counterfactuals(oracle, graphs, "learned", scores=True, max_calls=200)
    assert results.calls == oracle.asked == box.predicted == box.scored
    for graph, result in zip(graphs, results, strict=True):
        assert result.original_class == box.predict(graph[None])[0]
        if result.edges is not None:
            assert result.counterfactual_class == box.predict(result.edges[None])[0] != result.original_class


@pytest.mark.parametrize("target", ["a", "b", "c"])
def test_the_search_uses_the_score_of_the_target(target: str) -> None:
    graphs, box = random_graphs(8, 12, seed=3), ScoringBox(66, 3, ("b", "c", "a"))
    for result in cg.find_counterfactuals(box, graphs, "learned", scores=True, target=target):
        assert result.counterfactual_class in (target, None)
        assert result.found or result.original_class == target


def test_scores_that_contradict_the_classes_do_not_prevent_results() -> None:
    class ReversedScores(ScoringBox):
        def predict_proba(self, edges):
            return super().predict_proba(edges)[:, ::-1]

    graphs, box = random_graphs(10, 12, seed=1), ReversedScores(66)
    results = cg.find_counterfactuals(box, graphs, "learned", scores=True)
    assert len(results.found) == len(graphs)
    changed = np.array([each.edges for each in results])
    assert (box.predict(changed) != [each.original_class for each in results]).all()


def test_cached_scores_are_not_computed_again() -> None:
    graphs, box = random_graphs(5, 8, seed=0), ScoringBox(28)
    oracle = cg.Oracle(box, remember=True)
    first, second = oracle.classify_with_scores(graphs), oracle.classify_with_scores(graphs[::-1])
    assert (first.probabilities == second.probabilities[::-1]).all()
    assert (oracle.asked, box.predicted, box.scored) == (10, 5, 5)


def test_a_wrong_number_of_probabilities_is_an_error() -> None:
    box = ScoringBox(28)
    box.classes_ = np.array([0, 1, 2])
    with pytest.raises(AnswerError, match="predict_proba returned 2 probabilities per graph for 3 classes_"):
        cg.Oracle(box).classify_with_scores(random_graphs(4, 8, seed=0))


def test_a_class_without_a_probability_is_an_error() -> None:
    class WithoutClassNames:
        def predict(self, edges: np.ndarray) -> list[str]:
            return ["many" if row.sum() > 15 else "few" for row in edges]

        def predict_proba(self, edges: np.ndarray) -> np.ndarray:
            return np.full((len(edges), 2), 0.5)

    with pytest.raises(AnswerError, match=r"columns of predict_proba are \[0, 1\]: set classes_"):
        cg.find_counterfactuals(WithoutClassNames(), random_graphs(3, 9, seed=1), scores=True)


def test_scores_need_a_learned_method_and_predict_proba() -> None:
    graphs = random_graphs(2, 8, seed=0)
    with pytest.raises(InputError, match=r"methods that learn, such as 'learned'; 'ofs\+obs' uses classes only"):
        cg.find_counterfactuals(ScoringBox(28), graphs, "ofs+obs", scores=True)
    with pytest.raises(InputError, match="no method predict_proba"):
        cg.find_counterfactuals(lambda graphs: graphs[:, 0, 1], graphs, "learned", scores=True)


def test_scores_reduce_calls() -> None:
    graphs = random_graphs(60, 30, seed=2, density=0.2)
    labels = (graphs @ np.random.default_rng(0).normal(size=435) > 0).astype(int)
    box = LogisticRegression(max_iter=2000).fit(graphs, labels)
    by_class = cg.find_counterfactuals(box, graphs, "learned", effort="quick")
    by_score = cg.find_counterfactuals(box, graphs, "learned", effort="quick", scores=True)
    optimum = np.mean([cg.optimal_counterfactual(box, graph).distance for graph in graphs])
    assert by_score.calls < 0.8 * by_class.calls
    assert (
        optimum <= np.mean([each.distance for each in by_score]) <= 1.02 * np.mean([each.distance for each in by_class])
    )


def test_the_parameters_contain_scores_only_if_they_are_used(cohort: cg.GraphDataset) -> None:
    box = KNeighborsClassifier(3).fit(cohort.edges, cohort.labels)
    graph = cohort.edges[0]
    assert "scores" not in cg.find_counterfactual(box, graph, "learned").parameters
    assert cg.find_counterfactual(box, graph, "learned", scores=True).parameters["scores"] is True


@given(st.floats(0, 1), st.floats(0, 1))
def test_log_odds_are_monotonic_and_unknown_at_saturated_probabilities(one: float, other: float) -> None:
    first, second = log_odds(one), log_odds(other)
    assert (first is None) == (not 1e-5 < one < 1 - 1e-5)
    if first is not None and second is not None and one < other:
        assert first <= second


def test_scores_on_the_command_line(tmp_path) -> None:
    data = cg.make_cohort(30, seed=3)
    path = tmp_path / "model.cgm"
    cg.train(data, "raw-edges", classifier="logistic").save(path)
    data.save(tmp_path / "data.npz")
    command = [
        "explain",
        str(tmp_path / "data.npz"),
        str(path),
        "--subject",
        data.names[0],
        "--json",
        "--max-calls",
        "100",
    ]
    done = CliRunner().invoke(app, [*command, "--method", "learned", "--scores"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)[0]["parameters"]["scores"] is True
    refused = CliRunner().invoke(app, [*command, "--method", "ofs+obs", "--scores"])
    assert "methods that learn" in str(refused.exception) + refused.output


def test_probabilities_of_answers_with_the_same_class_are_added(cohort: cg.GraphDataset) -> None:
    three = np.arange(len(cohort)) % 3
    machine = LogisticRegression().fit(cohort.edges, three)
    oracle = cg.Oracle(machine, classes={0: "TD", 1: "ASD", 2: "ASD"})
    scored = oracle.classify_with_scores(cohort.edges, cohort.classes)
    assert scored.columns.tolist() == [0, 1]
    own = machine.predict_proba(cohort.edges)
    np.testing.assert_allclose(scored.probabilities, np.stack([own[:, 0], own[:, 1:].sum(axis=1)], axis=1))
