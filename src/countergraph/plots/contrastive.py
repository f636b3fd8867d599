"""Figure of one counterfactual: kept edges in grey, removed in red, added in blue (Figure 1 of the paper)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from countergraph.graphs.pairs import pairs_at
from countergraph.plots.brain import THREE_VIEWS, draw_scene
from countergraph.plots.scene import Scene, scene_of
from countergraph.plots.style import COLORS, TEXT, Rectangle, label_text, panel_axes
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.wording import count, format_value

CIRCLE: Rectangle = (0.15, 0.08, 0.4, 0.8)
"""Rectangle of the circle of ROIs."""
MATRIX: Rectangle = (0.74, 0.28, 0.25, 0.41)
"""Rectangle of the adjacency matrix."""
HEIGHT, LINE_HEIGHT = 7.2, 0.22
"""Height of the figure without values, and of a line of values, in inches."""
MAX_VALUES = 12
"""Maximum number of changed values that are listed, largest change first."""
MAX_NAME_LENGTH, MAX_TICK_LENGTH, MAX_NETWORK_TICKS = 24, 16, 20


def plot_counterfactual(result: Counterfactual, axes: Axes | None = None) -> Axes:
    """Draw a counterfactual on a glass brain, or as a circle and a matrix if the atlas has no coordinates.

    The ROIs with changes are labelled. If there are too many, the ROIs with the most changes are labelled. For weighted
    networks, the width of a line shows the change, and the largest changes are listed with their values.
    """
    values = _values(result)
    below = LINE_HEIGHT * (2 + -(-len(values) // 2)) if values else 0.0
    whole = panel_axes(axes, 11, HEIGHT + below)
    share = below / (HEIGHT + below)
    axes = panel_axes(whole.inset_axes((0, share, 1, 1 - share)), 11, HEIGHT) if values else whole
    before, after = result.class_name(result.original_label), result.class_name(result.counterfactual_label)
    names = [label_text(str(name)) for name in (before, after) if name is not None]
    title = f"{label_text(result.subject)}: {' → '.join(names)}" + ("" if result.found else ", no counterfactual found")
    axes.text(0.5, 0.96, title, ha="center", va="center", fontsize=15, color=TEXT, transform=axes.transAxes)
    scene = scene_of(result)
    if scene.atlas.coordinates is None:
        draw_scene(axes, scene, {"z": CIRCLE})
        draw_matrix = _draw_network_matrix if scene.rings and result.unit == "network" else _draw_matrix
        draw_matrix(axes.inset_axes(MATRIX), scene)
    else:
        draw_scene(axes, scene, THREE_VIEWS)
    layers = sorted(scene.layers, key=lambda layer: layer.background)
    handles = [Line2D([], [], color=layer.color, lw=2.5, label=layer.name) for layer in layers]
    axes.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=11)
    if values:
        _write_values(whole, values, result.distance or 0, share)
    return whole


def _values(result: Counterfactual) -> list[tuple[str, str]]:
    """Return the largest changes of a weighted network as texts, each with its colour; empty for a graph."""
    if not result.weighted or result.values is None or result.flips is None:
        return []
    weaker, stronger = result.change_names
    changes = result.values - result.original
    texts = []
    for unit in sorted(result.units, key=lambda unit: -float(np.abs(changes[unit.flips]).sum()))[:MAX_VALUES]:
        words = unit.words.removeprefix("all connections ").removeprefix("of ")
        mean = f"{result.mean_change(unit):+.2f} on average"
        texts.append((f"{label_text(words, 2 * MAX_NAME_LENGTH)}: {mean}", COLORS[unit.change]))
    order = np.argsort(-np.abs(changes[result.flips]), kind="stable")[:MAX_VALUES]
    for flip in [] if texts else result.flips[order].tolist():
        [pair] = pairs_at([flip], result.n_rois)
        first, second = (label_text(result.roi_name(roi), MAX_NAME_LENGTH) for roi in pair)
        values = f"{format_value(result.original[flip])} → {format_value(result.values[flip])}"
        texts.append((f"{first} – {second}: {values}", COLORS[weaker if changes[flip] < 0 else stronger]))
    return texts


def _write_values(axes: Axes, values: list[tuple[str, str]], n_changes: int, share: float) -> None:
    """Write the values in two columns below the picture."""
    lines = -(-len(values) // 2)
    step = share / (lines + 2)
    for number, (text, color) in enumerate(values):
        column, line = divmod(number, lines)
        x, y = (0.04, 0.52)[column], share - (line + 0.5) * step
        axes.text(x, y, text, ha="left", va="center", fontsize=9, color=color, transform=axes.transAxes)
    if n_changes > len(values):
        text = f"the {len(values)} largest changes; {count(n_changes - len(values), 'more change')} not listed"
        y = share - (lines + 0.6) * step
        axes.text(0.04, y, text, va="center", fontsize=9, style="italic", color=TEXT, transform=axes.transAxes)


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


def _draw_network_matrix(axes: Axes, scene: Scene) -> None:
    """Draw changed networks as a matrix: decreases above the diagonal, increases below, both on the diagonal."""
    n = len(scene.atlas.names)
    for increases, (layer, rings) in enumerate(zip(scene.layers, scene.rings, strict=True)):
        cells = [(i, j) if increases else (j, i) for i, j in layer.pairs]
        offset = 0.22 if increases else -0.22
        inside = [(roi - offset, roi + offset) for roi in rings.rois]
        points = np.array([*cells, *inside]).reshape(-1, 2)
        sizes = [900 / n] * len(cells) + [300 / n] * len(inside)
        axes.scatter(points[:, 0], points[:, 1], s=sizes, color=layer.color, marker="s", linewidths=0)
    step = max(1, -(-n // MAX_NETWORK_TICKS))
    names = [label_text(name, MAX_TICK_LENGTH) for name in scene.atlas.names[::step]]
    axes.set_xticks(range(0, n, step), names, rotation=90, fontsize=7)
    axes.set_yticks(range(0, n, step), names, fontsize=7)
    axes.set(xlim=(-0.6, n - 0.4), ylim=(n - 0.4, -0.6), aspect="equal")
