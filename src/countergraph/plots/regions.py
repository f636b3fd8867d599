"""Which regions matter: the strip of Figure 10 of the paper, bars of the most important, and these on the brain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from countergraph.errors import unknown_name
from countergraph.explain.importance import GlobalExplanation
from countergraph.plots.brain import draw_scene, spread
from countergraph.plots.scene import scene_of
from countergraph.plots.style import ADDED, INK, REMOVED, board, canvas, figure_of, plain


def plot_roi_strip(
    explanation: GlobalExplanation,
    axes: Axes | None = None,
    marks: Mapping[str, Sequence[int]] | None = None,
    labelled: int = 12,
) -> Axes:
    """Draw how often pairs at each region are added and removed, a row for each class and direction.

    ``marks`` puts red crosses on known vertices, by the name of the row ("TD +", "ASD -", ...). The ``labelled`` most
    important regions are named.
    """
    values, names = explanation.roi_counters, explanation.counter_names
    rows, n = values.shape
    axes = canvas(axes, 14, 1.1 + 0.5 * rows)
    image = axes.imshow(values, cmap="Greys", aspect="auto", interpolation="nearest")
    axes.set_yticks(range(rows), [plain(name) for name in names], fontsize=9)
    totals = values.sum(axis=0)
    most = np.sort(np.argsort(-totals, kind="stable")[: min(labelled, np.count_nonzero(totals))])
    axes.set_xticks(most, [""] * len(most))
    for vertex, place in zip(most, spread([float(v) for v in most], 0, n - 1, n / 45), strict=True):
        axes.annotate(
            plain(explanation.atlas.names[vertex]),
            xy=(vertex, rows - 0.42),
            xytext=(place, rows - 0.1),
            rotation=60,
            ha="right",
            va="top",
            rotation_mode="anchor",
            fontsize=7,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.4, "shrinkA": 0, "shrinkB": 0},
        )
    axes.set_xlim(-0.5, n - 0.5)
    for name, vertices in (marks or {}).items():
        if name not in names:
            raise unknown_name("row", name, names)
        axes.plot(list(vertices), [names.index(name)] * len(vertices), "x", color=REMOVED, ms=4, mew=1.1)
    figure_of(axes).colorbar(image, ax=axes, shrink=0.9, pad=0.01, label="changes").ax.tick_params(labelsize=7)
    return axes


def plot_roi_bars(explanation: GlobalExplanation, axes: Axes | None = None, k: int = 20) -> Axes:
    """Draw how often pairs at the ``k`` most important regions are removed and added; fewer, if no more ever change."""
    importance = explanation.roi_importance.nlargest(k)
    importance = importance[importance > 0]
    axes = canvas(axes, 7, 1.2 + 0.26 * len(importance))
    regions = [explanation.atlas.index(str(name)) for name in importance.index]
    added, removed = explanation.roi_counters[0::2].sum(axis=0), explanation.roi_counters[1::2].sum(axis=0)
    places = np.arange(len(regions))[::-1]
    axes.barh(places, removed[regions], color=REMOVED, height=0.7, label="removed")
    axes.barh(places, added[regions], left=removed[regions], color=ADDED, height=0.7, label="added")
    axes.set_yticks(places, [plain(str(name)) for name in importance.index], fontsize=8)
    axes.set_xlabel("changes at the region, over all counterfactuals", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return axes


def plot_roi_brain(explanation: GlobalExplanation, axes: Axes | None = None, k: int = 10) -> Axes:
    """Draw every region as large as it is important, with the ``k`` pairs most often removed and added."""
    axes, scene = board(axes, 10, 7.6), scene_of(explanation, k)
    draw_scene(axes, scene, {"z": (0.25, 0.08, 0.5, 0.86)}, by_size=True)
    title = "The regions that matter, and the connections that change most often"
    axes.text(0.5, 0.97, title, ha="center", va="center", fontsize=13, color=INK, transform=axes.transAxes)
    handles = [Line2D([], [], color=layer.color, lw=2.5, label=layer.name) for layer in scene.layers if layer.pairs]
    axes.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=10)
    return axes
