"""Tables of a report: the classifier, the search, and the plausibility of the counterfactuals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from countergraph.classifiers.model import Model
from countergraph.explain.plausibility import measures
from countergraph.explain.quality import PERCENTILES, compare_with_optimum
from countergraph.graphs.dataset import GraphDataset
from countergraph.proofs.optimum import white_box
from countergraph.results.counterfactual import Counterfactuals


def model_table(black_box: object, data: GraphDataset, results: Counterfactuals) -> pd.DataFrame:
    """Return the type and the accuracy of the classifier."""
    rows: list[tuple[str, object]] = [("type", type(black_box).__name__)]
    if isinstance(black_box, Model):
        rates = black_box.accuracy
        rows = [
            ("type", f"{black_box.kind}, {black_box.settings['classifier']}"),
            ("cross-validated accuracy (5 folds)", rates.cross_validated),
            ("cross-validated balanced accuracy (5 folds)", rates.balanced),
            ("cross-validated ROC AUC (5 folds)", rates.auc),
            ("training accuracy", rates.training),
            ("number of candidate models compared", rates.chosen_from),
        ]
    rows.append(("accuracy on this cohort", agreement(data, results)))
    rows.append(("share of the larger class", float(np.bincount(data.labels).max() / len(data))))
    return pd.DataFrame([row for row in rows if row[1] is not None], columns=["property", "value"], dtype=object)


def agreement(data: GraphDataset, results: Counterfactuals) -> float:
    """Return the share of the graphs whose predicted class equals their label; NaN if no graph was classified."""
    predicted = {each.graph_index: each.original_label for each in results if each.original_label is not None}
    matches = [label == data.labels[index] for index, label in predicted.items()]
    return float(np.mean(matches)) if matches else math.nan


def search_table(data: GraphDataset, results: Counterfactuals) -> pd.DataFrame:
    """Return number of searches, distances and calls, by predicted class."""
    rows = []
    for label, name in enumerate(data.classes):
        own = Counterfactuals([each for each in results if each.original_label == label])
        if not len(own):
            continue
        row: dict[str, object] = {"predicted class": name, "searches": len(own), "found": len(own.found)}
        distances = np.array([each.distance for each in own.found], dtype=float)
        costs = np.array([each.cost for each in own.found], dtype=float)
        for p in PERCENTILES:
            row[f"changes {p}%"] = float(np.percentile(distances, p)) if distances.size else math.nan
        if has_costs(results):
            row["cost (median)"] = float(np.median(costs)) if costs.size else math.nan
        row["calls (median)"] = float(np.median([each.calls for each in own]))
        rows.append(row)
    return pd.DataFrame(rows)


def optimum_table(black_box: object, data: GraphDataset, results: Counterfactuals) -> pd.DataFrame | None:
    """Return a comparison with the exact optimum; None if it is unknown, or if there are constraints."""
    known = all(not each.units and (not each.weighted or each.alternatives is not None) for each in results)
    constrained = any(each.limited for each in results)
    if constrained or not known or len(data.classes) != 2 or white_box(black_box) is None or not results.found:
        return None
    return compare_with_optimum(results, black_box).reset_index(names="measure")


def plausibility_table(data: GraphDataset, results: Counterfactuals) -> pd.DataFrame:
    """Return distance, cost, certificate and plausibility of each result."""
    columns = ["subject", "distance", *(["cost"] if has_costs(results) else []), "proven"]
    return results.to_frame()[columns].join(measures(results, data))


def has_costs(results: Counterfactuals) -> bool:
    """Check whether the search minimised costs instead of the number of changes."""
    return any(each.cost is not None for each in results)
