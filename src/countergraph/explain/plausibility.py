"""Could there be such a brain? How far a counterfactual lies from the graphs of a cohort."""

from __future__ import annotations

import numpy as np
import pandas as pd

from countergraph.counterfactual import Counterfactual, Counterfactuals
from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, to_adjacency

COLUMNS = ("nearest", "nearest before", "outlying", "seen", "density change", "degree change")


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
    usual = np.array([_nearest(graph, data.edges, graph) for graph in data.edges])
    rows = [_row(each, data, usual) for each in chosen]
    return pd.DataFrame(rows, columns=["subject", "run", *COLUMNS])


def _row(result: Counterfactual, data: GraphDataset, usual: Floats) -> dict[str, object]:
    row: dict[str, object] = {"subject": result.subject, "run": result.run}
    if result.edges is None or result.flips is None:
        return row
    nearest = _nearest(result.edges, data.edges, result.original)
    degrees = to_adjacency(result.edges).sum(axis=1, dtype=np.int64) - to_adjacency(result.original).sum(
        axis=1, dtype=np.int64
    )
    return row | {
        "nearest": nearest,
        "nearest before": _nearest(result.original, data.edges, result.original),
        "outlying": float((usual < nearest).mean()),
        "seen": _seen(result, data),
        "density change": (len(result.added) - len(result.removed)) / result.original.size,
        "degree change": int(np.abs(degrees).max()),
    }


def _nearest(graph: Bits, edges: Bits, besides: Bits) -> float:
    """Return the distance to the nearest of ``edges`` that is not ``besides``."""
    distances = np.count_nonzero(edges ^ graph, axis=1)
    others = (edges != besides).any(axis=1)
    return float(distances[others].min()) if others.any() else float("nan")


def _seen(result: Counterfactual, data: GraphDataset) -> float:
    """Return the share of changes after which the pair is as in some graph of the new class."""
    label = result.counterfactual_class
    own = data.edges[data.labels == label] if isinstance(label, int) else data.edges
    flips = result.flips
    if flips is None or not len(own):
        return float("nan")
    after = ~result.original[flips]
    return float((own[:, flips] == after).any(axis=0).mean())
