"""Pictures of a global explanation: heatmaps by region (Figure 9 of the paper) and the strip of regions (Figure 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from countergraph.explain.importance import GlobalExplanation
from countergraph.plots.brain import spread
from countergraph.plots.style import INK

ADDED_MAP, REMOVED_MAP, STRIP_MAP = "Blues", "Reds", "Greys"


def plot_heatmaps(explanation: GlobalExplanation, normalised: bool = False) -> Figure:
    """Draw one heatmap for each class: above the diagonal, in blue, what is added to graphs of other classes; below, in
    red, what is removed from graphs of the class. In both the presence of an edge speaks for the class.

    ``normalised`` divides each cell by its number of pairs.
    """  # noqa: D205
    count = len(explanation.classes)
    figure = Figure(figsize=(6.4 * count, 5.6), layout="constrained")
    unit = "changes per pair" if normalised else "changes"
    for label, axes in enumerate(figure.subplots(1, count, squeeze=False)[0]):
        above, below = (table.to_numpy() for table in explanation.heatmaps(label, normalised))
        size = len(above)
        top = max(float(above.max()), float(below.max()), 1e-12)
        upper = np.arange(size)[:, None] <= np.arange(size)
        for values, shown, cmap in ((above, upper, ADDED_MAP), (below, upper.T, REMOVED_MAP)):
            scale = Normalize(0, top)
            _triangles(axes, np.where(shown, values, np.nan), cmap, scale, lower=cmap == REMOVED_MAP)
            figure.colorbar(ScalarMappable(scale, cmap), ax=axes, shrink=0.7, pad=0.01).ax.tick_params(labelsize=7)
        names = explanation.region_names
        axes.set_xticks(range(size), names, rotation=45, ha="right", fontsize=8)
        axes.set_yticks(range(size), names, fontsize=8)
        axes.set_title(f"{explanation.classes[label]} ({unit})", color=INK, fontsize=11)
        axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    return figure


def _triangles(axes: Axes, values: np.ndarray, cmap: str, scale: Normalize, lower: bool) -> None:
    """Colour the cells of one half; a cell on the diagonal belongs to both, each gets its half of it."""
    size = len(values)
    off_diagonal = values.copy()
    np.fill_diagonal(off_diagonal, np.nan)
    axes.imshow(off_diagonal, cmap=cmap, norm=scale)
    colors = ScalarMappable(scale, cmap)
    for i in range(size):
        corner = (i - 0.5, i + 0.5) if lower else (i + 0.5, i - 0.5)
        corners = [(i - 0.5, i - 0.5), (i + 0.5, i + 0.5), corner]
        x, y = zip(*corners, strict=True)
        axes.fill(x, y, color=colors.to_rgba(values[i, i]), linewidth=0)


def plot_roi_strip(
    explanation: GlobalExplanation, marks: Mapping[str, Sequence[int]] | None = None, labelled: int = 12
) -> Figure:
    """Draw how often pairs at each region are added and removed, a row for each class and direction.

    ``marks`` puts red crosses on known vertices, by the name of the row ("TD +", "ASD -", ...). The ``labelled`` most
    important regions are named.
    """
    values = explanation.roi_counters
    rows, n = values.shape
    figure = Figure(figsize=(14, 1.1 + 0.5 * rows), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(values, cmap=STRIP_MAP, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(rows), explanation.counter_names, fontsize=9)
    most = np.sort(np.argsort(-values.sum(axis=0), kind="stable")[:labelled])
    axes.set_xticks(most, [""] * len(most))
    for vertex, place in zip(most, spread([float(v) for v in most], 0, n - 1, n / 45), strict=True):
        axes.annotate(
            explanation.atlas.names[vertex],
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
        row = explanation.counter_names.index(name)
        axes.plot(list(vertices), [row] * len(vertices), "x", color="#d62728", markersize=4, markeredgewidth=1.1)
    figure.colorbar(image, ax=axes, shrink=0.9, pad=0.01, label="changes").ax.tick_params(labelsize=7)
    return figure
