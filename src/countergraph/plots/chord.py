"""The chord diagram: between which coarse regions connections change most, one ribbon for each of the strongest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from countergraph.explain.importance import GlobalExplanation
from countergraph.graphs.pairs import Floats
from countergraph.plots.style import ADDED, INK, KEPT, REMOVED, canvas, plain

GAP = 0.03
INNER, OUTER = 0.96, 1.0
LONGEST_LABEL = 20


@dataclass(frozen=True)
class _Ribbon:
    first: int
    second: int
    count: float
    color: str


def plot_chord(explanation: GlobalExplanation, axes: Axes | None = None, k: int = 20) -> Axes:
    """Draw the ``k`` strongest changes between or within coarse regions; a ribbon is as wide as they are many."""
    axes = canvas(axes, 8, 8)
    axes.set_axis_off()
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.5, 1.5), aspect="equal")
    ribbons = _strongest(explanation, k)
    regions = sorted({end for ribbon in ribbons for end in (ribbon.first, ribbon.second)})
    widths = [sum(r.count * ((r.first == region) + (r.second == region)) for r in ribbons) for region in regions]
    unit = (2 * np.pi - GAP * len(regions)) / max(sum(widths), 1e-12)
    starts = np.pi / 2 + np.concatenate([[0], np.cumsum(unit * np.array(widths) + GAP)[:-1]])
    for region, start, width in zip(regions, starts, widths, strict=True):
        _draw_arc(axes, start, start + unit * width, plain(explanation.network_names[region], LONGEST_LABEL))
    free = dict(zip(regions, starts, strict=True))
    for ribbon in ribbons:
        ends = []
        for region in (ribbon.first, ribbon.second):
            ends.append((free[region], free[region] + unit * ribbon.count))
            free[region] = ends[-1][1]
        axes.add_patch(PathPatch(_ribbon(*ends), facecolor=ribbon.color, alpha=0.55, linewidth=0))
    axes.text(-1.55, -1.45, "removed", color=REMOVED, fontsize=11, ha="left", weight="bold")
    axes.text(-1.55, -1.36, "added", color=ADDED, fontsize=11, ha="left", weight="bold")
    return axes


def _strongest(explanation: GlobalExplanation, k: int) -> list[_Ribbon]:
    """Return the k strongest cells, those of the same region next to each other."""
    ribbons = []
    added, removed = explanation.counters.sum(axis=0)
    for counts, color in ((removed, REMOVED), (added, ADDED)):
        table = explanation.by_region(counts).to_numpy()
        for i, j in zip(*np.triu_indices(len(table)), strict=True):
            ribbons.append(_Ribbon(int(i), int(j), float(table[i, j]), color))
    ribbons.sort(key=lambda ribbon: -ribbon.count)
    return sorted((each for each in ribbons[:k] if each.count > 0), key=lambda each: (each.first, each.second))


def _on_circle(angle: float | Floats, radius: float) -> Floats:
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _draw_arc(axes: Axes, start: float, end: float, name: str) -> None:
    angles = np.linspace(start, end, 40)
    edge = np.concatenate([_on_circle(angles, INNER), _on_circle(angles[::-1], OUTER)])
    axes.fill(edge[:, 0], edge[:, 1], color=KEPT, linewidth=0)
    middle = (start + end) / 2
    x, y = _on_circle(middle, 1.05)
    turned = np.degrees(middle) % 360
    right = turned < 90 or turned > 270
    axes.text(
        x,
        y,
        name,
        rotation=turned if right else turned - 180,
        rotation_mode="anchor",
        ha="left" if right else "right",
        va="center",
        fontsize=9,
        color=INK,
    )


def _ribbon(first: tuple[float, float], second: tuple[float, float]) -> Path:
    """Run along one end, through the centre to the other, along it, and back."""
    one, two = (_on_circle(np.linspace(*end, 20), INNER - 0.01) for end in (first, second))
    points = [*one, (0, 0), *two, (0, 0), one[0]]
    codes = [Path.MOVETO, *[Path.LINETO] * 19, Path.CURVE3, Path.CURVE3, *[Path.LINETO] * 19, Path.CURVE3, Path.CURVE3]
    return Path(np.array(points), codes)
