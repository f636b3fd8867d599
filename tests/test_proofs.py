"""What is proven about a counterfactual is true, and nothing else is said to be proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
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
    """Tell whether no single change can be left out."""
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
def test_what_the_answers_to_a_search_prove_is_true(seed: int, method: str, only: Any, max_calls: int) -> None:
    data, box = small_data(seed, 2)
    constraints = cg.Constraints(only=only)
    for result in cg.find_counterfactuals(box, data, method, constraints=constraints, max_calls=max_calls).found[:3]:
        certificate, optimum = result.certificate, brute_force(box, result.original)
        assert certificate.calls == 0
        assert is_minimal(box, result) or not certificate.minimal
        assert certificate.radius < optimum
        assert certificate.optimal <= (result.distance == optimum)
        assert not (only and (certificate.radius or certificate.optimal)), "of what is forbidden nothing was asked"
        if result.distance == 1 and not only:
            assert certificate.proof == "optimal"
        if method == "learned" and max_calls == 2000 and not only and optimum <= 3:
            assert certificate.proof == "optimal", "everything closer was asked"
        assert result.sentence.endswith(certificate.sentence)


def test_searches_prove_what_they_tried_to_leave_out(cohort: cg.GraphDataset) -> None:
    rule = LinearRule([[0, 1, 2, 3, 4, 5, 6, 7]], [1.0], -9.0, cohort.n_rois)
    for method in ("ofs+obs", "bisect+ddmin", "dfs+lbs"):
        results = cg.find_counterfactuals(rule, cohort, method).found
        assert results
        assert {each.certificate.proof for each in results} <= {"1-minimal", "optimal"}
    assert "No single change can be left out." in max(results, key=lambda each: each.distance or 0).sentence
    unsure = cg.find_counterfactuals(rule, cohort, "ofs+obs", confirm=False).found
    assert {each.certificate.proof for each in unsure} == {"nothing"}, "what is not confirmed is not proven"


def test_a_black_box_that_contradicts_itself_proves_nothing(cohort: cg.GraphDataset) -> None:
    rule = LinearRule([[0, 1, 2, 3, 4, 5, 6, 7]], [1.0], -9.0, cohort.n_rois)
    asked: dict[bytes, int] = {}

    def fickle(edges: np.ndarray) -> np.ndarray:
        """Answer rightly at first, wrongly the second time, and rightly from then on."""
        labels = np.asarray(rule.predict(edges))
        for row, each in enumerate(edges):
            times = asked[each.tobytes()] = asked.get(each.tobytes(), 0) + 1
            labels[row] = 1 - labels[row] if times == 2 else labels[row]
        return labels

    results = cg.find_counterfactuals(cg.Oracle(fickle, input="edges"), cohort, "ofs+obs")
    assert results.found
    assert {each.certificate.proof for each in results} == {"nothing"}


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), radius=st.integers(0, 2))
def test_certificates_are_true(seed: int, radius: int) -> None:
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


def test_a_linear_box_proves_the_optimum_for_nothing(cohort: cg.GraphDataset, model: cg.Model) -> None:
    farther = 0
    for result in cg.find_counterfactuals(model, cohort, "dfs").found:
        proven, optimum = cg.certify(model, result), cg.optimal_counterfactual(model, result.original)
        assert proven.certificate.proof == optimum.certificate.proof == "optimal"
        assert proven.certificate.calls == 3
        assert proven.distance == optimum.distance
        if result.distance == optimum.distance:
            assert proven.flips is result.flips
        farther += result.distance != optimum.distance
    assert farther, "so that there was something to find"
    assert optimum.sentence.startswith("The graph is classified as ")
    assert ", the graph would have been classified as " in optimum.sentence
    assert {"TD", "ASD"} <= set(optimum.sentence.replace(".", "").split())


class Cautious(LogisticRegression):  # type: ignore[misc]
    """Linear, but for its threshold."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] > 0.2).astype(int)])


class Shifted(LinearSVC):  # type: ignore[misc]
    """Linear, but for a score of its own."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(super().decision_function(X) - 0.5)


class Averse(Pipeline):  # type: ignore[misc]
    """Says the opposite of what its steps say."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(1 - super().predict(X))


def patched() -> LinearSVC:
    model = LinearSVC()
    model.predict = lambda X: (model.decision_function(X) > 0.5).astype(int)
    return model


@pytest.mark.parametrize("make", [Cautious, Shifted, patched, lambda: Averse([("only", LogisticRegression())])])
def test_what_decides_in_its_own_way_is_not_taken_for_linear(
    cohort: cg.GraphDataset, make: Callable[[], BaseEstimator]
) -> None:
    cautious = make().fit(cohort.edges, cohort.labels)
    assert linear_form(cautious) is None
    assert linear_form(make_pipeline(StandardScaler(), cautious)) is None
    for result in cg.find_counterfactuals(cautious, cohort.subset(range(6))).found:
        proven = cg.certify(cautious, result)
        assert proven.distance == result.distance
        assert proven.certificate.proof != "optimal" or proven.distance == 1
    plain = LogisticRegression().fit(cohort.edges, cohort.labels)
    assert white_box(cg.Oracle(plain)) is plain
    assert white_box(cg.Oracle(plain, input="adjacency")) is None


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e9])
def test_the_optimum_does_not_depend_on_the_unit_of_the_weights(cohort: cg.GraphDataset, scale: float) -> None:
    plain = LogisticRegression().fit(cohort.edges, cohort.labels)
    scaled = LogisticRegression().fit(cohort.edges, cohort.labels)
    scaled.coef_, scaled.intercept_ = scale * plain.coef_, scale * plain.intercept_
    for graph in cohort.edges:
        before, after = (cg.optimal_counterfactual(each, graph) for each in (plain, scaled))
        assert before.distance == after.distance
        assert before.original_label == after.original_label == plain.predict(graph[None])[0]


@pytest.mark.parametrize("scaler", [StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)])
def test_a_scaled_linear_classifier_is_linear(cohort: cg.GraphDataset, scaler: StandardScaler) -> None:
    pipeline = make_pipeline(scaler, LogisticRegression()).fit(cohort.edges, cohort.labels)
    rule = linear_form(pipeline)
    assert rule is not None
    scores = cohort.edges @ rule.coef_[0] + rule.intercept_[0]
    assert scores == pytest.approx(pipeline.decision_function(cohort.edges))
    for graph in cohort.edges[:5]:
        optimum = cg.optimal_counterfactual(pipeline, graph)
        assert optimum.edges is not None
        assert pipeline.predict(optimum.edges[None])[0] != pipeline.predict(graph[None])[0]
    curved = make_pipeline(scaler, SVC(kernel="rbf")).fit(cohort.edges, cohort.labels)
    assert linear_form(curved) is None


def test_what_was_said_in_moves_stays_so(cohort: cg.GraphDataset, model: cg.Model) -> None:
    said = [each for each in cg.find_counterfactuals(model, cohort, "moves").found if each.moves]
    assert said
    for each in said:
        proven = cg.certify(model, each)
        assert proven.moves == each.moves
        assert proven.flips is each.flips
        optimum = cg.optimal_counterfactual(model, each.original)
        assert (proven.certificate.proof == "optimal") == (optimum.distance == each.distance)


def test_what_cannot_be_proven_is_refused(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [person] = cg.find_counterfactuals(model, cohort.subset([3]), dataset=cohort)
    for constant in (0, 1):  # one says what the graph is, the other what the counterfactual is
        with pytest.raises(InputError, match="does not change its answer"):
            cg.certify(lambda a, constant=constant: np.full(len(a), constant), person)
    with pytest.raises(InputError, match="about one Counterfactual, not about a Counterfactuals"):
        cg.certify(model, cg.Counterfactuals([person]))
    [whole] = cg.find_counterfactuals(model, cohort.subset([3]), "moves", dataset=cohort)
    closer = cg.certify(model, whole, 1)
    assert bool(closer.moves) == (closer.distance == whole.distance)
    [nothing] = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([0]), "ofs", max_calls=3)
    with pytest.raises(InputError, match="no counterfactual to prove"):
        cg.certify(model, nothing)
    limited = cg.find_counterfactuals(model, cohort, "ofs", constraints=cg.Constraints(keep_connected=True)).found[0]
    with pytest.raises(InputError, match="not for one under constraints"):
        cg.certify(model, limited, 1)
    assert not cg.certify(model, limited).certificate.optimal
    forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    far = max(cg.find_counterfactuals(forest, cohort, "ofs").found, key=lambda each: each.distance or 0)
    with pytest.raises(InputError, match="takes more than 10,000,000 questions"):
        cg.certify(forest, far, 6)


def test_one_wrong_answer_proves_nothing(cohort: cg.GraphDataset) -> None:
    forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    far = max(cg.find_counterfactuals(forest, cohort).found, key=lambda each: each.distance or 0)
    assert (far.distance or 0) > 2
    asked = 0

    def errs_once(edges: np.ndarray) -> np.ndarray:
        nonlocal asked
        answers = forest.predict(edges)
        wrong = 20 - asked
        asked += len(edges)
        if 0 <= wrong < len(edges):
            answers[wrong] = 1 - answers[wrong]
        return answers

    with pytest.raises(InputError, match="the same question in two ways, so nothing is proven"):
        cg.certify(cg.Oracle(errs_once, input="edges"), far, radius=1)


def test_a_proof_for_a_target_speaks_of_it() -> None:
    data = cg.GraphDataset(random_graphs(9, 6, seed=5), [0, 1, 2] * 3, classes=("TD", "ASD", "ADHD"))

    def edges_in_thirds(edges: np.ndarray) -> np.ndarray:
        return np.clip(edges.sum(axis=1) // 4, 0, 2)

    thirds = cg.Oracle(edges_in_thirds, input="edges")
    sought = cg.find_counterfactuals(thirds, data, target="ADHD").found
    far = max(sought, key=lambda each: each.distance or 0)
    proven = cg.certify(thirds, far, (far.distance or 0) - 1)
    assert proven.sentence.endswith("No counterfactual that is classified as ADHD has fewer changes.")
    some = cg.certify(thirds, far, 1)
    assert "There is no counterfactual that is classified as ADHD with 1 change." in some.sentence


def test_a_linear_classifier_may_have_no_intercept(cohort: cg.GraphDataset) -> None:
    ridge = make_pipeline(ContrastSubgraphs(), RidgeClassifier(fit_intercept=False))
    ridge.fit(cohort.edges, cohort.labels)
    for result in cg.find_counterfactuals(ridge, cohort, "ofs").found[:2]:
        assert cg.certify(ridge, result).certificate.optimal


def test_what_the_search_proved_is_kept_and_not_asked_again() -> None:
    data = cg.GraphDataset(random_graphs(30, 10, seed=5), np.arange(30) % 2)
    oracle = cg.Oracle(lambda edges: (edges[:, :5].sum(1) * edges[:, 5:10].sum(1) >= 4).astype(int), input="edges")
    results = cg.find_counterfactuals(oracle, data)
    far = [each for each in results.found if each.certificate.optimal and each.certificate.radius]
    assert far, "some are proven to be the closest by asking everything closer"
    for result in far:
        assert cg.certify(oracle, result).certificate == replace(result.certificate, calls=2)
    [one] = [each for each in cg.find_counterfactuals(oracle, data, "ofs+obs").found if each.distance == 2][:1]
    assert cg.certify(oracle, one).certificate == Certificate(True, 0, False, 2)
