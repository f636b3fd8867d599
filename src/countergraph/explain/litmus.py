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
from countergraph.finding.white_box import white_box
from countergraph.graphs.pairs import Bits, Floats
from countergraph.results.drawn import Drawn


@dataclass(frozen=True, eq=False)
class Litmus(Drawn):
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

    A rule that counts the edges inside vertex sets uses these; of any other black box nothing is known. Edges inside a
    set that speaks for a class are removed from its graphs and added to those of the other.
    """
    rule = white_box(black_box)
    if not isinstance(rule, LinearRule):
        return {}
    low, high = black_box.classes if isinstance(black_box, Model) else classes
    rows: dict[str, tuple[int, ...]] = {}
    for vertices, weight in zip(rule.vertex_sets, rule.weights, strict=True):
        for name in (f"{low} +", f"{high} -") if weight > 0 else (f"{low} -", f"{high} +"):
            rows[name] = tuple(sorted({*rows.get(name, ()), *vertices}))
    return rows


def litmus(explanation: GlobalExplanation, vertices: Iterable[int | str]) -> Litmus:
    """Compare the importance of the regions with the ``vertices`` that the model truly uses, by number or by name."""
    used = np.zeros(explanation.n_regions, dtype=bool)
    names = [explanation.atlas.index(each) if isinstance(each, str) else each for each in vertices]
    given = np.array(names, dtype=np.intp)
    if not given.size or given.min() < 0 or given.max() >= used.size:
        raise InputError(f"vertices must be region numbers from 0 to {used.size - 1}, at least one")
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
