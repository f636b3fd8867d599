"""Quality of the counterfactuals of a cohort, and selection of typical subjects."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import pandas as pd

from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.proofs.optimum import optimal_counterfactual
from countergraph.results.counterfactual import Counterfactual, Counterfactuals

PERCENTILES = (10, 25, 50, 75, 90)
"""The percentiles that the paper reports."""
EXAMPLE_DISTANCE = 4
"""Preferred number of changes of an example: short enough for a sentence and a picture, but not trivial."""


def compare_with_optimum(results: Counterfactuals, rule: object) -> pd.DataFrame:
    """Compare the distances of a search with the exact optimum of a rule that is linear in the edges.

    Parameters
    ----------
    results
        Results of the search.
    rule
        A classifier that is linear in the edges.

    Returns
    -------
    DataFrame
        The rows distance, optimum and calls, with mean and percentiles.
    """
    found = results.found
    if not found:
        raise InputError("none of the searches found a counterfactual; there is nothing to compare")
    if any(result.units or (result.weighted and result.alternatives is None) for result in found):
        raise InputError("the optimum is known for results by pairs whose alternative values are known")
    optima = [optimal_counterfactual(rule, each.original, change=each.alternatives).distance for each in found]
    rows = {
        "distance": np.array([result.distance for result in found], dtype=float),
        "optimum": np.array(optima, dtype=float),
        "calls": np.array([result.calls for result in found], dtype=float),
    }
    return pd.DataFrame(
        {
            name: {
                "mean": float(np.mean(values)),
                **{f"{p}%": float(np.percentile(values, p)) for p in PERCENTILES},
            }
            for name, values in rows.items()
        }
    ).T.rename_axis("")


def typical_people(results: Counterfactuals, data: GraphDataset, count: int) -> list[str]:
    """Return the names of ``count`` typical subjects.

    The classes alternate. Within a class, subjects whose distance is nearest to the median of the class come first.
    """
    closest: dict[int, Counterfactual] = {}
    for each in results.found:
        best = closest.setdefault(each.graph_index, each)
        if (each.distance or 0) < (best.distance or 0):
            closest[each.graph_index] = each
    queues = []
    for label in range(len(data.classes)):
        own = [each for each in closest.values() if each.original_label == label]
        median = float(np.median([each.distance or 0 for each in own])) if own else 0.0
        queues.append(sorted(own, key=lambda each: abs((each.distance or 0) - median)))
    alternating = [each for row in zip_longest(*reversed(queues)) for each in row if each is not None]
    return [each.subject for each in alternating[:count]]


def typical_person(results: Counterfactuals, data: GraphDataset) -> Counterfactual:
    """Return an example: a correctly classified subject of the last class (the condition) with a short counterfactual.

    Among these, it is the first result whose distance is nearest to `EXAMPLE_DISTANCE`. If there is no such subject,
    all subjects are considered.
    """
    found = results.found
    if not found:
        raise InputError("none of the searches found a counterfactual; there is no example to show")
    last = len(data.classes) - 1
    candidates = found.where(lambda each: each.original_label == last == data.labels[each.graph_index]) or found
    return min(candidates, key=lambda each: abs((each.distance or 0) - EXAMPLE_DISTANCE))
