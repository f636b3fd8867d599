"""Adapter for the explainers of GRETEL, if the user has installed it. GRETEL is not part of this project.

GRETEL is a folder, not a package: clone github.com/aiim-research/GRETEL, install its requirements, and set the
environment variable ``GRETEL_HOME`` to the folder. Its explainers call ``oracle.predict(instance)`` and read
``instance.data``, an adjacency matrix, and a few attributes that they copy from one instance to the next. The adapter
provides only these, without the configuration of GRETEL.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.sequential import BlackBox, Matrix

EXPLAINERS = {"OFS+OBS": "src.explainer.heuristic.obs:ObliviousBidirectionalSearchExplainer"}
Search = Callable[[Matrix, BlackBox, int], tuple[int | None, int]]


@dataclass
class Instance:
    """A graph with the attributes that the explainers of GRETEL use."""

    data: Matrix
    id: int = 0
    label: int = 0
    node_features: Any = None
    _nx_repr: Any = None


class Oracle:
    """A black box with the interface that the explainers of GRETEL use; it counts its calls."""

    def __init__(self, black_box: BlackBox) -> None:
        self.black_box = black_box
        self.calls = 0

    def predict(self, instance: Instance) -> int:
        """Return the class of a graph."""
        self.calls += 1
        return self.black_box(instance.data)


class EditDistance:
    """The number of pairs in which two graphs differ."""

    def distance(self, first: Matrix, second: Matrix) -> int:
        """Return this number."""
        return int((first != second).sum()) // 2


def load(name: str) -> Search | None:
    """Return a search of GRETEL with the signature of `bench.sequential.ofs_obs`; None without ``GRETEL_HOME``."""
    home = os.environ.get("GRETEL_HOME")
    if home is None:
        return None
    if home not in sys.path:
        sys.path.append(home)
    module, _, class_name = EXPLAINERS[name].partition(":")
    explainer_type = getattr(importlib.import_module(module), class_name)

    def search(graph: Matrix, black_box: BlackBox, seed: int) -> tuple[int | None, int]:
        random.seed(seed)
        explainer = explainer_type.__new__(explainer_type)
        explainer.oracle, explainer.distance_metric = Oracle(black_box), EditDistance()
        found = np.asarray(explainer.explain(Instance(graph.astype(np.int8))).data)
        is_counterfactual = black_box(found) != black_box(graph)
        return (int((found != graph).sum()) // 2 if is_counterfactual else None), explainer.oracle.calls

    return search
