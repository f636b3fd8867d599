"""`SearchOptions`, the registry of searches, and what both refuse."""

from __future__ import annotations

import inspect
import json
import pickle
from dataclasses import fields
from importlib.metadata import EntryPoint
from typing import get_type_hints

import numpy as np
import pytest

import countergraph as cg
from countergraph.cli.options import SearchFlags
from countergraph.errors import InputError, NotFoundError
from countergraph.search import methods
from countergraph.search.methods import PHASES, Phase, parse_method
from countergraph.search.options import SearchKeywords
from countergraph.search.protocol import Ask, Flips, Search, Task
from tests.conftest import random_graphs

GRAPHS = random_graphs(4, 9, seed=6)
ORACLE = cg.Oracle(lambda edges: (edges.sum(axis=1) > 10).astype(int), input="edges")
PUBLIC = (
    cg.SearchRun,
    cg.find_counterfactual,
    cg.find_counterfactuals,
    cg.find_diverse,
    cg.resume_counterfactuals,
    cg.make_report,
)


def singles(task: Task, start: Flips) -> Search:
    """All single flips."""
    for pair in range(task.graph.size):
        if (yield Ask(np.array([pair]))).flipped:
            return


@pytest.mark.parametrize("function", PUBLIC, ids=lambda each: each.__name__)
def test_every_public_function_shows_every_option(function) -> None:
    parameters = inspect.signature(function).parameters
    for each in fields(cg.SearchOptions):
        assert each.name in parameters
    assert not any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def test_keywords_are_the_fields() -> None:
    names = {each.name for each in fields(cg.SearchOptions)}
    assert set(get_type_hints(SearchKeywords)) == names - {"method"}


def test_the_command_line_has_every_option() -> None:
    names = {each.name for each in fields(cg.SearchOptions)} - {"constraints", "time_limit"}
    constraints = {each.name for each in fields(cg.Constraints)}
    flags = {each.name for each in fields(SearchFlags)}
    renamed = {f"frozen_{kind}s": f"freeze_{kind}" for kind in ("roi", "pair", "network")}
    assert flags == names | {renamed.get(name, name) for name in constraints}


def test_unknown_options_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_call'; did you mean 'max_calls'"):
        cg.find_counterfactuals(ORACLE, GRAPHS, max_call=3)  # type: ignore[call-arg]


def test_signatures_show_the_defaults_of_each_function() -> None:
    defaults = {each: inspect.signature(each).parameters["runs"].default for each in PUBLIC}
    assert defaults[cg.find_diverse] == 20
    assert defaults[cg.make_report] == 5
    assert defaults[cg.find_counterfactuals] == 1


def test_registered_searches_are_compared_by_value() -> None:
    assert pickle.loads(pickle.dumps(parse_method("ofs+obs"))).is_registered
    assert not parse_method(singles).is_registered


def test_numpy_booleans_can_be_saved() -> None:
    described = cg.SearchOptions("ofs+obs", confirm=np.bool_(False)).describe()
    assert json.loads(json.dumps(described))["confirm"] is False


def test_a_broken_search_of_another_package_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("broken", "tests.test_options:NO_SUCH_NAME", methods.ENTRY_POINTS)
    monkeypatch.setattr(methods, "entry_points", lambda group: [entry])
    with pytest.warns(UserWarning, match="the search 'broken' of another package cannot be used"):
        assert "ofs" in cg.list_methods()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, not 0"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"target": 1.5}, "target must be an integer"),
        ({"runs": []}, "runs must contain at least one run"),
        ({"runs": [2, 2]}, "runs must not contain a run twice"),
        ({"confirm": "yes"}, "confirm must be True or False, not 'yes'"),
        ({"scores": 1}, "scores must be True or False, not 1"),
        ({"constraints": {"most": 3}}, "constraints must be Constraints"),
        ({"time_limit": -1}, "time_limit must be a positive number of seconds, not -1"),
        (
            {"method": "ofs+obs", "scores": True},
            "scores=True is for methods that learn, .* 'ofs.obs' uses classes only",
        ),
        ({"method": 3}, "method must be a name such as 'ofs.obs' or a search, not 3"),
    ],
)
def test_bad_options_are_refused_when_they_are_created(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cg.SearchOptions(**options)


def test_describe_contains_what_determines_the_result() -> None:
    plain = {"k": 5, "max_calls": 2000, "seed": 0, "target": None}
    assert cg.SearchOptions().describe() == plain
    assert cg.SearchOptions("ofs+obs", confirm=False, runs=9, time_limit=3).describe() == plain | {"confirm": False}
    assert cg.SearchOptions("learned", confirm=False).describe() == plain, "learned always confirms"
    constraints = cg.Constraints(most=3)
    assert cg.SearchOptions(constraints=constraints, scores=True, k=np.int64(2)).describe() == plain | {
        "k": 2,
        "scores": True,
        "constraints": {"most": 3},
    }


def test_the_number_of_walks() -> None:
    """A walk that reaches the complete graph without a counterfactual fails; then the next one starts."""

    def exactly_twelve_edges(edges: np.ndarray) -> np.ndarray:
        return (edges.sum(axis=1) == 12).astype(int)

    oracle = cg.Oracle(exactly_twelve_edges, input="edges")
    graphs = np.tile(np.arange(36) < 10, (1, 1))
    calls = {
        walks: cg.find_counterfactuals(oracle, graphs, "ofs", k=7, walks=walks, seed=4, confirm=False)[0].calls
        for walks in (1, 2, 8)
    }
    assert calls[1] < calls[2] < calls[8]
    literal = cg.SearchOptions("ofs+obs", walks=1)
    assert literal.describe()["walks"] == 1
    assert "walks" not in cg.SearchOptions("ofs+obs").describe(), "results of the default stay comparable"
    with pytest.raises(InputError, match="walks must be an integer of at least 1, not 0"):
        cg.SearchOptions(walks=0)


def test_one_result_means_one_run() -> None:
    with pytest.raises(InputError, match="find_counterfactual returns one result, so runs must be 1"):
        cg.find_counterfactual(ORACLE, GRAPHS[0], runs=2)
    third = cg.find_counterfactual(ORACLE, GRAPHS[0], "ofs+obs", runs=[2])
    assert third.to_dict() == {**cg.find_counterfactuals(ORACLE, GRAPHS[:1], "ofs+obs", runs=3)[2].to_dict()}


def test_a_method_is_a_name_a_phase_a_sum_or_a_function() -> None:
    single = Phase("singles", "forward", singles)
    both = single + PHASES["obs"]
    assert parse_method(both).name == "singles+obs"
    assert parse_method(both + PHASES["ddmin"]).name == "singles+obs+ddmin"
    results = [cg.find_counterfactuals(ORACLE, GRAPHS, each) for each in (singles, single)]
    assert [each.to_dict() for each in results[0]] == [each.to_dict() for each in results[1]]
    joined = cg.find_counterfactuals(ORACLE, GRAPHS, both)
    assert [each.distance for each in joined] == [each.distance for each in results[0]]
    named = cg.find_counterfactuals(ORACLE, GRAPHS, PHASES["ofs"] + PHASES["obs"])
    assert [each.to_dict() for each in named] == [
        each.to_dict() for each in cg.find_counterfactuals(ORACLE, GRAPHS, "ofs+obs")
    ]


def test_register_search(monkeypatch: pytest.MonkeyPatch, store: cg.Store) -> None:
    monkeypatch.setattr(methods, "PHASES", dict(PHASES))
    data = cg.GraphDataset(GRAPHS, [0, 1, 0, 1])
    phase = Phase("singles", "forward", singles, "Singles", "all single flips")
    with pytest.raises(InputError, match="a store identifies a method by its name, but 'singles' is not registered"):
        cg.resume_counterfactuals(store, ORACLE, data, phase, box="edges")
    with pytest.raises(NotFoundError, match="unknown search 'singles'"):
        cg.find_counterfactuals(ORACLE, GRAPHS, "singles+obs")
    assert cg.register_search(phase) is phase
    assert cg.register_search(phase) is phase, "twice is the same as once"
    assert {"singles", "singles+obs"} <= set(cg.list_methods())
    assert cg.find_counterfactuals(ORACLE, GRAPHS, "singles+obs").found
    assert len(cg.resume_counterfactuals(store, ORACLE, data, "singles", box="edges")) == 4
    with pytest.raises(InputError, match="there is another search called 'singles'; choose another name"):
        cg.register_search(Phase("singles", "forward", lambda task, start: iter(())))  # type: ignore[return-value]
    with pytest.raises(InputError, match=r"register_search takes a Phase\(name, direction, search\), not"):
        cg.register_search(singles)


def test_searches_of_other_packages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "PHASES", dict(PHASES))
    entry = EntryPoint("singles", "tests.test_options:ENTRY", methods.ENTRY_POINTS)
    monkeypatch.setattr(methods, "entry_points", lambda group: [entry] if group == methods.ENTRY_POINTS else [])
    assert "singles" in cg.list_methods()
    assert cg.find_counterfactuals(ORACLE, GRAPHS, "singles+obs").found


ENTRY = Phase("singles", "forward", singles)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a+b", "forward", singles), r"a name in lower case without '\+', ',', ':' and spaces, not 'a\+b'"),
        (("Mine", "forward", singles), "a name in lower case"),
        (("", "forward", singles), "a search needs a name"),
        (("mine", "sideways", singles), "direction must be 'forward' or 'backward', not 'sideways'"),
        (("mine", "forward", 3), "search must be a generator function of .task, start., not 3"),
    ],
)
def test_bad_phases_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Phase(*arguments)
