"""What diversity costs: the more changes are allowed, the more counterfactuals can differ."""

from __future__ import annotations

from matplotlib.axes import Axes

from countergraph.explain.diverse import Diverse
from countergraph.plots.style import ADDED, INK, canvas, plain


def plot_diverse(diverse: Diverse, axes: Axes | None = None) -> Axes:
    """Draw the best diversity against the mean distance that it takes."""
    axes = canvas(axes, 6, 4)
    curve = diverse.curve
    several = curve[curve["chosen"] > 1]
    axes.plot(several["distance (mean)"], several["diversity"], "o-", color=ADDED, ms=5)
    axes.set_xlabel("changes, on average")
    axes.set_ylabel("diversity (mean Jaccard distance)")
    axes.set_ylim(-0.03, 1.03)
    subject = plain(diverse.results[0].subject)
    axes.set_title(f"{subject}: up to {diverse.m} that differ", fontsize=11, color=INK, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
