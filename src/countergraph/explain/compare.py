"""Comparison of black boxes or methods: equal accuracy does not imply equal logic (section 6.2 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from countergraph.errors import InputError
from countergraph.explain.quality import PERCENTILES
from countergraph.graphs.pairs import sum_at_rois
from countergraph.results.counterfactual import Counterfactuals
from countergraph.results.plottable import Plottable
from countergraph.results.wording import count


@dataclass(frozen=True, eq=False)
class Comparison(Plottable):
    """Counterfactuals of the same cohort for two or more black boxes, methods or settings.

    Parameters
    ----------
    results
        Results of the same graphs, keyed by the name of the black box, method or setting.
    """

    results: Mapping[str, Counterfactuals]
    _plots: ClassVar = ("comparison",)

    def __post_init__(self) -> None:
        if len(self.results) < 2:
            raise InputError(f"a comparison needs at least two black boxes or methods, not {len(self.results)}")
        for name, found in self.results.items():
            if not len(found):
                raise InputError(f"results[{name!r}] is empty; a comparison needs at least one result for each entry")
        graphs = {name: {each.original.tobytes() for each in found} for name, found in self.results.items()}
        first = next(iter(graphs.values()))
        for name, own in graphs.items():
            if own != first:
                raise InputError(f"the results of {name!r} are not of the same graphs as the other results")

    @property
    def compared(self) -> str:
        """What is compared: "method" or "setting" if these differ, otherwise "black box"."""
        first = [found[0] for found in self.results.values()]
        if len({each.method for each in first}) > 1:
            return "method"
        return "setting" if any(each.parameters != first[0].parameters for each in first) else "black box"

    @property
    def caption(self) -> str:
        """What is compared, in one sentence."""
        return f"{count(len(self.results), self.compared)} on the same graphs."

    @property
    def listing(self) -> pd.DataFrame:
        """The summary as a table without index."""
        return self.summary().reset_index()

    def summary(self) -> pd.DataFrame:
        """Return one row per entry: share of searches that found a counterfactual, distances, and calls.

        Shorter counterfactuals make a model easier to explain. The paper proposes them as a criterion for model
        selection.
        """
        rows = {}
        for name, results in self.results.items():
            distances = np.array([each.distance for each in results.found], dtype=float)
            costs = [each.cost for each in results.found if each.cost is not None]
            rows[name] = {
                "searches": len(results),
                "found": len(results.found) / len(results),
                **{f"distance {p}%": np.percentile(distances, p) for p in PERCENTILES if distances.size},
                **({"cost (median)": float(np.median(costs))} if costs else {}),
                "calls (median)": float(np.median([each.calls for each in results])),
            }
        return pd.DataFrame(rows).T.rename_axis(self.compared)

    def roi_importance(self) -> pd.DataFrame:
        """Return the share of all changes at each ROI, one column per entry; NaN if no counterfactual was found."""
        frame = pd.DataFrame({name: _changes_per_roi(results) for name, results in self.results.items()})
        return frame / frame.sum()

    def agreement(self) -> pd.DataFrame:
        """Return the rank correlation of the ROI importance between all entries."""
        importance = self.roi_importance()
        names = list(importance)
        table = [[float(spearmanr(importance[a], importance[b]).statistic) for b in names] for a in names]
        return pd.DataFrame(table, index=names, columns=names)


def _changes_per_roi(results: Counterfactuals) -> pd.Series[float]:
    """Return the number of changed pairs at each ROI."""
    first = results[0]
    flips = [each.flips for each in results.found if each.flips is not None]
    changed = np.bincount(np.concatenate([np.empty(0, dtype=np.intp), *flips]), minlength=first.original.size)
    names = [first.roi_name(roi) for roi in range(first.n_rois)]
    return pd.Series(sum_at_rois(changed.astype(np.float64)), index=names)
