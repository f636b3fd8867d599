"""Chord diagram of the changes within and between networks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from countergraph.explain.importance import GlobalExplanation
from countergraph.graphs.pairs import Floats
from countergraph.plots.style import ADDED, KEPT, REMOVED, TEXT, label_text, plot_axes

GAP = 0.03
"""Angle between two arcs, in radians."""
INNER, OUTER = 0.96, 1.0
"""Inner and outer radius of the arcs."""
MAX_LABEL_LENGTH = 20


@dataclass(frozen=True)
class _Ribbon:
    first: int
    second: int
    count: float
    color: str


def plot_chord(explanation: GlobalExplanation, axes: Axes | None = None, k: int = 20) -> Axes:
    """Draw the ``k`` largest numbers of changes within or between networks; the ribbon width is the number."""
    axes = plot_axes(axes, 8, 8)
    axes.set_axis_off()
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.5, 1.5), aspect="equal")
    ribbons = _strongest(explanation, k)
    networks = sorted({end for ribbon in ribbons for end in (ribbon.first, ribbon.second)})
    widths = [sum(r.count * ((r.first == network) + (r.second == network)) for r in ribbons) for network in networks]
    unit = (2 * np.pi - GAP * len(networks)) / max(sum(widths), 1e-12)
    starts = np.pi / 2 + np.concatenate([[0], np.cumsum(unit * np.array(widths) + GAP)[:-1]])
    for network, start, width in zip(networks, starts, widths, strict=True):
        _draw_arc(axes, start, start + unit * width, label_text(explanation.network_names[network], MAX_LABEL_LENGTH))
    next_angle = dict(zip(networks, starts, strict=True))
    for ribbon in ribbons:
        ends = []
        for network in (ribbon.first, ribbon.second):
            ends.append((next_angle[network], next_angle[network] + unit * ribbon.count))
            next_angle[network] = ends[-1][1]
        axes.add_patch(PathPatch(_ribbon(*ends), facecolor=ribbon.color, alpha=0.55, linewidth=0))
    fewer, more = explanation.change_names
    axes.text(-1.55, -1.45, fewer, color=REMOVED, fontsize=11, ha="left", weight="bold")
    axes.text(-1.55, -1.36, more, color=ADDED, fontsize=11, ha="left", weight="bold")
    return axes


def _strongest(explanation: GlobalExplanation, k: int) -> list[_Ribbon]:
    """Return the k largest numbers of changes, sorted by network."""
    ribbons = []
    added, removed = explanation.counters.sum(axis=0)
    for counts, color in ((removed, REMOVED), (added, ADDED)):
        table = explanation.by_network(counts).to_numpy()
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
    angle = np.degrees(middle) % 360
    right = angle < 90 or angle > 270
    axes.text(
        x,
        y,
        name,
        rotation=angle if right else angle - 180,
        rotation_mode="anchor",
        ha="left" if right else "right",
        va="center",
        fontsize=9,
        color=TEXT,
    )


def _ribbon(first: tuple[float, float], second: tuple[float, float]) -> Path:
    """Return the outline of a ribbon: along the first arc, through the centre, along the second arc, and back."""
    one, two = (_on_circle(np.linspace(*end, 20), INNER - 0.01) for end in (first, second))
    points = [*one, (0, 0), *two, (0, 0), one[0]]
    codes = [Path.MOVETO, *[Path.LINETO] * 19, Path.CURVE3, Path.CURVE3, *[Path.LINETO] * 19, Path.CURVE3, Path.CURVE3]
    return Path(np.array(points), codes)
