"""Comparison with other implementations of OFS+OBS, and with other published methods (`bench.rivals`).

The first table compares the time and the calls of OFS+OBS in this library, in a plain sequential implementation, and
in GRETEL if it is installed. The others show the distance of each method after numbers of calls, for some black boxes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

import countergraph as cg
from bench import gretel
from bench.boxes import DEVELOPMENT, REPORT, Box, cohort, model, people
from bench.data import real_data
from bench.rivals import RIVALS
from bench.sequential import BlackBox, ofs_obs, rule_as_function
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.graphs.pairs import Bits, Floats, as_edge_vector

STEP = 5
"""Every fifth graph is searched in the first table."""
N_PEOPLE = 11
CALLS = (50, 100, 500, 2000, 20000)
MAX_CALLS = {"thorough": 2000, "OFS+OBS+Sign-OPT": 2000, "GRABNEL": 2000}
"""The maximum number of calls of methods that take too long with 20000."""
BOXES = tuple(
    each
    for each in (*DEVELOPMENT, *REPORT)
    if (each.name, each.cohort) == ("published rule", "asd") or each.name in ("MLP", "gradient boosting")
)
Trace = Sequence[tuple[int, int]]


def main() -> None:
    """Print all tables."""
    seconds_table()
    for box in BOXES:
        calls_table(box)


def seconds_table() -> None:
    """Print distance, calls and seconds of implementations of OFS+OBS, with the published rule."""
    root = real_data()
    data = cg.load_dataset("asd", root=root)
    some = data.subset(range(0, len(data), STEP))
    box = rule_as_function(json.loads((root / "published_rules.json").read_text())["asd"], "asd")
    print(f"{len(some)} graphs of ASD, published rule, one run")
    print("| | found | distance (median) | calls (median) | seconds |")
    print("|---|---|---|---|---|")
    rule = load_published_rule("asd", root=root)
    for method in ("ofs+obs", "learned"):
        began = time.perf_counter()
        results = cg.find_counterfactuals(rule, some, method, dataset=data, confirm=False)
        _row(f"countergraph, {method}", [(each.distance, each.calls) for each in results], time.perf_counter() - began)
    began = time.perf_counter()
    found = [ofs_obs(matrix, box, seed) for seed, matrix in enumerate(some.adjacency)]
    _row("plain, sequential OFS+OBS (bench/sequential.py)", found, time.perf_counter() - began)
    search = gretel.load("OFS+OBS")
    if search is None:
        print("| GRETEL, OFS+OBS | not run: GRETEL_HOME is not set | | | |")
    else:
        began = time.perf_counter()
        found = [search(matrix, box, seed)[:2] for seed, matrix in enumerate(some.adjacency)]
        _row("GRETEL, OFS+OBS", found, time.perf_counter() - began)
    print()


def _row(name: str, found: Sequence[tuple[int | None, int]], seconds: float) -> None:
    distances = [distance for distance, _ in found if distance is not None]
    distance, calls = np.median(distances), np.median([calls for _, calls in found])
    print(f"| {name} | {len(distances)} of {len(found)} | {distance:g} | {calls:g} | {seconds:.1f} |", flush=True)


def calls_table(box: Box) -> None:
    """Print the distance after numbers of calls, for each method with one black box."""
    data = cohort(box.cohort)
    some, black_box = people(data, N_PEOPLE), model(box)
    print(f"Mean distance after a number of calls: {len(some)} people of {box.cohort}, {box.name}. In brackets: the")
    print("number of people with a result, if not all have one; the mean is over these. -: not run with so many calls.")
    print("Shared calls are divided by the number of people, and added to the calls of each.")
    print(f"| | {' | '.join(map(str, CALLS))} | not found | seconds |")
    print("|---|" + "---|" * (len(CALLS) + 2))
    for method in ("ofs+obs", "dfs+dbs"):
        _search(f"countergraph, {method}", black_box, some, method, dataset=data)
    for effort in ("quick", "standard", "thorough"):
        limit = MAX_CALLS.get(effort, max(CALLS))
        _search(f"countergraph, learned, {effort}", black_box, some, "learned", limit, dataset=data, effort=effort)
    for name, rival in RIVALS.items():
        scores = {"scores": True} if name == "GRABNEL" else {}
        rival_box = WithProbabilities(black_box) if scores and not hasattr(black_box, "predict_proba") else black_box
        _search(f"{name} (bench/rivals)", rival_box, some, rival, MAX_CALLS.get(name, max(CALLS)), **scores)
    for name in gretel.EXPLAINERS:
        search = gretel.load(name, list(data.adjacency))
        if search is not None:
            began, function = time.perf_counter(), _as_function(black_box)
            traces = [search(matrix, function, seed).trace for seed, matrix in enumerate(some.adjacency)]
            _calls_row(f"GRETEL, {name}", traces, time.perf_counter() - began)
    print()


def _search(
    name: str,
    black_box: object,
    graphs: cg.GraphDataset,
    method: Any,  # noqa: ANN401
    max_calls: int = max(CALLS),
    **options: Any,  # noqa: ANN401
) -> None:
    began = time.perf_counter()
    results = cg.find_counterfactuals(black_box, graphs, method, max_calls=max_calls, confirm=False, **options)
    shared = results.shared_calls / len(results)
    traces = [[(calls + int(np.ceil(shared)), distance) for calls, distance in each.trace] for each in results]
    _calls_row(name, traces, time.perf_counter() - began, max_calls)


def _calls_row(name: str, traces: Sequence[Trace], seconds: float, max_calls: int = max(CALLS)) -> None:
    cells = ["-" if calls > max_calls else _mean_after(traces, calls) for calls in CALLS]
    not_found = sum(not trace for trace in traces)
    print(f"| {name} | {' | '.join(cells)} | {not_found} | {seconds:.1f} |", flush=True)


def _mean_after(traces: Sequence[Trace], calls: int) -> str:
    """Return the mean distance of the best results after a number of calls."""
    best = [min((distance for used, distance in trace if used <= calls), default=None) for trace in traces]
    found = [distance for distance in best if distance is not None]
    if not found:
        return "none"
    return f"{np.mean(found):.1f}" + (f" [{len(found)}]" if len(found) < len(best) else "")


class WithProbabilities:
    """A black box with probabilities: the logistic function of its scores."""

    def __init__(self, black_box: Any) -> None:  # noqa: ANN401
        self.black_box, self.classes_ = black_box, black_box.classes_

    def predict(self, edges: Bits) -> Any:  # noqa: ANN401
        """Return the classes."""
        return self.black_box.predict(edges)

    def predict_proba(self, edges: Bits) -> Floats:
        """Return the probabilities of both classes."""
        second = expit(self.black_box.decision_function(edges))
        return np.stack([1 - second, second], axis=1)


def _as_function(black_box: Any) -> BlackBox:  # noqa: ANN401
    """Return a black box as a function of one adjacency matrix."""
    return lambda matrix: int(black_box.predict(as_edge_vector(matrix)[None])[0])


if __name__ == "__main__":
    main()
