"""Black boxes side by side: equal accuracy does not mean equal logic (section 5.2 of the paper)."""

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
    """Counterfactuals of the same cohort by two or more black boxes, or by two or more methods.

    Parameters
    ----------
    results
        By the name of the black box or of the method: results of the same graphs.
    """

    results: Mapping[str, Counterfactuals]
    _plots: ClassVar = ("comparison",)

    def __post_init__(self) -> None:
        if len(self.results) < 2:
            raise InputError(f"a comparison needs at least two black boxes or methods, not {len(self.results)}")
        for name, found in self.results.items():
            if not len(found):
                raise InputError(f"there are no results of {name!r} to compare")
        graphs = {name: {each.original.tobytes() for each in found} for name, found in self.results.items()}
        first = next(iter(graphs.values()))
        for name, own in graphs.items():
            if own != first:
                raise InputError(f"the results of {name!r} are not of the same graphs as the others")

    @property
    def compared(self) -> str:
        """What is compared: methods or settings, if they differ, or else black boxes."""
        first = [found[0] for found in self.results.values()]
        if len({each.method for each in first}) > 1:
            return "method"
        return "setting" if any(each.parameters != first[0].parameters for each in first) else "black box"

    @property
    def caption(self) -> str:
        """What it was made from."""
        return f"{count(len(self.results), self.compared)} on the same graphs."

    @property
    def listing(self) -> pd.DataFrame:
        """The summary, a row for each."""
        return self.summary().reset_index()

    def summary(self) -> pd.DataFrame:
        """Return a row for each: how often a counterfactual was found, how far, and for how many calls.

        Shorter counterfactuals make a model easier to explain; the paper proposes to choose among models by that.
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
        """Return the share of all changes that touch each region, a column for each; NaN where nothing was found."""
        frame = pd.DataFrame({name: _at_regions(results) for name, results in self.results.items()})
        return frame / frame.sum()

    def agreement(self) -> pd.DataFrame:
        """Return the rank correlation of the importance of regions between any two."""
        importance = self.roi_importance()
        names = list(importance)
        table = [[float(spearmanr(importance[a], importance[b]).statistic) for b in names] for a in names]
        return pd.DataFrame(table, index=names, columns=names)


def _at_regions(results: Counterfactuals) -> pd.Series[float]:
    """Return how many changes touch each region."""
    first = results[0]
    flips = [each.flips for each in results.found if each.flips is not None]
    changed = np.bincount(np.concatenate([np.empty(0, dtype=np.intp), *flips]), minlength=first.original.size)
    names = [first.roi_name(vertex) for vertex in range(first.n_rois)]
    return pd.Series(sum_at_rois(changed.astype(np.float64)), index=names)
