"""Litmus test: check whether an explanation finds the ROIs that a model uses (section 6.3 of the paper)."""

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
"""A vertex set whose weight is below this share of the largest weight counts as unused."""


@dataclass(frozen=True, eq=False)
class Litmus(Plottable):
    """How well the importance of the ROIs separates the ROIs that a model uses from the others."""

    _plots: ClassVar = ("litmus",)

    roc_auc: float
    """Probability that a used ROI is more important than an unused one; 0.5 is chance level, 1 is perfect."""
    average_precision: float
    importance: Floats = field(repr=False)
    """Importance of each ROI."""
    used: Bits = field(repr=False)
    """Whether the model uses each ROI."""
    names: tuple[str, ...] = field(repr=False)
    """Name of each ROI."""

    @property
    def caption(self) -> str:
        """The result of the test, in one sentence."""
        used = f"The model uses {self.used.sum()} of {self.used.size} ROIs"
        return f"{used}; their importance identifies them with ROC AUC {self.roc_auc:.3f}."

    @property
    def listing(self) -> pd.DataFrame:
        """The ROIs, in decreasing order of importance."""
        table = pd.DataFrame({"ROI": self.names, "importance": self.importance, "used": self.used})
        return table.sort_values("importance", ascending=False, kind="stable")


def used_rois(black_box: object, classes: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the ROIs that a black box is known to use, keyed by the counter in which they are expected.

    They are known for a rule that counts the edges within vertex sets; sets with negligible weight are ignored. For any
    other black box the result is empty. Edges within a set that is associated with a class are removed from graphs of
    the class and added to graphs of the other class.

    Parameters
    ----------
    black_box
        The classifier.
    classes
        The names of the two classes.

    Returns
    -------
    dict
        ROI numbers, keyed by counter name ("TD +", "ASD -", ...), as in `GlobalExplanation.counter_names`.
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
    """Compare the importance of the ROIs with the ROIs that the model uses.

    Parameters
    ----------
    explanation
        A global explanation of the model.
    vertices
        The ROIs that the model uses: numbers, names, or a Boolean mask with one value per ROI.
    """
    used = np.zeros(explanation.n_rois, dtype=bool)
    listed = [explanation.atlas.index(each) if isinstance(each, str) else each for each in vertices]
    given = np.array(listed)
    is_mask = given.dtype == np.bool_ and given.shape == used.shape
    are_numbers = given.dtype.kind in "iu" and given.size > 0 and 0 <= given.min() <= given.max() < used.size
    if not (is_mask and given.any()) and not are_numbers:
        raise InputError(
            f"vertices must be a non-empty list of ROI numbers from 0 to {used.size - 1} or ROI names, or a Boolean "
            f"mask with {used.size} values of which at least one is True"
        )
    used[given] = True
    if used.all():
        raise InputError("vertices contains all ROIs; a litmus test also needs ROIs that the model does not use")
    importance = explanation.roi_counters.sum(axis=0)
    return Litmus(
        float(roc_auc_score(used, importance)),
        float(average_precision_score(used, importance)),
        importance,
        used,
        explanation.atlas.names,
    )
