"""One counterfactual as a table: the changed connections, their location, and their frequency in each class."""

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
        A counterfactual. If the search found none, the table is empty.
    data
        If given, the table has an additional column for each class: the share of its graphs with the connection, or
        the mean of its weighted networks.

    Returns
    -------
    DataFrame
        The columns change, first and second. If the atlas contains the information, also the hemispheres, the networks
        and the distance in millimetres.
    """
    if data is not None and data.n_rois != result.n_rois:
        raise InputError(f"result and data must have the same ROIs: result has {result.n_rois}, data has {data.n_rois}")
    table = result.changes
    if data is not None and result.flips is not None:
        removed = result.decreased
        order = [*result.flips[removed], *result.flips[~removed]]
        column = "mean" if data.weighted else "share"
        for name, means in zip(data.classes, data.class_means, strict=True):
            table[f"{column} of {name}"] = means[order]
    return table
