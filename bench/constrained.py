"""Searches under constraints, on the published ASD rule, against the true optimum: how many find one, and how far."""

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

STEP = 5
"""Searched alone, or in the company of a few, is every fifth graph."""
CHEAPEST = 200
"""Of the pairs that do the same, the optimum is among so many of the cheapest."""
Numbers = NDArray[np.float64]


def optimum(rule: LinearRule, graph: NDArray[np.bool_], asked: cg.Constraints) -> float:
    """Return the least that a counterfactual costs within the constraints; infinity if there is none."""
    weights, score = rule.coef_[0], float(graph @ rule.coef_[0] + rule.intercept_[0])
    gains = np.where(graph, -weights, weights) * (1 if score <= 0 else -1)
    limits = asked.limits(graph, None, None)
    pools = [limits.pool(graph, present) for present in (True, False)]
    if limits.keep_edges:
        best = [np.sort(gains[pool])[::-1] for pool in pools]
        size = min(map(len, best))
        return 2 * _first_beyond(best[0][:size] + best[1][:size], abs(score))
    pool = np.concatenate(pools)
    if limits.costs is None:
        fewest = _first_beyond(np.sort(gains[pool])[::-1], abs(score))
        return fewest if limits.most is None or fewest <= limits.most else np.inf
    levels = np.round(gains[pool], 12)
    kept = np.concatenate([_cheapest(pool[levels == level], limits.costs) for level in np.unique(levels[levels > 0])])
    crosses = LinearConstraint(gains[kept][None], abs(score) + 1e-9)
    solved = milp(limits.costs[kept], integrality=np.ones(kept.size), bounds=Bounds(0, 1), constraints=crosses)
    return float(solved.fun) if solved.success else np.inf


def _first_beyond(gains: Numbers, distance: float) -> float:
    beyond = np.flatnonzero(np.cumsum(gains) > distance + 1e-12)
    return float(beyond[0] + 1) if beyond.size else np.inf


def _cheapest(pool: NDArray[np.intp], costs: Numbers) -> NDArray[np.intp]:
    return pool[np.argsort(costs[pool])][:CHEAPEST]


def row(name: str, how: str, results: Iterable[cg.Counterfactual], optima: Numbers) -> None:
    found = [(each, best) for each, best in zip(results, optima, strict=True) if np.isfinite(best)]
    reached = np.array([each.cost or each.distance for each, _ in found if each.found], dtype=float)
    best = np.array([best for each, best in found if each.found])
    calls = np.median([each.calls for each, _ in found])
    print(
        f"| {name} | {how} | {reached.size}/{len(found)} | {reached.mean():.2f} | {best.mean():.2f} "
        f"| {np.mean(reached / best):.2f} | {calls:.0f} |",
        flush=True,
    )


def main() -> None:
    root = real_data()
    data, rule = cg.load_dataset("asd", root=root), load_published_rule("asd", root=root)
    costs = np.exp(np.random.default_rng(5).normal(size=data.edges.shape[1]))
    questions: dict[str, dict[str, Any]] = {
        "`keep_edges`": {"keep_edges": True},
        '`only="added"`': {"only": "added"},
        "`most=10`": {"most": 10},
        "`cost=...`": {"cost": costs},
        '`cost=...`, `only="added"`': {"cost": costs, "only": "added"},
    }
    print("| constraint | how | found | cost, mean | optimum there | ratio, mean | calls, median |")
    print("|---|---|---|---|---|---|---|")
    for name, options in questions.items():
        asked, some = cg.Constraints(**options), data.edges[::STEP]
        optima = np.array([optimum(rule, graph, asked) for graph in data.edges])
        for method in ("dfs+lbs", "bisect+ddmin"):
            results = cg.find_counterfactuals(rule, data, method, constraints=asked)
            row(name, method, results, optima)
        row(name, "learned", cg.find_counterfactuals(rule, data, constraints=asked), optima)
        few = cg.find_counterfactuals(rule, some, dataset=data, constraints=asked)
        row(name, f"learned, {len(some)} people", few, optima[::STEP])
        alone = [cg.find_counterfactual(rule, graph, dataset=data, constraints=asked) for graph in some]
        row(name, "learned, one by one", alone, optima[::STEP])
    print()


if __name__ == "__main__":
    main()
