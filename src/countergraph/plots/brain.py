"""Glass brains: edges in colours, and the names of regions beside them, never on top of each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats
from countergraph.plots.style import INK, KEPT

Pair = tuple[int, int]
# For each view of nilearn's glass brain, the two coordinates that it shows.
VIEWS = {"z": (0, 1), "y": (0, 2), "x": (1, 2)}
MOST_LABELS = 18


@dataclass(frozen=True)
class Edges:
    """Edges to draw alike; ``widths`` is one number, or one for each edge."""

    pairs: Sequence[Pair]
    color: str
    widths: float | Sequence[float] = 2.2
    alpha: float = 0.95
    on_top: bool = True


def draw_brain(
    figure: Figure, places: dict[str, tuple[float, float, float, float]], atlas: Atlas, layers: Iterable[Edges]
) -> None:
    """Draw edges on glass brains, one for each view in ``places``, and name the regions of the edges on top.

    ``places`` maps views ("z" from the top, "x" from the side, "y" from behind) to where they go in the figure. The
    regions are named beside the view from the top.
    """
    from nilearn.plotting import plot_glass_brain  # takes seconds to import

    assert atlas.coordinates is not None
    layers = list(layers)
    touched = _touched([pair for layer in layers if layer.on_top for pair in layer.pairs])
    for view, place in places.items():
        axes = figure.add_axes(place)
        display = plot_glass_brain(None, display_mode=view, axes=axes, figure=figure, annotate=False, alpha=0.5)
        points = atlas.coordinates[:, VIEWS[view]]
        inner = display.axes[view].ax
        for layer in layers:
            _draw_edges(inner, layer, points)
        inner.scatter(points[:, 0], points[:, 1], s=5, color=KEPT, alpha=0.6, zorder=2, linewidths=0)
        inner.scatter(points[touched, 0], points[touched, 1], s=26, color=INK, zorder=4, linewidths=0)
        if view == "z":
            _label_regions(inner, touched, points, atlas.names)


def _draw_edges(axes: Axes, layer: Edges, points: Floats) -> None:
    lines = [points[list(pair)] for pair in layer.pairs]
    order = 3 if layer.on_top else 1
    axes.add_collection(
        LineCollection(lines, colors=layer.color, linewidths=layer.widths, alpha=layer.alpha, zorder=order)
    )


def _touched(pairs: Sequence[Pair]) -> list[int]:
    """Return the regions that ``pairs`` touch, those with the most pairs first."""
    ends, counts = np.unique(np.array(pairs, dtype=np.intp).reshape(-1), return_counts=True)
    return [int(end) for end in ends[np.argsort(-counts, kind="stable")]]


def _label_regions(axes: Axes, touched: list[int], points: Floats, names: Sequence[str]) -> None:
    """Name regions beside the brain, left ones on the left, each with a line to its place."""
    named = touched[: 2 * MOST_LABELS]
    sides = {-1: [v for v in named if points[v, 0] < 0], 1: [v for v in named if points[v, 0] >= 0]}
    for side, vertices in sides.items():
        shown = sorted(vertices[:MOST_LABELS], key=lambda v: points[v, 1])
        heights = spread([float(points[v, 1]) for v in shown], -105.0, 75.0, 10.0)
        for vertex, height in zip(shown, heights, strict=True):
            axes.annotate(
                names[vertex],
                xy=points[vertex],
                xytext=(side * 84, height),
                ha="right" if side < 0 else "left",
                va="center",
                fontsize=8,
                color=INK,
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.4, "alpha": 0.55, "shrinkA": 1, "shrinkB": 2},
            )
    missing = len(touched) - sum(min(len(vertices), MOST_LABELS) for vertices in sides.values())
    if missing:
        more = f"and {missing} more region{'' if missing == 1 else 's'}"
        axes.text(84, -116, more, ha="left", va="center", fontsize=8, color=INK, style="italic")


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
