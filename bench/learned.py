"""The learned search compared with other methods on all black boxes: distance, calls, and distance by calls.

Set COUNTERGRAPH_BOXES to a folder in which to store the trained models; otherwise they are trained in each run.
``python -m bench.learned asd knn`` runs one cohort, or some of its black boxes.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import countergraph as cg
from bench.data import real_data
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.errors import InputError
from countergraph.graphs.pairs import pair_count
from countergraph.search.learned.settings import DEFAULT_SETTINGS
from countergraph.search.learned.surrogate import Surrogate
from countergraph.search.network import Layout, Network
from countergraph.search.parts.orders import largest_gains

METHODS = ("ofs+obs", "dfs+dbs", "bisect+ddmin", "bisect+ddmin+evolve", "learned")
PERCENTILES = (10, 25, 50, 75, 90)
CALLS = (10, 20, 50, 100, 200, 500, 1000)
ADHD_SAMPLE = 100
ESTIMATORS = {
    "linear-svm": lambda: LinearSVC(random_state=0),
    "random-forest": lambda: RandomForestClassifier(100, random_state=0),
    "knn": lambda: KNeighborsClassifier(5, algorithm="brute"),
    "pca-knn": lambda: make_pipeline(PCA(20, random_state=0), KNeighborsClassifier(5, algorithm="brute")),
}
LINEAR = ("published-rule", "contrast-subgraphs")
ADHD_WHOLE = (*LINEAR, "linear-svm", "random-forest")
"""The black boxes that are run on all graphs of ADHD; the others take too long and are run on a sample."""
BOXES = (*LINEAR, "graph2vec", "sub2vec", "autoencoder", *ESTIMATORS)
Plan = tuple[tuple[str, tuple[str, ...]], ...]
QUICK: Plan = (("asd", BOXES), ("adhd", LINEAR))
"""The default plan, which takes a quarter of an hour; all of ADHD takes an hour."""


def black_box(data: cg.GraphDataset, cohort: str, kind: str, root: Path) -> object:
    """Return a black box, trained on the whole cohort."""
    if kind == "published-rule":
        return load_published_rule(cohort, root=root)
    if kind in ESTIMATORS:
        return ESTIMATORS[kind]().fit(data.edges, data.labels)
    folder = os.environ.get("COUNTERGRAPH_BOXES")
    if folder is None:
        return cg.train(data, kind)
    path = Path(folder) / f"{cohort}-{kind}.cgm"
    if not path.exists():
        cg.train(data, kind).save(path)
    return cg.load_model(path)


def best_after(result: cg.Counterfactual, calls: int) -> float:
    """Return the distance of the best result after a number of calls."""
    return min((distance for used, distance in result.trace if used <= calls), default=np.inf)


def quantiles(values: NDArray[np.float64], percentiles: tuple[int, ...] = PERCENTILES) -> str:
    return " / ".join(f"{value:g}" for value in np.percentile(values, percentiles, method="nearest"))


def compare(black_box: object, graphs: cg.GraphDataset, data: cg.GraphDataset, name: str) -> list[str]:
    """Print a row for each method, and return the rows of the table of distance by calls."""
    try:
        optima = np.array([cg.optimal_counterfactual(black_box, graph).distance for graph in graphs.edges])
    except InputError:
        optima = None
    curves = []
    for method in METHODS:
        began = time.perf_counter()
        results = cg.find_counterfactuals(black_box, graphs, method, dataset=data, confirm=False)
        seconds = time.perf_counter() - began
        distances = np.array([np.inf if each.distance is None else each.distance for each in results])
        calls = np.array([each.calls for each in results], dtype=float)
        above = "" if optima is None else f"{(distances - optima).mean():.2f}, {(distances == optima).mean():.0%} exact"
        print(
            f"| {name} | {method} | {len(results.found)}/{len(results)} | {quantiles(distances)} | {above} "
            f"| {quantiles(calls)} | {results.amortised_calls:.0f} | {seconds:.0f} |",
            flush=True,
        )
        points = (
            quantiles(np.array([best_after(each, n_calls) for each in results]), (50, 25, 75)) for n_calls in CALLS
        )
        curves.append(f"| {name} | {method} | {' | '.join(points)} |")
    return curves


def learning_cost() -> None:
    """Print the processor time of the surrogate: a fit per answer that it uses, and ranking all pairs once."""
    print("| pairs | answers | µs per answer of a fit | µs to rank all pairs |")
    print("|---|---|---|---|")
    for n_rois in (116, 232, 464):
        n_pairs, rng = pair_count(n_rois), np.random.default_rng(0)
        surrogate, weights = Surrogate(Layout.of_pairs(n_pairs), DEFAULT_SETTINGS), rng.normal(size=n_pairs)
        graphs = rng.random((50, n_pairs)) < 0.1
        for graph in graphs:
            surrogate.add_graph(Network.of_graph(graph).differences, 0, 0, 1, np.zeros(n_pairs))
        for i in range(5000):
            flips = rng.choice(n_pairs, 100, replace=False)
            signs = np.where(graphs[i % 50][flips], -1, 1)
            surrogate.learn(i % 50, flips, bool(signs @ weights[flips] > 0))
        began = time.process_time()
        surrogate.update()
        fitting = time.process_time() - began
        began = time.process_time()
        for number in range(50):
            largest_gains(surrogate.gains(number), 100)
        ranking = time.process_time() - began
        print(f"| {n_pairs} | 5000 | {1e6 * fitting / 5000:.0f} | {1e6 * ranking / 50:.0f} |")
    print()


def main(plan: Plan = QUICK) -> None:
    root = real_data()
    learning_cost()
    print(
        "| black box | method | found | distance, percentiles 10/25/50/75/90 | above the optimum | calls, percentiles "
        "| amortised | s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    curves = []
    for cohort, kinds in plan:
        data = cg.load_dataset(cohort, root=root)
        for kind in kinds:
            chosen = np.random.default_rng(0).permutation(len(data))[:ADHD_SAMPLE]
            graphs = data if cohort == "asd" or kind in ADHD_WHOLE else data.subset(np.sort(chosen).tolist())
            curves += compare(black_box(data, cohort, kind, root), graphs, data, f"{cohort} {kind}")
    print("\nDistance by number of calls per graph: median / quartiles (inf: no result for so many of the graphs)")
    print(f"| black box | method | {' | '.join(map(str, CALLS))} |")
    print("|---|---|" + "---|" * len(CALLS))
    print("\n".join(curves) + "\n")


def whole() -> None:
    """Run all black boxes on both cohorts."""
    main((("asd", BOXES), ("adhd", BOXES)))


if __name__ == "__main__":
    main(((sys.argv[1], tuple(sys.argv[2:]) or BOXES),) if len(sys.argv) > 1 else QUICK)
