"""One counterfactual as a table: which connections change, where they are, and who else has them."""

from __future__ import annotations

import pandas as pd

from countergraph.counterfactual import Counterfactual
from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import pair_position


def changes(result: Counterfactual, data: GraphDataset | None = None) -> pd.DataFrame:
    """List the changed connections, removed ones first.

    Parameters
    ----------
    result
        A counterfactual. One that was not found has no changes.
    data
        Adds a column for each class with the share of its graphs that have the connection.

    Returns
    -------
    DataFrame
        The columns change, first, second and, where the atlas knows them, hemispheres, regions and distance_mm.
    """
    if data is not None and data.n_regions != result.n_regions:
        raise InputError(f"the result has {result.n_regions} regions, the data {data.n_regions}")
    atlas = result.atlas
    rows = []
    for change, pairs in (("removed", result.removed), ("added", result.added)):
        for i, j in pairs:
            row: dict[str, object] = {
                "change": change,
                "first": result.region_name(i),
                "second": result.region_name(j),
            }
            if atlas is not None and atlas.hemispheres is not None:
                row["hemispheres"] = f"{atlas.hemispheres[i] or 'M'}-{atlas.hemispheres[j] or 'M'}"
            if atlas is not None and atlas.regions is not None:
                row["regions"] = f"{atlas.regions[i]} - {atlas.regions[j]}"
            if atlas is not None and atlas.coordinates is not None:
                row["distance_mm"] = round(atlas.distance(i, j), 1)
            if data is not None:
                shares = data.edge_frequencies[:, int(pair_position(i, j, result.n_regions))]
                row |= {f"share of {name}": share for name, share in zip(data.classes, shares, strict=True)}
            rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["change", "first", "second"])
