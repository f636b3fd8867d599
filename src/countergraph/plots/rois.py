"""Figures of the importance of the ROIs: as a strip (Figure 10 of the paper), as bars, and on the brain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from countergraph.errors import unknown_name
from countergraph.explain.importance import GlobalExplanation
from countergraph.plots.brain import draw_scene, spread
from countergraph.plots.scene import scene_of
from countergraph.plots.style import ADDED, REMOVED, TEXT, figure_of, label_text, panel_axes, plot_axes


def plot_roi_strip(
    explanation: GlobalExplanation,
    axes: Axes | None = None,
    marks: Mapping[str, Sequence[int]] | None = None,
    labelled: int = 12,
) -> Axes:
    """Draw how often pairs at each ROI are added and removed, one row for each class and change.

    Parameters
    ----------
    explanation
        A global explanation.
    axes
        Axes to draw into; None for a new figure.
    marks
        Numbers of ROIs to mark with red crosses, keyed by the name of the row ("TD +", "ASD -", ...).
    labelled
        Number of ROIs with a label; these are the most important ones.
    """
    values, names = explanation.roi_counters, explanation.counter_names
    rows, n = values.shape
    axes = plot_axes(axes, 14, 1.1 + 0.5 * rows)
    image = axes.imshow(values, cmap="Greys", aspect="auto", interpolation="nearest")
    changes = [f"{label_text(name)} ({explanation.change_names[name.endswith('+')]})" for name in names]
    axes.set_yticks(range(rows), changes, fontsize=9)
    totals = values.sum(axis=0)
    rois = np.sort(np.argsort(-totals, kind="stable")[: min(labelled, np.count_nonzero(totals))])
    axes.set_xticks(rois, [""] * len(rois))
    for roi, position in zip(rois, spread([float(each) for each in rois], 0, n - 1, n / 45), strict=True):
        axes.annotate(
            label_text(explanation.atlas.names[roi]),
            xy=(roi, rows - 0.42),
            xytext=(position, rows - 0.1),
            rotation=60,
            ha="right",
            va="top",
            rotation_mode="anchor",
            fontsize=7,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": TEXT, "lw": 0.4, "shrinkA": 0, "shrinkB": 0},
        )
    axes.set_xlim(-0.5, n - 0.5)
    for name, marked in (marks or {}).items():
        if name not in names:
            raise unknown_name("row", name, names)
        axes.plot(list(marked), [names.index(name)] * len(marked), "x", color=REMOVED, ms=4, mew=1.1)
    figure_of(axes).colorbar(image, ax=axes, shrink=0.9, pad=0.01, label="changes at the ROI").ax.tick_params(
        labelsize=7
    )
    return axes


def plot_roi_bars(explanation: GlobalExplanation, axes: Axes | None = None, k: int = 20) -> Axes:
    """Draw how often pairs at the ``k`` most important ROIs are removed and added; ROIs without changes are omitted."""
    importance = explanation.roi_importance.nlargest(k)
    importance = importance[importance > 0]
    axes = plot_axes(axes, 7, 1.2 + 0.26 * len(importance))
    rois = [explanation.atlas.index(str(name)) for name in importance.index]
    added, removed = explanation.roi_counters[0::2].sum(axis=0), explanation.roi_counters[1::2].sum(axis=0)
    fewer, more = explanation.change_names
    positions = np.arange(len(rois))[::-1]
    axes.barh(positions, removed[rois], color=REMOVED, height=0.7, label=fewer)
    axes.barh(positions, added[rois], left=removed[rois], color=ADDED, height=0.7, label=more)
    axes.set_yticks(positions, [label_text(str(name)) for name in importance.index], fontsize=8)
    axes.set_xlabel("number of changes at the ROI, over all counterfactuals", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return axes


def plot_roi_brain(explanation: GlobalExplanation, axes: Axes | None = None, k: int = 10) -> Axes:
    """Draw the ROIs with marker sizes by importance, and the ``k`` pairs most often removed and added."""
    axes, scene = panel_axes(axes, 10, 7.6), scene_of(explanation, k)
    draw_scene(axes, scene, {"z": (0.25, 0.08, 0.5, 0.86)}, scale_markers=True)
    title = "Most important ROIs and most frequently changed connections"
    axes.text(0.5, 0.97, title, ha="center", va="center", fontsize=13, color=TEXT, transform=axes.transAxes)
    handles = [Line2D([], [], color=layer.color, lw=2.5, label=layer.name) for layer in scene.layers if layer.pairs]
    axes.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=10)
    return axes
