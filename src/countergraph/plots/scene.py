"""What a brain shows: edges in colours, with the words for each; the same for the flat picture and the one in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np

from countergraph.errors import InputError
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.local import LocalExplanation
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats, pair_ends, pairs_at
from countergraph.plots.style import ADDED, COLORS, KEPT, REMOVED
from countergraph.results.counterfactual import Counterfactual

Pair = tuple[int, int]
WIDTH = 2.2


@dataclass(frozen=True)
class Edges:
    """Edges to draw alike."""

    pairs: Sequence[Pair]
    color: str
    name: str
    widths: Sequence[float] = ()
    """One for each edge; none for `WIDTH`."""
    notes: Sequence[str] = ()
    """What to say of each edge beside its name."""
    faint: bool = False
    """Whether these edges are but the background."""


@dataclass(frozen=True)
class Scene:
    """Edges on a brain, and how much each region matters there."""

    atlas: Atlas
    layers: tuple[Edges, ...]
    sizes: Floats = field(repr=False)
    """From 0 to 1 for each region."""
    notes: Sequence[str] = ()
    """What to say of each region beside its name."""

    @property
    def touched(self) -> list[int]:
        """The regions that matter here, most first."""
        return [int(region) for region in np.argsort(-self.sizes, kind="stable") if self.sizes[region] > 0]


def faintness(count: int) -> float:
    """Return how opaque background edges are: the more, the less, so that they stay background."""
    return min(0.28, max(0.01, 250 / max(1, count)))


def _touching(pairs: Sequence[Pair], n_rois: int) -> Floats:
    """Return how many of the pairs each region has, as a share of the most."""
    counts = np.bincount(np.array(pairs, dtype=np.intp).ravel(), minlength=n_rois)
    return np.asarray(counts / max(1, counts.max()), dtype=np.float64)


@singledispatch
def scene_of(explanation: object, k: int = 6) -> Scene:
    """Turn an explanation into a scene; ``k`` pairs of each direction where it has more to show than that."""
    raise InputError(f"a {type(explanation).__name__} has no brain to show")


@scene_of.register
def _(explanation: Counterfactual, k: int = 6) -> Scene:
    n = explanation.n_rois
    removed, added = explanation.removed, explanation.added
    kept = sorted(set(pairs_at(np.flatnonzero(explanation.original), n)) - set(removed))
    layers = (
        Edges(kept, KEPT, f"{len(kept)} kept", faint=True),
        Edges(removed, REMOVED, f"{len(removed)} removed"),
        Edges(added, ADDED, f"{len(added)} added"),
    )
    return Scene(explanation.atlas or Atlas.numbered(n), layers, _touching(removed + added, n))


@scene_of.register
def _(explanation: LocalExplanation, k: int = 6) -> Scene:
    top, example = explanation.top(k), explanation.example
    layers = []
    for change, color in COLORS.items():
        rows = top[top["change"] == change]
        pairs = _ends(rows["i"].to_numpy(), rows["j"].to_numpy())
        widths = (1 + 6 * rows["share"] / top["share"].max()).tolist()
        notes = [f"{change} in {share:.0%}" for share in rows["share"]]
        layers.append(Edges(pairs, color, f"{len(rows)} most often {change}", widths, notes))
    sizes = _touching([pair for layer in layers for pair in layer.pairs], example.n_rois)
    return Scene(example.atlas or Atlas.numbered(example.n_rois), tuple(layers), sizes)


@scene_of.register
def _(explanation: GlobalExplanation, k: int = 6) -> Scene:
    """Show the pairs that change most often, each as what it mostly does, and how important regions are."""
    first, second = pair_ends(explanation.n_rois)
    added, removed = explanation.counters.sum(axis=0)
    most = max(added.max(), removed.max())
    layers = []
    for change, color, counts in (
        ("removed", REMOVED, np.where(removed > added, removed, 0)),
        ("added", ADDED, np.where(removed > added, 0, added)),
    ):
        rows = [int(row) for row in np.argsort(-counts, kind="stable")[:k] if counts[row] > 0]
        widths = [1 + 6 * counts[row] / most for row in rows]
        notes = [f"{change} {counts[row]:.0f} times" for row in rows]
        layers.append(Edges(_ends(first[rows], second[rows]), color, f"{len(rows)} most often {change}", widths, notes))
    importance = explanation.roi_importance.to_numpy()
    notes = [f"{value:.0f} changes" for value in importance]
    return Scene(explanation.atlas, tuple(layers), importance / importance.max(), notes)


def _ends(first: np.ndarray, second: np.ndarray) -> list[Pair]:
    return [(int(i), int(j)) for i, j in zip(first, second, strict=True)]
