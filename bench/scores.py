"""The learned search with and without scores, on ASD black boxes: distance and calls, three seeds."""

from __future__ import annotations

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

import countergraph as cg
from bench.data import real_data
from bench.learned import black_box, quantiles

BOXES = ("logistic", "random-forest", "knn", "pca-knn", "graph2vec")
SEEDS = (0, 1, 2)


def main(kinds: tuple[str, ...] = BOXES) -> None:
    root = real_data()
    data = cg.load_dataset("asd", root=root)
    print("| black box | scores | distance, percentiles 10/25/50/75/90 | mean | calls, percentiles | mean |")
    print("|---|---|---|---|---|---|")
    for kind in kinds:
        logistic = LogisticRegression(max_iter=2000).fit(data.edges, data.labels)
        box = logistic if kind == "logistic" else black_box(data, "asd", kind, root)
        for scores in (False, True):
            runs = [cg.find_counterfactuals(box, data, "learned", seed=seed, scores=scores) for seed in SEEDS]
            distances = np.array([each.distance for results in runs for each in results], dtype=float)
            calls = np.array([each.calls for results in runs for each in results], dtype=float)
            print(
                f"| asd {kind} | {'yes' if scores else 'no'} | {quantiles(distances)} | {distances.mean():.2f} "
                f"| {quantiles(calls)} | {calls.mean():.0f} |",
                flush=True,
            )
    print()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or BOXES)
