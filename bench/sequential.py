"""A simple OFS+OBS, as in a notebook: dense matrices, one search and one call at a time.

This is the baseline for the speed of the library. It follows Algorithms 1 and 2 of the paper without optimisation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.uint8]
BlackBox = Callable[[Matrix], int]


def rule_as_function(rule: Mapping[str, Any], cohort: str) -> BlackBox:
    """Return a published rule as a function of one adjacency matrix."""
    first, second = np.ix_(*[rule[f"td_{cohort}"]] * 2), np.ix_(*[rule[f"{cohort}_td"]] * 2)

    def classify(matrix: Matrix) -> int:
        x, y = matrix[first].sum() / 2, matrix[second].sum() / 2
        score = rule[f"td_{cohort}_weight"] * x + rule[f"{cohort}_td_weight"] * y + rule["intercept"]
        return int(score > 0)

    return classify


def forward(
    graph: Matrix, black_box: BlackBox, k: int, max_calls: int, rng: np.random.Generator
) -> tuple[Matrix | None, int]:
    """Run Algorithm 1, OFS; return the counterfactual (None if there is none) and the number of calls."""
    candidate, used = graph.copy(), np.zeros(graph.shape, dtype=bool)
    label, calls = black_box(graph), 1
    while calls < max_calls:
        for _ in range(k):
            add = rng.random() < 0.5
            pool = np.argwhere(np.triu((graph == (0 if add else 1)) & ~used, 1))
            if len(pool) == 0:
                pool = np.argwhere(np.triu((graph == (1 if add else 0)) & ~used, 1))
            if len(pool) == 0:
                return None, calls
            i, j = pool[rng.integers(len(pool))]
            candidate[i, j] = candidate[j, i] = 1 - candidate[i, j]
            used[i, j] = used[j, i] = True
        calls += 1
        if black_box(candidate) != label:
            return candidate, calls
    return None, calls


def backward(
    graph: Matrix,
    start: Matrix,
    black_box: BlackBox,
    label: int,
    k: int,
    max_calls: int,
    rng: np.random.Generator,
) -> tuple[Matrix, int]:
    """Run Algorithm 2, OBS; return the counterfactual and the number of calls."""
    best, calls = start, 0
    pool = np.argwhere(np.triu(graph != best, 1))
    while calls < max_calls and len(pool):
        k = min(k, len(pool))
        chosen = rng.choice(len(pool), size=k, replace=False)
        candidate = best.copy()
        for i, j in pool[chosen]:
            candidate[i, j] = candidate[j, i] = graph[i, j]
        calls += 1
        if black_box(candidate) != label:
            best, k = candidate, k + 1
            pool = np.argwhere(np.triu(graph != best, 1))
        elif k > 1:
            k -= 1
        else:
            pool = np.delete(pool, chosen, axis=0)
    return best, calls


def ofs_obs(graph: Matrix, black_box: BlackBox, seed: int, k: int = 5, max_calls: int = 2000) -> tuple[int | None, int]:
    """Search one graph; return the distance (None if not found) and the number of calls."""
    rng = np.random.default_rng(seed)
    start, calls = forward(graph, black_box, k, max_calls, rng)
    if start is None:
        return None, calls
    best, backward_calls = backward(graph, start, black_box, black_box(graph), k, max_calls, rng)
    return int((graph != best).sum()) // 2, calls + backward_calls
