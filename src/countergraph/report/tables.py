"""Tables of a report about the classifier and the search, made of results."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from countergraph.classifiers.model import Model
from countergraph.explain.plausibility import COLUMNS, plausibility
from countergraph.explain.quality import PERCENTILES, compare_with_optimum
from countergraph.graphs.dataset import GraphDataset
from countergraph.proofs.optimum import white_box
from countergraph.results.counterfactual import Counterfactuals


def model_table(black_box: object, data: GraphDataset, results: Counterfactuals) -> pd.DataFrame:
    """Return what is known of the classifier, and how often it is right."""
    rows: list[tuple[str, object]] = [("kind", type(black_box).__name__)]
    if isinstance(black_box, Model):
        rates = black_box.accuracy
        rows = [
            ("kind", f"{black_box.kind}, {black_box.settings['classifier']}"),
            ("accuracy on graphs it did not see (5 folds)", rates.cross_validated),
            ("the same, balanced over the classes", rates.balanced),
            ("area under the ROC curve on graphs it did not see", rates.auc),
            ("accuracy on the graphs it learnt from", rates.training),
            ("candidates it was chosen from", rates.chosen_from),
        ]
    rows.append(("agrees with the labels of this cohort", agreement(data, results)))
    rows.append(("always answering the larger class", float(np.bincount(data.labels).max() / len(data))))
    return pd.DataFrame([row for row in rows if row[1] is not None], columns=["what", "value"], dtype=object)


def agreement(data: GraphDataset, results: Counterfactuals) -> float:
    """Return the share of the graphs that the classifier calls what they are labelled."""
    asked = {each.graph_index: each.original_label for each in results if each.original_label is not None}
    return float(np.mean([label == data.labels[index] for index, label in asked.items()])) if asked else math.nan


def search_table(data: GraphDataset, results: Counterfactuals) -> pd.DataFrame:
    """Return how the search went, by the class that the classifier gives."""
    rows = []
    for label, name in enumerate(data.classes):
        own = Counterfactuals([each for each in results if each.original_label == label])
        if not len(own):
            continue
        row: dict[str, object] = {"classified as": name, "searches": len(own), "found": len(own.found)}
        distances = np.array([each.distance for each in own.found], dtype=float)
        costs = np.array([each.cost for each in own.found], dtype=float)
        for p in PERCENTILES:
            row[f"changes {p}%"] = float(np.percentile(distances, p)) if distances.size else math.nan
        if has_costs(results):
            row["cost (median)"] = float(np.median(costs)) if costs.size else math.nan
        row["questions (median)"] = float(np.median([each.calls for each in own]))
        rows.append(row)
    return pd.DataFrame(rows)


def optimum_table(black_box: object, data: GraphDataset, results: Counterfactuals) -> pd.DataFrame | None:
    """Return distances beside the exact optimum, for a classifier that is linear in the edges; else None."""
    free = not any(each.limited for each in results)
    if not free or len(data.classes) != 2 or white_box(black_box) is None or not results.found:
        return None
    return compare_with_optimum(results, black_box).reset_index(names="what")


def plausibility_table(data: GraphDataset, people: Counterfactuals) -> pd.DataFrame:
    """Return what people are told, and how far from the cohort that is."""
    told = ["subject", "distance", *(["cost"] if has_costs(people) else []), "proven"]
    return people.to_frame()[told].join(plausibility(people, data)[list(COLUMNS)])


def has_costs(results: Counterfactuals) -> bool:
    """Tell whether costs were minimised, not numbers of changes."""
    return any(each.cost is not None for each in results)
