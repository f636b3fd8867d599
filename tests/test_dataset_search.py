"""Dataset search ("ds"): the closest graph of the dataset that is of another class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import countergraph as cg
from countergraph.classifiers.published_rules import load_published_rule
from tests.conftest import random_graphs


def brute_force(data: cg.GraphDataset, answers: np.ndarray, graph: np.ndarray, own: int) -> int | None:
    """Return the distance of the closest graph that is labelled and classified as another class."""
    other_class = (data.labels != own) & (answers != own)
    distances = (data.edges[other_class] ^ graph).sum(axis=1)
    return int(distances.min()) if other_class.any() else None


@given(st.integers(0, 999))
def test_result_is_the_closest_graph_and_no_needless_graph_is_classified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = cg.GraphDataset(random_graphs(13, 7, seed), rng.integers(0, 2, 13))
    weights, threshold = rng.normal(size=21), rng.normal()
    classified: list[np.ndarray] = []

    def classify(edges: np.ndarray) -> np.ndarray:
        return (edges @ weights > threshold).astype(int)

    def black_box(edges: np.ndarray) -> np.ndarray:
        classified.extend(edges.copy())
        return classify(edges)

    graph = random_graphs(1, 7, seed + 1)[0]
    own = int(classify(graph[None])[0])
    result = cg.find_counterfactual(cg.Oracle(black_box, input="edges"), graph, "ds", data, confirm=False)
    expected = brute_force(data, classify(data.edges), graph, own)
    assert result.distance == expected
    for edges in classified[1:]:
        row = np.flatnonzero((data.edges == edges).all(axis=1))[0]
        assert data.labels[row] != own, "only graphs with another label"
        assert expected is None or (edges ^ graph).sum() <= expected, "no graph farther away than the result"


def test_on_the_real_cohort(asd: cg.GraphDataset, real_data: Path) -> None:
    rule = load_published_rule("asd", root=real_data)
    answers = rule.predict(asd.edges)
    results = cg.find_counterfactuals(rule, asd, "ds")
    expected = [brute_force(asd, answers, graph, own) for graph, own in zip(asd.edges, answers, strict=True)]
    assert [each.distance for each in results] == expected
    assert np.mean([each.distance for each in results if each.distance]) == pytest.approx(1000, abs=60), (
        "the value in the paper"
    )
