"""Where a classifier looks, by coarse region: one heatmap for each class (Figure 9 of the paper)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize

from countergraph.explain.importance import GlobalExplanation
from countergraph.plots.style import INK, board, figure_of, plain

ADDED_MAP, REMOVED_MAP = "Blues", "Reds"
MOST_CELLS = 30


def plot_heatmaps(explanation: GlobalExplanation, axes: Axes | None = None, normalised: bool = False) -> Axes:
    """Draw one heatmap for each class: above the diagonal, in blue, what is added to others to be of it; below, in
    red, what is removed from graphs of the class. In both the presence of an edge speaks for the class.

    All share one scale. ``normalised`` divides each cell by its number of pairs.
    """  # noqa: D205
    count = len(explanation.classes)
    axes = board(axes, 6.6 * count, 5.8)
    unit = "changes per pair" if normalised else "changes"
    shown = _most_changed(explanation)
    if len(shown) < len(explanation.network_names):
        unit += f", the {len(shown)} regions with the most"
    tables = [
        [table.to_numpy()[np.ix_(shown, shown)] for table in explanation.heatmaps(label, normalised)]
        for label in range(count)
    ]
    scale = Normalize(0, float(np.max(tables)) or 1.0)
    for label, name in enumerate(explanation.classes):
        panel = axes.inset_axes(((label + 0.22) / count, 0.22, 0.57 / count, 0.7))
        for values, cmap, bar in zip(tables[label], (ADDED_MAP, REMOVED_MAP), (0.83, 0.905), strict=True):
            _draw_half(panel, values, cmap, scale, lower=cmap == REMOVED_MAP)
            side = axes.inset_axes(((label + bar) / count, 0.3, 0.018 / count, 0.54))
            colors = figure_of(axes).colorbar(ScalarMappable(scale, cmap), cax=side)
            colors.ax.tick_params(labelsize=7)
            what = "added\nto others" if cmap == ADDED_MAP else "removed\nfrom it"
            colors.ax.set_title(what, fontsize=7, color=INK)
        size, names = len(shown), [plain(explanation.network_names[each]) for each in shown]
        small = min(8, 200 / size)
        panel.set_xticks(range(size), names, rotation=45, ha="right", fontsize=small)
        panel.set_yticks(range(size), names, fontsize=small)
        panel.set_title(f"speaks for {plain(name)} ({unit})", color=INK, fontsize=11)
        panel.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    return axes


def _most_changed(explanation: GlobalExplanation) -> list[int]:
    """Return the coarse regions to show, in the order of the atlas: all, or the most changed if they are many."""
    totals = explanation.by_region(explanation.counters.sum(axis=(0, 1))).to_numpy().sum(axis=0)
    return sorted(int(each) for each in np.argsort(-totals, kind="stable")[:MOST_CELLS])


def _draw_half(axes: Axes, values: np.ndarray, cmap: str, scale: Normalize, lower: bool) -> None:
    """Colour the cells of one half; a cell on the diagonal belongs to both, each gets its half of it."""
    size = len(values)
    half = np.tril(np.ones((size, size), dtype=bool), -1)
    axes.imshow(np.where(half if lower else half.T, values, np.nan), cmap=cmap, norm=scale)
    corners = np.array([(-0.5, -0.5), (0.5, 0.5), (-0.5, 0.5) if lower else (0.5, -0.5)])
    triangles = np.arange(size)[:, None, None] + corners
    axes.add_collection(PolyCollection(triangles, array=values.diagonal(), cmap=cmap, norm=scale, linewidths=0))
