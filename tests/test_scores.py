"""Scores, when the black box offers them: what they cost, what they must not change, and what they win."""

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
from countergraph.search.learning.calibration import Calibration, log_odds
from tests.conftest import random_graphs


class Shares:
    """A linear black box with classes of any names; it counts what it is given."""

    def __init__(self, pairs: int, seed: int = 0, names: tuple[object, ...] = (0, 1)) -> None:
        rng = np.random.default_rng(seed)
        self.weights = rng.normal(size=(pairs, len(names)))
        self.classes_ = np.array(names)
        self.predicted = self.scored = 0

    def _powers(self, edges):
        return edges @ self.weights

    def predict(self, edges):
        self.predicted += len(edges)
        return self.classes_[self._powers(edges).argmax(axis=1)]

    def predict_proba(self, edges):
        self.scored += len(edges)
        powers = np.exp(self._powers(edges) - self._powers(edges).max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


@given(st.integers(0, 99), st.sampled_from([(0, 1), (1, 0), ("sick", "well"), (5, 3, 9)]))
@settings(max_examples=20)
def test_a_graph_is_one_call_and_its_class_is_what_predict_says(seed: int, names: tuple[object, ...]) -> None:
    graphs, box = random_graphs(6, 12, seed=seed), Shares(66, seed, names)
    oracle = cg.Oracle(box)
    results = cg.find_counterfactuals(oracle, graphs, "learned", scores=True, max_calls=200)
    assert results.calls == oracle.asked == box.predicted == box.scored
    for graph, result in zip(graphs, results, strict=True):
        assert result.original_class == box.predict(graph[None])[0]
        if result.edges is not None:
            assert result.counterfactual_class == box.predict(result.edges[None])[0] != result.original_class


@pytest.mark.parametrize("target", ["a", "b", "c"])
def test_the_score_is_that_of_the_target(target: str) -> None:
    graphs, box = random_graphs(8, 12, seed=3), Shares(66, 3, ("b", "c", "a"))
    for result in cg.find_counterfactuals(box, graphs, "learned", scores=True, target=target):
        assert result.counterfactual_class in (target, None)
        assert result.found or result.original_class == target


def test_scores_that_contradict_the_classes_are_only_a_hint() -> None:
    class Wrong(Shares):
        def predict_proba(self, edges):
            return super().predict_proba(edges)[:, ::-1]

    graphs, box = random_graphs(10, 12, seed=1), Wrong(66)
    results = cg.find_counterfactuals(box, graphs, "learned", scores=True)
    assert len(results.found) == len(graphs)
    changed = np.array([each.edges for each in results])
    assert (box.predict(changed) != [each.original_class for each in results]).all()


def test_what_is_remembered_is_not_computed_again() -> None:
    graphs, box = random_graphs(5, 8, seed=0), Shares(28)
    oracle = cg.Oracle(box, remember=True)
    first, second = oracle.classify_with_scores(graphs), oracle.classify_with_scores(graphs[::-1])
    assert (first.shares == second.shares[::-1]).all()
    assert (oracle.asked, box.predicted, box.scored) == (10, 5, 5)


def test_probabilities_of_other_classes_than_the_box_has_are_refused() -> None:
    box = Shares(28)
    box.classes_ = np.array([0, 1, 2])
    with pytest.raises(AnswerError, match="2 probabilities a graph for 3 classes_"):
        cg.Oracle(box).classify_with_scores(random_graphs(4, 8, seed=0))


def test_classes_that_no_probability_belongs_to_are_refused() -> None:
    class Nameless:
        def predict(self, edges: np.ndarray) -> list[str]:
            return ["many" if row.sum() > 15 else "few" for row in edges]

        def predict_proba(self, edges: np.ndarray) -> np.ndarray:
            return np.full((len(edges), 2), 0.5)

    with pytest.raises(AnswerError, match=r"columns of predict_proba are \[0, 1\]: set the classes_"):
        cg.find_counterfactuals(Nameless(), random_graphs(3, 9, seed=1), scores=True)


def test_what_cannot_be_is_refused() -> None:
    graphs = random_graphs(2, 8, seed=0)
    with pytest.raises(InputError, match=r"searches that learn, such as 'learned'; 'ofs\+obs' uses classes only"):
        cg.find_counterfactuals(Shares(28), graphs, "ofs+obs", scores=True)
    with pytest.raises(InputError, match="no method predict_proba"):
        cg.find_counterfactuals(lambda graphs: graphs[:, 0, 1], graphs, "learned", scores=True)


def test_scores_save_calls_and_lead_closer() -> None:
    graphs = random_graphs(60, 30, seed=2, density=0.2)
    labels = (graphs @ np.random.default_rng(0).normal(size=435) > 0).astype(int)
    box = LogisticRegression(max_iter=2000).fit(graphs, labels)
    by_class = cg.find_counterfactuals(box, graphs, "learned")
    by_score = cg.find_counterfactuals(box, graphs, "learned", scores=True)
    optimum = np.mean([cg.optimal_counterfactual(box, graph).distance for graph in graphs])
    assert by_score.calls < 0.8 * by_class.calls
    assert optimum <= np.mean([each.distance for each in by_score]) <= np.mean([each.distance for each in by_class])


def test_without_scores_nothing_says_so_and_with_them_the_result_does(cohort: cg.GraphDataset) -> None:
    box = KNeighborsClassifier(3).fit(cohort.edges, cohort.labels)
    graph = cohort.edges[0]
    assert "scores" not in cg.find_counterfactual(box, graph, "learned").parameters
    assert cg.find_counterfactual(box, graph, "learned", scores=True).parameters["scores"] is True


def test_the_calibration_finds_the_scale_and_knows_when_it_is_sure() -> None:
    calibration, rng = Calibration(), np.random.default_rng(0)
    assert calibration.guess(1.0) == 0
    for gap in rng.normal(size=2000):
        calibration.tell(gap, 7 * gap + 0.1 * rng.normal(), 1)
    assert calibration.guess(2.0) == pytest.approx(14, rel=0.01)
    assert calibration.surely_below(-10, -1, 1)
    assert not calibration.surely_below(-7.1, -1, 1)


@given(st.floats(0, 1), st.floats(0, 1))
def test_log_odds_keep_the_order(one: float, other: float) -> None:
    assert np.isfinite(log_odds(one))
    assert (log_odds(one) <= log_odds(other)) == (one <= other) or abs(log_odds(one)) > 11


def test_on_the_command_line(tmp_path) -> None:
    data = cg.make_cohort(30, seed=3)
    path = tmp_path / "model.cgm"
    cg.train(data, "raw-edges", classifier="logistic").save(path)
    data.save(tmp_path / "data.npz")
    command = ["explain", str(tmp_path / "data.npz"), str(path), "--subject", data.names[0], "--json"]
    done = CliRunner().invoke(app, [*command, "--method", "learned", "--scores"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)[0]["parameters"]["scores"] is True
    refused = CliRunner().invoke(app, [*command, "--method", "ofs+obs", "--scores"])
    assert "searches that learn" in str(refused.exception) + refused.output


def test_answers_that_mean_the_same_class_share_its_probability(cohort: cg.GraphDataset) -> None:
    three = np.arange(len(cohort)) % 3
    machine = LogisticRegression().fit(cohort.edges, three)
    oracle = cg.Oracle(machine, classes={0: "TD", 1: "ASD", 2: "ASD"})
    scored = oracle.classify_with_scores(cohort.edges, cohort.classes)
    assert scored.columns.tolist() == [0, 1]
    own = machine.predict_proba(cohort.edges)
    np.testing.assert_allclose(scored.shares, np.stack([own[:, 0], own[:, 1:].sum(axis=1)], axis=1))
