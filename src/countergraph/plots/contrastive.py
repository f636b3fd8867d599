"""Figure of one counterfactual: kept edges in grey, removed in red, added in blue (Figure 1 of the paper)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from countergraph.plots.brain import THREE_VIEWS, draw_scene
from countergraph.plots.scene import Scene, scene_of
from countergraph.plots.style import TEXT, Rectangle, label_text, panel_axes
from countergraph.results.counterfactual import Counterfactual

CIRCLE: Rectangle = (0.15, 0.08, 0.4, 0.8)
"""Rectangle of the circle of ROIs."""
MATRIX: Rectangle = (0.74, 0.28, 0.25, 0.41)
"""Rectangle of the adjacency matrix."""


def plot_counterfactual(result: Counterfactual, axes: Axes | None = None) -> Axes:
    """Draw a counterfactual on a glass brain, or as a circle and a matrix if the atlas has no coordinates.

    The ROIs with changes are labelled. If there are too many, the ROIs with the most changes are labelled.
    """
    axes = panel_axes(axes, 11, 7.2)
    before, after = result.class_name(result.original_label), result.class_name(result.counterfactual_label)
    names = [label_text(str(name)) for name in (before, after) if name is not None]
    title = f"{label_text(result.subject)}: {' → '.join(names)}" + ("" if result.found else ", no counterfactual found")
    axes.text(0.5, 0.96, title, ha="center", va="center", fontsize=15, color=TEXT, transform=axes.transAxes)
    scene = scene_of(result)
    if scene.atlas.coordinates is None:
        draw_scene(axes, scene, {"z": CIRCLE})
        _draw_matrix(axes.inset_axes(MATRIX), scene)
    else:
        draw_scene(axes, scene, THREE_VIEWS)
    layers = sorted(scene.layers, key=lambda layer: layer.background)
    handles = [Line2D([], [], color=layer.color, lw=2.5, label=layer.name) for layer in layers]
    axes.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=11)
    return axes


def _draw_matrix(axes: Axes, scene: Scene) -> None:
    n = len(scene.atlas.names)
    for layer in scene.layers:
        points = np.array([*layer.pairs, *((j, i) for i, j in layer.pairs)]).reshape(-1, 2)
        size = (3 if layer.background else 22) * min(1, 116 / n)
        color = "#d5d5d5" if layer.background else layer.color
        axes.scatter(points[:, 0], points[:, 1], s=size, color=color, marker="s", linewidths=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([tick for tick in MaxNLocator(integer=True).tick_values(0, n - 1) if 0 <= tick < n])
    axes.set(xlim=(-1, n), ylim=(n, -1), aspect="equal", xlabel="ROI number", ylabel="ROI number")
