"""Diverse counterfactuals, and plausibility."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import countergraph as cg
from countergraph.errors import BlackBoxError, InputError
from countergraph.explain.diverse import diversity, jaccard_distance
from countergraph.graphs.pairs import to_adjacency
from tests.conftest import random_graphs
from tests.test_constraints import ATLAS, FIRST, SECOND, N


def flips_key(result: cg.Counterfactual) -> bytes:
    assert result.flips is not None
    return result.flips.tobytes()


def never_decreases(curve: pd.DataFrame) -> bool:
    """Check that the diversity of selections of equal size never decreases with the number of changes."""
    return all(rows["diversity"].dropna().is_monotonic_increasing for _, rows in curve.groupby("chosen"))


def test_find_diverse_stops_if_no_pair_is_left() -> None:
    pool = cg.find_diverse(lambda a: (a.sum(axis=(1, 2)) > 2).astype(int), np.zeros((3, 3), int), m=5, runs=2)
    assert 2 <= len(pool) < 6
    assert pool.found
    subject = cg.make_cohort(10, 20, seed=1).subset([0])
    plausible, most = cg.Constraints(cost="plausible"), 2 * subject.edges.sum() + 3
    dense = cg.find_diverse(lambda a: a.sum(axis=(1, 2)) > most, subject, m=4, runs=1, constraints=plausible)
    assert len(dense) == 4, "the cohort itself determines the plausible costs"
    pair = cg.find_diverse(lambda a: a.any(axis=(1, 2)).astype(int), [0], m=2, runs=1)
    assert [each.distance for each in pair] == [1]
    with pytest.raises(InputError, match="takes one graph, not 4"):
        cg.find_diverse(lambda a: a[:, 0, 1], np.zeros((4, 6, 6), int))


def test_find_diverse_keeps_partial_results_on_failure() -> None:
    remaining = 0

    def fails(adjacency: np.ndarray) -> np.ndarray:
        nonlocal remaining
        remaining -= len(adjacency)
        if remaining < 0:
            raise RuntimeError("no calls left")
        return (adjacency.sum(axis=(1, 2)) > 8).astype(int)

    options: dict[str, Any] = {"runs": 4, "method": "ofs", "confirm": False}
    remaining = budget = 10**6
    first = cg.find_counterfactuals(fails, np.zeros((1, 8, 8), int), **options)
    remaining = budget - remaining + 1
    with pytest.raises(BlackBoxError) as stopped:
        cg.find_diverse(fails, np.zeros((8, 8), int), m=3, **options)
    assert [each.to_dict() for each in stopped.value.results[:4]] == [each.to_dict() for each in first]
    assert len(stopped.value.results) == 5


def test_diverse_counterfactuals_differ(cohort: cg.GraphDataset, model: cg.Model) -> None:
    subject = cohort.subset([3])
    pool = cg.find_diverse(model, subject, m=3, runs=10, method="ofs+obs", dataset=cohort)
    diverse = cg.Diverse(pool, 3)
    independent = cg.Diverse(pool[:10], 3)
    assert len(diverse.chosen) == 3
    assert diverse._distances.tolist() == [
        [jaccard_distance(one, other) for other in diverse._pool] for one in diverse._pool
    ]
    assert diverse.curve["diversity"].iloc[-1] >= independent.curve["diversity"].iloc[-1]
    assert diverse.curve["at most"].is_monotonic_increasing
    assert never_decreases(diverse.curve)
    first, second, usual = pool[10], pool.closest(), pool[:10].closest()
    assert second is not None
    assert usual is not None
    assert not {*first.added, *first.removed} & {*usual.added, *usual.removed}
    assert diverse.chosen[0].distance == second.distance
    one = cg.find_diverse(model, cohort.edges[3], m=2, runs=2, method="ofs+obs")
    assert len(one) == 3


def test_diversity_of_several_graphs_raises(cohort: cg.GraphDataset, model: cg.Model) -> None:
    with pytest.raises(InputError, match="takes one graph, not 24"):
        cg.find_diverse(model, cohort)
    with pytest.raises(InputError, match="these results are of several graphs"):
        cg.Diverse(cg.find_counterfactuals(model, cohort, "ofs"))


def test_seen_uses_the_new_class_for_any_class_names() -> None:
    """The only graph with the added edge belongs to the original class, not to the new class."""
    edges = np.zeros((4, 10), dtype=bool)
    edges[1, 3] = True
    data = cg.GraphDataset(edges, [0, 0, 1, 1], classes=("TD", "ASD"))
    for names in (("TD", "ASD"), (0, 1), ("TD", "another")):
        result = cg.find_counterfactual(lambda a, names=names: np.where(a[:, 0, 4] == 1, *names[::-1]), edges[0])
        assert result.added == [(0, 4)]
        [seen] = cg.plausibility(result, data)["seen"]
        assert seen == 0 if names[1] in ("ASD", 1) else np.isnan(seen)


def test_plausibility_of_graphs_of_the_cohort() -> None:
    edges = random_graphs(10, N, 5, 0.4)
    data = cg.GraphDataset(edges, [0, 1] * 5, atlas=ATLAS)
    truth = {row.tobytes(): label for row, label in zip(edges, data.labels, strict=True)}

    def box(a: np.ndarray) -> list[int]:
        return [truth.get(row[FIRST, SECOND].astype(bool).tobytes(), 0) for row in a]

    results = cg.find_counterfactuals(box, data, "ds")
    table = cg.plausibility(results, data)
    found = [each.found for each in results]
    assert (table["nearest"][found] == 0).all()  # each counterfactual is a graph of the cohort
    assert (table["seen"][found] == 1).all()  # every change occurs in a graph of the other class
    assert (table["nearest before"][found] <= [each.distance for each in results.found]).all()
    for row, result in zip(table.to_dict("records"), results, strict=True):
        if result.edges is not None:
            degrees = [to_adjacency(each).sum(axis=1).astype(int) for each in (result.edges, result.original)]
            assert row["degree change"] == np.abs(degrees[0] - degrees[1]).max()
            assert row["density change"] == pytest.approx((result.edges.sum() - result.original.sum()) / 15)
    with pytest.raises(InputError, match="must have the same ROIs; data has 5"):
        cg.plausibility(results, cg.GraphDataset(random_graphs(2, 5, 0), [0, 1]))


@given(st.integers(0, 9999), st.integers(2, 4))
@settings(max_examples=30)
def test_no_single_exchange_improves_the_selection(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=15)
    box = cg.Oracle(lambda edges: (edges @ weights > 0).astype(int), input="edges")
    pool = cg.find_counterfactuals(box, random_graphs(1, N, seed, 0.5), "ofs", k=2, runs=8)
    if not pool.found:
        return
    diverse = cg.Diverse(pool, m)
    chosen, distinct = list(diverse.chosen), list({flips_key(each): each for each in pool.found}.values())
    sets = [flips_key(each) for each in chosen]
    best = diversity(cg.Counterfactuals(chosen))
    for slot in range(1, len(chosen)):
        for other in distinct:
            if flips_key(other) not in sets:
                exchanged = cg.Counterfactuals([*chosen[:slot], other, *chosen[slot + 1 :]])
                assert diversity(exchanged) <= best + 1e-9
    assert len(chosen) == min(m, len(distinct))
    assert never_decreases(diverse.curve)


def test_time_limit_applies_to_all_searches_together(cohort: cg.GraphDataset) -> None:
    def slow(edges: np.ndarray) -> np.ndarray:
        time.sleep(0.05)
        return edges.sum(axis=1) > 60

    start = time.monotonic()
    found = cg.find_diverse(
        cg.Oracle(slow, input="edges"), cohort.edges[0], m=30, runs=2, method="ofs+obs", time_limit=1.0
    )
    assert time.monotonic() - start < 3
    assert len(found) >= 2
