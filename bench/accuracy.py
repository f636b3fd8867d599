"""All black boxes on both cohorts with the paper's settings: accuracy on seen and on unseen graphs."""

from __future__ import annotations

import time

import countergraph as cg
from bench.data import real_data

PAPER = {
    "contrast-subgraphs": {"asd": 0.77, "adhd": 0.69},
    "graph2vec": {"asd": 0.66, "adhd": 0.62},
    "sub2vec": {"asd": 0.65, "adhd": 0.64},
    "autoencoder": {"asd": 0.68, "adhd": 0.63},
}


def main() -> None:
    root = real_data()
    if root is None:
        print("accuracy: skipped, the real cohorts are neither in ../shared/data nor where COUNTERGRAPH_DATA points")
        return
    print(
        "| cohort | black box | classifier | training | paper | unseen, 5 folds | balanced | AUC | larger class | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for cohort in ("asd", "adhd"):
        data = cg.load_dataset(cohort, root=root)
        for kind in cg.MODELS:
            began = time.perf_counter()
            model = cg.train(data, kind)
            took, rates = time.perf_counter() - began, model.accuracy
            paper = PAPER.get(kind, {}).get(cohort)
            print(
                f"| {cohort} | {kind} | {model.settings['classifier']} | {rates.training:.2f} "
                f"| {'' if paper is None else f'{paper:.2f}'} | {rates.cross_validated:.2f} | {rates.balanced:.2f} "
                f"| {rates.auc:.2f} | {rates.majority:.2f} | {took:.0f} |",
                flush=True,
            )
    print()


if __name__ == "__main__":
    main()
