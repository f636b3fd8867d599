"""Run all benchmarks with ``make bench``, or some of them by name: ``python -m bench speed``."""

from __future__ import annotations

import sys

from bench import (
    ablation,
    accuracy,
    constrained,
    growth,
    learned,
    measures,
    peers,
    quality,
    report,
    resemblance,
    scores,
    single_graph,
    speed,
    store,
    throughput,
    weighted,
)
from bench.data import SkippedError

BENCHMARKS = {
    "speed": speed.main,
    "growth": growth.main,
    "quality": quality.main,
    "throughput": throughput.main,
    "resemblance": resemblance.main,
    "store": store.main,
    "peers": peers.main,
    "accuracy": accuracy.main,
    "learned": learned.main,
    "measures": measures.main,
    "learned-whole": learned.whole,
    "report": report.main,
    "development": report.development,
    "ablation": ablation.main,
    "single-graph": single_graph.main,
    "constrained": constrained.main,
    "scores": scores.main,
    "weighted": weighted.main,
}
ONLY_BY_NAME = {"weighted", "accuracy", "learned-whole", "report", "development", "ablation"}
"""Benchmarks that do not run by default: they take from a quarter of an hour to several hours."""


def main(names: list[str]) -> None:
    for name in names:
        if name not in BENCHMARKS:
            sys.exit(f"unknown benchmark {name!r}; available: {', '.join(BENCHMARKS)}")
    for name in names or [name for name in BENCHMARKS if name not in ONLY_BY_NAME]:
        try:
            BENCHMARKS[name]()
        except SkippedError as reason:
            print(f"{name}: skipped, {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
