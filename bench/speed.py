"""OFS+OBS of the library and of a plain sequential implementation; and 1000 counterfactuals of one graph."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

import countergraph as cg
from bench.data import real_data
from bench.sequential import ofs_obs, rule_as_function
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.published_rules import load_published_rule

RUNS = 5
ROUNDS = 3


def main() -> None:
    root = real_data()
    data, rule = cg.load_dataset("asd", root=root), load_published_rule("asd", root=root)
    compare_with_sequential(data, rule, root)
    many_runs_of_one_graph(data, rule)


def compare_with_sequential(data: cg.GraphDataset, rule: LinearRule, root: Path) -> None:
    """Time both implementations on all graphs, in interleaved rounds."""
    published = json.loads((root / "published_rules.json").read_text())["asd"]
    black_box = rule_as_function(published, "asd")
    library: list[float] = []
    sequential: list[float] = []
    found: list[tuple[int | None, int]] = []
    for round_ in range(ROUNDS):
        began = time.perf_counter()
        results = cg.find_counterfactuals(rule, data, "ofs+obs", runs=RUNS, seed=round_, confirm=False)
        library.append((time.perf_counter() - began) / len(results))
        part = data.adjacency[round_::ROUNDS]
        began = time.perf_counter()
        found += [ofs_obs(graph, black_box, seed=i) for i, graph in enumerate(part)]
        sequential.append((time.perf_counter() - began) / len(part))
    distances = np.array([distance for distance, _ in found if distance is not None])
    print(f"OFS+OBS, published ASD rule, k 5, 2000 calls per phase, best of {ROUNDS} interleaved rounds")
    print(f"{'':34}{'countergraph':>14}{'sequential':>14}")
    print(f"{'milliseconds per counterfactual':34}{1000 * min(library):14.2f}{1000 * min(sequential):14.2f}")
    calls = np.mean([result.calls for result in results])
    print(f"{'calls per counterfactual (mean)':34}{calls:14.0f}{np.mean([calls for _, calls in found]):14.0f}")
    own_distances = np.array([result.distance for result in results], dtype=float)
    print(f"{'distance (mean)':34}{own_distances.mean():14.2f}{distances.mean():14.2f}")
    print(f"{'distance (median)':34}{np.median(own_distances):14.1f}{np.median(distances):14.1f}")
    print(f"{'found':34}{f'{len(own_distances)}/{len(results)}':>14}{f'{len(distances)}/{len(found)}':>14}")
    print(f"ratio: {min(sequential) / min(library):.1f}; all {len(results)} take {min(library) * len(results):.2f} s\n")


def many_runs_of_one_graph(data: cg.GraphDataset, rule: LinearRule) -> None:
    """Time 1000 counterfactuals of one graph in a joint run, and 100 of them one by one."""
    subject = data.subset(["MaxMun_d_0051353"])
    began = time.perf_counter()
    results = cg.find_counterfactuals(rule, subject, "ofs+obs", runs=1000)
    joint = (time.perf_counter() - began) / 1000
    began = time.perf_counter()
    for seed in range(100):
        cg.find_counterfactual(rule, subject.edges[0], "ofs+obs", seed=seed)
    one_by_one = (time.perf_counter() - began) / 100
    distances = [result.distance for result in results if result.distance is not None]
    print("1000 counterfactuals of MaxMun_d_0051353")
    print(f"  joint run   {1000 * joint:.2f} s ({1000 * joint:.2f} ms each), {len(distances)} found")
    print(f"  one by one  {1000 * one_by_one:.2f} ms each; ratio {one_by_one / joint:.1f}\n")


if __name__ == "__main__":
    main()
