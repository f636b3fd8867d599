"""Pictures of a whole experiment: distributions (Figures 4 and 5 of the paper) and the white box (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats
from countergraph.plots.style import ADDED, INK, KEPT, REMOVED
from countergraph.results.counterfactual import Counterfactuals

COLORS = {"OFS": ADDED, "DFS": REMOVED, "DS": "#4d9221"}
OTHER = "#8e4b9e"
LINE, OPTIMUM = "#2e8b3d", "#17a2b8"


def plot_distributions(panels: Mapping[str, Mapping[str, Floats]], label: str) -> Figure:
    """Draw cumulative distributions: a panel for each entry, a curve for each method in it.

    A method has the same colour in all panels, and so has its first phase: OFS is drawn like OFS+OBS.
    """
    figure = Figure(figsize=(4.6 * len(panels) + 0.4, 3.8), layout="constrained")
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for name, values in curves.items():
            color = COLORS.get(name.partition("+")[0], OTHER)
            axes.ecdf(values, label=name, color=color, linewidth=1.8)
        axes.set(xlabel=label, ylabel="share of the graphs", ylim=(0, 1.01))
        axes.set_xlim(left=0)
        axes.set_title(title, fontsize=11, color=INK)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower right")
    return figure


def plot_white_box(rule: LinearRule, results: Counterfactuals, data: GraphDataset, zoomed: Sequence[str]) -> Figure:
    """Draw the plane of a rule on two counts: graphs (dots), counterfactuals (stars), projected optima (triangles).

    The right panel shows the boundary near the people in ``zoomed``, those of them who are among the results.
    """
    figure, results = Figure(figsize=(12, 5.2), layout="constrained"), results.found
    left, right = figure.subplots(1, 2)
    before = rule.embed(np.stack([each.original for each in results]))
    after = rule.embed(np.stack([each.edges for each in results if each.edges is not None]))
    optimum = rule.project(before)
    labels = data.labels[[each.graph_index for each in results]]
    near = [row for row, each in enumerate(results) if each.subject in zoomed] or list(range(min(3, len(results))))
    _plane(left, before, after, optimum, labels, data.classes)
    _plane(right, before[near], after[near], optimum[near], labels[near], data.classes)
    for row in near:
        for points, color in ((after, KEPT), (optimum, OPTIMUM)):
            right.plot(*np.stack([before[row], points[row]]).T, color=color, linewidth=0.9, linestyle=":", zorder=1)
        right.annotate(
            results[row].subject, before[row], xytext=(6, 6), textcoords="offset points", fontsize=8, color=INK
        )
    left.set_title("everybody", fontsize=11, color=INK)
    right.set_title("three of them", fontsize=11, color=INK)
    right.margins(0.25)
    for axes in (left, right):
        reach = axes.get_xlim(), axes.get_ylim()
        x = np.array(reach[0])
        axes.plot(x, -(rule.weights[0] * x + rule.intercept) / rule.weights[1], color=LINE, linewidth=1.6, zorder=1)
        axes.set(xlim=reach[0], ylim=reach[1])
        axes.set_xlabel(f"edges inside {data.classes[0]}-{data.classes[1]}")
        axes.set_ylabel(f"edges inside {data.classes[1]}-{data.classes[0]}")
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=9)
    return figure


def _plane(
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
    axes.scatter(after[:, 0], after[:, 1], s=46, marker="*", color=INK, label="counterfactual", zorder=4, linewidths=0)
    axes.scatter(
        optimum[:, 0], optimum[:, 1], s=22, marker="^", color=OPTIMUM, label="projected optimum", zorder=3, linewidths=0
    )
