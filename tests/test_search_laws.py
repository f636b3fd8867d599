"""Property tests for all methods, on random small graphs and black boxes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import countergraph as cg
from countergraph.errors import SearchError
from countergraph.search.methods import PHASES, Phase, parse_method
from countergraph.search.protocol import Ask, Flips, Search, Task
from tests.conftest import random_graphs

N = 8
PAIRS = N * (N - 1) // 2
DATA = cg.GraphDataset(random_graphs(11, N, seed=8), [0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1], classes=("TD", "ASD"))

Edges = np.ndarray
Box = Callable[[Edges], np.ndarray]


class Recorder:
    """A black box that records the graphs it classifies."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.seen: list[bytes] = []

    def predict(self, edges: Edges) -> np.ndarray:
        self.seen += [row.tobytes() for row in edges]
        return self.box(edges)


def linear(seed: int) -> Box:
    rng = np.random.default_rng(seed)
    weights, shift = rng.normal(size=PAIRS), rng.normal()
    return lambda edges: (edges @ weights > shift).astype(int)


def parity(seed: int) -> Box:
    return lambda edges: (edges[:, seed % PAIRS :].sum(axis=1) % 2).astype(int)


def constant(seed: int) -> Box:
    return lambda edges: np.full(len(edges), seed % 2)


def hashed(seed: int) -> Box:
    """Classify by a hash of the edges: pseudorandom, but deterministic."""
    return lambda edges: np.array([crc32(row.tobytes(), seed) % 2 for row in edges])


boxes = st.builds(
    lambda kind, seed: kind(seed), st.sampled_from([linear, parity, constant, hashed]), st.integers(0, 999)
)
graphs = st.lists(st.booleans(), min_size=PAIRS, max_size=PAIRS).map(np.array)
methods = st.sampled_from(cg.list_methods())
INDEPENDENT = [method for method in cg.list_methods() if not parse_method(method).is_joint]
ONLY_UNDOING = [
    method
    for method in INDEPENDENT
    if "+" in method and all(each.only_undoes for each in parse_method(method).phases[1:])
]


@given(methods, boxes, graphs, st.integers(1, 40), st.integers(1, 60), st.integers(0, 99), st.booleans())
@settings(max_examples=300)
def test_properties_of_one_search(
    method: str, box: Box, graph: Edges, k: int, max_calls: int, seed: int, confirm: bool
) -> None:
    recorder = Recorder(box)
    result = cg.find_counterfactual(recorder, graph, method, DATA, k=k, max_calls=max_calls, seed=seed, confirm=confirm)
    own = box(graph[None])[0]

    assert result.original_label == own
    assert result.calls == len(recorder.seen) == sum(result.calls_by_phase.values()), "every call is counted"
    assert list(result.calls_by_phase) == method.split("+")
    assert all(calls <= max_calls for calls in result.calls_by_phase.values()), "each phase stays within the budget"
    calls_of_graph = 2 if confirm or method not in INDEPENDENT else 1
    assert recorder.seen.count(graph.tobytes()) <= calls_of_graph, "the graph is classified once, and to confirm"
    if not result.found:
        assert (result.distance, result.added, result.removed, result.adjacency) == (None, [], [], None)
        return

    assert result.edges is not None
    assert result.adjacency is not None
    assert box(result.edges[None])[0] == result.counterfactual_label != own, "the result is a counterfactual"
    assert result.edges.tobytes() in recorder.seen, "the result was classified"
    assert result.distance == len(result.added) + len(result.removed) == (result.edges ^ graph).sum() > 0
    for i, j in result.added:
        assert i < j
        assert result.adjacency[i, j] == 1
    for i, j in result.removed:
        assert i < j
        assert result.adjacency[i, j] == 0
    calls, distances = zip(*result.trace, strict=True)
    assert list(calls) == sorted(calls), "the calls in the trace increase"
    assert list(distances) == sorted(distances, reverse=True), "the distances in the trace decrease"
    assert distances[-1] == result.distance
    assert calls[-1] <= result.calls


@given(
    st.sampled_from(INDEPENDENT),
    boxes,
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(0, 9),
    st.permutations(range(6)),
)
@settings(max_examples=60)
def test_lockstep_equals_one_by_one(method: str, box: Box, k: int, runs: int, seed: int, order: list[int]) -> None:
    some = random_graphs(6, N, seed=seed)[order]
    options = {"method": method, "dataset": DATA, "k": k, "max_calls": 40, "seed": seed}
    together = cg.find_counterfactuals(Recorder(box), some, runs=runs, **options)
    assert [(each.graph_index, each.run) for each in together] == [(i, r) for i in range(6) for r in range(runs)]
    for graph, result in zip(some, together[::runs], strict=True):
        single = cg.find_counterfactual(Recorder(box), graph, **options)
        ignored = dict.fromkeys(("graph_index", "subject", "sentence"))
        assert single.to_dict() | ignored == result.to_dict() | ignored


@given(
    st.sampled_from(["ofs+obs", "dfs+dbs", "ds+lbs", "bisect+ddmin", "learned+ddmin"]), boxes, graphs, st.integers(0, 9)
)
@settings(max_examples=80)
def test_results_of_finished_backward_searches_are_1_minimal(method: str, box: Box, graph: Edges, seed: int) -> None:
    result = cg.find_counterfactual(Recorder(box), graph, method, DATA, seed=seed)
    if result.stopped != "finished" or result.edges is None:
        return
    for flip in result.flips if result.flips is not None else ():
        closer = result.edges.copy()
        closer[flip] ^= True
        assert box(closer[None])[0] == result.original_label, "no single change can be undone"


@given(st.sampled_from(ONLY_UNDOING), boxes, graphs, st.integers(0, 9))
@settings(max_examples=60)
def test_backward_search_never_increases_the_distance(method: str, box: Box, graph: Edges, seed: int) -> None:
    forward, _ = method.split("+")
    first = cg.find_counterfactual(Recorder(box), graph, forward, DATA, seed=seed)
    both = cg.find_counterfactual(Recorder(box), graph, method, DATA, seed=seed)
    assert first.found == both.found
    if first.distance is not None and both.distance is not None:
        assert both.distance <= first.distance
        assert set(both.flips.tolist()) <= set(first.flips.tolist())  # type: ignore[union-attr]


@given(st.permutations(range(N)), boxes, graphs)
@settings(max_examples=60)
def test_permuting_rois_permutes_the_result(order: list[int], box: Box, graph: Edges) -> None:
    """Only for the deterministic search: the others draw different random numbers for a permuted graph."""
    from countergraph.graphs.pairs import pair_position, pairs_at

    ends = np.array(pairs_at(np.arange(PAIRS), N))
    new = pair_position(np.array(order)[ends[:, 0]], np.array(order)[ends[:, 1]], N)

    def permute(edges: Edges) -> Edges:
        permuted = np.empty_like(edges)
        permuted[..., new] = edges
        return permuted

    def box_of_permuted(edges: Edges) -> np.ndarray:
        return box(edges[:, new])

    data = cg.GraphDataset(permute(DATA.edges), DATA.labels, DATA.names, DATA.classes)
    plain = cg.find_counterfactual(Recorder(box), graph, "ds", DATA)
    other = cg.find_counterfactual(Recorder(box_of_permuted), permute(graph), "ds", data)
    assert plain.distance == other.distance
    assert plain.calls == other.calls
    if plain.edges is not None and other.edges is not None:
        assert (permute(plain.edges) == other.edges).all()


@pytest.mark.parametrize("method", cg.list_methods())
def test_stopped_distinguishes_finished_and_exhausted_searches(method: str) -> None:
    graph = random_graphs(1, N, seed=5)[0]
    full = cg.find_counterfactual(Recorder(linear(3)), graph, method, DATA)
    assert full.stopped == "finished"
    exhausted = cg.find_counterfactual(Recorder(constant(0)), graph, method, DATA, max_calls=4)
    assert not exhausted.found
    assert exhausted.stopped in ("max_calls", "not found")
    reserved = 0 if "+" in method else 1
    assert exhausted.calls == 4 - reserved, "the last phase reserves one call to confirm its result"


@pytest.mark.parametrize("method", cg.list_methods())
@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("n", [2, 3])
def test_empty_complete_and_tiny_graphs(method: str, fill: bool, n: int) -> None:
    pairs = n * (n - 1) // 2
    graph = np.full(pairs, fill)
    data = cg.GraphDataset(np.array([[True] * pairs, [False] * pairs]), [1, 0])

    def box(edges: Edges) -> np.ndarray:
        return edges.all(axis=1).astype(int)

    result = cg.find_counterfactual(Recorder(box), graph, method, data)
    assert result.found
    assert cg.find_counterfactual(Recorder(constant(1)), graph, method, data).stopped == "not found"


def test_random_walk_flips_k_new_pairs_per_step() -> None:
    seen: list[Edges] = []

    def box(edges: Edges) -> np.ndarray:
        seen.extend(edges.copy())
        return np.zeros(len(edges), dtype=int)

    graph = random_graphs(1, 30, seed=0, density=0.5)[0]
    cg.find_counterfactual(cg.Oracle(box, input="edges"), graph, "ofs", k=7, max_calls=40, confirm=False)
    changed = [edges ^ graph for edges in seen]
    assert [int(each.sum()) for each in changed] == [7 * i for i in range(40)]
    for before, after in pairwise(changed):
        assert (after >= before).all()
    added = sum((changed[-1] & ~graph).tolist())
    assert 90 < added < 185, "additions and removals are equally likely"


@pytest.mark.parametrize(
    "wrong",
    [np.array([-1]), np.array([28]), np.array([True] * 28), [0], np.array([[0]]), np.array([0.0]), np.uint64([0])],
)
def test_search_that_yields_invalid_flips_raises(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(task: Task, start: Flips) -> Search:
        yield wrong if isinstance(wrong, Ask) else Ask(wrong)

    monkeypatch.setitem(PHASES, "bad", Phase("bad", "forward", bad, "Bad", "yields invalid flips"))
    with pytest.raises(SearchError, match="the search 'bad' must yield Ask.flips., .* from 0 to 27"):
        cg.find_counterfactuals(Recorder(linear(0)), random_graphs(3, N, seed=0), "bad")


def test_parse_method() -> None:
    assert [phase.name for phase in parse_method(" OFS + obs+lbs").phases] == ["ofs", "obs", "lbs"]
    assert {"ofs", "dfs", "ds", "obs", "dbs", "lbs"} <= set(PHASES)
    for name, message in (
        ("obs", "a method must start with a forward search .ofs, dfs, ds"),
        ("ofs+dfs", "a method must start with"),
        ("ofs+obs+obs", "must not contain a search twice"),
        ("ofs+obss", "unknown search 'obss'; did you mean obs"),
        ("", "unknown search ''"),
    ):
        with pytest.raises((ValueError, LookupError), match=message):
            parse_method(name)
