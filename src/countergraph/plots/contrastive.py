"""The picture of one counterfactual: the brain, kept edges grey, removed red, added blue (Figure 1 of the paper)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from countergraph.counterfactual import Counterfactual
from countergraph.graphs.pairs import pairs_at
from countergraph.plots.brain import Edges, draw_brain
from countergraph.plots.style import ADDED, INK, KEPT, REMOVED

PLACES = {"z": (0.16, 0.09, 0.42, 0.82), "x": (0.72, 0.5, 0.27, 0.38), "y": (0.74, 0.1, 0.23, 0.38)}


def plot_counterfactual(result: Counterfactual) -> Figure:
    """Draw a counterfactual on a glass brain, or as a matrix where the atlas has no coordinates.

    Every region that a change touches is named in the margin of the top view, unless there are more than fit; then
    those with the most changes are.
    """
    figure = Figure(figsize=(11, 7.2))
    before, after = result.class_name(result.original_class), result.class_name(result.counterfactual_class)
    title = f"{result.subject}: {before} → {after}" if result.found else f"{result.subject}: {before}"
    figure.suptitle(title, x=0.5, y=0.97, fontsize=15, color=INK)
    if result.atlas is not None and result.atlas.coordinates is not None:
        kept = set(pairs_at(np.flatnonzero(result.original), result.n_regions)) - set(result.removed)
        layers = (
            Edges(sorted(kept), KEPT, widths=0.5, alpha=0.28, on_top=False),
            Edges(result.removed, REMOVED),
            Edges(result.added, ADDED),
        )
        draw_brain(figure, PLACES, result.atlas, layers)
    else:
        _draw_matrix(figure.add_axes((0.28, 0.1, 0.5, 0.78)), result)
    figure.legend(handles=_legend(result), loc="lower center", ncols=3, frameon=False, fontsize=11)
    return figure


def _legend(result: Counterfactual) -> list[Line2D]:
    counts = (("removed", REMOVED, len(result.removed)), ("added", ADDED, len(result.added)))
    kept = int(result.original.sum()) - len(result.removed)
    handles = [Line2D([], [], color=color, lw=2.5, label=f"{count} {name}") for name, color, count in counts]
    return [*handles, Line2D([], [], color=KEPT, lw=1, label=f"{kept} kept")]


def _draw_matrix(axes: Axes, result: Counterfactual) -> None:
    n = result.n_regions
    for pairs, color, size in (
        (pairs_at(np.flatnonzero(result.original), n), "#d5d5d5", 6),
        (result.removed, REMOVED, 26),
        (result.added, ADDED, 26),
    ):
        points = np.array([*pairs, *((j, i) for i, j in pairs)]).reshape(-1, 2)
        axes.scatter(points[:, 0], points[:, 1], s=size * min(1, 116 / n), color=color, marker="s", linewidths=0)
    axes.set(xlim=(-1, n), ylim=(n, -1), aspect="equal", xlabel="region", ylabel="region")
