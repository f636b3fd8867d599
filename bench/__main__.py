"""Run all benchmarks: ``make bench``, or some of them by name: ``python -m bench speed``."""

from __future__ import annotations

import sys

from bench import (
    accuracy,
    alone,
    boxes,
    constrained,
    growth,
    learned,
    measures,
    peers,
    quality,
    resemblance,
    scores,
    speed,
    store,
)
from bench.data import SkippedError

BENCHMARKS = {
    "speed": speed.main,
    "growth": growth.main,
    "quality": quality.main,
    "boxes": boxes.main,
    "resemblance": resemblance.main,
    "store": store.main,
    "peers": peers.main,
    "accuracy": accuracy.main,
    "learned": learned.main,
    "measures": measures.main,
    "learned-whole": learned.whole,
    "alone": alone.main,
    "constrained": constrained.main,
    "scores": scores.main,
}
ONLY_BY_NAME = {"accuracy", "learned-whole"}  # they take a quarter of an hour, and more than an hour


def main(names: list[str]) -> None:
    for name in names:
        if name not in BENCHMARKS:
            sys.exit(f"no benchmark is called {name!r}; there are {', '.join(BENCHMARKS)}")
    for name in names or [name for name in BENCHMARKS if name not in ONLY_BY_NAME]:
        try:
            BENCHMARKS[name]()
        except SkippedError as why:
            print(f"{name}: skipped, {why}")


if __name__ == "__main__":
    main(sys.argv[1:])
