"""Figure of diverse counterfactuals: each on a brain, and the diversity by number of changes."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from countergraph.explain.diverse import Diverse
from countergraph.plots.brain import draw_scene
from countergraph.plots.scene import scene_of
from countergraph.plots.style import ADDED, COLORS, TEXT, label_text, panel_axes
from countergraph.results.wording import count

MAX_SHOWN = 8
"""Maximum number of counterfactuals that are drawn."""
PANEL_WIDTH, PANEL_HEIGHT, TITLE_HEIGHT = 6.0, 4.2, 0.7
"""Sizes in inches."""


def plot_diverse(diverse: Diverse, axes: Axes | None = None) -> Axes:
    """Draw the selected counterfactuals from above, the closest first, and the diversity by number of changes."""
    chosen = diverse.chosen[:MAX_SHOWN]
    n_panels = len(chosen) + (len(chosen) > 1)
    columns = ceil(sqrt(n_panels))
    rows = ceil(n_panels / columns)
    figure_height = PANEL_HEIGHT * rows + TITLE_HEIGHT
    axes = panel_axes(axes, PANEL_WIDTH * columns, figure_height)
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": TEXT, "transform": axes.transAxes}
    title = f"{label_text(chosen[0].subject)}: {count(len(diverse.chosen), 'counterfactual')}"
    title += f", diversity {diverse.diversity:.2f}" if len(chosen) > 1 else ""
    axes.text(0.5, 1 - TITLE_HEIGHT / 2 / figure_height, title, fontsize=13, **style)
    width, height = 1 / columns, PANEL_HEIGHT / figure_height
    corners = [(width * (panel % columns), height * (rows - 1 - panel // columns)) for panel in range(n_panels)]
    for number, (result, (left, bottom)) in enumerate(zip(chosen, corners, strict=False), start=1):
        panel = axes.inset_axes((left, bottom, width, 0.92 * height))
        panel.set_axis_off()
        draw_scene(panel, scene_of(result))
        panel_title = f"{number}: {count(result.distance or 0, 'change')}"
        axes.text(left + width / 2, bottom + 0.95 * height, panel_title, fontsize=11, **style)
    if len(chosen) > 1:
        left, bottom = corners[-1]
        rectangle = (left + 0.17 * width, bottom + 0.16 * height, 0.7 * width, 0.66 * height)
        _draw_curve(axes.inset_axes(rectangle), diverse)
    handles = [Line2D([], [], color=color, lw=2.5, label=change) for change, color in COLORS.items()]
    axes.legend(handles=handles, loc="upper left", ncols=1, frameon=False, fontsize=10)
    return axes


def _draw_curve(axes: Axes, diverse: Diverse) -> None:
    several = diverse.curve[diverse.curve["chosen"] > 1]
    axes.plot(several["at most"], several["diversity"], "o-", color=ADDED, ms=5, drawstyle="steps-post")
    for most, chosen, height in several[["at most", "chosen", "diversity"]].itertuples(index=False):
        if chosen < diverse.m:
            axes.annotate(
                f"{chosen} of {diverse.m}", (most, height), (0, -6), textcoords="offset points", ha="center", va="top"
            )
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel="maximum number of changes", ylabel="diversity (mean Jaccard distance)", ylim=(-0.03, 1.05))
    title = f"Diversity vs. number of changes (up to {diverse.m} counterfactuals)"
    axes.set_title(title, fontsize=11, color=TEXT, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
