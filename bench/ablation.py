"""Ablation of the learned search: every part switched off, one by one, on the development set.

``python -m bench.ablation [CONDITION ...]`` runs some of the `CONDITIONS` only: quick searches without and with the
training cohort, and thorough searches.

The numbers are geometric means over the boxes and seeds of the ratio to the complete search: above 1 means that the
part helps. A part is a setting of `LearnedSettings`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import countergraph as cg
from bench.boxes import DEVELOPMENT, Box, cohort, model, people
from countergraph.search.learned import learned
from countergraph.search.learned.experts import EXPERTS
from countergraph.search.learned.settings import DEFAULT_SETTINGS
from countergraph.search.learned.state import LearnedState
from countergraph.search.methods import Phase

N_PEOPLE, SEEDS = 12, (1, 2, 3)
SURROGATE: dict[str, dict[str, Any]] = {
    "no weights of pairs": {"pair_std": 0.0},
    "no ROI effects of a class": {"roi_std": 0.0},
    "no ROI effects of a graph": {"own_roi_std": 0.0},
    "no weights of directions": {"expert_std": 0.0},
    "no discriminative direction": {"expert_mean": 0.0, "expert_std": 0.0},
}
EXPERTS_AND_PORTFOLIO: dict[str, dict[str, Any]] = {
    "no portfolio (uniform choice)": {"discount": 0.0, "prior_successes": 1e6, "prior_failures": 1e6},
    **{f"no expert {name}": {"without": frozenset([name])} for name in EXPERTS if name != "surrogate"},
}
CONDITIONS: dict[str, tuple[bool, dict[str, Any], dict[str, dict[str, Any]]]] = {
    "quick": (False, {"effort": "quick", "max_calls": 300}, SURROGATE | EXPERTS_AND_PORTFOLIO),
    "quick-dataset": (True, {"effort": "quick", "max_calls": 300}, SURROGATE | EXPERTS_AND_PORTFOLIO),
    "thorough": (False, {"effort": "thorough", "max_calls": 400}, SURROGATE),
}
"""The conditions: whether the training cohort is given, the options, and the parts that are switched off."""
SLOW = ("graph2vec", "sub2vec", "polynomial SVM", "polynomial SVM, one class", "random forest", "random network")
BOXES = tuple(box for box in DEVELOPMENT if box.name not in SLOW)
"""All development boxes except those that take longest."""


def method(**changes: Any) -> Phase:  # noqa: ANN401
    """Return the learned search with other settings."""
    settings = replace(DEFAULT_SETTINGS, **changes)
    shared = partial(LearnedState, settings=settings)
    return Phase("learned-changed", "forward", learned, improves_start=True, shared=shared)


def distances_and_calls(box: Box, condition: str, seed: int, **changes: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return the mean distance and the mean number of calls of one run."""
    data = cohort(box.cohort)
    uses_data, options, _ = CONDITIONS[condition]
    results = cg.find_counterfactuals(
        model(box),
        people(data, N_PEOPLE, seed),
        method(**changes),
        data if uses_data else None,
        seed=seed,
        **options,
    )
    distances = [each.original.size if each.distance is None else each.distance for each in results]
    return float(np.mean(distances)), float(np.mean([each.calls for each in results]))


def main(conditions: Sequence[str] = tuple(CONDITIONS)) -> None:
    """Print one table per condition."""
    for condition in conditions:
        table(condition)


def table(condition: str) -> None:
    """Print the table of one condition."""
    print(f"{condition}: {len(BOXES)} development boxes, {len(SEEDS)} seeds, {N_PEOPLE} people")
    print("| | distance | calls |")
    print("|---|---|---|")
    complete: dict[tuple[str, int], tuple[float, float]] = {}
    for name, changes in {"complete": {}, **CONDITIONS[condition][2]}.items():
        ratios = []
        for box in BOXES:
            for seed in SEEDS:
                values = distances_and_calls(box, condition, seed, **changes)
                ratios.append(np.log(np.array(values) / complete.setdefault((box.name, seed), values)))
        mean, error = np.exp(np.mean(ratios, axis=0)), np.std(ratios, axis=0) / len(ratios) ** 0.5
        print(f"| {name} | {mean[0]:.3f} ± {error[0]:.3f} | {mean[1]:.2f} |", flush=True)
    print()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or tuple(CONDITIONS))
