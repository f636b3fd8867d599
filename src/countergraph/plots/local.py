"""Figure of a local explanation: the most frequent changes as bars and on the brain (Figure 8 of the paper)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from countergraph.explain.local import LocalExplanation
from countergraph.plots.brain import MAX_LABEL_LENGTH, draw_scene
from countergraph.plots.scene import scene_of
from countergraph.plots.style import COLORS, TEXT, label_text, panel_axes

TITLES = {
    "removed": "Removed (presence matters)",
    "added": "Added (absence matters)",
    "weakened": "Weakened",
    "strengthened": "Strengthened",
}


def plot_local(explanation: LocalExplanation, axes: Axes | None = None, k: int = 6) -> Axes:
    """Draw the ``k`` pairs most often removed and the ``k`` most often added, with 95% confidence intervals."""
    axes = panel_axes(axes, 13, 7)
    example, top = explanation.example, explanation.top(k)
    name, count = example.class_name(example.original_label), len(explanation.results.found)
    title = f"{label_text(example.subject)} (classified as {label_text(str(name))}): changes in {count} counterfactuals"
    axes.text(0.5, 0.96, title, ha="center", va="center", fontsize=14, color=TEXT, transform=axes.transAxes)
    for change, bottom in zip(example.change_names, (0.54, 0.1), strict=True):
        bars = axes.inset_axes((0.79, bottom, 0.2, 0.34))
        _draw_bars(bars, top[top["change"] == change], change, float(top["high"].max()))
    draw_scene(axes, scene_of(explanation, k), {"z": (0.14, 0.06, 0.27, 0.84)})
    return axes


def _draw_bars(axes: Axes, rows: pd.DataFrame, change: str, largest: float) -> None:
    positions = np.arange(len(rows))[::-1]
    if rows.empty:
        axes.text(0.5, 0.5, "none", ha="center", va="center", fontsize=10, color=TEXT, transform=axes.transAxes)
    share = rows["share"].to_numpy()
    error = np.stack([share - rows["low"].to_numpy(), rows["high"].to_numpy() - share])
    axes.barh(positions, share, color=COLORS[change], height=0.62)
    axes.errorbar(share, positions, xerr=np.abs(error), fmt="none", ecolor=TEXT, elinewidth=0.8, capsize=2)
    names = [
        f"{label_text(a, MAX_LABEL_LENGTH)} – {label_text(b, MAX_LABEL_LENGTH)}"
        for a, b in zip(rows["first"], rows["second"], strict=True)
    ]
    axes.set_yticks(positions, names, fontsize=8)
    axes.set_xlabel("share of counterfactuals (95% interval)", fontsize=8)
    axes.set_title(TITLES[change], fontsize=10, color=COLORS[change], loc="left")
    axes.set_xlim(0, 1.08 * largest)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
