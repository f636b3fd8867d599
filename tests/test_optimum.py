from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import countergraph as cg
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.errors import InputError
from tests.conftest import random_graphs

vertex_sets = st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=5, unique=True), min_size=1, max_size=3)


@given(st.data(), vertex_sets, st.lists(st.booleans(), min_size=10, max_size=10))
def test_optimum_equals_brute_force(data: st.DataObject, sets: list[list[int]], bits: list[bool]) -> None:
    numbers = st.floats(-2, 2).map(lambda x: round(x, 2))
    weights = data.draw(st.lists(numbers, min_size=len(sets), max_size=len(sets)))
    rule = LinearRule(sets, weights, data.draw(numbers), n_rois=5)
    graph = np.array(bits)
    own = rule.predict(graph[None])[0]
    result = cg.optimal_counterfactual(rule, graph)

    def flips_the_class(pairs: tuple[int, ...]) -> bool:
        changed = graph.copy()
        changed[list(pairs)] ^= True
        return bool(rule.predict(changed[None])[0] != own)

    best = next((d for d in range(1, 11) if any(map(flips_the_class, combinations(range(10), d)))), None)
    assert result.distance == best
    if result.edges is not None:
        assert rule.predict(result.edges[None])[0] == result.counterfactual_label != own


@pytest.mark.parametrize("box", [LinearSVC(), SVC(kernel="linear"), LogisticRegression(), RidgeClassifier()], ids=repr)
def test_linear_classifiers_of_scikit_learn(box) -> None:
    graphs = random_graphs(40, 8, seed=1)
    labels = np.where(graphs[:, :9].sum(axis=1) > 2, "ill", "fit")
    box.fit(graphs, labels)
    for graph in graphs[:10]:
        optimum = cg.optimal_counterfactual(box, graph)
        assert optimum.edges is not None
        assert optimum.distance is not None
        assert box.predict(graph[None])[0] == optimum.original_label
        assert box.predict(optimum.edges[None])[0] == optimum.counterfactual_label != optimum.original_label
        found = cg.find_counterfactual(box, graph)
        assert found.distance is not None
        assert found.distance >= optimum.distance


def test_optimum_of_a_trained_model(cohort: cg.GraphDataset, model: cg.Model) -> None:
    for graph in cohort.edges[:6]:
        optimum = cg.optimal_counterfactual(model, graph)
        assert optimum.edges is not None
        assert model.predict(optimum.edges[None])[0] != model.predict(graph[None])[0]


def test_constant_rule_has_no_counterfactual() -> None:
    result = cg.optimal_counterfactual(LinearRule([[0, 1]], [0.1], 5.0, n_rois=4), np.zeros(6))
    assert not result.found
    assert result.sentence == "The graph is classified as class 1. No counterfactual was found: there is none."


def test_projection_is_orthogonal_and_on_the_decision_boundary() -> None:
    rule = LinearRule([[0, 1], [2, 3]], [-0.18, 0.043], 3.28, n_rois=5)
    points = np.array([[10.0, 4.0], [30.0, 20.0]])
    projected = rule.project(points)
    slope, offset = 0.18 / 0.043, -3.28 / 0.043
    x = (points[:, 0] + slope * points[:, 1] - slope * offset) / (slope**2 + 1)
    assert np.allclose(projected, np.stack([x, slope * x + offset], axis=1)), "the formula of the paper, section 4.3"
    assert np.allclose(projected @ rule.weights + rule.intercept, 0)


@pytest.mark.parametrize(
    ("cohort_name", "percentiles", "mean"),
    [("asd", [2, 4, 7, 11, 15], 8.198), ("adhd", [8, 20, 40, 62, 87.1], 44.75)],
)
def test_published_rules(
    cohort_name: str, percentiles: list[float], mean: float, real_data: Path, request: pytest.FixtureRequest
) -> None:
    data = request.getfixturevalue(cohort_name)
    rule = load_published_rule(cohort_name, root=real_data)
    distances = [cg.optimal_counterfactual(rule, graph).distance for graph in data.edges]
    assert np.percentile(distances, [10, 25, 50, 75, 90]) == pytest.approx(percentiles)
    assert np.mean(distances) == pytest.approx(mean, abs=0.001)


def test_invalid_arguments_raise() -> None:
    graphs = random_graphs(20, 5, seed=0)
    box = KNeighborsClassifier().fit(graphs, np.arange(20) % 2)
    with pytest.raises(InputError, match="known only for two-class classifiers that are linear in the edges"):
        cg.optimal_counterfactual(box, graphs[0])
    three = LogisticRegression().fit(graphs, np.arange(20) % 3)
    with pytest.raises(InputError, match="two-class"):
        cg.optimal_counterfactual(three, graphs[0])
    rule = LinearRule([[0, 1]], [1], 0, n_rois=4)
    with pytest.raises(InputError, match="the classifier has 6 pairs, but the graph has 10"):
        cg.optimal_counterfactual(rule, graphs[0])
    with pytest.raises(InputError, match="one entry for each vertex set; got 1 sets and 2 weights"):
        LinearRule([[0, 1]], [1, 2], 0, n_rois=4)
    with pytest.raises(InputError, match="ROI numbers from 0 to 3"):
        LinearRule([[0, 4]], [1], 0, n_rois=4)
    with pytest.raises(InputError, match="must be finite"):
        LinearRule([[0, 1]], [np.nan], 0, n_rois=4)


def test_rounding_errors_do_not_change_a_score_of_zero() -> None:
    """0.3 - 0.1 - 0.1 - 0.1 is not 0 in floating point; the rule treats it as 0."""
    rule = LinearRule([[1, 2, 3, 4], [0, 1, 3, 4]], [-0.1, 0.2], 0.0, 5)
    graph = np.array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0])
    own = rule.predict(graph[None].astype(bool))[0]
    singles = graph.astype(bool) ^ np.eye(10, dtype=bool)
    assert (rule.predict(singles) != own).any() == (cg.optimal_counterfactual(rule, graph).distance == 1)


def test_meta_estimators_are_not_treated_as_linear() -> None:
    from sklearn.model_selection import FixedThresholdClassifier

    graphs = random_graphs(30, 5, seed=0)
    inner = LogisticRegression().fit(graphs, graphs[:, 0])
    box = FixedThresholdClassifier(inner, threshold=0.95).fit(graphs, graphs[:, 0])
    with pytest.raises(InputError, match="linear in the edges"):
        cg.optimal_counterfactual(box, graphs[0])


def test_contrast_subgraphs_trained_on_class_names(cohort: cg.GraphDataset) -> None:
    from sklearn.pipeline import make_pipeline

    names = np.array(cohort.classes)[cohort.labels]
    box = make_pipeline(ContrastSubgraphs(), SVC(kernel="linear")).fit(cohort.edges, names)
    optimum = cg.optimal_counterfactual(box, cohort.edges[0])
    assert optimum.edges is not None
    assert optimum.original_label == box.predict(cohort.edges[:1])[0]
    assert optimum.counterfactual_label == box.predict(optimum.edges[None])[0] != optimum.original_label


def test_graphs_of_another_size_raise() -> None:
    with pytest.raises(ValueError, match="this rule is for graphs with 4 ROIs"):
        LinearRule([[0, 1]], [1.0], 0, n_rois=4).predict(random_graphs(2, 6, 0))
    with pytest.raises(InputError, match="must contain ROI numbers"):
        LinearRule([["a"]], [1.0], 0, n_rois=4)
