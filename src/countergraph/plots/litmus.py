"""Figure of a litmus test: the ROIs in decreasing order of importance, with the used ROIs in colour."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from countergraph.explain.litmus import Litmus
from countergraph.plots.style import ADDED, TEXT, plot_axes


def plot_litmus(test: Litmus, axes: Axes | None = None) -> Axes:
    """Draw the importance of every ROI in decreasing order; the title contains ROC AUC and average precision."""
    axes = plot_axes(axes, 9, 3.6)
    order = np.argsort(-test.importance, kind="stable")
    used = test.used[order]
    ranks = np.arange(order.size)
    for mask, color, name in ((used, ADDED, "used by the model"), (~used, "#b5b5b5", "not used by the model")):
        axes.bar(ranks[mask], test.importance[order][mask], width=0.9, color=color, label=f"{name} ({mask.sum()})")
    # A used ROI with importance 0 has no visible bar; the ticks below the axis mark all used ROIs.
    heights, transform = np.full(used.sum(), -0.02), axes.get_xaxis_transform()
    axes.plot(ranks[used], heights, "|", color=ADDED, ms=5, transform=transform, clip_on=False)
    axes.set(xlim=(-1, order.size), xlabel="ROIs in decreasing order of importance", ylabel="changes at the ROI")
    title = f"Litmus test: ROC AUC {test.roc_auc:.3f}, average precision {test.average_precision:.3f}"
    axes.set_title(title, fontsize=11, color=TEXT, loc="left")
    axes.xaxis.set_label_coords(0.5, -0.12)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    return axes
