from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import countergraph as cg
from countergraph.graphs.pairs import to_adjacency
from countergraph.search.learned.settings import DEFAULT_SETTINGS, LearnedSettings
from countergraph.search.learned.state import LearnedState, LearnedTask
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.network import Layout, Network
from countergraph.search.protocol import Reference, Task

settings.register_profile("countergraph", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("countergraph")

DEFAULT_DATA_FOLDER = Path(__file__).parents[2] / "shared" / "data"
"""Where the real cohorts are if COUNTERGRAPH_DATA is not set."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the fast tests first."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of the real cohorts; skip the test if it does not exist."""
    root = Path(os.environ.get("COUNTERGRAPH_DATA", DEFAULT_DATA_FOLDER))
    if not (root / "asd").is_dir():
        pytest.skip(f"the real cohorts are not in {root}; set COUNTERGRAPH_DATA to their folder")
    return root


@pytest.fixture(scope="session")
def asd(real_data: Path) -> cg.GraphDataset:
    return cg.load_dataset("asd", root=real_data)


@pytest.fixture(scope="session")
def adhd(real_data: Path) -> cg.GraphDataset:
    return cg.load_dataset("adhd", root=real_data)


@pytest.fixture(scope="session")
def cohort() -> cg.GraphDataset:
    """Return a small synthetic cohort; it is fast to search, and its size differs from all other sizes in the tests."""
    return cg.make_cohort(n_subjects=24, n_rois=20, contrast=0.8, seed=3)


@pytest.fixture(scope="session")
def model(cohort: cg.GraphDataset) -> cg.Model:
    return cg.train(cohort)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[cg.Store]:
    """Return an empty store."""
    with cg.Store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture(scope="module")
def workspace_folder(cohort: cg.GraphDataset, model: cg.Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a dataset file, a folder of matrices and a trained model, for the command line."""
    folder = tmp_path_factory.mktemp("workspace")
    cohort.save(folder / "cohort.npz")
    model.save(folder / "model.cgm")
    for label, name in enumerate(("hc", "ms")):
        (folder / "study" / name).mkdir(parents=True)
        for row in np.flatnonzero(cohort.labels == label):
            np.savetxt(folder / "study" / name / f"p {row}.csv", to_adjacency(cohort.edges[row]), "%d", ",")
    return folder


def random_graphs(count: int, n_rois: int, seed: int, density: float = 0.3) -> np.ndarray:
    """Return the edge vectors of random graphs."""
    rng = np.random.default_rng(seed)
    return rng.random((count, n_rois * (n_rois - 1) // 2)) < density


def learned_task(
    graph: np.ndarray,
    seed: int,
    limits: Limits = NO_LIMITS,
    reference: Reference | None = None,
    constants: LearnedSettings = DEFAULT_SETTINGS,
    **options: Any,
) -> LearnedTask:
    """Return the task of a learned search of a single graph of class 0."""
    task = Task(Network.of_graph(graph), 0, cg.SearchOptions(**options), np.random.default_rng(seed), reference, limits)
    return LearnedState(Layout.of_pairs(graph.size), reference, constants).join(task, None)


def changes_of(graph: np.ndarray) -> np.ndarray:
    """Return the change of the value of each pair by its flip: 1 for an addition, -1 for a removal."""
    return Network.of_graph(graph).differences
