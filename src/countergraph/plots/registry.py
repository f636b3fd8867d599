"""All plots by name. Used by the ``plot()`` methods, the report, the contract tests and the documentation."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes

from countergraph.plots.chord import plot_chord
from countergraph.plots.compare import plot_comparison
from countergraph.plots.contrastive import plot_counterfactual
from countergraph.plots.diverse import plot_diverse
from countergraph.plots.heatmaps import plot_heatmaps
from countergraph.plots.litmus import plot_litmus
from countergraph.plots.local import plot_local
from countergraph.plots.rois import plot_roi_bars, plot_roi_brain, plot_roi_strip

PLOTS: dict[str, Callable[..., Axes]] = {
    "counterfactual": plot_counterfactual,
    "local": plot_local,
    "heatmaps": plot_heatmaps,
    "roi-strip": plot_roi_strip,
    "roi-bars": plot_roi_bars,
    "roi-brain": plot_roi_brain,
    "chord": plot_chord,
    "litmus": plot_litmus,
    "comparison": plot_comparison,
    "diverse": plot_diverse,
}
