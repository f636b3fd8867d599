"""The litmus test: does an explanation find the regions that a model truly uses? (section 5.3 of the paper)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, roc_auc_score

from countergraph.errors import InputError
from countergraph.explain.importance import GlobalExplanation


@dataclass(frozen=True)
class Litmus:
    """How well the importance of regions tells those that a model uses from the others."""

    roc_auc: float
    """The chance that a used region is more important than an unused one; 0.5 is guessing, 1 is perfect."""
    average_precision: float
    n_used: int
    n_regions: int


def litmus(explanation: GlobalExplanation, vertices: ArrayLike) -> Litmus:
    """Compare the importance of the regions with the ``vertices`` that the model truly uses."""
    used = np.zeros(explanation.n_regions, dtype=bool)
    given = np.asarray(vertices, dtype=np.intp).ravel()
    if not given.size or given.min() < 0 or given.max() >= used.size:
        raise InputError(f"vertices must be region numbers from 0 to {used.size - 1}, at least one")
    used[given] = True
    if used.all():
        raise InputError("a litmus test needs regions that the model does not use, too")
    importance = explanation.roi_importance.to_numpy()
    return Litmus(
        float(roc_auc_score(used, importance)),
        float(average_precision_score(used, importance)),
        int(used.sum()),
        used.size,
    )
