"""The picture of one counterfactual: the brain, kept edges grey, removed red, added blue (Figure 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from countergraph.counterfactual import Counterfactual, Pair
from countergraph.graphs.pairs import Floats, pairs_at
from countergraph.plots.style import ADDED, INK, KEPT, REMOVED

# For each view of nilearn's glass brain, the two coordinates that it shows.
VIEWS = {"z": (0, 1), "y": (0, 2), "x": (1, 2)}
MOST_LABELS = 18


def plot_counterfactual(result: Counterfactual) -> Figure:
    """Draw a counterfactual on a glass brain, or as a matrix where the atlas has no coordinates.

    Every region that a change touches is named in the margin of the top view, unless there are more than fit; then
    those with the most changes are.
    """
    figure = Figure(figsize=(11, 7.2), layout=None)
    before, after = result.class_name(result.original_class), result.class_name(result.counterfactual_class)
    title = f"{result.subject}: {before} → {after}" if result.found else f"{result.subject}: {before}"
    figure.suptitle(title, x=0.5, y=0.97, fontsize=15, color=INK)
    if result.atlas is not None and result.atlas.coordinates is not None:
        _draw_brain(figure, result, result.atlas.coordinates)
    else:
        _draw_matrix(figure.add_axes((0.28, 0.1, 0.5, 0.78)), result)
    figure.legend(handles=_legend(result), loc="lower center", ncols=3, frameon=False, fontsize=11)
    return figure


def _legend(result: Counterfactual) -> list[Line2D]:
    counts = (("removed", REMOVED, len(result.removed)), ("added", ADDED, len(result.added)))
    kept = int(result.original.sum()) - len(result.removed)
    handles = [Line2D([], [], color=color, lw=2.5, label=f"{count} {name}") for name, color, count in counts]
    return [*handles, Line2D([], [], color=KEPT, lw=1, label=f"{kept} kept")]


def _draw_brain(figure: Figure, result: Counterfactual, centres: Floats) -> None:
    from nilearn.plotting import plot_glass_brain  # takes seconds to import

    top = figure.add_axes((0.16, 0.09, 0.42, 0.82))
    places = {
        "z": top,
        "x": figure.add_axes((0.72, 0.5, 0.27, 0.38)),
        "y": figure.add_axes((0.74, 0.1, 0.23, 0.38)),
    }
    for view, place in places.items():
        display = plot_glass_brain(None, display_mode=view, axes=place, figure=figure, annotate=False, alpha=0.5)
        axes = display.axes[view].ax
        _draw_edges(axes, result, centres[:, VIEWS[view]])
        if view == "z":
            _label_regions(axes, result, centres[:, VIEWS[view]])


def _draw_edges(axes: Axes, result: Counterfactual, points: Floats) -> None:
    removed, added = result.removed, result.added
    kept = sorted(set(pairs_at(np.flatnonzero(result.original), result.n_regions)) - set(removed))
    for pairs, color, width, alpha, order in (
        (kept, KEPT, 0.5, 0.28, 1),
        (removed, REMOVED, 2.2, 0.95, 3),
        (added, ADDED, 2.2, 0.95, 3),
    ):
        lines = [points[list(pair)] for pair in pairs]
        axes.add_collection(LineCollection(lines, colors=color, linewidths=width, alpha=alpha, zorder=order))
    touched = _touched(removed + added)
    axes.scatter(points[:, 0], points[:, 1], s=5, color=KEPT, alpha=0.6, zorder=2, linewidths=0)
    axes.scatter(points[touched, 0], points[touched, 1], s=26, color=INK, zorder=4, linewidths=0)


def _touched(pairs: Sequence[Pair]) -> list[int]:
    """Return the regions that ``pairs`` touch, those with the most pairs first."""
    ends, counts = np.unique(np.array(pairs, dtype=np.intp).reshape(-1), return_counts=True)
    return [int(end) for end in ends[np.argsort(-counts, kind="stable")]]


def _label_regions(axes: Axes, result: Counterfactual, points: Floats) -> None:
    """Name the touched regions beside the brain, left ones on the left, each with a line to its place."""
    touched = _touched(result.removed + result.added)
    named = touched[: 2 * MOST_LABELS]
    sides = {-1: [v for v in named if points[v, 0] < 0], 1: [v for v in named if points[v, 0] >= 0]}
    low, high = -105.0, 75.0
    for side, vertices in sides.items():
        shown = sorted(vertices[:MOST_LABELS], key=lambda v: points[v, 1])
        heights = _spread([float(points[v, 1]) for v in shown], low, high, 10.0)
        for vertex, height in zip(shown, heights, strict=True):
            axes.annotate(
                result.region_name(vertex),
                xy=points[vertex],
                xytext=(side * 84, height),
                ha="right" if side < 0 else "left",
                va="center",
                fontsize=8,
                color=INK,
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": INK,
                    "lw": 0.4,
                    "alpha": 0.55,
                    "shrinkA": 1,
                    "shrinkB": 2,
                },
            )
    missing = len(touched) - sum(min(len(vertices), MOST_LABELS) for vertices in sides.values())
    if missing:
        axes.text(
            84,
            88,
            f"and {missing} more regions",
            ha="left",
            va="center",
            fontsize=8,
            color=INK,
            style="italic",
        )


def _spread(heights: Sequence[float], low: float, high: float, gap: float) -> list[float]:
    """Move sorted heights apart by at least ``gap`` (less if they would not fit), near to where they were."""
    if not heights:
        return []
    gap = min(gap, (high - low) / max(1, len(heights) - 1))
    ranks = gap * np.arange(len(heights))
    # Subtracting the ranks turns "at least a gap apart" into "not decreasing", and clipping keeps that.
    level = np.maximum.accumulate(np.array(heights) - ranks)
    centred = (level + np.minimum.accumulate((np.array(heights) - ranks)[::-1])[::-1]) / 2
    return [float(height) for height in np.clip(centred, low, high - ranks[-1]) + ranks]


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
