"""Colours, sizes and blank paper, in one place.

Red and blue mean what they mean in the paper, removed and added; both are colour-blind safe.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

REMOVED = "#c1272d"
ADDED = "#0b5fa5"
KEPT = "#8c8c8c"
INK = "#222222"
COLORS = {"removed": REMOVED, "added": ADDED}
DPI = 150
LONGEST = 60

Rectangle = tuple[float, float, float, float]
"""Where something goes in axes: left, bottom, width and height as shares of theirs."""


def canvas(axes: Axes | None, width: float, height: float) -> Axes:
    """Return axes for one picture: those given, or new ones of pyplot, so that a notebook shows them."""
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained").add_subplot()


def board(axes: Axes | None, width: float, height: float) -> Axes:
    """Return empty axes to pin several pictures to, by ``axes.inset_axes``: those given, or a whole new figure."""
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(width, height)).add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return axes


def plain(name: str, most: int = LONGEST) -> str:
    """Return a name that matplotlib does not read as mathematics, and that fits on a picture: its beginning and end."""
    short = name if len(name) <= most else f"{name[: most // 2]}…{name[most // 2 + 1 - most :]}"
    return short.replace("$", r"\$")


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes are in."""
    return cast(Figure, axes.get_figure(root=True))


def save_picture(axes: Axes, path: Path, dpi: int = DPI) -> None:
    """Write the figure of ``axes`` as .png, .svg or .pdf, and close it."""
    import matplotlib.pyplot as plt

    figure = figure_of(axes)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
