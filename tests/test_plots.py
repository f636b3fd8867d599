from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import countergraph as cg
from countergraph.errors import InputError, NotFoundError
from countergraph.plots.brain import circle, spread
from countergraph.plots.interactive import brain_traces
from countergraph.plots.style import save_picture
from countergraph.results.plottable import Plottable

RULE = cg.LinearRule([range(6), range(8, 13)], [-0.5, 0.5], 0.1, n_rois=20)
OTHER = cg.LinearRule([range(13, 20)], [1.0], -2.5, n_rois=20)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def texts(axes: Axes) -> list[str]:
    """Everything written on the axes and on what is pinned to them."""
    own = [text.get_text() for text in axes.texts] + [axes.get_title(), axes.get_title("left"), axes.get_xlabel()]
    ticks = [text.get_text() for text in (*axes.get_yticklabels(), *axes.get_xticklabels())]
    legend = axes.get_legend()
    entries = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return [*own, *ticks, *entries, *(text for child in axes.child_axes for text in texts(child))]


def without_coordinates(atlas: cg.Atlas) -> cg.Atlas:
    return cg.Atlas(atlas.names, networks=atlas.networks, hemispheres=atlas.hemispheres)


def explained(data: cg.GraphDataset) -> dict[str, Plottable]:
    """Make one of everything that has a plot, by the name of the plot."""
    results = cg.find_counterfactuals(RULE, data, "ofs+obs", runs=2)
    others = cg.find_counterfactuals(OTHER, data, "ofs+obs", runs=2)
    whole = cg.GlobalExplanation(results)
    local = cg.LocalExplanation(cg.find_counterfactuals(RULE, data.subset([3]), "ofs+obs", runs=20))
    made: list[Plottable] = [
        results[6],
        local,
        whole,
        cg.litmus(whole, [*range(6), *range(8, 13)]),
        cg.Comparison({"one": results, "two": others}),
        cg.Diverse(local.results),
    ]
    return {name: each for each in made for name in each._plots}


@pytest.fixture(scope="module", params=["coordinates", "no coordinates", "no atlas at all"])
def shown(request: pytest.FixtureRequest, cohort: cg.GraphDataset) -> dict[str, Plottable]:
    atlas = {
        "coordinates": cohort.atlas,
        "no coordinates": without_coordinates(cohort.atlas),
        "no atlas at all": cg.Atlas.numbered(20),
    }[request.param]
    return explained(cg.GraphDataset(cohort.edges, cohort.labels, cohort.names, cohort.classes, atlas))


def test_every_plot_is_of_something(shown: dict[str, Plottable]) -> None:
    assert set(shown) == set(cg.PLOTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", cg.PLOTS)
def test_every_plot_makes_a_figure_of_its_own(name: str, shown: dict[str, Plottable], tmp_path: Path) -> None:
    axes = shown[name].plot(name)
    assert plt.get_fignums()  # pyplot knows it, so a notebook shows it
    for ending in ("svg", "pdf", "png"):
        save_picture(axes, tmp_path / f"it.{ending}", dpi=50)
        assert (tmp_path / f"it.{ending}").stat().st_size > 3_000
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", cg.PLOTS)
def test_every_plot_takes_axes_and_returns_them(name: str, shown: dict[str, Plottable]) -> None:
    left, right = Figure(figsize=(16, 6)).subplots(1, 2)
    assert cg.PLOTS[name](shown[name], axes=left) is left
    assert not right.child_axes
    assert not right.texts
    assert not plt.get_fignums()
    left.figure.canvas.draw()


def test_every_explanation_shows_itself_in_a_notebook(shown: dict[str, Plottable]) -> None:
    for each in {id(each): each for each in shown.values()}.values():
        html = each._repr_html_()
        assert html.count("data:image/png;base64,") == 1
        assert "<table" in html
    assert not plt.get_fignums()


def test_a_plot_of_another_thing_is_refused(shown: dict[str, Plottable]) -> None:
    with pytest.raises(NotFoundError, match="unknown plot 'chord'"):
        shown["counterfactual"].plot("chord")
    with pytest.raises(InputError, match="a Comparison has no brain to show"):
        shown["comparison"].view()


@pytest.mark.parametrize("name", ["counterfactual", "local", "heatmaps"])
def test_every_view_has_the_changes_and_a_brain_where_there_is_one(name: str, shown: dict[str, Plottable]) -> None:
    explanation = shown[name]
    figure = explanation.view()
    kinds = [trace.type for trace in figure.data]
    atlas = explanation.atlas if isinstance(explanation, cg.GlobalExplanation | cg.Counterfactual) else None
    if atlas is not None:
        assert kinds.count("mesh3d") == (2 if atlas.coordinates is not None else 0)
    assert kinds.count("scatter3d") >= 4
    figure.to_json()


def test_the_brain_in_space_is_closed_and_of_the_right_size() -> None:
    for trace, side in zip(brain_traces(), (-1, 1), strict=True):
        assert len(trace["x"]) == 2562
        assert len(trace["i"]) == 2 * 2562 - 4  # Euler: a closed surface without holes
        assert side * np.mean(trace["x"]) > 20
        assert np.ptp(trace["y"]) == pytest.approx(175, abs=15)


def test_the_brain_names_what_changes(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs")
    written = texts(cg.plot_counterfactual(result))
    for i, j in result.removed + result.added:
        assert {cohort.atlas.names[i], cohort.atlas.names[j]} <= set(written)
    assert {f"{len(result.removed)} removed", f"{len(result.added)} added"} <= set(written)
    before, after = result.class_name(result.original_class), result.class_name(result.counterfactual_class)
    assert f"{result.subject}: {before} → {after}" in written


def test_without_coordinates_it_is_a_circle_and_a_matrix(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]), "ofs+obs")
    bare = dataclasses.replace(result, atlas=without_coordinates(cohort.atlas))
    written = texts(cg.plot_counterfactual(bare))
    assert {cohort.atlas.names[i] for pair in result.removed for i in pair} <= set(written)
    assert "region" in written


def test_nothing_found_is_drawn_and_shown_too(cohort: cg.GraphDataset) -> None:
    [result] = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([3]), "ofs+obs", max_calls=5)
    assert f"{cohort.names[3]}: TD, no counterfactual found" in texts(cg.plot_counterfactual(result))
    assert "No counterfactual was found within" in result._repr_html_()
    result.view().to_json()


def test_local_bars_name_the_pairs(shown: dict[str, Plottable]) -> None:
    local = shown["local"]
    assert isinstance(local, cg.LocalExplanation)
    top = local.top(4)
    wanted = {f"{a} – {b}" for a, b in zip(top["first"], top["second"], strict=True)}
    assert wanted <= set(texts(cg.plot_local(local, k=4)))


def test_heatmaps_have_one_panel_for_each_class(shown: dict[str, Plottable]) -> None:
    written = texts(shown["heatmaps"].plot("heatmaps", normalised=True))
    assert {"speaks for TD (changes per pair)", "speaks for ASD (changes per pair)"} <= set(written)


def test_marks_must_name_a_row(shown: dict[str, Plottable]) -> None:
    shown["roi-strip"].plot("roi-strip", marks={"TD +": [1, 2], "ASD -": [3]})
    with pytest.raises(NotFoundError, match="unknown row 'XY \\+'"):
        shown["roi-strip"].plot("roi-strip", marks={"XY +": [1]})


def test_names_are_never_read_as_mathematics_or_markup(cohort: cg.GraphDataset) -> None:
    names = [f"$\\frac{{{i}$<b>" for i in range(20)]
    atlas = cg.Atlas(names, coordinates=cohort.atlas.coordinates)
    people = [f"$x^{i}$<script>" for i in range(len(cohort.names))]
    data = cg.GraphDataset(cohort.edges, cohort.labels, people, ("$a", "b$<i>"), atlas)
    made = explained(data)
    for name, each in made.items():
        each.plot(name).figure.canvas.draw()
    for name in ("counterfactual", "local", "heatmaps", "litmus", "comparison"):
        html = made[name]._repr_html_()
        assert "<script>" not in html
        assert "<b>" not in html
    view = made["counterfactual"].view().to_json()
    assert "frac{1$<b>" not in view
    assert "$&lt;b&gt;" in view.replace("\\u0026", "&")


def test_three_classes_and_a_thousand_regions_are_drawn() -> None:
    rng = np.random.default_rng(0)
    edges = rng.random((6, 1000 * 999 // 2)) < 0.01
    data = cg.GraphDataset(edges, [0, 0, 1, 1, 2, 2], classes=("a", "b", "c"))
    results = cg.find_counterfactuals(lambda a: a[:, :10].sum(axis=(1, 2)) % 3, data, "ofs+obs", max_calls=60)
    whole = cg.GlobalExplanation(results)
    for kind in whole._plots:
        whole.plot(kind).figure.canvas.draw()
    assert {f"speaks for {name} (changes, the 30 regions with the most)" for name in "abc"} <= set(texts(whole.plot()))
    whole.results.found[0].plot().figure.canvas.draw()
    assert {trace.type for trace in whole.view().data} == {"scatter3d"}


def test_the_circle_keeps_hemispheres_apart() -> None:
    atlas = cg.load_atlas("aal116")
    points = circle(atlas)
    assert np.allclose(np.linalg.norm(points[:, :2], axis=1), 1)
    assert len(np.unique(points.round(6), axis=0)) == 116
    sides = np.array(atlas.hemispheres)
    assert (points[sides == "R", 0] > 0).all()
    assert (points[sides == "L", 0] < 0).all()


@pytest.mark.parametrize("count", [1, 2, 9, 18, 40])
def test_labels_never_overlap(count: int) -> None:
    heights = np.sort(np.random.default_rng(count).normal(0, 15, count)).tolist()
    moved = spread(heights, -105, 75, 10)
    room = min(10, 180 / max(1, count - 1))
    assert (np.diff(moved) >= room - 1e-9).all()
    assert moved[0] >= -105 - 1e-9
    assert moved[-1] <= 75 + 1e-9
    assert spread([], 0, 1, 1) == []
