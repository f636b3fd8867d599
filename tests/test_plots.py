from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

import countergraph as cg
from countergraph.plots.brain import spread
from countergraph.plots.contrastive import plot_counterfactual


def texts(figure: Figure) -> list[str]:
    axes_texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    children = [text.get_text() for axes in figure.axes for child in axes.child_axes for text in child.texts]
    legend = [text.get_text() for each in figure.legends for text in each.get_texts()]
    return [*axes_texts, *children, *legend, figure.get_suptitle()]


def test_the_brain_names_what_changes(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]))
    written = texts(plot_counterfactual(result))
    for i, j in result.removed + result.added:
        assert {cohort.atlas.names[i], cohort.atlas.names[j]} <= set(written)
    assert f"{len(result.removed)} removed" in written
    assert f"{len(result.added)} added" in written
    before, after = result.class_name(result.original_class), result.class_name(result.counterfactual_class)
    assert f"{result.subject}: {before} → {after}" in written


def test_without_coordinates_it_is_a_matrix(cohort: cg.GraphDataset, model: cg.Model) -> None:
    [result] = cg.find_counterfactuals(model, cohort.subset([3]))
    figure = plot_counterfactual(dataclasses.replace(result, atlas=None))
    assert [axes.get_xlabel() for axes in figure.axes] == ["region"]


def test_nothing_found_is_drawn_too(cohort: cg.GraphDataset) -> None:
    [result] = cg.find_counterfactuals(lambda a: np.zeros(len(a)), cohort.subset([3]), max_calls=5)
    assert f"{cohort.names[3]}: TD" in texts(plot_counterfactual(result))


@pytest.mark.parametrize("count", [1, 2, 9, 18, 40])
def test_labels_never_overlap(count: int) -> None:
    heights = np.sort(np.random.default_rng(count).normal(0, 15, count)).tolist()
    moved = spread(heights, -105, 75, 10)
    room = min(10, 180 / max(1, count - 1))
    assert (np.diff(moved) >= room - 1e-9).all()
    assert moved[0] >= -105 - 1e-9
    assert moved[-1] <= 75 + 1e-9
    assert spread([], 0, 1, 1) == []
