"""The picture of a litmus test: the regions in order of importance, those that the model uses in colour."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from countergraph.explain.litmus import Litmus
from countergraph.plots.style import ADDED, INK, canvas


def plot_litmus(test: Litmus, axes: Axes | None = None) -> Axes:
    """Draw the importance of every region, most important first, and with it how well that finds the used ones."""
    axes = canvas(axes, 9, 3.6)
    order = np.argsort(-test.importance, kind="stable")
    used = test.used[order]
    places = np.arange(order.size)
    for which, color, name in ((used, ADDED, "used by the model"), (~used, "#b5b5b5", "not used")):
        axes.bar(places[which], test.importance[order][which], width=0.9, color=color, label=f"{name} ({which.sum()})")
    # A region of no importance has no bar to colour: a tick below the axis tells.
    axes.plot(places[used], np.full(used.sum(), -0.03), "|", color=ADDED, ms=7, transform=axes.get_xaxis_transform())
    axes.set(xlim=(-1, order.size), xlabel="regions, most important first", ylabel="changes at the region")
    title = f"ROC AUC {test.roc_auc:.3f}, average precision {test.average_precision:.3f}"
    axes.set_title(title, fontsize=11, color=INK, loc="left")
    axes.xaxis.set_label_coords(0.5, -0.12)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    return axes
