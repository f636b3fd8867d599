from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import countergraph as cg
from countergraph.errors import FileError, InputError
from countergraph.explain.contrastive import changes
from countergraph.explain.quality import compare_with_optimum, typical_person
from countergraph.graphs.pairs import pair_position
from countergraph.results.wording import Connection, counterfactual_sentence


def make_result(added: list[tuple[int, int]], removed: list[tuple[int, int]]) -> cg.Counterfactual:
    original = np.zeros(15, dtype=bool)
    for i, j in removed:
        original[pair_position(i, j, 6)] = True
    return cg.Counterfactual(
        original=original,
        flips=np.sort([int(pair_position(i, j, 6)) for i, j in added + removed]),
        original_label=1,
        counterfactual_label=0,
        calls_by_phase={"ofs": 7, "obs": 5},
        method="ofs+obs",
        parameters={"seed": 3},
        stopped="finished",
        trace=((7, 5), (9, 2)),
        graph_index=4,
        run=2,
        subject="USM_0050453",
        atlas=cg.Atlas(list("ABCDEF")),
        classes=("TD", "ASD"),
    )


def test_sentence_is_that_of_the_paper() -> None:
    assert make_result([(4, 5)], [(0, 1)]).sentence == (
        "USM_0050453 is classified as ASD. If the connection between A and B did not exist and the connection "
        "between E and F existed, USM_0050453 would have been classified as TD."
    )


def test_sentence_with_several_additions_or_removals() -> None:
    assert (
        "If the connections between A and B and between A and C did not exist, USM"
        in make_result([], [(0, 1), (0, 2)]).sentence
    )
    assert "If the connections between A and B, between A and C and between A and D existed, USM" in str(
        make_result([(0, 1), (0, 2), (0, 3)], [])
    )
    pairs = [Connection(f"a{i}", f"b{i}") for i in range(5)]
    text = counterfactual_sentence("X", "ill", "well", [], pairs, most=3)
    assert "between a2 and b2 and 2 others existed" in text
    assert "between a3 and b3 and 1 other existed" in counterfactual_sentence("X", "ill", "well", [], pairs, most=4)


def test_long_lists_are_grouped_by_network() -> None:
    lobes = [("Frontal lobe", "Insula")] * 4 + [("Insula", "Insula")] * 3
    lobes += [("Insula", "Frontal lobe"), ("A", "B"), ("C", "D")]
    pairs = [Connection("x", "y", *each) for each in lobes]
    text = counterfactual_sentence("X", "ill", "well", pairs, pairs[:1])
    assert text == (
        "X is classified as ill. If 10 connections (5 between the frontal lobe and the insula, 3 within the insula, "
        "1 between A and B and 1 elsewhere) did not exist and the connection between x and y existed, "
        "X would have been classified as well."
    )


def test_added_removed_and_distance() -> None:
    result = make_result([(4, 5), (0, 3)], [(0, 1)])
    assert (result.added, result.removed, result.distance) == ([(0, 3), (4, 5)], [(0, 1)], 3)
    assert result.adjacency is not None
    assert result.adjacency.sum() == 4
    assert (result.calls, result.found) == (12, True)


@pytest.mark.parametrize("found", [True, False])
def test_json_round_trip(found: bool) -> None:
    result = make_result([(4, 5)], [(0, 1), (2, 3)])
    if not found:
        result = replace(result, flips=None, counterfactual_label=None, stopped="not found", trace=())
    plain = json.loads(json.dumps(result.to_dict()))
    loaded = cg.Counterfactual.from_dict(plain, result.atlas)
    assert loaded.to_dict() == result.to_dict()
    assert (loaded.original == result.original).all()
    assert loaded.sentence == result.sentence
    with pytest.raises(InputError, match="the format of a result must be"):
        cg.Counterfactual.from_dict({**plain, "format": "other/1"})


def test_saved_results_contain_the_names_of_the_rois(cohort: cg.GraphDataset, model: cg.Model, tmp_path: Path) -> None:
    results = cg.find_counterfactuals(model, cohort.subset(range(4)), "ofs+obs", cohort, runs=2)
    loaded = cg.load_results(results.save(tmp_path / "results.json"))
    assert [each.to_dict() for each in loaded] == [each.to_dict() for each in results]
    assert loaded[0].atlas == cohort.atlas
    assert loaded[0].sentence == results[0].sentence
    assert {*loaded[0].to_dict()["connections"][0].values()} & {*cohort.atlas.names}
    both = results + loaded
    assert len(both) == 16
    assert both.to_frame()[["method", "seed"]].drop_duplicates().to_numpy().tolist() == [["ofs+obs", 0]]
    assert len(cg.load_results(results[:0].save(tmp_path / "none.json"))) == 0
    other_atlas = cg.Atlas(cohort.atlas.names[::-1])
    with pytest.raises(InputError, match="results in one file must have the same atlas"):
        cg.Counterfactuals([*results, replace(results[0], atlas=other_atlas)]).save(tmp_path / "mixed.json")
    (tmp_path / "broken.json").write_text('{"format": "countergraph-results/1", "atlas": null, "results": [1]}')
    with pytest.raises(FileError, match=r"broken\.json: cannot be read as results"):
        cg.load_results(tmp_path / "broken.json")
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(FileError, match=r"other\.json: is not a file of results"):
        cg.load_results(tmp_path / "other.json")
    with pytest.raises(FileError, match=r"nowhere\.json: cannot be read as results"):
        cg.load_results(tmp_path / "nowhere.json")


def test_results_are_a_sequence_and_a_table() -> None:
    results = cg.Counterfactuals([make_result([(4, 5)], [(0, 1)]), make_result([(1, 2)], [])])
    assert len(results) == 2
    assert results.closest() is results[1]
    assert isinstance(results[:1], cg.Counterfactuals)
    frame = results.to_frame()
    assert frame["distance"].tolist() == [2, 1]
    assert frame["calls_obs"].tolist() == [5, 5]
    assert cg.Counterfactuals([]).closest() is None
    with_costs = cg.Counterfactuals([replace(results[0], cost=3.0), replace(results[1], cost=7.0)])
    assert with_costs.closest() is with_costs[0], "the lowest cost, not the fewest changes"
    assert with_costs.to_frame()["cost"].tolist() == [3.0, 7.0]
    assert frame["cost"].isna().all()


def test_table_of_changes(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]))
    table = changes(result, cohort)
    assert table["change"].tolist() == ["removed"] * len(result.removed) + ["added"] * len(result.added)
    i, j = (result.removed + result.added)[0]
    first = table.iloc[0]
    assert (first["first"], first["second"]) == (cohort.atlas.names[i], cohort.atlas.names[j])
    assert first["distance_mm"] == pytest.approx(cohort.atlas.distance(i, j), abs=0.06)
    assert first["share of ASD"] == cohort.adjacency[cohort.labels == 1, i, j].mean()
    assert list(changes(make_result([(0, 1)], []))) == ["change", "first", "second"]
    with pytest.raises(InputError, match="result has 20, data has 116"):
        changes(result, cg.make_cohort(2))


def test_comparison_with_the_optimum(cohort: cg.GraphDataset, model: cg.Model) -> None:
    results = cg.find_counterfactuals(model, cohort)
    table = compare_with_optimum(results, model)
    assert isinstance(table, pd.DataFrame)
    assert (table.loc["distance"] >= table.loc["optimum"]).all()
    assert table.loc["calls", "mean"] == pytest.approx(np.mean([r.calls for r in results.found]))
    example = typical_person(results, cohort)
    assert example.original_label == 1
    with pytest.raises(InputError, match="nothing to compare"):
        compare_with_optimum(cg.Counterfactuals([]), model)
