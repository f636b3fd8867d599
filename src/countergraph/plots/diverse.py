"""Several ways out, each on a brain, and what differing costs."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from countergraph.explain.diverse import Diverse
from countergraph.plots.brain import draw_scene
from countergraph.plots.scene import scene_of
from countergraph.plots.style import ADDED, COLORS, INK, board, plain
from countergraph.results.wording import count

MOST_SHOWN = 8
WIDE, HIGH, TOP = 6.0, 4.2, 0.7


def plot_diverse(diverse: Diverse, axes: Axes | None = None) -> Axes:
    """Draw those chosen, the closest first, seen from above; and how diverse they could be with fewer changes."""
    chosen = diverse.chosen[:MOST_SHOWN]
    cells = len(chosen) + (len(chosen) > 1)
    columns = ceil(sqrt(cells))
    rows = ceil(cells / columns)
    height = HIGH * rows + TOP
    axes = board(axes, WIDE * columns, height)
    title: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "transform": axes.transAxes}
    said = f"{plain(chosen[0].subject)}: {count(len(diverse.chosen), 'counterfactual')}"
    said += f", diversity {diverse.diversity:.2f}" if len(chosen) > 1 else ""
    axes.text(0.5, 1 - TOP / 2 / height, said, fontsize=13, **title)
    wide, high = 1 / columns, HIGH / height
    corners = [(wide * (at % columns), high * (rows - 1 - at // columns)) for at in range(cells)]
    for number, (result, (left, bottom)) in enumerate(zip(chosen, corners, strict=False), start=1):
        cell = axes.inset_axes((left, bottom, wide, 0.92 * high))
        cell.set_axis_off()
        draw_scene(cell, scene_of(result))
        said = f"{number}: {count(result.distance or 0, 'change')}"
        axes.text(left + wide / 2, bottom + 0.95 * high, said, fontsize=11, **title)
    if len(chosen) > 1:
        left, bottom = corners[-1]
        _draw_curve(axes.inset_axes((left + 0.17 * wide, bottom + 0.16 * high, 0.7 * wide, 0.66 * high)), diverse)
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
    axes.set(xlabel="changes, at most", ylabel="diversity (mean Jaccard distance)", ylim=(-0.03, 1.05))
    axes.set_title(f"What differing costs (up to {diverse.m} chosen)", fontsize=11, color=INK, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
