from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import countergraph as cg
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.dense_subset import local_search, semidefinite_bound, weight_inside
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import InputError
from tests.conftest import random_graphs


def random_weights(n: int, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).normal(-0.1, 1, (n, n)), 1)
    return upper + upper.T


@pytest.mark.parametrize("seed", range(6))
def test_small_problems_are_solved_exactly_and_bounded(seed: int) -> None:
    n = 9
    weights = random_weights(n, seed)
    subsets = [list(s) for size in range(n + 1) for s in combinations(range(n), size)]
    best = max(weights[np.ix_(s, s)].sum() / 2 for s in subsets)
    starts = np.random.default_rng(seed).random((40, n)) < 0.4
    found = local_search(weights, starts)
    assert weights[np.ix_(found, found)].sum() / 2 == pytest.approx(best)
    bound, _ = semidefinite_bound(weights, np.random.default_rng(0))
    assert bound >= best - 1e-9


def test_bound_agrees_with_another_solver() -> None:
    cp = pytest.importorskip("cvxpy")
    weights = random_weights(14, 3)
    bound, _ = semidefinite_bound(weights, np.random.default_rng(0))
    n = len(weights)
    lifted = cp.Variable((n + 1, n + 1), PSD=True)
    inside = cp.sum(
        cp.multiply(weights, 1 + lifted[1:, 1:] + cp.vstack([lifted[0, 1:]] * n) + cp.vstack([lifted[0, 1:]] * n).T)
    )
    problem = cp.Problem(cp.Maximize(inside / 8), [cp.diag(lifted) == 1])
    problem.solve(solver=cp.SCS, eps=1e-7)
    assert bound == pytest.approx(problem.value, rel=1e-3)


def test_local_search_returns_a_local_optimum() -> None:
    weights = random_weights(25, 1)
    members = np.zeros(25, dtype=bool)
    members[local_search(weights, np.random.default_rng(0).random((3, 25)) < 0.5)] = True
    value = weight_inside(weights, members)
    for i in range(25):
        for j in range(i, 25):
            other = members.copy()
            other[[i, j]] ^= True
            if i == j or members[i] != members[j]:
                assert weight_inside(weights, other) <= value + 1e-9


def test_transform_counts_edges_for_both_orders_of_the_classes() -> None:
    graphs, labels = random_graphs(30, 12, seed=1), np.arange(30) % 2
    embedding = ContrastSubgraphs(alpha=0.05).fit(graphs, labels)
    matrices = cg.GraphDataset(graphs, labels).adjacency
    for column, rois in enumerate(embedding.subgraphs_):
        inside = matrices[:, rois][:, :, rois].sum(axis=(1, 2)) / 2
        assert (embedding.transform(graphs)[:, column] == inside).all()
    swapped = ContrastSubgraphs(alpha=0.05).fit(graphs, 1 - labels)
    assert np.allclose(swapped.objective_, embedding.objective_[::-1])
    frequency = graphs[labels == 0].mean(axis=0) - graphs[labels == 1].mean(axis=0) - 0.05
    pairs = LinearRule([embedding.subgraphs_[0]], [1], 0, 12).coef_[0] > 0
    assert embedding.objective_[0] == pytest.approx(frequency[pairs].sum())
    assert (embedding.gap_ >= -1e-9).all()


def test_contrast_subgraphs_is_a_scikit_learn_transformer(cohort: cg.GraphDataset) -> None:
    embedding = ContrastSubgraphs(alpha=0.03, n_starts=5, random_state=2)
    copy = clone(embedding)
    assert copy.get_params() == {"alpha": 0.03, "n_starts": 5, "random_state": 2}
    pipeline = make_pipeline(embedding, SVC(kernel="linear")).fit(cohort.edges, cohort.labels)
    assert pipeline.score(cohort.edges, cohort.labels) > 0.8
    assert pipeline[:-1].get_feature_names_out().tolist() == ["contrastsubgraphs0", "contrastsubgraphs1"]
    again = clone(embedding).fit(cohort.edges, cohort.labels)
    assert [s.tolist() for s in again.subgraphs_] == [s.tolist() for s in pipeline[0].subgraphs_]
    names = np.array(cohort.classes)[cohort.labels]
    assert clone(embedding).fit(cohort.edges, names).classes_.tolist() == ["ASD", "TD"]


def test_invalid_arguments_raise(cohort: cg.GraphDataset) -> None:
    with pytest.raises(InputError, match="need exactly two classes, not 3; use another model, for example raw-edges"):
        ContrastSubgraphs().fit(cohort.edges, np.arange(24) % 3)
    with pytest.raises(ValueError, match="fit no number of ROIs"):
        ContrastSubgraphs().fit(cohort.edges[:, :-1], cohort.labels)
    with pytest.raises(InputError, match="n_starts must be an integer of at least 1"):
        ContrastSubgraphs(n_starts=0).fit(cohort.edges, cohort.labels)
    with pytest.raises(ValueError, match="features"):
        ContrastSubgraphs().fit(cohort.edges, cohort.labels).transform(random_graphs(2, 5, 0))


def test_published_sets_are_found_on_asd(asd: cg.GraphDataset, real_data: Path) -> None:
    rule = json.loads((real_data / "published_rules.json").read_text())["asd"]
    embedding = ContrastSubgraphs(alpha=0.025).fit(asd.edges, asd.labels)
    assert embedding.subgraphs_[0].tolist() == sorted(rule["td_asd"])
    assert embedding.subgraphs_[1].tolist() == sorted(rule["asd_td"])
    assert embedding.objective_ == pytest.approx([4.887, 5.958], abs=0.001)
    assert (embedding.upper_bound_ >= embedding.objective_).all()
    assert embedding.upper_bound_ == pytest.approx([6.3169, 7.2011], abs=0.001)


def test_sets_on_adhd_are_slightly_better_than_the_published_ones(adhd: cg.GraphDataset) -> None:
    embedding = ContrastSubgraphs(alpha=0.01).fit(adhd.edges, adhd.labels)
    assert embedding.objective_.round(4).tolist() == [9.2736, 6.9011]
    assert (embedding.upper_bound_ >= embedding.objective_).all()
