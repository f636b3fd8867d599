from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from countergraph.errors import GraphError
from countergraph.graphs import pairs

sizes = st.integers(2, 30)
edge_vectors = sizes.flatmap(lambda n: hnp.arrays(bool, n * (n - 1) // 2))


@given(sizes)
def test_pairs_have_the_order_of_triu_indices(n: int) -> None:
    first, second = np.triu_indices(n, 1)
    assert pairs.pairs_at(np.arange(len(first)), n) == list(zip(first, second, strict=True))
    assert (pairs.pair_position(first, second, n) == np.arange(len(first))).all()
    assert (pairs.pair_position(second, first, n) == np.arange(len(first))).all()
    assert pairs.roi_count(pairs.pair_count(n)) == n


@given(edge_vectors)
def test_matrices_and_vectors_are_equivalent(edges: np.ndarray) -> None:
    matrix = pairs.to_adjacency(edges)
    assert matrix.dtype == np.uint8
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()
    assert matrix.sum() == 2 * edges.sum()
    assert (pairs.as_edge_vector(matrix) == edges).all()
    assert (pairs.as_edge_vector(matrix + np.eye(len(matrix))) == edges).all(), "a diagonal of ones is ignored"
    assert (pairs.as_edge_vector(edges.astype(float)) == edges).all()


@given(sizes.flatmap(lambda n: hnp.arrays(np.float64, n * (n - 1) // 2, elements=st.integers(-9, 9).map(float))))
def test_matrix_and_roi_sums_of_pair_values(values: np.ndarray) -> None:
    matrix = pairs.to_matrix(values)
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()
    assert (pairs.upper_triangle(matrix) == values).all()
    assert (pairs.sum_at_rois(values) == matrix.sum(axis=0)).all()


@given(edge_vectors)
def test_degrees_are_the_row_sums_of_the_matrix(edges: np.ndarray) -> None:
    assert (pairs.degrees_of(edges) == pairs.to_adjacency(edges).sum(axis=0)).all()


def test_digests_identify_graphs() -> None:
    stack = np.random.default_rng(0).random((50, 45)) < 0.4
    assert len({*pairs.digests(stack)}) == 50
    assert pairs.digests(stack[::-1].copy()) == pairs.digests(stack)[::-1]


def test_a_stack_keeps_its_order() -> None:
    stack = np.random.default_rng(0).random((7, 10)) < 0.4
    assert (pairs.as_edge_vectors(pairs.to_adjacency(stack)) == stack).all()


@given(st.data(), sizes)
def test_pairs_within_and_between_sets_of_rois(data: st.DataObject, n: int) -> None:
    rois = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    expected = [p for p, (i, j) in enumerate(pairs.pairs_at(np.arange(pairs.pair_count(n)), n)) if {i, j} <= {*rois}]
    assert pairs.pairs_within(rois, n).tolist() == expected
    other_rois = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    between = [
        p
        for p, (i, j) in enumerate(pairs.pairs_at(np.arange(pairs.pair_count(n)), n))
        if (i in rois and j in other_rois) or (j in rois and i in other_rois)
    ]
    assert pairs.pairs_between(rois, other_rois, n).tolist() == between


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.zeros(5), "5 entries fit no number of ROIs"),
        (np.zeros((3, 4)), "square"),
        (np.array([[0, 1], [0, 0]]), "not symmetric"),
        (np.array([[0, np.nan], [np.nan, 0]]), "not finite"),
        (np.array([[0, 0.5], [0.5, 0]]), r"only 0 and 1, but contains 0\.5; binarize"),
        (np.array([[0, 2], [2, 0]]), "only 0 and 1, but contains 2"),
        (np.array([[3, 1], [1, 3]]), "only 0 and 1, but contains 3"),
        (np.zeros((2, 2, 2, 2)), "adjacency matrix"),
        (np.zeros((1, 1)), "at least 2 ROIs"),
    ],
)
def test_invalid_graphs_raise(graph: np.ndarray, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        pairs.as_edge_vector(graph)


def test_single_graphs_are_not_accepted_as_stacks() -> None:
    with pytest.raises(GraphError, match="a single adjacency matrix"):
        pairs.as_edge_vectors(1 - np.eye(6))
    with pytest.raises(GraphError, match="graphs must have shape"):
        pairs.as_edge_vectors(np.zeros(6))
