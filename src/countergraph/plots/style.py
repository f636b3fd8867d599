"""Colours, sizes and empty axes for all figures.

Red means removed and blue means added, as in the paper. Both colours are colour-blind safe.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

REMOVED = "#c1272d"
ADDED = "#0b5fa5"
KEPT = "#8c8c8c"
TEXT = "#222222"
COLORS = {"removed": REMOVED, "added": ADDED, "weakened": REMOVED, "strengthened": ADDED}
DPI = 150
MAX_LABEL_LENGTH = 60
"""Default maximum length of a label; longer labels are shortened in the middle."""

Rectangle = tuple[float, float, float, float]
"""A rectangle in axes coordinates: left, bottom, width and height."""


def plot_axes(axes: Axes | None, width: float, height: float) -> Axes:
    """Return ``axes``, or new axes if None. New axes are created with pyplot, so that a notebook shows them."""
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained").add_subplot()


def panel_axes(axes: Axes | None, width: float, height: float) -> Axes:
    """Return invisible axes for several panels (``axes.inset_axes``): ``axes``, or a full new figure if None."""
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(width, height)).add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return axes


def label_text(name: str, max_length: int = MAX_LABEL_LENGTH) -> str:
    """Return a name as a label: shortened in the middle, with "$" escaped so that matplotlib does not parse it."""
    short = name if len(name) <= max_length else f"{name[: max_length // 2]}…{name[max_length // 2 + 1 - max_length :]}"
    return short.replace("$", r"\$")


def figure_of(axes: Axes) -> Figure:
    """Return the figure that contains ``axes``."""
    return cast(Figure, axes.get_figure(root=True))


def save_picture(axes: Axes, path: Path, dpi: int = DPI) -> None:
    """Write the figure of ``axes`` as .png, .svg or .pdf, and close it."""
    import matplotlib.pyplot as plt

    figure = figure_of(axes)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
