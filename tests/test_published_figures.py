"""Distances of counterfactuals for the published rules on the real cohorts, as stated in the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.classifiers.published_rules import load_published_rule


def search(data: cg.GraphDataset, root: Path, method: str, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return distances (graphs, runs) and optimal distances (graphs,)."""
    rule = load_published_rule(data.about["cohort"], root=root)
    results = cg.find_counterfactuals(rule, data, method, runs=runs)
    assert all(result.found for result in results), "every run finds a counterfactual"
    assert all(max(result.calls_by_phase.values()) <= 2000 for result in results)
    distances = np.array([result.distance for result in results]).reshape(len(data), runs)
    return distances, np.array([cg.optimal_counterfactual(rule, graph).distance for graph in data.edges])


@pytest.mark.slow
def test_distances_on_asd(asd: cg.GraphDataset, real_data: Path) -> None:
    distances, optima = search(asd, real_data, "ofs+obs", 5)
    assert (distances >= optima[:, None]).all()
    assert (distances - optima[:, None]).mean() <= 1.9
    assert 6.5 <= np.median(distances) <= 9.5


@pytest.mark.slow
def test_distances_on_adhd(adhd: cg.GraphDataset, real_data: Path) -> None:
    distances, optima = search(adhd, real_data, "ofs+obs", 1)
    assert (distances >= optima[:, None]).all()
    assert 40 <= np.median(distances) <= 48


@pytest.mark.slow
def test_lbs_finds_shorter_distances_than_dbs_on_adhd(adhd: cg.GraphDataset, real_data: Path) -> None:
    some = adhd.subset(np.arange(0, 520, 8))
    means = {}
    for method in ("dfs+dbs", "dfs+lbs"):
        distances, optima = search(some, real_data, method, 1)
        means[method] = (distances - optima[:, None]).mean()
    assert means["dfs+lbs"] < means["dfs+dbs"]
