"""The learned search for single graphs, one run per graph, with and without a dataset, compared with OFS+OBS.

OFS+OBS finds the same results in a joint run, so its searches run jointly.
"""

from __future__ import annotations

import sys

import numpy as np

import countergraph as cg
from bench.data import real_data
from bench.learned import BOXES, black_box, quantiles


def main(kinds: tuple[str, ...] = BOXES) -> None:
    root = real_data()
    data = cg.load_dataset("asd", root=root)
    print("| black box | method | found | distance, percentiles 10/25/50/75/90 | calls, percentiles |")
    print("|---|---|---|---|---|")
    for kind in kinds:
        box = black_box(data, "asd", kind, root)
        rows = {
            "ofs+obs": list(cg.find_counterfactuals(box, data.edges, "ofs+obs", confirm=False)),
            "learned, single graph": [cg.find_counterfactual(box, graph, "learned") for graph in data.edges],
            "learned, single graph, dataset": [
                cg.find_counterfactual(box, graph, "learned", dataset=data) for graph in data.edges
            ],
        }
        for method, results in rows.items():
            distances = np.array([np.inf if each.distance is None else each.distance for each in results])
            found, calls = sum(each.found for each in results), np.array([each.calls for each in results], dtype=float)
            row = f"{found}/{len(results)} | {quantiles(distances)} | {quantiles(calls)}"
            print(f"| asd {kind} | {method} | {row} |", flush=True)
    print()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or BOXES)
