"""2-D drawing of a scene: a glass brain, or a circle of ROIs if the atlas has no coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats
from countergraph.plots.scene import LINE_WIDTH, Edges, Scene, background_opacity
from countergraph.plots.style import KEPT, TEXT, Rectangle, label_text

VIEW_AXES = {"z": (0, 1), "y": (0, 2), "x": (1, 2)}
"""For each view of the glass brain of nilearn, the two coordinates that it shows."""
THREE_VIEWS: dict[str, Rectangle] = {
    "z": (0.17, 0.09, 0.42, 0.82),
    "x": (0.73, 0.5, 0.26, 0.38),
    "y": (0.75, 0.1, 0.22, 0.38),
}
ONE_VIEW: dict[str, Rectangle] = {"z": (0.25, 0.03, 0.5, 0.94)}
MAX_LABELS = 18
"""Maximum number of ROI labels on each side of a view."""
MAX_LABEL_LENGTH = 20
MAX_SCALED_LABELS = 12
"""Maximum number of ROI labels if the markers are scaled by importance."""


def draw_scene(
    axes: Axes, scene: Scene, views: Mapping[str, Rectangle] = ONE_VIEW, scale_markers: bool = False
) -> None:
    """Draw a scene into ``axes``, with ROI names in the margin of the top view.

    Parameters
    ----------
    axes
        Axes from `panel_axes`.
    scene
        The scene.
    views
        The rectangle of each view: "z" from the top, "x" from the side, "y" from behind. If the atlas has no
        coordinates, a circle is drawn in the rectangle of "z".
    scale_markers
        Draw the markers of the ROIs in proportion to their importance, and label only the most important ROIs.
    """
    labelled = scene.important_rois[:MAX_SCALED_LABELS] if scale_markers else scene.important_rois
    if scene.atlas.coordinates is None:
        inner = axes.inset_axes(views["z"])
        inner.set_axis_off()
        inner.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
        points = circle_layout(scene.atlas)[:, :2]
        _draw(inner, scene, points, scale_markers)
        _label_circle(inner, labelled[: 2 * MAX_LABELS], points, scene.atlas.names)
        return
    from nilearn.plotting.glass_brain import plot_brain_schematics  # takes seconds to import

    for view, rectangle in views.items():
        inner = axes.inset_axes(rectangle)
        inner.set_axis_off()
        left, right, low, high = plot_brain_schematics(inner, view, alpha=0.5, zorder=0.5)
        inner.set(xlim=(left, right), ylim=(low, high), aspect="equal")
        points = scene.atlas.coordinates[:, VIEW_AXES[view]]
        _draw(inner, scene, points, scale_markers)
        if view == "z":
            _label_brain(inner, labelled, points, scene.atlas.names, count_unlabelled=not scale_markers)


def _draw(axes: Axes, scene: Scene, points: Floats, scale_markers: bool) -> None:
    shown = [set(layer.pairs) for layer in scene.layers if not layer.background]
    twice = len(shown) == 2 and bool(shown[0] & shown[1])  # two networks with changes in both directions
    for number, layer in enumerate(scene.layers):
        _draw_edges(axes, layer, points, (number - 0.5) * 0.05 * np.ptp(points[:, 0]) if twice else 0.0)
    axes.scatter(points[:, 0], points[:, 1], s=5, color=KEPT, alpha=0.6, zorder=2, linewidths=0)
    for rings in scene.rings:
        x, y = points[list(rings.rois)].T
        axes.scatter(x, y, s=rings.size, facecolors="none", edgecolors=rings.color, linewidths=3, zorder=5)
    rois = scene.important_rois
    sizes = 4 + 220 * scene.importance[rois] if scale_markers else 26
    alpha = 0.75 if scale_markers else 1
    axes.scatter(points[rois, 0], points[rois, 1], s=sizes, color=TEXT, alpha=alpha, zorder=4, linewidths=0)


def _draw_edges(axes: Axes, layer: Edges, points: Floats, shift: float) -> None:
    lines = [_shifted(points[list(pair)], shift) for pair in layer.pairs]
    widths = 0.5 if layer.background else layer.widths or LINE_WIDTH
    alpha, order = (background_opacity(len(lines)), 1) if layer.background else (0.9, 3)
    collection = LineCollection(lines, colors=layer.color, linewidths=widths, alpha=alpha, zorder=order)
    axes.add_collection(collection, autolim=False)


def _shifted(line: Floats, shift: float) -> Floats:
    """Return a line that is shifted sideways."""
    if not shift:
        return line
    along = line[1] - line[0]
    return line + shift * np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-12)


def circle_layout(atlas: Atlas) -> Floats:
    """Return positions on a circle, shape (n, 3): ROIs grouped by network, left hemisphere on the left."""
    n = len(atlas.names)
    network_numbers = {name: number for number, name in enumerate(dict.fromkeys(atlas.networks or ("",) * n))}
    groups = [network_numbers[name] for name in atlas.networks or ("",) * n]
    sides = [side == "R" for side in atlas.hemispheres or ("",) * n]
    order = np.lexsort((groups, sides)) if any(sides) else np.argsort(groups, kind="stable")
    left = n - sum(sides)
    angles = np.empty(n)
    if any(sides) and left:
        # Each hemisphere fills one half of the circle, from the top to the bottom.
        angles[order[:left]] = np.pi / 2 + np.pi * (np.arange(left) + 0.5) / left
        angles[order[left:]] = np.pi / 2 - np.pi * (np.arange(n - left) + 0.5) / (n - left)
    else:
        angles[order] = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles), np.zeros(n)], axis=1)


def _label_circle(axes: Axes, labelled: list[int], points: Floats, names: Sequence[str]) -> None:
    right = [roi for roi in labelled if points[roi, 0] >= 0]
    left = [roi for roi in labelled if points[roi, 0] < 0]
    for rois, side in ((left, -1), (right, 1)):
        shown = sorted(rois[:MAX_LABELS], key=lambda roi: points[roi, 1])
        heights = spread([1.2 * float(points[roi, 1]) for roi in shown], -1.3, 1.3, 0.14)
        for roi, height in zip(shown, heights, strict=True):
            _label(axes, names[roi], points[roi], (side * 1.3, height), "right" if side < 0 else "left")


def _label_brain(axes: Axes, labelled: list[int], points: Floats, names: Sequence[str], count_unlabelled: bool) -> None:
    """Write ROI names next to the brain, on the side of the ROI, each with a line to its position."""
    shown = labelled[: 2 * MAX_LABELS]
    sides = {-1: [roi for roi in shown if points[roi, 0] < 0], 1: [roi for roi in shown if points[roi, 0] >= 0]}
    for side, rois in sides.items():
        ordered = sorted(rois[:MAX_LABELS], key=lambda roi: points[roi, 1])
        heights = spread([float(points[roi, 1]) for roi in ordered], -105.0, 75.0, 10.0)
        for roi, height in zip(ordered, heights, strict=True):
            _label(axes, names[roi], points[roi], (side * 84, height), "right" if side < 0 else "left")
    unlabelled = len(labelled) - sum(min(len(rois), MAX_LABELS) for rois in sides.values())
    if unlabelled and count_unlabelled:
        axes.text(
            84,
            -116,
            f"and {unlabelled} more {'ROI' if unlabelled == 1 else 'ROIs'}",
            ha="left",
            va="center",
            fontsize=8,
            color=TEXT,
            style="italic",
        )


def _label(
    axes: Axes, name: str, point: Floats, position: tuple[float, float], align: Literal["left", "right"]
) -> None:
    axes.annotate(
        label_text(name, MAX_LABEL_LENGTH),
        xy=(float(point[0]), float(point[1])),
        xytext=position,
        ha=align,
        va="center",
        fontsize=8,
        color=TEXT,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": TEXT, "lw": 0.4, "alpha": 0.55, "shrinkA": 1, "shrinkB": 2},
    )


def spread(heights: Sequence[float], low: float, high: float, gap: float) -> list[float]:
    """Move sorted heights apart by at least ``gap``, with small displacements; the gap is reduced if they do not fit.

    Parameters
    ----------
    heights
        Heights in increasing order.
    low, high
        Range of the new heights.
    gap
        Minimum distance between two heights.
    """
    if not heights:
        return []
    gap = min(gap, (high - low) / max(1, len(heights) - 1))
    ranks = gap * np.arange(len(heights))
    # After subtraction of the ranks, "at least a gap apart" means "not decreasing". Clipping preserves this property.
    level = np.maximum.accumulate(np.array(heights) - ranks)
    centred = (level + np.minimum.accumulate((np.array(heights) - ranks)[::-1])[::-1]) / 2
    return [float(height) for height in np.clip(centred, low, high - ranks[-1]) + ranks]
