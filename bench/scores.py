"""The learned search with and without probabilities, on the development boxes with ``predict_proba``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

import countergraph as cg
from bench.boxes import DEVELOPMENT, Box, cohort, model, people
from countergraph.search.options import Effort

N_PEOPLE, PEOPLE_SEED = 45, 3
EFFORTS: tuple[Effort, ...] = ("quick", "standard")


def main(names: Sequence[str] = ()) -> None:
    """Print one table of all boxes, or of those with the given names."""
    print("| black box | effort | scores | found | distance, percentiles 10/25/50/75/90 | mean | calls |")
    print("|---|---|---|---|---|---|---|")
    for box in DEVELOPMENT:
        if (not names or box.name in names) and hasattr(model(box), "predict_proba"):
            _compare(box)
    print()


def _compare(box: Box) -> None:
    data = cohort(box.cohort)
    chosen = people(data, N_PEOPLE, PEOPLE_SEED)
    for effort in EFFORTS:
        for scores in (False, True):
            results = cg.find_counterfactuals(model(box), chosen, "learned", data, effort=effort, scores=scores)
            distances = np.array([each.distance for each in results.found])
            percentiles = " / ".join(f"{each:g}" for each in np.percentile(distances, (10, 25, 50, 75, 90)))
            calls = (results.calls + results.shared_calls) / len(results)
            row = f"| {box.name}, {box.cohort} | {effort} | {'yes' if scores else 'no'} | {len(results.found)}"
            print(f"{row} | {percentiles} | {distances.mean():.2f} | {calls:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
