"""The picture of a local explanation: the pairs that matter most, as bars and on the brain (Figure 8 of the paper)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from countergraph.explain.local import LocalExplanation
from countergraph.plots.brain import Edges, draw_brain
from countergraph.plots.style import ADDED, INK, REMOVED

TITLES = {"removed": "presence matters: how often removed", "added": "absence matters: how often added"}
COLORS = {"removed": REMOVED, "added": ADDED}


def plot_local(explanation: LocalExplanation, k: int = 6) -> Figure:
    """Draw the ``k`` pairs most often removed and the ``k`` most often added, with 95% intervals, beside the brain."""
    example, top = explanation.example, explanation.top(k)
    atlas = example.atlas
    has_brain = atlas is not None and atlas.coordinates is not None
    figure = Figure(figsize=(13, 7) if has_brain else (8, 7))
    name = example.class_name(example.original_class)
    count = len(explanation.results.found)
    figure.suptitle(f"{example.subject}: what makes it {name}, from {count} counterfactuals", fontsize=14, color=INK)
    left = 0.74 if has_brain else 0.42
    largest = float(top["high"].max())
    for change, bottom in (("removed", 0.54), ("added", 0.1)):
        axes = figure.add_axes((left, bottom, 0.98 - left, 0.34))
        _bars(axes, top[top["change"] == change], change, largest)
    if has_brain and atlas is not None:
        layers = []
        for change, color in COLORS.items():
            rows = top[top["change"] == change]
            widths = (1 + 6 * rows["share"] / top["share"].max()).tolist()
            layers.append(Edges(list(zip(rows["i"], rows["j"], strict=True)), color, widths))
        draw_brain(figure, {"z": (0.11, 0.06, 0.32, 0.84)}, atlas, layers)
    return figure


def _bars(axes: Axes, rows: pd.DataFrame, change: str, largest: float) -> None:
    places = np.arange(len(rows))[::-1]
    share = rows["share"].to_numpy()
    error = np.stack([share - rows["low"].to_numpy(), rows["high"].to_numpy() - share])
    axes.barh(places, share, color=COLORS[change], height=0.62)
    axes.errorbar(share, places, xerr=np.abs(error), fmt="none", ecolor=INK, elinewidth=0.8, capsize=2)
    axes.set_yticks(places, [f"{a} – {b}" for a, b in zip(rows["first"], rows["second"], strict=True)], fontsize=8)
    axes.set_title(TITLES[change], fontsize=10, color=COLORS[change], loc="left")
    axes.set_xlim(0, 1.08 * largest)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    axes.tick_params(axis="x", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
