"""What is imported when, and what is said when an optional dependency is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import countergraph as cg
from countergraph.classifiers.autoencoder import Autoencoder
from countergraph.classifiers.graph2vec import Graph2Vec
from countergraph.errors import InputError
from countergraph.experiments.runner import _run_on_cluster
from countergraph.store.export import export
from tests.conftest import random_graphs

PLAIN_FUNCTION = """
import sys
import numpy as np
import countergraph as cg
graphs = np.random.default_rng(0).random((3, 66)) < 0.3
results = cg.find_counterfactuals(lambda batch: (batch.sum(axis=(1, 2)) > 40).astype(int), graphs)
assert len(results.found) == 3
heavy = {"sklearn", "pandas", "matplotlib", "nilearn", "plotly", "torch", "gensim", "networkx"} & set(sys.modules)
assert not heavy, heavy
"""


def test_a_plain_function_needs_no_heavy_library() -> None:
    done = subprocess.run([sys.executable, "-c", PLAIN_FUNCTION], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch, store: cg.Store, tmp_path: Path) -> None:
    for package in ("gensim.models.doc2vec", "torch", "pyarrow", "distributed"):
        monkeypatch.setitem(sys.modules, package, None)
    graphs = random_graphs(12, 10, seed=1)
    with pytest.raises(InputError, match=r"needs gensim, which is not installed: pip install 'countergraph\[embedd"):
        Graph2Vec(min_count=1).fit(graphs)
    with pytest.raises(InputError, match=r"needs torch, which is not installed: pip install 'countergraph\[torch\]'"):
        Autoencoder(dimensions=2).fit(graphs)
    with pytest.raises(InputError, match=r"needs pyarrow, which is not installed: pip install 'countergraph\[parquet"):
        export(store, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"needs Dask, which is not installed: pip install 'countergraph\[cluster\]'"):
        _run_on_cluster(store.path, [], "tcp://nowhere")
