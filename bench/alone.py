"""One graph alone, with no dataset: the learned search against OFS+OBS, each search a run of its own."""

from __future__ import annotations

import sys

import numpy as np

import countergraph as cg
from bench.data import real_data
from bench.learned import black_box, quantiles

BOXES = ("published-rule", "linear-svm", "knn", "pca-knn", "graph2vec", "sub2vec")
SAMPLE, SEEDS = 25, (0, 1, 2)


def main(kinds: tuple[str, ...] = BOXES) -> None:
    root = real_data()
    if root is None:
        print("alone: skipped, the real cohorts are neither in ../shared/data nor where COUNTERGRAPH_DATA points")
        return
    data = cg.load_dataset("asd", root=root)
    graphs = data.edges[np.sort(np.random.default_rng(0).permutation(len(data))[:SAMPLE])]
    print("| black box | method | found | distance, percentiles 10/25/50/75/90 | calls, percentiles |")
    print("|---|---|---|---|---|")
    for kind in kinds:
        box = black_box(data, "asd", kind, root)
        for method in ("ofs+obs", "learned"):
            results = [
                cg.find_counterfactual(box, graph, method, confirm=False, seed=seed)
                for seed in SEEDS
                for graph in graphs
            ]
            distances = np.array([np.inf if each.distance is None else each.distance for each in results])
            found, calls = sum(each.found for each in results), np.array([each.calls for each in results], dtype=float)
            row = f"{found}/{len(results)} | {quantiles(distances)} | {quantiles(calls)}"
            print(f"| asd {kind} | {method} | {row} |", flush=True)
    print()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or BOXES)
