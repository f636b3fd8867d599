"""Distance of each method compared with the optimum on the published rules, and calls by phase."""

from __future__ import annotations

import numpy as np

import countergraph as cg
from bench.data import real_data
from countergraph.classifiers.published_rules import load_published_rule

METHODS = ("ofs+obs", "dfs+obs", "dfs+dbs", "dfs+lbs", "ds+obs", "ds+lbs")


def main() -> None:
    root = real_data()
    print("| cohort | method | found | above the optimum | distance | calls | calls forward | calls backward |")
    print("|---|---|---|---|---|---|---|---|")
    for cohort, runs in (("asd", 5), ("adhd", 1)):
        data, rule = cg.load_dataset(cohort, root=root), load_published_rule(cohort, root=root)
        optima = [cg.optimal_counterfactual(rule, graph).distance for graph in data.edges]
        print(f"| {cohort} | optimum | | 0 | {np.median(np.array(optima)):g} | | | |")
        for method in METHODS:
            results = cg.find_counterfactuals(rule, data, method, runs=runs, confirm=False)
            found = results.found
            distances = np.array([result.distance for result in found], dtype=float)
            above = distances - np.array([optima[result.graph_index] for result in found])
            forward, backward = (np.median([each.calls_by_phase[name] for each in found]) for name in method.split("+"))
            calls = np.median([result.calls for result in found])
            print(
                f"| {cohort} | {method} | {len(found)}/{len(results)} | {above.mean():.2f} | {np.median(distances):g} "
                f"| {calls:g} | {forward:g} | {backward:g} |"
            )
    print()


if __name__ == "__main__":
    main()
