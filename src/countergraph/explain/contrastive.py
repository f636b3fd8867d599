"""One counterfactual as a table: which connections change, where they are, and who else has them."""

from __future__ import annotations

import pandas as pd

from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.results.counterfactual import Counterfactual


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
    if data is not None and data.n_rois != result.n_rois:
        raise InputError(f"the result has {result.n_rois} regions, the data {data.n_rois}")
    table = result.changes
    if data is not None and result.flips is not None:
        removed = result.original[result.flips]
        order = [*result.flips[removed], *result.flips[~removed]]
        for name, shares in zip(data.classes, data.edge_frequencies, strict=True):
            table[f"share of {name}"] = shares[order]
    return table
