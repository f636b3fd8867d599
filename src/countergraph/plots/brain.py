"""A scene on flat paper: a glass brain, or a circle of regions where the atlas has no coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats
from countergraph.plots.scene import WIDTH, Edges, Scene, faintness
from countergraph.plots.style import INK, KEPT, Rectangle, plain

# For each view of nilearn's glass brain, the two coordinates that it shows.
VIEWS = {"z": (0, 1), "y": (0, 2), "x": (1, 2)}
THREE_VIEWS: dict[str, Rectangle] = {
    "z": (0.17, 0.09, 0.42, 0.82),
    "x": (0.73, 0.5, 0.26, 0.38),
    "y": (0.75, 0.1, 0.22, 0.38),
}
ONE_VIEW: dict[str, Rectangle] = {"z": (0.25, 0.03, 0.5, 0.94)}
MOST_LABELS = 18
LONGEST_LABEL = 20


def draw_scene(axes: Axes, scene: Scene, places: Mapping[str, Rectangle] = ONE_VIEW, by_size: bool = False) -> None:
    """Draw a scene into ``axes``, and name its regions in the margin of the view from the top.

    ``places`` maps views ("z" from the top, "x" from the side, "y" from behind) to where they go. Without coordinates
    there is one view, a circle. ``by_size`` draws every region as large as it is important, and names the first dozen.
    """
    named = scene.touched[:12] if by_size else scene.touched
    if scene.atlas.coordinates is None:
        inner = axes.inset_axes(places["z"])
        inner.set_axis_off()
        inner.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
        _draw(inner, scene, circle(scene.atlas)[:, :2], by_size)
        _label_circle(inner, named[: 2 * MOST_LABELS], circle(scene.atlas)[:, :2], scene.atlas.names)
        return
    from nilearn.plotting.glass_brain import plot_brain_schematics  # takes seconds to import

    for view, place in places.items():
        inner = axes.inset_axes(place)
        inner.set_axis_off()
        left, right, low, high = plot_brain_schematics(inner, view, alpha=0.5, zorder=0.5)
        inner.set(xlim=(left, right), ylim=(low, high), aspect="equal")
        points = scene.atlas.coordinates[:, VIEWS[view]]
        _draw(inner, scene, points, by_size)
        if view == "z":
            _label_brain(inner, named, points, scene.atlas.names, say_rest=not by_size)


def _draw(axes: Axes, scene: Scene, points: Floats, by_size: bool) -> None:
    for layer in scene.layers:
        _draw_edges(axes, layer, points)
    axes.scatter(points[:, 0], points[:, 1], s=5, color=KEPT, alpha=0.6, zorder=2, linewidths=0)
    touched = scene.touched
    sizes = 4 + 220 * scene.sizes[touched] if by_size else 26
    shown = points[touched]
    axes.scatter(shown[:, 0], shown[:, 1], s=sizes, color=INK, alpha=0.75 if by_size else 1, zorder=4, linewidths=0)


def _draw_edges(axes: Axes, layer: Edges, points: Floats) -> None:
    lines = [points[list(pair)] for pair in layer.pairs]
    widths = 0.5 if layer.faint else layer.widths or WIDTH
    alpha, order = (faintness(len(lines)), 1) if layer.faint else (0.9, 3)
    collection = LineCollection(lines, colors=layer.color, linewidths=widths, alpha=alpha, zorder=order)
    axes.add_collection(collection, autolim=False)


def circle(atlas: Atlas) -> Floats:
    """Return places on a circle (n, 3), regions of the same coarse region next to each other, left ones on the left."""
    n = len(atlas.names)
    coarse = {name: number for number, name in enumerate(dict.fromkeys(atlas.networks or ("",) * n))}
    groups = [coarse[name] for name in atlas.networks or ("",) * n]
    sides = [side == "R" for side in atlas.hemispheres or ("",) * n]
    # Half of the circle for each hemisphere, both from the top downwards.
    order = np.lexsort((groups, sides)) if any(sides) else np.argsort(groups, kind="stable")
    left = n - sum(sides)
    angles = np.empty(n)
    if any(sides) and left:
        angles[order[:left]] = np.pi / 2 + np.pi * (np.arange(left) + 0.5) / left
        angles[order[left:]] = np.pi / 2 - np.pi * (np.arange(n - left) + 0.5) / (n - left)
    else:
        angles[order] = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles), np.zeros(n)], axis=1)


def _label_circle(axes: Axes, named: list[int], points: Floats, names: Sequence[str]) -> None:
    right = [region for region in named if points[region, 0] >= 0]
    left = [region for region in named if points[region, 0] < 0]
    for regions, side in ((left, -1), (right, 1)):
        shown = sorted(regions[:MOST_LABELS], key=lambda region: points[region, 1])
        heights = spread([1.2 * float(points[region, 1]) for region in shown], -1.3, 1.3, 0.14)
        for region, height in zip(shown, heights, strict=True):
            _label(axes, names[region], points[region], (side * 1.3, height), "right" if side < 0 else "left")


def _label_brain(axes: Axes, touched: list[int], points: Floats, names: Sequence[str], say_rest: bool) -> None:
    """Name regions beside the brain, left ones on the left, each with a line to its place."""
    named = touched[: 2 * MOST_LABELS]
    sides = {-1: [v for v in named if points[v, 0] < 0], 1: [v for v in named if points[v, 0] >= 0]}
    for side, regions in sides.items():
        shown = sorted(regions[:MOST_LABELS], key=lambda v: points[v, 1])
        heights = spread([float(points[v, 1]) for v in shown], -105.0, 75.0, 10.0)
        for region, height in zip(shown, heights, strict=True):
            _label(axes, names[region], points[region], (side * 84, height), "right" if side < 0 else "left")
    missing = len(touched) - sum(min(len(regions), MOST_LABELS) for regions in sides.values())
    if missing and say_rest:
        axes.text(
            84,
            -116,
            f"and {missing} more {'region' if missing == 1 else 'regions'}",
            ha="left",
            va="center",
            fontsize=8,
            color=INK,
            style="italic",
        )


def _label(axes: Axes, name: str, point: Floats, place: tuple[float, float], align: Literal["left", "right"]) -> None:
    axes.annotate(
        plain(name, LONGEST_LABEL),
        xy=(float(point[0]), float(point[1])),
        xytext=place,
        ha=align,
        va="center",
        fontsize=8,
        color=INK,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.4, "alpha": 0.55, "shrinkA": 1, "shrinkB": 2},
    )


def spread(heights: Sequence[float], low: float, high: float, gap: float) -> list[float]:
    """Move sorted heights apart by at least ``gap`` (less if they would not fit), near to where they were."""
    if not heights:
        return []
    gap = min(gap, (high - low) / max(1, len(heights) - 1))
    ranks = gap * np.arange(len(heights))
    # Subtracting the ranks turns "at least a gap apart" into "not decreasing", and clipping keeps that.
    level = np.maximum.accumulate(np.array(heights) - ranks)
    centred = (level + np.minimum.accumulate((np.array(heights) - ranks)[::-1])[::-1]) / 2
    return [float(height) for height in np.clip(centred, low, high - ranks[-1]) + ranks]
