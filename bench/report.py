"""The learned search on the report set: distance, calls, and how far from the possible. Run once per release.

``python -m bench report`` runs the report set, ``python -m bench development`` the development set. Settings may be
chosen on the development set only. The white-box reference is computed for the first `N_REFERENCE` people, and the
ratios to it are over these people.

``python -m bench.report SET FILE [BOX ...]`` writes the rows to a JSON file as well. With ``PYTHONPATH`` set to the
source of an earlier version, it runs the learned search of that version.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import countergraph as cg
from bench.boxes import DEVELOPMENT, REPORT, Box, cohort, model, people
from bench.references import reference_distances
from countergraph.search.options import SearchOptions

N_PEOPLE, N_REFERENCE, PEOPLE_SEED = 45, 12, 3
CHECKPOINTS = (50, 100, 200, 500, 1000, 2000)
PERCENTILES = (10, 25, 50, 75, 90)
HAS_EFFORT = "effort" in {each.name for each in fields(SearchOptions)}
RUNS: Sequence[tuple[str, str, bool, dict[str, Any]]] = (
    (
        ("ofs+obs", "ofs+obs", False, {"confirm": False}),
        ("learned quick", "learned", False, {"effort": "quick"}),
        ("learned thorough", "learned", False, {"effort": "thorough"}),
        ("learned quick, dataset", "learned", True, {"effort": "quick"}),
        ("learned standard, dataset", "learned", True, {"effort": "standard"}),
    )
    if HAS_EFFORT
    else (
        ("learned, earlier", "learned", False, {}),
        ("learned, earlier, dataset", "learned", True, {}),
    )
)
"""The rows of the table: name, method, whether the cohort is given as labelled graphs, and other options."""


def rows(box: Box) -> list[dict[str, Any]]:
    """Run all methods on one box."""
    data, black_box = cohort(box.cohort), model(box)
    chosen = people(data, N_PEOPLE, PEOPLE_SEED)
    possible = reference_distances(box, black_box, chosen.edges[:N_REFERENCE]) if HAS_EFFORT else None
    found = []
    for name, method, uses_data, options in RUNS:
        began = time.process_time()
        graphs = chosen if uses_data else chosen.edges
        results = cg.find_counterfactuals(black_box, graphs, method, data if uses_data else None, **options)
        seconds, n_shared = time.process_time() - began, getattr(results, "shared_calls", 0)
        distances = np.array([np.inf if each.distance is None else each.distance for each in results])
        curve = [
            float(np.mean([min((d for calls, d in each.trace if calls <= at), default=np.inf) for each in results]))
            for at in CHECKPOINTS
        ]
        found.append(
            {
                "box": f"{box.name}, {box.cohort}",
                "method": name,
                "found": int(np.isfinite(distances).sum()),
                "mean": float(distances.mean()),
                "percentiles": np.percentile(distances, PERCENTILES, method="nearest").tolist(),
                "calls": float(np.mean([each.calls for each in results]) + n_shared / len(results)),
                "median_calls": float(np.median([each.calls for each in results]) + n_shared / len(results)),
                "ratio": None
                if possible is None
                else float(distances[: len(possible)][~np.isnan(possible)].sum() / np.nansum(possible)),
                "curve": curve,
                "seconds": seconds,
            }
        )
        print(_line(found[-1]), flush=True)
    return found


def _line(row: dict[str, Any]) -> str:
    percentiles = " / ".join(f"{value:g}" for value in row["percentiles"])
    curve = " | ".join(f"{value:.1f}" if np.isfinite(value) else "-" for value in row["curve"])
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
    return (
        f"| {row['box']} | {row['method']} | {row['found']} | {row['mean']:.1f} | {ratio} | {percentiles} "
        f"| {row['calls']:.0f} ({row['median_calls']:.0f}) | {curve} | {row['seconds']:.0f} |"
    )


def main(boxes: Sequence[Box] = REPORT, path: Path | None = None) -> None:
    """Print the table of some boxes."""
    steps = " | ".join(f"at {calls}" for calls in CHECKPOINTS)
    print(f"| black box | method | found | mean | / possible | percentiles | calls (median) | {steps} | s |")
    print("|---" * (8 + len(CHECKPOINTS)) + "|")
    table = []
    for box in boxes:
        table += rows(box)
        if path is not None:
            path.write_text(json.dumps(table))
    print()


def development() -> None:
    """Run the development set."""
    main(DEVELOPMENT)


if __name__ == "__main__":
    chosen_set = {"report": REPORT, "development": DEVELOPMENT}[sys.argv[1]]
    names = sys.argv[3:]
    main([box for box in chosen_set if not names or f"{box.name}, {box.cohort}" in names], Path(sys.argv[2]))
