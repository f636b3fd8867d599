"""The litmus test: does an explanation find the regions that a model truly uses? (section 5.3 of the paper)"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.model import Model
from countergraph.errors import InputError
from countergraph.explain.importance import GlobalExplanation
from countergraph.graphs.pairs import Bits, Floats
from countergraph.proofs.optimum import white_box
from countergraph.results.plottable import Plottable

NEGLIGIBLE = 1e-6
"""A set of so little of the largest weight is not used."""


@dataclass(frozen=True, eq=False)
class Litmus(Plottable):
    """How well the importance of regions tells those that a model uses from the others."""

    _plots: ClassVar = ("litmus",)

    roc_auc: float
    """The chance that a used region is more important than an unused one; 0.5 is guessing, 1 is perfect."""
    average_precision: float
    importance: Floats = field(repr=False)
    """Of each region."""
    used: Bits = field(repr=False)
    """Whether the model uses it."""
    names: tuple[str, ...] = field(repr=False)

    @property
    def caption(self) -> str:
        """How well the regions in use were found."""
        count = f"The model uses {self.used.sum()} of {self.used.size} regions"
        return f"{count}; their importance finds them with ROC AUC {self.roc_auc:.3f}."

    @property
    def listing(self) -> pd.DataFrame:
        """The regions, the most important first."""
        table = pd.DataFrame({"region": self.names, "importance": self.importance, "used": self.used})
        return table.sort_values("importance", ascending=False, kind="stable")


def used_vertices(black_box: object, classes: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the regions that a black box is known to use, by the rows of the ROI strip in which they should show.

    A rule that counts the edges inside vertex sets uses these, but for sets that have next to no weight; of any other
    black box nothing is known. Edges inside a set that speaks for a class are removed from its graphs and added to
    those of the other.
    """
    rule = white_box(black_box)
    if not isinstance(rule, LinearRule):
        return {}
    low, high = black_box.classes if isinstance(black_box, Model) else classes
    rows: dict[str, tuple[int, ...]] = {}
    for vertices, weight in zip(rule.vertex_sets, rule.weights, strict=True):
        if abs(weight) < NEGLIGIBLE * np.abs(rule.weights).max():
            continue
        for name in (f"{low} +", f"{high} -") if weight > 0 else (f"{low} -", f"{high} +"):
            rows[name] = tuple(sorted({*rows.get(name, ()), *vertices}))
    return rows


def litmus(explanation: GlobalExplanation, vertices: Iterable[int | str]) -> Litmus:
    """Compare the importance of the regions with the ``vertices`` that the model truly uses.

    They are given by number, by name, or as a mask with one truth value for each region.
    """
    used = np.zeros(explanation.n_rois, dtype=bool)
    listed = [explanation.atlas.index(each) if isinstance(each, str) else each for each in vertices]
    given = np.array(listed)
    masked = given.dtype == np.bool_ and given.shape == used.shape
    whole = given.dtype.kind in "iu" and given.size > 0 and 0 <= given.min() <= given.max() < used.size
    if not (masked and given.any()) and not whole:
        raise InputError(
            f"vertices must be numbers of regions, from 0 to {used.size - 1}, or names, at least one, or a mask"
        )
    used[given] = True
    if used.all():
        raise InputError("a litmus test needs regions that the model does not use, too")
    importance = explanation.roi_counters.sum(axis=0)
    return Litmus(
        float(roc_auc_score(used, importance)),
        float(average_precision_score(used, importance)),
        importance,
        used,
        explanation.atlas.names,
    )
