"""Ablation of the learned search: every part switched off, one by one, on the development set.

``python -m bench.ablation quick thorough`` also runs the thorough search, which takes hours.

The numbers are geometric means over the boxes and seeds of the ratio to the complete search: above 1 means that the
part helps. `CHANGES` has one entry per part; a part is a setting of `LearnedSettings`.
"""

from __future__ import annotations

import sys
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

N_PEOPLE, SEEDS, MAX_CALLS = 12, (1, 2, 3), 300
CHANGES: dict[str, dict[str, Any]] = {
    "complete": {},
    "no weights of pairs": {"pair_std": 0.0},
    "no ROI effects of a class": {"roi_std": 0.0},
    "no ROI effects of a graph": {"own_roi_std": 0.0},
    "no weights of directions": {"expert_std": 0.0},
    "no discriminative direction": {"expert_mean": 0.0, "expert_std": 0.0},
    "no boundary samples near the best": {"near_share": 0.0},
    "only boundary samples near the best": {"near_share": 1.0},
    "no staircase": {"staircase": 0.0},
    "no undoing in epochs": {"undo_pays": 0.0},
    "no proposals in epochs": {"epoch_patience": 0.0},
    "no portfolio (uniform choice)": {"discount": 0.0, "prior_successes": 1e6, "prior_failures": 1e6},
    **{f"no expert {name}": {"without": frozenset([name])} for name in EXPERTS if name != "surrogate"},
}
SLOW = ("graph2vec", "sub2vec", "polynomial SVM", "polynomial SVM, one class", "random forest", "random network")
BOXES = tuple(box for box in DEVELOPMENT if box.name not in SLOW)
"""All development boxes except those that take longest."""


def method(**changes: Any) -> Phase:  # noqa: ANN401
    """Return the learned search with other settings."""
    settings = replace(DEFAULT_SETTINGS, **changes)
    shared = partial(LearnedState, settings=settings)
    return Phase("learned-changed", "forward", learned, improves_start=True, shared=shared)


def distances_and_calls(box: Box, effort: str, seed: int, **changes: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return the mean distance and the mean number of calls of one run."""
    chosen = people(cohort(box.cohort), N_PEOPLE, seed)
    options: dict[str, Any] = {"effort": effort, "seed": seed, "max_calls": MAX_CALLS}
    results = cg.find_counterfactuals(model(box), chosen, method(**changes), **options)
    distances = [each.original.size if each.distance is None else each.distance for each in results]
    return float(np.mean(distances)), float(np.mean([each.calls for each in results]))


def main(efforts: tuple[str, ...] = ("quick",)) -> None:
    """Print the table."""
    print(f"{len(BOXES)} development boxes, {len(SEEDS)} seeds, {N_PEOPLE} people, at most {MAX_CALLS} calls")
    print("| | " + " | ".join(f"{effort}: distance | calls" for effort in efforts) + " |")
    print("|---" * (1 + 2 * len(efforts)) + "|")
    complete: dict[tuple[str, str, int], tuple[float, float]] = {}
    for name, changes in CHANGES.items():
        cells = []
        for effort in efforts:
            ratios = []
            for box in BOXES:
                for seed in SEEDS:
                    values = distances_and_calls(box, effort, seed, **changes)
                    before = complete.setdefault((effort, box.name, seed), values)
                    ratios.append(np.log(np.array(values) / before))
            mean, error = np.exp(np.mean(ratios, axis=0)), np.std(ratios, axis=0) / len(ratios) ** 0.5
            cells += [f"{mean[0]:.3f} ± {error[0]:.3f}", f"{mean[1]:.2f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or ("quick",))
