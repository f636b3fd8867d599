"""Heatmaps of the changes by network, one for each class (Figure 9 of the paper)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize

from countergraph.explain.importance import GlobalExplanation
from countergraph.plots.style import TEXT, figure_of, label_text, panel_axes

ADDED_MAP, REMOVED_MAP = "Blues", "Reds"
MAX_NETWORKS = 30
"""Maximum number of rows of a heatmap."""


def plot_heatmaps(explanation: GlobalExplanation, axes: Axes | None = None, normalised: bool = False) -> Axes:
    """Draw one heatmap for each class, all with the same scale.

    Above the diagonal, in blue: connections that are added to graphs of other classes and change them to the class.
    Below the diagonal, in red: connections that are removed from graphs of the class. In both cases the presence of the
    connection is associated with the class.

    Parameters
    ----------
    explanation
        A global explanation.
    axes
        Axes to draw into; None for a new figure.
    normalised
        Divide the number of changes by the number of pairs.
    """
    count = len(explanation.classes)
    axes = panel_axes(axes, 6.6 * count, 5.8)
    unit = "changes per pair" if normalised else "changes"
    shown = _most_changed(explanation)
    if len(shown) < len(explanation.network_names):
        rows = "ROIs" if explanation.atlas.networks is None else "networks"
        unit += f", {len(shown)} {rows} with the most"
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
            fewer, more = explanation.change_names
            change = f"{more}\nin other\nclasses" if cmap == ADDED_MAP else f"{fewer}\nin this\nclass"
            colors.ax.set_title(change, fontsize=7, color=TEXT)
        size, names = len(shown), [label_text(explanation.network_names[each]) for each in shown]
        font_size = min(8, 200 / size)
        panel.set_xticks(range(size), names, rotation=45, ha="right", fontsize=font_size)
        panel.set_yticks(range(size), names, fontsize=font_size)
        panel.set_title(f"associated with class {label_text(name)} ({unit})", color=TEXT, fontsize=11)
        panel.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    return axes


def _most_changed(explanation: GlobalExplanation) -> list[int]:
    """Return the `MAX_NETWORKS` networks with the most changes, in the order of the atlas."""
    totals = explanation.by_network(explanation.counters.sum(axis=(0, 1))).to_numpy().sum(axis=0)
    return sorted(int(each) for each in np.argsort(-totals, kind="stable")[:MAX_NETWORKS])


def _draw_half(axes: Axes, values: np.ndarray, cmap: str, scale: Normalize, lower: bool) -> None:
    """Colour one triangle of a heatmap; a cell on the diagonal is divided into two triangles, one for each half."""
    size = len(values)
    half = np.tril(np.ones((size, size), dtype=bool), -1)
    axes.imshow(np.where(half if lower else half.T, values, np.nan), cmap=cmap, norm=scale)
    corners = np.array([(-0.5, -0.5), (0.5, 0.5), (-0.5, 0.5) if lower else (0.5, -0.5)])
    triangles = np.arange(size)[:, None, None] + corners
    axes.add_collection(PolyCollection(triangles, array=values.diagonal(), cmap=cmap, norm=scale, linewidths=0))
