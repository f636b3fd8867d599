"""Overhead and memory of a search by the number of ROIs: 100 searches, one synthetic graph each.

``python -m bench.growth ROIS METHOD SEARCHES`` measures one case.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.finding.find import find_counterfactuals
from countergraph.graphs.pairs import Bits, pair_count

SIZES = (100, 200, 400, 1000)
SEARCHES = 100


class TimedRule:
    """A fast linear black box that measures its own time."""

    def __init__(self, n_rois: int) -> None:
        rng = np.random.default_rng(0)
        sets = [rng.permutation(n_rois)[: n_rois // 6] for _ in range(2)]
        self.rule = LinearRule(sets, [-0.1, 0.1], 0.05, n_rois)
        self.seconds = 0.0

    def predict(self, edges: Bits) -> NDArray[np.generic]:
        """Return the classes, and add the time to ``seconds``."""
        began = time.perf_counter()
        answers = self.rule.predict(edges)
        self.seconds += time.perf_counter() - began
        return answers


def measure(n_rois: int, method: str = "ofs+obs", n_searches: int = SEARCHES) -> dict[str, float]:
    """Run the searches; to measure their peak memory, call this in a new process."""
    rng = np.random.default_rng(1)
    graphs = np.empty((n_searches, pair_count(n_rois)), dtype=np.bool_)
    for graph in graphs:
        graph[:] = rng.random(graph.size) < 0.1
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    box = TimedRule(n_rois)
    began = time.perf_counter()
    results = find_counterfactuals(box, graphs, method, confirm=False, effort="quick")
    elapsed = time.perf_counter() - began
    calls = sum(result.calls for result in results)
    return {
        "rois": n_rois,
        "pairs": graphs.shape[1],
        "found": len(results.found),
        "calls": calls,
        "overhead": 1e6 * (elapsed - box.seconds) / calls,
        "box": 1e6 * box.seconds / calls,
        "before": before,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    print(f"{SEARCHES} searches in lockstep, by number of ROIs; learned with effort quick, without data")
    print("| method | ROIs | pairs | searches | found | calls | overhead µs per call | ratio | peak MB (before) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for method in ("ofs+obs", "learned"):
        cases = [(size, SEARCHES) for size in SIZES]
        if method == "learned":
            cases += [(116, 500), (116, 1000)]
        first = None
        for size, n_searches in cases:
            command = [sys.executable, "-m", "bench.growth", str(size), method, str(n_searches)]
            row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            first = first or row["overhead"]
            print(
                f"| {method} | {size} | {row['pairs']:.0f} | {n_searches} | {row['found']:.0f} | {row['calls']:.0f} "
                f"| {row['overhead']:.0f} | {row['overhead'] / first:.1f} | {row['peak']:.0f} ({row['before']:.0f}) |",
                flush=True,
            )
    print()


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
