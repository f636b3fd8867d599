"""Content of a brain figure: edges with colours and labels, shared by the 2-D figures and the 3-D views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np

from countergraph.errors import InputError
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.local import LocalExplanation
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats, pair_ends, pair_position, pairs_at
from countergraph.plots.style import ADDED, COLORS, KEPT, REMOVED
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.unit import Unit
from countergraph.results.wording import count, format_value

Pair = tuple[int, int]
LINE_WIDTH = 2.2
"""Default line width of an edge, in points."""
RING_SIZES = (110.0, 260.0)
"""The areas of rings for decreases and increases."""


@dataclass(frozen=True)
class Edges:
    """Edges that are drawn in the same colour."""

    pairs: Sequence[Pair]
    color: str
    name: str
    """Legend entry."""
    widths: Sequence[float] = ()
    """Line width of each edge; if empty, all edges have the width `LINE_WIDTH`."""
    notes: Sequence[str] = ()
    """Hover text of each edge, shown below the names of its ROIs."""
    background: bool = False
    """Whether the edges are drawn thin and transparent in the background."""


@dataclass(frozen=True)
class Rings:
    """Rings around ROIs: all connections of the ROI, or all within a network, change."""

    rois: Sequence[int]
    color: str
    size: float
    """The area of a ring in square points; rings of different sizes around one ROI are all visible."""
    notes: Sequence[str] = ()
    """Hover text of each ring, shown below the name of its ROI."""


@dataclass(frozen=True)
class Scene:
    """Edges on a brain, and the importance of each ROI."""

    atlas: Atlas
    layers: tuple[Edges, ...]
    importance: Floats = field(repr=False)
    """Importance of each ROI, from 0 to 1; determines the marker size."""
    notes: Sequence[str] = ()
    """Hover text of each ROI, shown below its name."""
    rings: tuple[Rings, ...] = ()
    """Whole ROIs or networks that change."""

    @property
    def important_rois(self) -> list[int]:
        """The ROIs with an importance above 0, in decreasing order."""
        return [int(roi) for roi in np.argsort(-self.importance, kind="stable") if self.importance[roi] > 0]


def background_opacity(n_edges: int) -> float:
    """Return the opacity of background edges; it decreases with their number."""
    return min(0.28, max(0.01, 250 / max(1, n_edges)))


def _relative_degree(pairs: Sequence[Pair], n_rois: int) -> Floats:
    """Return the number of pairs at each ROI, divided by the maximum."""
    counts = np.bincount(np.array(pairs, dtype=np.intp).ravel(), minlength=n_rois)
    return np.asarray(counts / max(1, counts.max()), dtype=np.float64)


@singledispatch
def scene_of(explanation: object, k: int = 6) -> Scene:
    """Return the scene of an explanation, with at most ``k`` added and ``k`` removed pairs if it is a summary."""
    raise InputError(
        f"a {type(explanation).__name__} cannot be shown on a brain; "
        "expected a Counterfactual, a LocalExplanation or a GlobalExplanation"
    )


@scene_of.register
def _(explanation: Counterfactual, k: int = 6) -> Scene:
    if explanation.units:
        return _scene_of_units(explanation)
    n = explanation.n_rois
    removed, added = explanation.removed, explanation.added
    layers = tuple(
        Edges(pairs, COLORS[change], f"{len(pairs)} {change}", _widths(explanation, pairs), _values(explanation, pairs))
        for change, pairs in zip(explanation.change_names, (removed, added), strict=True)
    )
    if not explanation.weighted:  # nearly all pairs of a weighted network have a value
        kept = sorted(set(pairs_at(np.flatnonzero(explanation.original), n)) - set(removed))
        layers = (Edges(kept, KEPT, f"{len(kept)} kept", background=True), *layers)
    return Scene(explanation.atlas or Atlas.numbered(n), layers, _relative_degree(removed + added, n))


def _scene_of_units(result: Counterfactual) -> Scene:
    """Show ROIs as rings on the brain; networks as a circle of networks, with rings for changes within a network."""
    atlas, by_network = result.atlas or Atlas.numbered(result.n_rois), result.unit == "network"
    networks = list(dict.fromkeys(atlas.networks or ()))
    layers, rings = [], []
    for change, size in zip(result.change_names, RING_SIZES, strict=True):
        units = [unit for unit in result.units if unit.change == change]
        ends = [_ends_of_unit(result, unit, networks) for unit in units]
        notes = [_unit_note(result, unit) for unit in units]
        name = f"{len(units)} {change} ({'within or between networks' if by_network else 'all of an ROI'})"
        lines = [row for row, (one, other) in enumerate(ends) if one != other]
        layers.append(Edges([ends[row] for row in lines], COLORS[change], name, (), [notes[row] for row in lines]))
        whole = [row for row, (one, other) in enumerate(ends) if one == other]
        rings.append(Rings([ends[row][0] for row in whole], COLORS[change], size, [notes[row] for row in whole]))
    shown = Atlas(networks, name=atlas.name) if by_network else atlas
    changed = [pair for layer in layers for pair in layer.pairs] + [(roi, roi) for each in rings for roi in each.rois]
    return Scene(shown, tuple(layers), _relative_degree(changed, len(shown.names)), rings=tuple(rings))


def _ends_of_unit(result: Counterfactual, unit: Unit, networks: list[str]) -> Pair:
    """Return the two networks of a unit, or twice its ROI."""
    if result.unit == "roi":
        roi = unit.number % result.n_rois
        return roi, roi
    assert result.atlas is not None
    assert result.atlas.networks is not None
    [(i, j)] = pairs_at(unit.flips[:1], result.n_rois)
    one, other = sorted(networks.index(result.atlas.networks[roi]) for roi in (i, j))
    return one, other


def _unit_note(result: Counterfactual, unit: Unit) -> str:
    mean = result.mean_change(unit)
    by = "" if mean is None else f"by {format_value(mean)} on average, "
    return f"{unit.change} {by}{count(len(unit.flips), 'pair')}"


@scene_of.register
def _(explanation: LocalExplanation, k: int = 6) -> Scene:
    top, example = explanation.top(k), explanation.example
    layers = []
    for change in example.change_names:
        color, rows = COLORS[change], top[top["change"] == change]
        pairs = _pairs(rows["i"].to_numpy(), rows["j"].to_numpy())
        widths = (1 + 6 * rows["share"] / top["share"].max()).tolist()
        notes = [f"{change} in {share:.0%} of the counterfactuals" for share in rows["share"]]
        layers.append(Edges(pairs, color, f"{len(rows)} most often {change}", widths, notes))
    importance = _relative_degree([pair for layer in layers for pair in layer.pairs], example.n_rois)
    return Scene(example.atlas or Atlas.numbered(example.n_rois), tuple(layers), importance)


@scene_of.register
def _(explanation: GlobalExplanation, k: int = 6) -> Scene:
    """Show the pairs that change most often, in the colour of their more frequent change, and the ROI importance."""
    first, second = pair_ends(explanation.n_rois)
    added, removed = explanation.counters.sum(axis=0)
    largest = max(added.max(), removed.max())
    layers = []
    fewer, more = explanation.change_names
    for change, color, counts in (
        (fewer, REMOVED, np.where(removed > added, removed, 0)),
        (more, ADDED, np.where(removed > added, 0, added)),
    ):
        rows = [int(row) for row in np.argsort(-counts, kind="stable")[:k] if counts[row] > 0]
        widths = [1 + 6 * counts[row] / largest for row in rows]
        notes = [f"{change} {counts[row]:.0f} times" for row in rows]
        name = f"{len(rows)} most often {change}"
        layers.append(Edges(_pairs(first[rows], second[rows]), color, name, widths, notes))
    importance = explanation.roi_importance.to_numpy()
    notes = [f"{value:.0f} changes" for value in importance]
    return Scene(explanation.atlas, tuple(layers), importance / importance.max(), notes)


def _widths(result: Counterfactual, pairs: Sequence[Pair]) -> list[float]:
    """Return line widths in proportion to the changes of the values; empty for a graph."""
    if not result.weighted or result.values is None:
        return []
    sizes = np.abs(result.values - result.original)
    widths = 0.4 + LINE_WIDTH * sizes / max(float(sizes.max()), 1e-12)
    return [float(widths[pair_position(*pair, result.n_rois)]) for pair in pairs]


def _values(result: Counterfactual, pairs: Sequence[Pair]) -> list[str]:
    """Return the values of some changed pairs, before and after, as hover texts; empty for a graph."""
    if not result.weighted or result.values is None:
        return []
    positions = [int(pair_position(*pair, result.n_rois)) for pair in pairs]
    return [f"{format_value(result.original[k])} → {format_value(result.values[k])}" for k in positions]


def _pairs(first: np.ndarray, second: np.ndarray) -> list[Pair]:
    return [(int(i), int(j)) for i, j in zip(first, second, strict=True)]
