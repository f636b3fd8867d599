"""Black boxes that depend on global graph measures: distance and calls of each method.

Each black box compares one measure with its median in the cohort. The last one is a random forest on all measures,
trained on the labels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

import countergraph as cg
from bench.data import SkippedError, real_data
from bench.learned import quantiles

METHODS = ("ofs+obs", "dfs+dbs", "learned")
STEP = 5
"""Every fifth graph is also searched as a single graph."""
Measure = Callable[[NDArray[np.uint8]], NDArray[np.float64]]
Box = Callable[[NDArray[np.uint8]], NDArray[np.generic]]


def transitivity(matrices: NDArray[np.uint8]) -> NDArray[np.float64]:
    weights = matrices.astype(np.float32)
    degrees = weights.sum(axis=1)
    closed = np.einsum("bij,bij->b", weights @ weights, weights)
    return np.asarray(closed / np.maximum((degrees * (degrees - 1)).sum(axis=1), 1))


def largest_eigenvalue(matrices: NDArray[np.uint8]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.eigvalsh(matrices.astype(np.float32))[:, -1])


def degree_variance(matrices: NDArray[np.uint8]) -> NDArray[np.float64]:
    return np.asarray(matrices.sum(axis=1, dtype=np.float64).var(axis=1))


MEASURES: dict[str, Measure] = {
    "transitivity": transitivity,
    "largest eigenvalue": largest_eigenvalue,
    "degree variance": degree_variance,
}


def black_boxes(data: cg.GraphDataset) -> dict[str, Box]:
    def above(measure: Measure) -> Box:
        median = np.median(measure(data.adjacency))
        return lambda matrices: (measure(matrices) > median).astype(int)

    def all_measures(matrices: NDArray[np.uint8]) -> NDArray[np.float64]:
        return np.stack([measure(matrices) for measure in MEASURES.values()], axis=1)

    forest = RandomForestClassifier(50, max_depth=5, random_state=0).fit(all_measures(data.adjacency), data.labels)
    boxes = {name: above(measure) for name, measure in MEASURES.items()}
    return {**boxes, "forest of measures": lambda matrices: forest.predict(all_measures(matrices))}


def main() -> None:
    cohorts = {"built-in": cg.make_cohort()}
    try:
        cohorts["asd"] = cg.load_dataset("asd", root=real_data())
    except SkippedError as reason:
        print(f"asd skipped: {reason}", file=sys.stderr)
    print("| black box | method | found | distance, percentiles 10/25/50/75/90 | calls, percentiles |")
    print("|---|---|---|---|---|")
    for cohort, data in cohorts.items():
        for name, box in black_boxes(data).items():
            rows = {method: list(cg.find_counterfactuals(box, data, method, confirm=False)) for method in METHODS}
            rows["learned, single graph"] = [cg.find_counterfactual(box, graph) for graph in data.edges[::STEP]]
            for method, results in rows.items():
                distances = np.array([np.inf if each.distance is None else each.distance for each in results])
                found = f"{sum(each.found for each in results)}/{len(results)}"
                calls = quantiles(np.array([each.calls for each in results], dtype=float))
                print(f"| {cohort} {name} | {method} | {found} | {quantiles(distances)} | {calls} |", flush=True)
    print()


if __name__ == "__main__":
    main()
