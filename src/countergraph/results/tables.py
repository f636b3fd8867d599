"""Results as tables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from countergraph.graphs.pairs import pair_position
from countergraph.results.counterfactual import Counterfactual


def changes_table(result: Counterfactual) -> pd.DataFrame:
    """Return one row per changed connection, removed ones first."""
    rows = []
    for change, pairs in zip(result.change_names, (result.removed, result.added), strict=True):
        for i, j in pairs:
            row: dict[str, object] = {"change": change, "first": result.roi_name(i), "second": result.roi_name(j)}
            if result.weighted and result.values is not None:
                position = pair_position(i, j, result.n_rois)
                row |= {"before": float(result.original[position]), "after": float(result.values[position])}
            atlas = result.atlas
            if atlas is not None and atlas.hemispheres is not None:
                row["hemispheres"] = f"{atlas.hemispheres[i] or 'M'}-{atlas.hemispheres[j] or 'M'}"
            if atlas is not None and atlas.networks is not None:
                row["networks"] = f"{atlas.networks[i]} - {atlas.networks[j]}"
            if atlas is not None and atlas.coordinates is not None:
                row["distance_mm"] = round(atlas.distance(i, j), 1)
            rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["change", "first", "second"])


def results_table(results: Iterable[Counterfactual]) -> pd.DataFrame:
    """Return one row per result."""
    return pd.DataFrame(
        [
            {
                "subject": result.subject,
                "graph_index": result.graph_index,
                "run": result.run,
                "method": result.method,
                "seed": result.parameters.get("seed"),
                "found": result.found,
                "distance": result.distance,
                "cost": np.nan if result.cost is None else result.cost,
                "added": len(result.added),
                "removed": len(result.removed),
                **({"total_change": result.total_change} if result.weighted else {}),
                "original_class": result.class_name(result.original_label),
                "counterfactual_class": result.class_name(result.counterfactual_label),
                "calls": result.calls,
                **{f"calls_{phase}": calls for phase, calls in result.calls_by_phase.items()},
                "proven": result.certificate.proof,
                "stopped": result.stopped,
            }
            for result in results
        ]
    )
