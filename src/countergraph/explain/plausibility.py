"""Plausibility of counterfactuals: their distance to the graphs of a cohort."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, Values, degrees_of
from countergraph.results.counterfactual import Counterfactual, Counterfactuals

COLUMNS = ("nearest", "nearest before", "outlying", "seen", "density change", "degree change")
"""The measures of `plausibility` for graphs; also keys of saved JSON files."""
WEIGHTED_COLUMNS = (
    "nearest",
    "nearest before",
    "outlying",
    "seen",
    "total change",
    "smallest eigenvalue",
    "smallest eigenvalue before",
)
"""The measures for weighted networks."""
BLOCK = 4096
"""Number of pairs that are processed together; limits the memory use."""


def plausibility(results: Counterfactuals | Counterfactual, data: GraphDataset) -> pd.DataFrame:
    """Measure the plausibility of counterfactuals.

    Parameters
    ----------
    results
        One or more results. A result without counterfactual has NaN in all measures.
    data
        The cohort to compare with.

    Returns
    -------
    DataFrame
        One row per result:

        - ``nearest``: number of pairs in which the counterfactual differs from the nearest other graph of the cohort.
        - ``nearest before``: the same for the original graph.
        - ``outlying``: share of the graphs of the cohort that are closer to their nearest neighbour than the
          counterfactual is to its own.
        - ``seen``: share of the changes after which the pair is as in at least one graph of the new class.
        - ``density change``: number of edges added minus removed, as a share of all pairs.
        - ``degree change``: largest change of the degree of an ROI.

        For weighted networks, ``nearest`` and ``nearest before`` are Euclidean distances, and ``seen`` is the share of
        the changed values within the range of the new class. There are also:

        - ``total change``: the sum of the absolute changes, in the unit of the data.
        - ``smallest eigenvalue`` and ``smallest eigenvalue before``, for correlations and Fisher z values: a matrix
          with a negative eigenvalue is no correlation matrix.
    """
    selected = [results] if isinstance(results, Counterfactual) else list(results)
    names = [(each.subject, each.run) for each in selected]
    return pd.DataFrame(names, columns=["subject", "run"]).join(measures(selected, data))


def measures(results: Sequence[Counterfactual], data: GraphDataset) -> pd.DataFrame:
    """Return the measures of `plausibility`, one row per result."""
    if any(each.weighted != data.weighted for each in results):
        raise InputError("results and data must both be graphs, or both be weighted networks")
    if any(each.original.size != data.values.shape[1] for each in results):
        raise InputError(f"results and data must have the same ROIs; data has {data.n_rois}")
    columns = list(WEIGHTED_COLUMNS if data.weighted else COLUMNS)
    rows = _weighted_rows(results, data) if data.weighted else _rows(results, data)
    return pd.DataFrame(rows, index=range(len(results)), columns=columns, dtype=np.float64)


def plain_results(results: Counterfactuals, data: GraphDataset) -> list[dict[str, Any]]:
    """Return each result as plain values for JSON, with its plausibility; unknown values are None."""
    rows = measures(results, data).to_dict("records")
    plain = [{name: None if math.isnan(value) else value for name, value in row.items()} for row in rows]
    return [each.to_dict() | {"plausibility": row} for each, row in zip(results, plain, strict=True)]


def _rows(results: Sequence[Counterfactual], data: GraphDataset) -> list[dict[str, float]]:
    if not results:
        return []
    within = _distances(data.edges, data.edges)
    before = _distances(np.array([each.original for each in results]), data.edges)
    after = _distances(np.array([each.original if each.edges is None else each.edges for each in results]), data.edges)
    typical, nearest = _nearest(within, within), zip(_nearest(after, before), _nearest(before, before), strict=True)
    return [_row(each, data, typical, *distances) for each, distances in zip(results, nearest, strict=True)]


def _weighted_rows(results: Sequence[Counterfactual], data: GraphDataset) -> list[dict[str, float]]:
    if not results:
        return []
    originals = np.array([each.original for each in results])
    changed = np.array([each.original if each.values is None else each.values for each in results])
    within = _euclidean_within(data)
    before, after = (_euclidean(networks, data.values) for networks in (originals, changed))
    typical, nearest = _nearest(within, within), zip(_nearest(after, before), _nearest(before, before), strict=True)
    return [_weighted_row(each, data, typical, *distances) for each, distances in zip(results, nearest, strict=True)]


def _weighted_row(
    result: Counterfactual, data: GraphDataset, typical: Floats, nearest: float, before: float
) -> dict[str, float]:
    if result.values is None or result.flips is None or result.total_change is None:
        return {}
    label = result.counterfactual_label
    own = data.values[data.labels == (data.classes.index(label) if label in data.classes else label)][:, result.flips]
    after = result.values[result.flips]
    inside = (own.min(axis=0) <= after) & (after <= own.max(axis=0)) if len(own) else None
    return {
        "nearest": nearest,
        "nearest before": before,
        "outlying": float((typical < nearest).mean()),
        "seen": float("nan") if inside is None else float(inside.mean()),
        "total change": result.total_change,
        "smallest eigenvalue": math.nan if result.smallest_eigenvalue is None else result.smallest_eigenvalue,
        "smallest eigenvalue before": (
            math.nan if result.smallest_eigenvalue_before is None else result.smallest_eigenvalue_before
        ),
    }


@lru_cache(maxsize=2)
def _euclidean_within(data: GraphDataset) -> Floats:
    """Return the distances between all networks of a cohort."""
    values = data.values.astype(np.float64)
    squares = (values**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * values @ values.T, 0))
    np.fill_diagonal(distances, 0)
    return np.asarray(distances)


def _euclidean(networks: Values, others: Values) -> Floats:
    """Return the Euclidean distances between weighted networks; equal ones have exactly 0."""
    distances = np.zeros((len(networks), len(others)))
    for row, network in enumerate(networks):
        distances[row] = np.sqrt(((others - network) ** 2).sum(axis=1, dtype=np.float64))
    return distances


def _row(
    result: Counterfactual, data: GraphDataset, typical: Floats, nearest: float, before: float
) -> dict[str, float]:
    if result.edges is None:
        return {}
    degrees = degrees_of(result.edges) - degrees_of(result.original)
    return {
        "nearest": nearest,
        "nearest before": before,
        "outlying": float((typical < nearest).mean()),
        "seen": _share_seen(result, data),
        "density change": (len(result.added) - len(result.removed)) / result.original.size,
        "degree change": int(np.abs(degrees).max()),
    }


def _distances(graphs: Bits, edges: Bits) -> Floats:
    """Return the number of pairs in which each of ``graphs`` differs from each of ``edges``."""
    shared = np.zeros((len(graphs), len(edges)))
    for start in range(0, edges.shape[1], BLOCK):
        own, others = (each[:, start : start + BLOCK].astype(np.float32) for each in (graphs, edges))
        shared += own @ others.T
    return np.asarray(graphs.sum(axis=1)[:, None] + edges.sum(axis=1) - 2 * shared)


def _nearest(distances: Floats, before: Floats) -> Floats:
    """Return the distance of each graph to the nearest graph of the cohort, except the original graph itself.

    ``before`` contains the distances of the original graphs; a distance of 0 marks the original graph.
    """
    nearest = np.where(before > 0, distances, np.inf).min(axis=1)
    return np.where(np.isfinite(nearest), nearest, np.nan)


def _share_seen(result: Counterfactual, data: GraphDataset) -> float:
    """Return the share of changes after which the pair is as in at least one graph of the new class."""
    label = result.counterfactual_label
    own = data.edges[data.labels == (data.classes.index(label) if label in data.classes else label)]
    flips = result.flips
    if flips is None or not len(own):
        return float("nan")
    after = ~result.original[flips]
    return float((own[:, flips] == after).any(axis=0).mean())
