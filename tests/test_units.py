"""Units: searches that change all pairs of an ROI, or of networks, at once."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import countergraph as cg
from countergraph.errors import InputError
from countergraph.finding.units import units_of
from countergraph.graphs.pairs import pair_ends
from tests.conftest import random_graphs

N = 9
FIRST, SECOND = pair_ends(N)
ATLAS = cg.Atlas([f"r{i}" for i in range(N)], networks=["front"] * 3 + ["back"] * 3 + ["deep"] * 3)
NETWORK = np.array([0] * 3 + [1] * 3 + [2] * 3)


def graph_data(seed: int = 0, n: int = 24) -> cg.GraphDataset:
    edges = random_graphs(n, N, seed, 0.4)
    labels = (edges[:, (NETWORK[FIRST] == 0) & (NETWORK[SECOND] == 1)].sum(axis=1) > 3).astype(int)
    return cg.GraphDataset(edges, labels, classes=("few", "many"), atlas=ATLAS)


def weighted_data(seed: int = 0, n: int = 30) -> cg.GraphDataset:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    values = rng.normal(0, 0.3, (n, FIRST.size))
    values[:, (NETWORK[FIRST] == 0) & (NETWORK[SECOND] == 1)] += 0.4 * labels[:, None]
    return cg.GraphDataset(values, labels, classes=("weak", "strong"), atlas=ATLAS, measure="fisher z")


DATA, WEIGHTED = graph_data(), weighted_data()
GRAPH_BOX = LogisticRegression(C=0.1).fit(DATA.edges, DATA.labels)
WEIGHTED_BOX = LogisticRegression(C=0.1).fit(WEIGHTED.values, WEIGHTED.labels)


@pytest.mark.parametrize("unit", ["roi", "network"])
@pytest.mark.parametrize("data", [DATA, WEIGHTED], ids=["graphs", "weighted"])
@pytest.mark.parametrize("method", cg.list_methods())
def test_every_method_works_with_units(method: str, data: cg.GraphDataset, unit: str) -> None:
    box = WEIGHTED_BOX if data.weighted else GRAPH_BOX
    results = cg.find_counterfactuals(box, data.subset(range(8)), method, data, unit=unit, k=1, max_calls=300)
    assert len(results.found) >= 6
    for result in results.found:
        check_units(result, unit)
        assert result.values is not None
        assert box.predict(result.values[None].astype(float))[0] == result.counterfactual_label


def check_units(result: cg.Counterfactual, unit: str) -> None:
    """Check that the changes are the union of the units, each in its direction, and all pairs that can change."""
    assert result.unit == unit
    assert result.flips is not None
    assert result.distance == len(result.units) > 0
    np.testing.assert_array_equal(np.unique(np.concatenate([each.flips for each in result.units])), result.flips)
    units = units_of(unit, result.atlas, N)
    assert units is not None
    decreased = dict(zip(result.flips.tolist(), result.decreased.tolist(), strict=True))
    for each in result.units:
        falls = each.change in ("removed", "weakened")
        assert {decreased[flip] for flip in each.flips.tolist()} == {falls}
        group = units.groups[each.number % units.n_groups]
        if not result.weighted:
            np.testing.assert_array_equal(each.flips, group[result.original[group] == falls])
        elif result.alternatives is not None:
            np.testing.assert_array_equal(each.flips, group[result.decreases[group] == falls])
        assert each.words.removeprefix("all connections ") in result.sentence


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), unit=st.sampled_from(["roi", "network"]), weighted=st.booleans())
def test_certificates_of_units_are_correct(seed: int, unit: str, weighted: bool) -> None:
    """A closer counterfactual that an exhaustive search finds is one, and contradicts no certificate."""
    data = weighted_data(seed) if weighted else graph_data(seed)
    weights = np.random.default_rng(seed).normal(size=FIRST.size)
    oracle = cg.Oracle(lambda values: (values @ weights > 0.3).astype(int), input="edges")
    for result in cg.find_counterfactuals(oracle, data.subset([0, 1, 2]), dataset=data, unit=unit, max_calls=3000):
        if not result.found or len(result.units) > 5:
            continue
        check_units(result, unit)
        proven = cg.certify(oracle, result, radius=max(1, len(result.units) - 1))
        check_units(proven, unit)
        assert proven.certificate.optimal
        assert len(proven.units) <= len(result.units)
        assert proven.values is not None
        assert oracle.ask(proven.values[None])[0] != proven.original_label
        if result.certificate.optimal:
            assert len(proven.units) == len(result.units)


def test_a_black_box_of_one_network_is_explained_by_it() -> None:
    [result] = cg.find_counterfactuals(WEIGHTED_BOX, WEIGHTED.subset([0]), dataset=WEIGHTED, unit="network")
    assert result.distance == 1
    assert result.certificate.optimal
    assert re.search(r"If \d+ connections between front and back were stronger \(by 0\.\d\d on avera", result.sentence)
    [graph] = cg.find_counterfactuals(GRAPH_BOX, DATA.subset([0]), dataset=DATA, unit="network")
    assert "If all connections between front and back (" in graph.sentence


def test_a_black_box_of_one_roi_is_explained_by_it() -> None:
    data = cg.GraphDataset(random_graphs(1, N, 0, 0.9), [0], classes=("a", "b"), atlas=ATLAS)
    [result] = cg.find_counterfactuals(lambda a: (a[:, 2].sum(axis=1) == 0).astype(int), data, unit="roi")
    assert [each.words for each in result.units] == ["all connections of r2"]
    assert result.sentence.startswith("graph 0 is classified as a. If all connections of r2 (")


def _is_minimal(result: cg.Counterfactual) -> bool:
    """Undo each unit of a graph's counterfactual, and check that the class is the original one."""
    undone = []
    assert result.edges is not None
    for unit in result.units:
        edges = result.edges.copy()
        others = [each.flips for each in result.units if each is not unit]
        edges[np.setdiff1d(unit.flips, np.concatenate([[], *others]))] ^= True
        undone.append(edges)
    return bool((GRAPH_BOX.predict(np.array(undone)) == result.original_label).all())


def test_constraints_apply_to_units() -> None:
    frozen = cg.Constraints(frozen_rois=["r0"], only="added")
    for result in cg.find_counterfactuals(GRAPH_BOX, DATA, unit="network", constraints=frozen).found:
        assert all(each.change == "added" for each in result.units)
        assert not any(0 in pair for pair in result.added)
        assert cg.certify(GRAPH_BOX, result).certificate.minimal == _is_minimal(result)
    most = cg.find_counterfactuals(GRAPH_BOX, DATA, unit="roi", constraints=cg.Constraints(most=2))
    assert all(len(result.units) <= 2 for result in most.found)
    costs = np.random.default_rng(0).uniform(1, 2, FIRST.size)
    for result in cg.find_counterfactuals(
        GRAPH_BOX, DATA, unit="network", constraints=cg.Constraints(cost=costs)
    ).found:
        assert result.cost == pytest.approx(sum(costs[each.flips].sum() for each in result.units))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "lobe"}, "unit must be one of pair, roi, network, not 'lobe'"),
        ({"unit": "network", "constraints": cg.Constraints(keep_edges=True)}, "keep_edges is for single pairs"),
        ({"unit": "roi", "constraints": cg.Constraints(keep_connected=True)}, "keep_connected is for single pairs"),
        ({"unit": "roi", "start": DATA.edges}, "start must contain results of searches with the same unit"),
    ],
)
def test_refusals(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.find_counterfactuals(GRAPH_BOX, DATA, **options)


def test_networks_need_an_atlas_with_networks() -> None:
    data = cg.GraphDataset(DATA.edges, DATA.labels)
    with pytest.raises(InputError, match="unit='network' needs an atlas with lobes or networks"):
        cg.find_counterfactuals(GRAPH_BOX, data, unit="network")
    assert cg.find_counterfactuals(GRAPH_BOX, data, unit="roi").found


@pytest.mark.parametrize("data", [DATA, WEIGHTED], ids=["graphs", "weighted"])
def test_results_are_saved_stored_and_resumed_with_their_units(data: cg.GraphDataset, tmp_path: Path) -> None:
    box = WEIGHTED_BOX if data.weighted else GRAPH_BOX
    results = cg.find_counterfactuals(box, data, unit="roi", method="ofs+obs")
    results.save(tmp_path / "results.json")
    loaded = cg.load_results(tmp_path / "results.json")
    with cg.Store(tmp_path / "store.db") as store:
        cg.resume_counterfactuals(store, box, data, unit="roi", method="ofs+obs")
        stored = cg.resume_counterfactuals(store, box, data, unit="roi", method="ofs+obs")
    for result, *others in zip(results, loaded, stored, strict=True):
        for other in others:
            assert other.sentence == result.sentence
            assert other.distance == result.distance
            assert [each.number for each in other.units] == [each.number for each in result.units]
    [first] = results[:1]
    [again] = cg.find_counterfactuals(box, data.subset([0]), dataset=data, unit="roi", start=first)
    assert len(again.units) <= len(first.units)
    with pytest.raises(InputError, match="with unit='roi', but the search has unit='network'"):
        cg.find_counterfactuals(box, data.subset([0]), dataset=data, unit="network", start=first)


def test_diverse_results_and_explanations_of_units() -> None:
    pool = cg.find_diverse(GRAPH_BOX, DATA.subset([1]), 2, dataset=DATA, unit="network", runs=5)
    assert len(pool.found) >= 2
    results = cg.find_counterfactuals(GRAPH_BOX, DATA, unit="network")
    assert cg.GlobalExplanation(results).roi_importance.size
