"""Searches under constraints on the published ASD rule: number of results, and cost compared with the optimum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import countergraph as cg
from bench.data import real_data
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.search.network import Network

STEP = 5
"""Every fifth graph is also searched as a single graph, and in a small joint run."""
N_CHEAPEST = 200
"""The integer program has so many pairs of each gain, the cheapest ones; the optimum needs no others."""
Numbers = NDArray[np.float64]


def optimum(rule: LinearRule, graph: NDArray[np.bool_], constraints: cg.Constraints) -> float:
    """Return the minimum cost of a counterfactual within the constraints; infinity if there is none."""
    weights, score = rule.coef_[0], float(graph @ rule.coef_[0] + rule.intercept_[0])
    gains = np.where(graph, -weights, weights) * (1 if score <= 0 else -1)
    limits = constraints.limits(Network.of_graph(graph), None, None)
    pools = [limits.pool(graph, present) for present in (True, False)]
    if limits.keep_edges:
        best = [np.sort(gains[pool])[::-1] for pool in pools]
        size = min(map(len, best))
        return 2 * _n_to_exceed(best[0][:size] + best[1][:size], abs(score))
    pool = np.concatenate(pools)
    if limits.costs is None:
        fewest = _n_to_exceed(np.sort(gains[pool])[::-1], abs(score))
        return fewest if limits.most is None or fewest <= limits.most else np.inf
    levels = np.round(gains[pool], 12)
    kept = np.concatenate([_cheapest(pool[levels == level], limits.costs) for level in np.unique(levels[levels > 0])])
    changes_class = LinearConstraint(gains[kept][None], abs(score) + 1e-9)
    solved = milp(limits.costs[kept], integrality=np.ones(kept.size), bounds=Bounds(0, 1), constraints=changes_class)
    return float(solved.fun) if solved.success else np.inf


def _n_to_exceed(gains: Numbers, distance: float) -> float:
    exceeding = np.flatnonzero(np.cumsum(gains) > distance + 1e-12)
    return float(exceeding[0] + 1) if exceeding.size else np.inf


def _cheapest(pool: NDArray[np.intp], costs: Numbers) -> NDArray[np.intp]:
    return pool[np.argsort(costs[pool])][:N_CHEAPEST]


def print_row(name: str, method: str, results: Iterable[cg.Counterfactual], optima: Numbers) -> None:
    found = [(each, best) for each, best in zip(results, optima, strict=True) if np.isfinite(best)]
    reached = np.array([each.cost or each.distance for each, _ in found if each.found], dtype=float)
    best = np.array([best for each, best in found if each.found])
    calls = np.median([each.calls for each, _ in found])
    print(
        f"| {name} | {method} | {reached.size}/{len(found)} | {reached.mean():.2f} | {best.mean():.2f} "
        f"| {np.mean(reached / best):.2f} | {calls:.0f} |",
        flush=True,
    )


def main() -> None:
    root = real_data()
    data, rule = cg.load_dataset("asd", root=root), load_published_rule("asd", root=root)
    costs = np.exp(np.random.default_rng(5).normal(size=data.edges.shape[1]))
    settings: dict[str, dict[str, Any]] = {
        "`keep_edges`": {"keep_edges": True},
        '`only="added"`': {"only": "added"},
        "`most=10`": {"most": 10},
        "`cost=...`": {"cost": costs},
        '`cost=...`, `only="added"`': {"cost": costs, "only": "added"},
    }
    print("| constraint | method | found | cost, mean | optimum, mean | ratio, mean | calls, median |")
    print("|---|---|---|---|---|---|---|")
    for name, options in settings.items():
        constraints, some = cg.Constraints(**options), data.edges[::STEP]
        optima = np.array([optimum(rule, graph, constraints) for graph in data.edges])
        for method in ("dfs+lbs", "bisect+ddmin"):
            results = cg.find_counterfactuals(rule, data, method, constraints=constraints)
            print_row(name, method, results, optima)
        print_row(name, "learned", cg.find_counterfactuals(rule, data, constraints=constraints), optima)
        few = cg.find_counterfactuals(rule, some, dataset=data, constraints=constraints)
        print_row(name, f"learned, joint run of {len(some)}", few, optima[::STEP])
        single = [cg.find_counterfactual(rule, graph, dataset=data, constraints=constraints) for graph in some]
        print_row(name, "learned, single graphs", single, optima[::STEP])
    print()


if __name__ == "__main__":
    main()
