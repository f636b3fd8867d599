"""Figures of experiments: distributions (Figures 4 and 5 of the paper) and the white box (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats
from countergraph.plots.style import ADDED, KEPT, REMOVED, TEXT
from countergraph.results.counterfactual import Counterfactuals

METHOD_COLORS = {"OFS": ADDED, "DFS": REMOVED, "DS": "#4d9221"}
OTHER_METHOD_COLOR = "#8e4b9e"
BOUNDARY_COLOR, OPTIMUM_COLOR = "#2e8b3d", "#17a2b8"


def plot_distributions(panels: Mapping[str, Mapping[str, Floats]], label: str) -> Figure:
    """Draw cumulative distributions, one panel for each entry of ``panels``, with one curve for each method.

    A method has the same colour in all panels. The colour depends on the first phase: OFS has the colour of OFS+OBS.

    Parameters
    ----------
    panels
        Values by method, keyed by the title of the panel.
    label
        Label of the x axis.
    """
    figure = Figure(figsize=(4.6 * len(panels) + 0.4, 3.8), layout="constrained")
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for name, values in curves.items():
            color = METHOD_COLORS.get(name.partition("+")[0], OTHER_METHOD_COLOR)
            axes.ecdf(values, label=name, color=color, linewidth=1.8)
        axes.set(xlabel=label, ylabel="cumulative share of graphs", ylim=(0, 1.01))
        axes.set_xlim(left=0)
        axes.set_title(title, fontsize=11, color=TEXT)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower right")
    return figure


def plot_white_box(rule: LinearRule, results: Counterfactuals, data: GraphDataset, zoomed: Sequence[str]) -> Figure:
    """Draw graphs (dots), counterfactuals (stars) and projected optima (triangles) in the feature plane of a rule.

    Parameters
    ----------
    rule
        A rule with two vertex sets.
    results
        Counterfactuals for the rule.
    data
        The cohort.
    zoomed
        Names of the subjects in the right panel. If none of them has a result, the first three subjects are shown.
    """
    figure, results = Figure(figsize=(12, 5.2), layout="constrained"), results.found
    left, right = figure.subplots(1, 2)
    before = rule.embed(np.stack([each.original for each in results]))
    after = rule.embed(np.stack([each.edges for each in results if each.edges is not None]))
    optimum = rule.project(before)
    labels = data.labels[[each.graph_index for each in results]]
    rows = [row for row, each in enumerate(results) if each.subject in zoomed] or list(range(min(3, len(results))))
    _draw_points(left, before, after, optimum, labels, data.classes)
    _draw_points(right, before[rows], after[rows], optimum[rows], labels[rows], data.classes)
    for row in rows:
        for points, color in ((after, KEPT), (optimum, OPTIMUM_COLOR)):
            right.plot(*np.stack([before[row], points[row]]).T, color=color, linewidth=0.9, linestyle=":", zorder=1)
        right.annotate(
            results[row].subject, before[row], xytext=(6, 6), textcoords="offset points", fontsize=8, color=TEXT
        )
    left.set_title("all subjects", fontsize=11, color=TEXT)
    right.set_title("selected subjects", fontsize=11, color=TEXT)
    right.margins(0.25)
    for axes in (left, right):
        limits = axes.get_xlim(), axes.get_ylim()
        x = np.array(limits[0])
        y = -(rule.weights[0] * x + rule.intercept) / rule.weights[1]
        axes.plot(x, y, color=BOUNDARY_COLOR, linewidth=1.6, zorder=1, label="decision boundary")
        axes.set(xlim=limits[0], ylim=limits[1])
        axes.set_xlabel(f"edges within contrast subgraph {data.classes[0]}-{data.classes[1]}")
        axes.set_ylabel(f"edges within contrast subgraph {data.classes[1]}-{data.classes[0]}")
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=9)
    return figure


def _draw_points(
    axes: Axes,
    before: Floats,
    after: Floats,
    optimum: Floats,
    labels: np.ndarray,
    classes: tuple[str, ...],
) -> None:
    for label, color in ((0, ADDED), (1, REMOVED)):
        own = labels == label
        axes.scatter(
            before[own, 0], before[own, 1], s=26, color=color, label=classes[label], zorder=2, alpha=0.8, linewidths=0
        )
    axes.scatter(after[:, 0], after[:, 1], s=46, marker="*", color=TEXT, label="counterfactual", zorder=4, linewidths=0)
    axes.scatter(
        optimum[:, 0],
        optimum[:, 1],
        s=22,
        marker="^",
        color=OPTIMUM_COLOR,
        label="projected optimum",
        zorder=3,
        linewidths=0,
    )
