"""White-box references: how few changes are possible, if the weights of the model may be used.

For a linear model the optimum is exact: the fewest largest effects. For other models a search with exact scores gives
an upper bound of the optimum: add the flips with the largest effect on the decision function, computed again after each
step; undo what is not needed; exchange two changes for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.boxes import Box
from countergraph.graphs.pairs import Bits, Floats, Indices

MAX_CHANGES = 400
CANDIDATES = 400
"""After the first step, only so many flips are scored again, those with the largest effects in the first step."""


def reference_distances(box: Box, model: Any, graphs: Bits) -> Floats | None:  # noqa: ANN401
    """Return the distance of the white-box reference for each graph; None if the box has none."""
    if box.scale is None:
        return None
    search = _linear if box.scale == "linear" else _search
    return np.array([search(model, graph) for graph in graphs])


def _margins(model: Any, graph: Bits, sets: list[Indices]) -> Floats:  # noqa: ANN401
    """Return the decision function after each set of flips; positive if the class has changed."""
    batch = np.repeat(graph[None], len(sets), axis=0)
    for row, flips in zip(batch, sets, strict=True):
        row[flips] ^= True
    own = float(_decision(model, graph[None])[0])
    return _decision(model, batch) * (-1 if own > 0 else 1)


def _decision(model: Any, batch: Bits) -> Floats:  # noqa: ANN401
    """Return the decision function, or the log-odds of the second class."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(batch), dtype=np.float64)
    probabilities = np.clip(model.predict_proba(batch), 1e-12, 1.0)
    return np.asarray(np.log(probabilities[:, 1]) - np.log(probabilities[:, 0]), dtype=np.float64)


def _linear(model: Any, graph: Bits) -> float:  # noqa: ANN401
    """Return the exact optimum of a linear model."""
    margins = _margins(model, graph, [np.empty(0, dtype=np.intp), *np.arange(graph.size)[:, None]])
    effects = np.sort(margins[1:] - margins[0])[::-1]
    return 1.0 + int(np.searchsorted(np.cumsum(effects), -margins[0], side="right"))


def _search(model: Any, graph: Bits) -> float:  # noqa: ANN401
    """Return the distance that greedy addition, undoing and exchange reach with exact scores."""
    singles = _margins(model, graph, list(np.arange(graph.size)[:, None]))
    pool = np.argsort(-singles)[:CANDIDATES]
    flips, margin = np.empty(0, dtype=np.intp), -np.inf
    while margin <= 0 and flips.size < MAX_CHANGES:
        others = np.setdiff1d(pool, flips)
        if not others.size:
            return np.nan
        margins = _margins(model, graph, [np.append(flips, each) for each in others])
        step = max(1, flips.size // 8)
        best = others[np.argsort(-margins)[:step]]
        flips = np.append(flips, best)
        margin = float(_margins(model, graph, [flips])[0])
    flips = _undo(model, graph, flips)
    while True:
        better = _exchange(model, graph, flips, pool)
        if better is None:
            return float(flips.size) if margin > 0 else np.nan
        flips = _undo(model, graph, better)


def _undo(model: Any, graph: Bits, flips: Indices) -> Indices:  # noqa: ANN401
    """Undo changes, the one that is needed least first, while the class stays changed."""
    while flips.size > 1:
        margins = _margins(model, graph, [np.delete(flips, k) for k in range(flips.size)])
        if margins.max() <= 0:
            break
        flips = np.delete(flips, int(margins.argmax()))
    return flips


def _exchange(model: Any, graph: Bits, flips: Indices, pool: Indices) -> Indices | None:  # noqa: ANN401
    """Exchange the two changes that are needed least for one other; None if no exchange succeeds."""
    if flips.size < 2:
        return None
    margins = _margins(model, graph, [np.delete(flips, k) for k in range(flips.size)])
    kept = np.delete(flips, np.argsort(-margins)[:2])
    others = np.setdiff1d(pool, flips)
    margins = _margins(model, graph, [np.append(kept, each) for each in others])
    return np.append(kept, others[int(margins.argmax())]) if margins.max() > 0 else None
