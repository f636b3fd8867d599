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
    """The distance of the closest graph that is labelled and classified as another class."""
    good = (data.labels != own) & (answers != own)
    distances = (data.edges[good] ^ graph).sum(axis=1)
    return int(distances.min()) if good.any() else None


@given(st.integers(0, 999))
def test_it_is_the_closest_and_asks_no_graph_it_need_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = cg.GraphDataset(random_graphs(13, 7, seed), rng.integers(0, 2, 13))
    weights, shift = rng.normal(size=21), rng.normal()
    asked: list[np.ndarray] = []

    def answer(edges: np.ndarray) -> np.ndarray:
        return (edges @ weights > shift).astype(int)

    def box(edges: np.ndarray) -> np.ndarray:
        asked.extend(edges.copy())
        return answer(edges)

    graph = random_graphs(1, 7, seed + 1)[0]
    own = int(answer(graph[None])[0])
    result = cg.find_counterfactual(cg.Oracle(box, input="edges"), graph, "ds", data, confirm=False)
    expected = brute_force(data, answer(data.edges), graph, own)
    assert result.distance == expected
    for edges in asked[1:]:
        row = np.flatnonzero((data.edges == edges).all(axis=1))[0]
        assert data.labels[row] != own, "only graphs labelled with the other class"
        assert expected is None or (edges ^ graph).sum() <= expected, "none farther than the answer"


def test_on_the_real_cohort(asd: cg.GraphDataset, real_data: Path) -> None:
    rule = load_published_rule("asd", root=real_data)
    answers = rule.predict(asd.edges)
    results = cg.find_counterfactuals(rule, asd, "ds")
    expected = [brute_force(asd, answers, graph, own) for graph, own in zip(asd.edges, answers, strict=True)]
    assert [r.distance for r in results] == expected
    assert np.mean([r.distance for r in results if r.distance]) == pytest.approx(1000, abs=60), "as the paper says"
