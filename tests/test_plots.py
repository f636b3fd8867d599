from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import countergraph as cg
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import InputError, NotFoundError
from countergraph.explain.litmus import litmus
from countergraph.plots.brain import circle_layout, spread
from countergraph.plots.contrastive import plot_counterfactual
from countergraph.plots.interactive import brain_traces, scene_traces
from countergraph.plots.local import plot_local
from countergraph.plots.registry import PLOTS
from countergraph.plots.scene import scene_of
from countergraph.plots.style import save_picture
from countergraph.results.plottable import Plottable
from tests.test_units import DATA, GRAPH_BOX, WEIGHTED, WEIGHTED_BOX

RULE = LinearRule([range(6), range(8, 13)], [-0.5, 0.5], 0.1, n_rois=20)
OTHER = LinearRule([range(13, 20)], [1.0], -2.5, n_rois=20)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def texts(axes: Axes) -> list[str]:
    """Return all texts of the axes and of their child axes."""
    own = [text.get_text() for text in axes.texts] + [axes.get_title(), axes.get_title("left"), axes.get_xlabel()]
    ticks = [text.get_text() for text in (*axes.get_yticklabels(), *axes.get_xticklabels())]
    legend = axes.get_legend()
    entries = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return [*own, *ticks, *entries, *(text for child in axes.child_axes for text in texts(child))]


def without_coordinates(atlas: cg.Atlas) -> cg.Atlas:
    return cg.Atlas(atlas.names, networks=atlas.networks, hemispheres=atlas.hemispheres)


def make_explanations(data: cg.GraphDataset) -> dict[str, Plottable]:
    """Return one explanation for each plot, keyed by the name of the plot."""
    results = cg.find_counterfactuals(RULE, data, "ofs+obs", runs=2)
    others = cg.find_counterfactuals(OTHER, data, "ofs+obs", runs=2)
    global_explanation = cg.GlobalExplanation(results)
    local = cg.LocalExplanation(cg.find_counterfactuals(RULE, data.subset([3]), "ofs+obs", runs=20))
    explanations: list[Plottable] = [
        results[6],
        local,
        global_explanation,
        litmus(global_explanation, [*range(6), *range(8, 13)]),
        cg.Comparison({"one": results, "two": others}),
        cg.Diverse(local.results),
    ]
    return {name: each for each in explanations for name in each._plots}


@pytest.fixture(scope="module", params=["coordinates", "no coordinates", "no atlas"])
def explanations(request: pytest.FixtureRequest, cohort: cg.GraphDataset) -> dict[str, Plottable]:
    atlas = {
        "coordinates": cohort.atlas,
        "no coordinates": without_coordinates(cohort.atlas),
        "no atlas": cg.Atlas.numbered(20),
    }[request.param]
    return make_explanations(cg.GraphDataset(cohort.edges, cohort.labels, cohort.names, cohort.classes, atlas))


def test_every_plot_has_an_explanation(explanations: dict[str, Plottable]) -> None:
    assert set(explanations) == set(PLOTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_makes_a_figure(name: str, explanations: dict[str, Plottable], tmp_path: Path) -> None:
    axes = explanations[name].plot(name)
    assert plt.get_fignums()  # registered in pyplot, so that a notebook shows it
    for ending in ("svg", "pdf", "png"):
        save_picture(axes, tmp_path / f"figure.{ending}", dpi=50)
        assert (tmp_path / f"figure.{ending}").stat().st_size > 3_000
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_takes_axes_and_returns_them(name: str, explanations: dict[str, Plottable]) -> None:
    left, right = Figure(figsize=(16, 6)).subplots(1, 2)
    assert PLOTS[name](explanations[name], axes=left) is left
    assert not right.child_axes
    assert not right.texts
    assert not plt.get_fignums()
    left.figure.canvas.draw()


def test_every_explanation_has_a_notebook_representation(explanations: dict[str, Plottable]) -> None:
    for each in {id(each): each for each in explanations.values()}.values():
        html = each._repr_html_()
        assert html.count("data:image/png;base64,") == 1
        assert "<table" in html
    assert not plt.get_fignums()


def test_unknown_plots_and_views_raise(explanations: dict[str, Plottable]) -> None:
    with pytest.raises(NotFoundError, match="unknown plot 'chord'"):
        explanations["counterfactual"].plot("chord")
    with pytest.raises(InputError, match="a Comparison cannot be shown on a brain"):
        explanations["comparison"].view()


@pytest.mark.parametrize("name", ["counterfactual", "local", "heatmaps"])
def test_every_view_shows_the_changes_and_the_brain(name: str, explanations: dict[str, Plottable]) -> None:
    explanation = explanations[name]
    figure = explanation.view()
    kinds = [trace.type for trace in figure.data]
    atlas = explanation.atlas if isinstance(explanation, cg.GlobalExplanation | cg.Counterfactual) else None
    if atlas is not None:
        assert kinds.count("mesh3d") == (2 if atlas.coordinates is not None else 0)
    assert kinds.count("scatter3d") >= 4
    figure.to_json()


def test_brain_surface_is_closed_and_has_the_right_size() -> None:
    for trace, side in zip(brain_traces(), (-1, 1), strict=True):
        assert len(trace["x"]) == 2562
        assert len(trace["i"]) == 2 * 2562 - 4  # Euler characteristic of a closed surface without holes
        assert side * np.mean(trace["x"]) > 20
        assert np.ptp(trace["y"]) == pytest.approx(175, abs=15)


def test_counterfactual_plot_labels_the_changed_rois(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs")
    shown = texts(plot_counterfactual(result))
    for i, j in result.removed + result.added:
        assert {cohort.atlas.names[i], cohort.atlas.names[j]} <= set(shown)
    assert {f"{len(result.removed)} removed", f"{len(result.added)} added"} <= set(shown)
    before, after = result.class_name(result.original_label), result.class_name(result.counterfactual_label)
    assert f"{result.subject}: {before} → {after}" in shown


def test_counterfactual_plot_without_coordinates(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs")
    without = dataclasses.replace(result, atlas=without_coordinates(cohort.atlas))
    shown = texts(plot_counterfactual(without))
    assert {cohort.atlas.names[i] for pair in result.removed for i in pair} <= set(shown)
    assert "ROI number" in shown


def test_result_without_counterfactual_is_drawn(cohort: cg.GraphDataset) -> None:
    [result] = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([3]), "ofs+obs", max_calls=5)
    assert f"{cohort.names[3]}: TD, no counterfactual found" in texts(plot_counterfactual(result))
    assert "No counterfactual was found within" in result._repr_html_()
    result.view().to_json()


def test_local_plot_labels_the_pairs(explanations: dict[str, Plottable]) -> None:
    local = explanations["local"]
    assert isinstance(local, cg.LocalExplanation)
    top = local.top(4)
    expected = {f"{a} – {b}" for a, b in zip(top["first"], top["second"], strict=True)}
    assert expected <= set(texts(plot_local(local, k=4)))


def test_heatmaps_have_one_panel_for_each_class(explanations: dict[str, Plottable]) -> None:
    shown = texts(explanations["heatmaps"].plot("heatmaps", normalised=True))
    assert {f"associated with class {name} (changes per pair)" for name in ("TD", "ASD")} <= set(shown)


def test_marks_of_an_unknown_row_raise(explanations: dict[str, Plottable]) -> None:
    explanations["roi-strip"].plot("roi-strip", marks={"TD +": [1, 2], "ASD -": [3]})
    with pytest.raises(NotFoundError, match="unknown row 'XY \\+'"):
        explanations["roi-strip"].plot("roi-strip", marks={"XY +": [1]})


def test_names_are_escaped(cohort: cg.GraphDataset) -> None:
    names = [f"$\\frac{{{i}$<b>" for i in range(20)]
    atlas = cg.Atlas(names, coordinates=cohort.atlas.coordinates)
    subjects = [f"$x^{i}$<script>" for i in range(len(cohort.names))]
    data = cg.GraphDataset(cohort.edges, cohort.labels, subjects, ("$a", "b$<i>"), atlas)
    made = make_explanations(data)
    for name, each in made.items():
        each.plot(name).figure.canvas.draw()
    for name in ("counterfactual", "local", "heatmaps", "litmus", "comparison"):
        html = made[name]._repr_html_()
        assert "<script>" not in html
        assert "<b>" not in html
    view = made["counterfactual"].view().to_json()
    assert "frac{1$<b>" not in view
    assert "$&lt;b&gt;" in view.replace("\\u0026", "&")


def test_three_classes_and_a_thousand_rois() -> None:
    rng = np.random.default_rng(0)
    edges = rng.random((6, 1000 * 999 // 2)) < 0.01
    data = cg.GraphDataset(edges, [0, 0, 1, 1, 2, 2], classes=("a", "b", "c"))
    results = cg.find_counterfactuals(lambda a: a[:, :10].sum(axis=(1, 2)) % 3, data, "ofs+obs", max_calls=60)
    explanation = cg.GlobalExplanation(results)
    for kind in explanation._plots:
        explanation.plot(kind).figure.canvas.draw()
    titles = {f"associated with class {name} (changes, 30 ROIs with the most)" for name in "abc"}
    assert titles <= set(texts(explanation.plot()))
    explanation.results.found[0].plot().figure.canvas.draw()
    assert {trace.type for trace in explanation.view().data} == {"scatter3d"}


def test_circle_layout_separates_the_hemispheres() -> None:
    atlas = cg.load_atlas("aal116")
    points = circle_layout(atlas)
    assert np.allclose(np.linalg.norm(points[:, :2], axis=1), 1)
    assert len(np.unique(points.round(6), axis=0)) == 116
    sides = np.array(atlas.hemispheres)
    assert (points[sides == "R", 0] > 0).all()
    assert (points[sides == "L", 0] < 0).all()


@pytest.mark.parametrize("count", [1, 2, 9, 18, 40])
def test_labels_never_overlap(count: int) -> None:
    heights = np.sort(np.random.default_rng(count).normal(0, 15, count)).tolist()
    moved = spread(heights, -105, 75, 10)
    gap = min(10, 180 / max(1, count - 1))
    assert (np.diff(moved) >= gap - 1e-9).all()
    assert moved[0] >= -105 - 1e-9
    assert moved[-1] <= 75 + 1e-9
    assert spread([], 0, 1, 1) == []


@pytest.mark.parametrize("unit", ["roi", "network"])
@pytest.mark.parametrize("weighted", [False, True], ids=["graph", "weighted"])
def test_units_are_drawn_as_units(unit: Literal["roi", "network"], weighted: bool) -> None:
    data, box = (WEIGHTED, WEIGHTED_BOX) if weighted else (DATA, GRAPH_BOX)
    [result] = cg.find_counterfactuals(box, data.subset([1]), dataset=data, unit=unit)
    scene = scene_of(result)
    lines, rings = sum(len(layer.pairs) for layer in scene.layers), sum(len(each.rois) for each in scene.rings)
    assert lines + rings == len(result.units) > 0
    assert len(scene.atlas) == (3 if unit == "network" else 9)
    shown = texts(plot_counterfactual(result))
    assert any("all of an ROI" in text if unit == "roi" else "within or between networks" in text for text in shown)
    assert any("on average" in text for text in shown) == weighted
    assert scene_traces(scene)


def test_the_largest_changes_of_weighted_networks_are_listed_with_their_values() -> None:
    [result] = cg.find_counterfactuals(WEIGHTED_BOX, WEIGHTED.subset([0]), dataset=WEIGHTED)
    assert result.flips is not None
    assert result.values is not None
    shown = texts(plot_counterfactual(result))
    largest = result.flips[np.abs(result.values - result.original)[result.flips].argmax()]
    assert any(f"{result.original[largest]:.2f} → {result.values[largest]:.2f}" in text for text in shown)
    widths = [width for layer in scene_of(result).layers for width in layer.widths]
    assert len(widths) == result.distance
    assert max(widths) > min(widths)
