"""Certificates: every claim of a certificate is correct."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

import countergraph as cg
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.linear_form import linear_form
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import InputError
from countergraph.graphs.pairs import to_adjacency
from countergraph.proofs.optimum import white_box
from countergraph.results.certificate import Certificate
from tests.conftest import random_graphs
from tests.test_constraints import small_data


def brute_force(box: Any, graph: np.ndarray) -> int:
    own = box(to_adjacency(graph)[None])[0]
    for size in range(1, graph.size + 1):
        for flips in combinations(range(graph.size), size):
            changed = graph.copy()
            changed[list(flips)] ^= True
            if box(to_adjacency(changed)[None])[0] != own:
                return size
    return graph.size + 1


def is_minimal(box: Any, result: cg.Counterfactual) -> bool:
    """Check whether no single change can be left out."""
    assert result.flips is not None
    for i in range(result.flips.size):
        changed = result.original.copy()
        changed[np.delete(result.flips, i)] ^= True
        if box(to_adjacency(changed)[None])[0] != result.original_label:
            return False
    return True


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    method=st.sampled_from(cg.list_methods()),
    only=st.sampled_from([None, "added"]),
    max_calls=st.sampled_from([10, 100, 2000]),
)
def test_certificates_of_searches_are_correct(seed: int, method: str, only: Any, max_calls: int) -> None:
    data, box = small_data(seed, 2)
    constraints = cg.Constraints(only=only)
    for result in cg.find_counterfactuals(box, data, method, constraints=constraints, max_calls=max_calls).found[:3]:
        certificate, optimum = result.certificate, brute_force(box, result.original)
        assert certificate.calls == 0
        assert is_minimal(box, result) or not certificate.minimal
        assert certificate.radius < optimum
        assert certificate.optimal <= (result.distance == optimum)
        assert not (only and (certificate.radius or certificate.optimal)), (
            "candidates outside the constraints are not classified"
        )
        if result.distance == 1 and not only:
            assert certificate.proof == "optimal"
        if method == "learned" and max_calls == 2000 and not only and optimum <= 3:
            assert certificate.proof == "optimal", "all closer candidates were classified"
        assert result.sentence.endswith(certificate.sentence)


def test_backward_searches_prove_minimality(cohort: cg.GraphDataset) -> None:
    rule = LinearRule([[0, 1, 2, 3, 4, 5, 6, 7]], [1.0], -9.0, cohort.n_rois)
    for method in ("ofs+obs", "bisect+ddmin", "dfs+lbs"):
        results = cg.find_counterfactuals(rule, cohort, method).found
        assert results
        assert {each.certificate.proof for each in results} <= {"1-minimal", "optimal"}
    assert "No single change can be left out." in max(results, key=lambda each: each.distance or 0).sentence
    unconfirmed = cg.find_counterfactuals(rule, cohort, "ofs+obs", confirm=False).found
    assert {each.certificate.proof for each in unconfirmed} == {"nothing"}, "without confirmation there is no proof"


def test_inconsistent_answers_prove_nothing(cohort: cg.GraphDataset) -> None:
    rule = LinearRule([[0, 1, 2, 3, 4, 5, 6, 7]], [1.0], -9.0, cohort.n_rois)
    n_calls: dict[bytes, int] = {}

    def wrong_second_time(edges: np.ndarray) -> np.ndarray:
        """Return the wrong class when a graph is classified for the second time."""
        labels = np.asarray(rule.predict(edges))
        for row, each in enumerate(edges):
            times = n_calls[each.tobytes()] = n_calls.get(each.tobytes(), 0) + 1
            labels[row] = 1 - labels[row] if times == 2 else labels[row]
        return labels

    results = cg.find_counterfactuals(cg.Oracle(wrong_second_time, input="edges"), cohort, "ofs+obs")
    assert results.found
    assert {each.certificate.proof for each in results} == {"nothing"}


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), radius=st.integers(0, 2))
def test_certificates_of_certify_are_correct(seed: int, radius: int) -> None:
    data, box = small_data(seed, 2)
    oracle = cg.Oracle(box)
    found = cg.find_counterfactuals(oracle, data, "ofs", k=2).found
    for result in found[:3]:
        before = oracle.asked
        proven = cg.certify(oracle, result, radius)
        certificate = proven.certificate
        assert certificate.calls == oracle.asked - before
        optimum = brute_force(box, result.original)
        assert (proven.distance or 0) >= optimum
        assert certificate.radius < optimum
        if certificate.optimal:
            assert proven.distance == optimum
        assert certificate.minimal == is_minimal(box, proven)
        assert proven.sentence.endswith(certificate.sentence)
        if optimum <= radius:
            assert certificate.proof == "optimal"


def test_certify_finds_the_optimum_of_a_linear_model_with_three_calls(cohort: cg.GraphDataset, model: cg.Model) -> None:
    farther = 0
    for result in cg.find_counterfactuals(model, cohort, "dfs").found:
        proven, optimum = cg.certify(model, result), cg.optimal_counterfactual(model, result.original)
        assert proven.certificate.proof == optimum.certificate.proof == "optimal"
        assert proven.certificate.calls == 3
        assert proven.distance == optimum.distance
        if result.distance == optimum.distance:
            assert proven.flips is result.flips
        farther += result.distance != optimum.distance
    assert farther, "some results of the search are not optimal"
    assert optimum.sentence.startswith("The graph is classified as ")
    assert ", the graph would have been classified as " in optimum.sentence
    assert {"TD", "ASD"} <= set(optimum.sentence.replace(".", "").split())


class OwnThreshold(LogisticRegression):  # type: ignore[misc]
    """Linear classifier with its own threshold."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] > 0.2).astype(int)])


class OwnScore(LinearSVC):  # type: ignore[misc]
    """Linear classifier with its own decision function."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(super().decision_function(X) - 0.5)


class Inverted(Pipeline):  # type: ignore[misc]
    """Pipeline that returns the opposite of the prediction of its steps."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(1 - super().predict(X))


def replaced_predict() -> LinearSVC:
    model = LinearSVC()
    model.predict = lambda X: (model.decision_function(X) > 0.5).astype(int)
    return model


@pytest.mark.parametrize(
    "make", [OwnThreshold, OwnScore, replaced_predict, lambda: Inverted([("only", LogisticRegression())])]
)
def test_classifiers_with_own_prediction_are_not_treated_as_linear(
    cohort: cg.GraphDataset, make: Callable[[], BaseEstimator]
) -> None:
    classifier = make().fit(cohort.edges, cohort.labels)
    assert linear_form(classifier) is None
    assert linear_form(make_pipeline(StandardScaler(), classifier)) is None
    for result in cg.find_counterfactuals(classifier, cohort.subset(range(6))).found:
        proven = cg.certify(classifier, result)
        assert proven.distance == result.distance
        assert proven.certificate.proof != "optimal" or proven.distance == 1
    plain = LogisticRegression().fit(cohort.edges, cohort.labels)
    assert white_box(cg.Oracle(plain)) is plain
    assert white_box(cg.Oracle(plain, input="adjacency")) is None


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e9])
def test_optimum_does_not_depend_on_the_scale_of_the_weights(cohort: cg.GraphDataset, scale: float) -> None:
    plain = LogisticRegression().fit(cohort.edges, cohort.labels)
    scaled = LogisticRegression().fit(cohort.edges, cohort.labels)
    scaled.coef_, scaled.intercept_ = scale * plain.coef_, scale * plain.intercept_
    for graph in cohort.edges:
        before, after = (cg.optimal_counterfactual(each, graph) for each in (plain, scaled))
        assert before.distance == after.distance
        assert before.original_label == after.original_label == plain.predict(graph[None])[0]


AFFINE_STEPS = {
    "scaled": [StandardScaler()],
    "not centred": [StandardScaler(with_mean=False)],
    "only centred": [StandardScaler(with_std=False)],
    "robust": [RobustScaler()],
    "largest": [MaxAbsScaler()],
    "range": [MinMaxScaler((-1, 1))],
    "components": [PCA(8)],
    "whitened": [StandardScaler(), PCA(8, whiten=True)],
    "whitened, without variance": [PCA(whiten=True)],
    "singular vectors": [TruncatedSVD(8)],
    "selected": [VarianceThreshold(0.05), SelectKBest(k=20), StandardScaler()],
    "passthrough": ["passthrough", StandardScaler()],
}


@pytest.mark.parametrize("name", AFFINE_STEPS)
def test_pipeline_of_affine_steps_and_linear_classifier_is_linear(cohort: cg.GraphDataset, name: str) -> None:
    pipeline = make_pipeline(*map(clone_step, AFFINE_STEPS[name]), LogisticRegression())
    pipeline.fit(cohort.edges, cohort.labels)
    rule = linear_form(pipeline)
    assert rule is not None
    scores = cohort.edges @ rule.coef_[0] + rule.intercept_[0]
    assert scores == pytest.approx(pipeline.decision_function(cohort.edges), abs=1e-9)
    for graph in cohort.edges[:5]:
        optimum = cg.optimal_counterfactual(pipeline, graph)
        assert optimum.edges is not None
        assert pipeline.predict(optimum.edges[None])[0] != pipeline.predict(graph[None])[0]


def clone_step(step: BaseEstimator | str) -> BaseEstimator | str:
    return step if isinstance(step, str) else clone(step)


@pytest.mark.parametrize(
    "steps", [[Normalizer()], [MinMaxScaler(clip=True)], [QuantileTransformer(n_quantiles=5)], [KBinsDiscretizer(3)]]
)
def test_pipeline_with_a_step_that_is_not_affine_is_not_linear(
    cohort: cg.GraphDataset, steps: list[BaseEstimator]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(*steps, LogisticRegression()).fit(cohort.edges.astype(float), cohort.labels)
    assert linear_form(pipeline) is None
    nonlinear = make_pipeline(StandardScaler(), SVC(kernel="rbf")).fit(cohort.edges, cohort.labels)
    assert linear_form(nonlinear) is None


def test_invalid_arguments_of_certify_raise(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), dataset=cohort)
    for constant in (0, 1):  # the class of the graph, and the class of the counterfactual
        with pytest.raises(InputError, match="does not change its answer"):
            cg.certify(lambda a, constant=constant: np.full(len(a), constant), result)
    with pytest.raises(InputError, match="certify takes one Counterfactual, not Counterfactuals"):
        cg.certify(model, cg.Counterfactuals([result]))
    [nothing] = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([0]), "ofs", max_calls=3)
    with pytest.raises(InputError, match="certify takes a counterfactual, but this search found none"):
        cg.certify(model, nothing)
    limited = cg.find_counterfactuals(model, cohort, "ofs", constraints=cg.Constraints(keep_connected=True)).found[0]
    with pytest.raises(InputError, match="cannot be proven for a counterfactual under constraints; use radius=0"):
        cg.certify(model, limited, 1)
    assert not cg.certify(model, limited).certificate.optimal
    forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    far = max(cg.find_counterfactuals(forest, cohort, "ofs").found, key=lambda each: each.distance or 0)
    with pytest.raises(InputError, match="a radius of 6 .* takes more than 10,000,000 calls; use a smaller radius"):
        cg.certify(forest, far, 6)


def test_one_wrong_answer_raises(cohort: cg.GraphDataset) -> None:
    forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    far = max(cg.find_counterfactuals(forest, cohort).found, key=lambda each: each.distance or 0)
    assert (far.distance or 0) > 2
    n_calls = 0

    def one_wrong_answer(edges: np.ndarray) -> np.ndarray:
        nonlocal n_calls
        answers = forest.predict(edges)
        wrong = 20 - n_calls
        n_calls += len(edges)
        if 0 <= wrong < len(edges):
            answers[wrong] = 1 - answers[wrong]
        return answers

    with pytest.raises(InputError, match="gives different answers to the same graph"):
        cg.certify(cg.Oracle(one_wrong_answer, input="edges"), far, radius=1)


def test_certificate_with_a_target_names_it() -> None:
    data = cg.GraphDataset(random_graphs(9, 6, seed=5), [0, 1, 2] * 3, classes=("TD", "ASD", "ADHD"))

    def three_densities(edges: np.ndarray) -> np.ndarray:
        return np.clip(edges.sum(axis=1) // 4, 0, 2)

    oracle = cg.Oracle(three_densities, input="edges")
    found = cg.find_counterfactuals(oracle, data, target="ADHD").found
    far = max(found, key=lambda each: each.distance or 0)
    proven = cg.certify(oracle, far, (far.distance or 0) - 1)
    assert proven.sentence.endswith("No counterfactual that is classified as ADHD has fewer changes.")
    some = cg.certify(oracle, far, 1)
    assert "There is no counterfactual that is classified as ADHD with 1 change." in some.sentence


def test_linear_classifier_without_intercept(cohort: cg.GraphDataset) -> None:
    ridge = make_pipeline(ContrastSubgraphs(), RidgeClassifier(fit_intercept=False))
    ridge.fit(cohort.edges, cohort.labels)
    for result in cg.find_counterfactuals(ridge, cohort, "ofs").found[:2]:
        assert cg.certify(ridge, result).certificate.optimal


def test_certify_uses_the_certificate_of_the_search() -> None:
    data = cg.GraphDataset(random_graphs(30, 10, seed=5), np.arange(30) % 2)
    oracle = cg.Oracle(lambda edges: (edges[:, :5].sum(1) * edges[:, 5:10].sum(1) >= 4).astype(int), input="edges")
    results = cg.find_counterfactuals(oracle, data)
    far = [each for each in results.found if each.certificate.optimal and each.certificate.radius]
    assert far, "for some results, all closer candidates were classified"
    for result in far:
        assert cg.certify(oracle, result).certificate == replace(result.certificate, calls=2)
    [one] = [each for each in cg.find_counterfactuals(oracle, data, "ofs+obs").found if each.distance == 2][:1]
    assert cg.certify(oracle, one).certificate == Certificate(True, 0, False, 2)
