"""Results of the paper's searches are identical to those of version 0.9.0.

`tests/data/digests.json` holds one digest per cohort, method and variant, computed with 0.9.0: flips, calls by phase,
trace and stop reason of every search. The black boxes count edges, without rounding, so the digests do not depend on
the machine. ``python -m tests.test_digests FILE`` writes the digests of the current code, to compare two versions.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import countergraph as cg
from countergraph.graphs.pairs import pair_ends

STORED = Path(__file__).parent / "data" / "digests.json"
METHODS = ("ofs+obs", "dfs+dbs", "dfs+obs", "ds+obs", "bisect+ddmin")


class SetRule:
    """Compare the number of edges inside two sets of ROIs; with three classes, also a third count."""

    def __init__(self, n_rois: int, classes: int = 2, threshold: int = 0) -> None:
        first, second = pair_ends(n_rois)
        sets = [np.arange(n_rois) % 5 == 0, np.arange(n_rois) % 5 == 1, np.arange(n_rois) % 5 == 2]
        self.inside = np.array([each[first] & each[second] for each in sets[:classes]], dtype=np.float64).T
        self.threshold = threshold

    def predict(self, edges: np.ndarray) -> np.ndarray:
        counts = edges @ self.inside  # sums of ones: exact in floating point
        counts[:, 0] += self.threshold
        return counts.argmax(axis=1)


def digest(results: cg.Counterfactuals) -> str:
    rows = [
        [
            None if each.flips is None else each.flips.tolist(),
            each.calls_by_phase,
            [list(point) for point in each.trace],
            each.stopped,
            each.original_label,
            each.counterfactual_label,
            each.run,
        ]
        for each in results
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def three_classes(data: cg.GraphDataset) -> cg.GraphDataset:
    return cg.GraphDataset(data.edges, np.arange(len(data)) % 3, data.names, ("A", "B", "C"), data.atlas)


def variants(data: cg.GraphDataset) -> Iterator[tuple[str, cg.GraphDataset, object, dict[str, Any]]]:
    """Name, cohort, black box and options of each variant."""
    rule = SetRule(data.n_rois)
    yield "plain", data, rule, {}
    yield "five runs, k 3, seed 7", data.subset(data.names[:10]), rule, {"runs": 5, "k": 3, "seed": 7}
    yield "small budget", data, rule, {"max_calls": 40}
    yield "not confirmed", data, rule, {"confirm": False}
    yield "target", three_classes(data), SetRule(data.n_rois, 3), {"target": 2}
    some = data.subset(data.names[40:60])
    costs = 1 + np.arange(data.edges.shape[1]) % 7
    yield "only added", some, rule, {"constraints": cg.Constraints(only="added")}
    yield "costs", some, rule, {"constraints": cg.Constraints(cost=costs, most=30)}
    keep = cg.Constraints(keep_edges=True, keep_connected=True)
    yield "keep", data.subset(data.names[48:51]), rule, {"constraints": keep}


def digests_of(data: cg.GraphDataset, method: str, names: Collection[str] | None = None) -> dict[str, str]:
    return {
        name: digest(cg.find_counterfactuals(box, some, method, data if len(some.classes) == 2 else some, **options))
        for name, some, box, options in variants(data)
        if names is None or name in names
    }


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_results_on_the_built_in_cohort_are_those_of_0_9_0(method: str) -> None:
    assert digests_of(cg.make_cohort(), method) == json.loads(STORED.read_text())["synthetic"][method]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_results_on_asd_are_those_of_0_9_0(method: str, asd: cg.GraphDataset) -> None:
    stored = json.loads(STORED.read_text())["asd"][method]
    names = ("plain", "target", "costs")  # the other variants are tested on the built-in cohort
    assert digests_of(asd, method, names) == {name: stored[name] for name in names}


def write(path: Path, methods: tuple[str, ...]) -> None:
    cohorts = {"synthetic": cg.make_cohort(), "asd": cg.load_dataset("asd")}
    digests = {name: {method: digests_of(data, method) for method in methods} for name, data in cohorts.items()}
    path.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]), tuple(sys.argv[2:]) or METHODS)
