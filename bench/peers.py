"""Comparison with other implementations of OFS+OBS: a plain sequential one, and GRETEL if it is installed."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import numpy as np

import countergraph as cg
from bench import gretel
from bench.data import real_data
from bench.sequential import ofs_obs, rule_as_function
from countergraph.classifiers.published_rules import load_published_rule

STEP = 5
"""Every fifth graph is searched."""


def main() -> None:
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
    for name, search in (
        ("plain, sequential OFS+OBS (bench/sequential.py)", ofs_obs),
        ("GRETEL, OFS+OBS", gretel.load("OFS+OBS")),
    ):
        if search is None:
            print(f"| {name} | not run: GRETEL_HOME is not set | | | |")
            continue
        began = time.perf_counter()
        found = [search(matrix, box, seed) for seed, matrix in enumerate(some.adjacency)]
        _row(name, found, time.perf_counter() - began)
    print()


def _row(name: str, found: Sequence[tuple[int | None, int]], seconds: float) -> None:
    distances = [distance for distance, _ in found if distance is not None]
    distance, calls = np.median(distances), np.median([calls for _, calls in found])
    print(f"| {name} | {len(distances)} of {len(found)} | {distance:g} | {calls:g} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
