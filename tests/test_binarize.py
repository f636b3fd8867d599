from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import countergraph as cg
from countergraph.errors import InputError

WEIGHTS = np.array([[-0.9, 0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 0.0, 0.6, 0.6, 0.6, -0.7]])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("percentile:50", [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]]),
        ("absolute-percentile:80", [[1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 1, 1]]),
        ("threshold:0.3", [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]]),
        ("density:0.33", [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]]),
    ],
)
def test_rules_are_applied_to_each_subject_separately(rule: str, expected: list[list[int]]) -> None:
    assert cg.binarize(WEIGHTS, rule).astype(int).tolist() == expected
    assert cg.binarize(WEIGHTS[1], rule).astype(int).tolist() == expected[1]


def test_matrices_and_upper_triangles_give_the_same_graphs() -> None:
    matrices = np.random.default_rng(0).random((3, 12, 12))
    matrices += matrices.swapaxes(1, 2)
    triangles = np.array([each[np.triu_indices(12, 1)] for each in matrices])
    assert (cg.binarize(matrices, "density:0.2") == cg.binarize(triangles, "density:0.2")).all()
    assert (cg.binarize(matrices[0], "percentile:70") == cg.binarize(triangles[0], "percentile:70")).all()


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_density_is_exact_even_with_ties(seed: int, density: float) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, 45) / 4
    if (weights > 0).sum() < round(density * 45) < 45 and density < 1:
        with pytest.raises(InputError, match="keeps pairs with the lowest weight, 0, which several pairs share"):
            cg.binarize(weights, f"density:{density}")
    elif round(density * 45) in (0, 45):
        message = "keeps no pair: the resulting graph is empty"
        if round(density * 45) == 45:
            message = "keeps every pair: the resulting graph is complete"
        with pytest.raises(InputError, match=f"{message}|which several pairs share"):
            cg.binarize(weights, f"density:{density}")
    else:
        assert cg.binarize(weights, f"density:{density}").sum() == round(density * 45)


@pytest.mark.parametrize("rule", ["percentile:90", "absolute-percentile:90", "density:0.2"])
def test_ties_at_the_lowest_weight_raise(rule: str) -> None:
    weights = np.zeros((2, 190))
    weights[0], weights[1, :10] = np.arange(190), 0.5
    with pytest.raises(InputError, match="which several pairs share"):
        cg.binarize(weights, rule)
    assert cg.binarize(weights[0], rule).any()
    assert cg.binarize(weights, "threshold:0.4").sum(axis=1).tolist() == [189, 10]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("percentil:90", "unknown binarization rule 'percentil'; did you mean percentile"),
        ("percentile", "a rule with a number such as 'percentile:90', not 'percentile'"),
        ("percentile:101", "percentile must be between 0 and 100, not 101"),
        ("density:nan", "density must be between 0 and 1, not nan"),
    ],
)
def test_invalid_rules_and_weights_raise(rule: str, message: str) -> None:
    with pytest.raises((ValueError, LookupError), match=message):
        cg.binarize(WEIGHTS, rule)
    with pytest.raises(ValueError, match="not finite"):
        cg.binarize([0.1, np.nan, 0.2])


def test_asymmetric_matrices_raise() -> None:
    with pytest.raises(InputError, match="these matrices are not symmetric"):
        cg.binarize(np.triu(np.ones((116, 116)), 1))


def test_only_the_diagonal_may_be_infinite() -> None:
    weights = np.random.default_rng(0).normal(size=(6, 6))
    np.fill_diagonal(weights, np.inf)
    with pytest.raises(InputError, match=r"not finite \(NaN or infinity\), the first at \(0, 0\)"):
        cg.binarize(weights, "percentile:50")  # not symmetric, so read as six vectors of six pairs
    matrix = weights + weights.T
    without = np.where(np.eye(6, dtype=bool), 0, matrix)
    assert (cg.binarize(matrix, "percentile:50") == cg.binarize(without, "percentile:50")).all()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("percentile:0.9", "did you mean percentile:90?"),
        ("threshold:5", "keeps no pair of graph 0: the resulting graph is empty"),
        ("threshold:-5", "keeps every pair of graph 0: the resulting graph is complete"),
    ],
)
def test_rules_with_empty_or_complete_graphs_raise(rule: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.binarize(np.random.default_rng(0).normal(size=(3, 45)), rule)


def test_time_series_raise() -> None:
    with pytest.raises(InputError, match="116"):
        cg.binarize(np.random.default_rng(0).normal(size=(5, 180, 116)))
