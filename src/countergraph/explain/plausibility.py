"""Could there be such a brain? How far a counterfactual lies from the graphs of a cohort."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, degrees_of
from countergraph.results.counterfactual import Counterfactual, Counterfactuals

COLUMNS = ("nearest", "nearest before", "outlying", "seen", "density change", "degree change")
BLOCK = 4096


def plausibility(results: Counterfactuals | Counterfactual, data: GraphDataset) -> pd.DataFrame:
    """Measure how plausible counterfactuals are, a row for each.

    Parameters
    ----------
    results
        Counterfactuals of two or more classes of ``data``. One that was not found has an empty row.
    data
        The cohort to compare with.

    Returns
    -------
    DataFrame
        ``nearest``: how many pairs differ from the nearest other graph of the cohort. ``nearest before``: the same for
        the original graph. ``outlying``: the share of the cohort's graphs that are nearer to their nearest neighbour
        than this. ``seen``: the share of the changes that some graph of the new class has. ``density change``: edges
        gained or lost, as a share of all pairs. ``degree change``: the most that a region gains or loses.
    """
    chosen = [results] if isinstance(results, Counterfactual) else list(results)
    if any(each.original.size != data.edges.shape[1] for each in chosen):
        raise InputError("the results and the data differ in regions")
    names = [(each.subject, each.run) for each in chosen]
    measures = pd.DataFrame(_rows(chosen, data), index=range(len(chosen)), columns=list(COLUMNS), dtype=np.float64)
    return pd.DataFrame(names, columns=["subject", "run"]).join(measures)


def plain_results(results: Counterfactuals, data: GraphDataset) -> list[dict[str, Any]]:
    """Return each result as plain values for JSON, with its plausibility; None for what is not known."""
    rows = plausibility(results, data)[list(COLUMNS)].to_dict("records")
    plain = [{name: None if math.isnan(value) else value for name, value in row.items()} for row in rows]
    return [each.to_dict() | {"plausibility": row} for each, row in zip(results, plain, strict=True)]


def _rows(results: list[Counterfactual], data: GraphDataset) -> list[dict[str, float]]:
    if not results:
        return []
    among = _distances(data.edges, data.edges)
    before = _distances(np.array([each.original for each in results]), data.edges)
    after = _distances(np.array([each.original if each.edges is None else each.edges for each in results]), data.edges)
    usual, nearest = _nearest(among, among), zip(_nearest(after, before), _nearest(before, before), strict=True)
    return [_row(each, data, usual, *distances) for each, distances in zip(results, nearest, strict=True)]


def _row(result: Counterfactual, data: GraphDataset, usual: Floats, nearest: float, before: float) -> dict[str, float]:
    if result.edges is None:
        return {}
    degrees = degrees_of(result.edges) - degrees_of(result.original)
    return {
        "nearest": nearest,
        "nearest before": before,
        "outlying": float((usual < nearest).mean()),
        "seen": _seen(result, data),
        "density change": (len(result.added) - len(result.removed)) / result.original.size,
        "degree change": int(np.abs(degrees).max()),
    }


def _distances(graphs: Bits, edges: Bits) -> Floats:
    """Return in how many pairs each graph differs from each of ``edges``."""
    shared = np.zeros((len(graphs), len(edges)))
    for start in range(0, edges.shape[1], BLOCK):
        own, others = (each[:, start : start + BLOCK].astype(np.float32) for each in (graphs, edges))
        shared += own @ others.T
    return np.asarray(graphs.sum(axis=1)[:, None] + edges.sum(axis=1) - 2 * shared)


def _nearest(distances: Floats, before: Floats) -> Floats:
    """Return the distance of each graph to the nearest of a cohort that it was not, ``before``, itself."""
    nearest = np.where(before > 0, distances, np.inf).min(axis=1)
    return np.where(np.isfinite(nearest), nearest, np.nan)


def _seen(result: Counterfactual, data: GraphDataset) -> float:
    """Return the share of changes after which the pair is as in some graph of the new class."""
    label = result.counterfactual_label
    own = data.edges[data.labels == (data.classes.index(label) if label in data.classes else label)]
    flips = result.flips
    if flips is None or not len(own):
        return float("nan")
    after = ~result.original[flips]
    return float((own[:, flips] == after).any(axis=0).mean())
