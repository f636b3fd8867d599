"""The effort of the learned search, and its constants: every part can be switched off."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import InputError
from countergraph.search.learned.experts import EXPERTS
from countergraph.search.learned.settings import DEFAULT_SETTINGS, LearnedSettings
from countergraph.search.learned.state import LearnedState
from countergraph.search.methods import PHASES, Phase
from countergraph.search.options import EFFORTS
from tests.conftest import random_graphs
from tests.test_learned import edge_oracle, linear

GRAPHS = random_graphs(30, 30, seed=12, density=0.25)
STDS = [each.name for each in fields(LearnedSettings) if each.name.endswith("_std")]


def find(graphs: np.ndarray = GRAPHS, **options) -> cg.Counterfactuals:
    return cg.find_counterfactuals(edge_oracle(linear(3, graphs.shape[1])), graphs, **options)


@pytest.fixture(scope="module")
def by_effort() -> dict[str, cg.Counterfactuals]:
    """Return results of each effort. The budget is too small for exhaustive search."""
    return {effort: find(effort=effort, max_calls=300) for effort in EFFORTS}


@pytest.mark.parametrize("effort", ["slow", "", 1, True])
def test_an_unknown_effort_is_refused(effort: object) -> None:
    with pytest.raises(InputError, match=f"effort must be one of quick, standard, thorough, not {effort!r}"):
        find(effort=effort)


def test_more_effort_gives_closer_counterfactuals(by_effort: dict[str, cg.Counterfactuals]) -> None:
    """Use three seeds for the two efforts that differ little."""
    quick, standard = (
        np.mean([each.distance for seed in range(3) for each in find(effort=effort, max_calls=300, seed=seed)])
        for effort in ("quick", "standard")
    )
    assert standard <= quick
    thorough, same_seed = (np.mean([each.distance for each in by_effort[name]]) for name in ("thorough", "standard"))
    assert thorough <= same_seed


def test_quick_takes_the_fewest_calls(by_effort: dict[str, cg.Counterfactuals]) -> None:
    quick, standard, thorough = (by_effort[effort].calls for effort in EFFORTS)
    assert quick < standard < thorough


@pytest.mark.parametrize("effort", EFFORTS)
def test_results_improve_during_the_search(by_effort: dict[str, cg.Counterfactuals], effort: str) -> None:
    function = linear(3, GRAPHS.shape[1])
    for result in by_effort[effort]:
        assert all(early < late and near < far for (early, far), (late, near) in pairwise(result.trace))
        assert result.trace[-1][1] == result.distance
        assert result.edges is not None
        assert function(result.edges[None])[0] == result.counterfactual_label != result.original_label


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_effort_is_part_of_the_parameters(by_effort: dict[str, cg.Counterfactuals], effort: str) -> None:
    assert {each.parameters["effort"] for each in by_effort[effort]} == {effort}


def test_the_default_effort_depends_on_the_number_of_searches() -> None:
    box, graphs = edge_oracle(linear(3, 28)), random_graphs(3, 8, seed=1)
    one = cg.find_counterfactual(box, graphs[0], max_calls=30)
    several_runs = cg.find_counterfactuals(box, graphs[:1], runs=3, max_calls=30)
    several = cg.find_counterfactuals(box, graphs, max_calls=30)
    assert one.parameters["effort"] == "thorough"
    assert [each.parameters["effort"] for each in (*several_runs, *several)] == ["standard"] * 6
    other_method = cg.find_counterfactual(box, graphs[0], "ofs+obs", max_calls=30)
    assert "effort" not in other_method.parameters


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("max_calls", [1, 2, 3, 7, 30, 120])
def test_the_budget_is_kept(effort: str, max_calls: int) -> None:
    graphs = GRAPHS[:6]
    oracle = edge_oracle(linear(3, graphs.shape[1]))
    results = cg.find_counterfactuals(oracle, graphs, effort=effort, max_calls=max_calls)
    assert max(each.calls for each in results) <= max_calls
    assert oracle.asked == results.calls
    single = cg.find_counterfactual(
        edge_oracle(linear(3, graphs.shape[1])), graphs[0], effort=effort, max_calls=max_calls
    )
    assert single.calls <= max_calls


@pytest.mark.parametrize("effort", EFFORTS)
def test_the_same_seed_gives_the_same_results(effort: str) -> None:
    first, second, other = (find(GRAPHS[:8], effort=effort, max_calls=150, seed=seed) for seed in (1, 1, 2))
    assert [each.to_dict() for each in first] == [each.to_dict() for each in second]
    assert [each.trace for each in first] != [each.trace for each in other]


@pytest.mark.parametrize("effort", EFFORTS)
def test_each_effort_respects_constraints(effort: str) -> None:
    graphs, constraints = GRAPHS[:8], cg.Constraints(keep_edges=True, frozen_rois=[2, 5])
    for result in find(graphs, effort=effort, max_calls=250, constraints=constraints):
        assert result.found
        assert len(result.added) == len(result.removed)
        assert not {2, 5} & {roi for pair in (*result.added, *result.removed) for roi in pair}


def learned_with(settings: LearnedSettings) -> Phase:
    """Return the learned search with other constants."""
    return replace(PHASES["learned"], shared=partial(LearnedState, settings=settings))


def check_found(settings: LearnedSettings, **options) -> None:
    data = cg.make_cohort(n_subjects=8, n_rois=12, seed=2)
    weights = np.random.default_rng(5).normal(size=66)
    threshold = np.median(data.edges @ weights)

    def function(edges: np.ndarray) -> np.ndarray:
        return (edges @ weights > threshold).astype(int)

    results = cg.find_counterfactuals(edge_oracle(function), data, learned_with(settings), max_calls=120, **options)
    assert len(results.found) == len(data)
    for result in results:
        assert function(result.edges[None])[0] != result.original_label  # type: ignore[index]
        assert result.calls <= 120


@pytest.mark.parametrize("name", EXPERTS)
def test_the_search_works_without_an_expert(name: str) -> None:
    check_found(replace(DEFAULT_SETTINGS, without=frozenset([name])))


@pytest.mark.parametrize("name", EXPERTS)
def test_the_search_works_with_a_single_expert(name: str) -> None:
    check_found(replace(DEFAULT_SETTINGS, without=frozenset(EXPERTS) - {name}))


@pytest.mark.parametrize("name", STDS)
def test_the_search_works_without_a_part_of_the_surrogate(name: str) -> None:
    check_found(replace(DEFAULT_SETTINGS, **{name: 0.0}))


def test_the_search_works_without_any_part_of_the_surrogate() -> None:
    check_found(replace(DEFAULT_SETTINGS, **dict.fromkeys(STDS, 0.0), expert_mean=0.0))


def test_the_search_works_if_few_answers_are_kept() -> None:
    check_found(replace(DEFAULT_SETTINGS, max_entries=50))
