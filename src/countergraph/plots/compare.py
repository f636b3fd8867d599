"""Figure of a comparison of black boxes or methods: distances of the counterfactuals, and agreement on the ROIs."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from countergraph.explain.compare import Comparison
from countergraph.plots.style import ADDED, TEXT, label_text, panel_axes


def plot_comparison(comparison: Comparison, axes: Axes | None = None) -> Axes:
    """Draw the distances as box plots, and the rank correlations of the ROI importance as a matrix."""
    axes = panel_axes(axes, 11, 1.8 + 0.5 * len(comparison.results))
    names = [label_text(name) for name in comparison.results]
    left = axes.inset_axes((0.17, 0.24, 0.4, 0.62))
    distances = [[each.distance or 0 for each in results.found] for results in comparison.results.values()]
    median = {"color": ADDED}
    left.boxplot(distances[::-1], orientation="horizontal", whis=(10, 90), showfliers=False, medianprops=median)
    left.set_yticks(range(1, len(names) + 1), names[::-1], fontsize=9)
    left.set_xscale("log")
    left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.xaxis.set_major_formatter("{x:.0f}")
    left.xaxis.set_minor_formatter(NullFormatter())
    left.set_xlabel("changes (10th, 25th, 50th, 75th, 90th percentile)", fontsize=9)
    left.set_title("Number of changes per counterfactual", fontsize=11, color=TEXT, loc="left")
    left.spines[["top", "right"]].set_visible(False)
    right = axes.inset_axes((0.74, 0.24, 0.24, 0.62))
    table = comparison.agreement().to_numpy()
    right.imshow(table, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        color = "white" if abs(value) > 0.6 else TEXT
        right.text(j, i, "–" if np.isnan(value) else f"{value:.2f}", ha="center", va="center", fontsize=9, color=color)
    right.set_xticks(range(len(names)), names, fontsize=8, rotation=20, ha="right")
    right.set_yticks(range(len(names)), names, fontsize=8)
    right.set_title("Rank correlation of ROI importance", fontsize=11, color=TEXT, loc="right")
    return axes
