from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import countergraph as cg
from countergraph.graphs.pairs import to_adjacency

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast tests first."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Where the real cohorts lie; skips where they do not."""
    root = Path(os.environ.get("COUNTERGRAPH_DATA", BESIDE))
    if not (root / "asd").is_dir():
        pytest.skip("the real cohorts are neither in ../shared/data nor where COUNTERGRAPH_DATA points")
    return root


@pytest.fixture(scope="session")
def asd(real_data: Path) -> cg.GraphDataset:
    return cg.load_dataset("asd", root=real_data)


@pytest.fixture(scope="session")
def adhd(real_data: Path) -> cg.GraphDataset:
    return cg.load_dataset("adhd", root=real_data)


@pytest.fixture(scope="session")
def cohort() -> cg.GraphDataset:
    """A small synthetic cohort: fast to search, and of another size than anything else in the tests."""
    return cg.make_cohort(n_subjects=24, n_rois=20, contrast=0.8, seed=3)


@pytest.fixture(scope="session")
def model(cohort: cg.GraphDataset) -> cg.Model:
    return cg.train(cohort)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[cg.Store]:
    """An empty store."""
    with cg.Store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture(scope="module")
def place(cohort: cg.GraphDataset, model: cg.Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset file, a folder of matrices and a trained model, for the command line."""
    folder = tmp_path_factory.mktemp("place")
    cohort.save(folder / "cohort.npz")
    model.save(folder / "model.cgm")
    for label, name in enumerate(("hc", "ms")):
        (folder / "study" / name).mkdir(parents=True)
        for row in np.flatnonzero(cohort.labels == label):
            np.savetxt(folder / "study" / name / f"p {row}.csv", to_adjacency(cohort.edges[row]), "%d", ",")
    return folder


def random_graphs(count: int, n_rois: int, seed: int, density: float = 0.3) -> np.ndarray:
    """Edge vectors of random graphs."""
    rng = np.random.default_rng(seed)
    return rng.random((count, n_rois * (n_rois - 1) // 2)) < density
