"""Adapter for the explainers of GRETEL, if the user has installed it. GRETEL is not part of this project.

GRETEL is a folder, not a package: clone github.com/aiim-research/GRETEL, install its requirements, and set the
environment variable ``GRETEL_HOME`` to the folder. Its explainers call ``oracle.predict(instance)`` and read
``instance.data``, an adjacency matrix, and a few attributes that they copy from one instance to the next. DDBS also
reads ``dataset.instances``, and classifies all of them for each graph. The adapter provides only these, without the
configuration of GRETEL.

This version of the adapter was not run, because GRETEL is not available on our machine: DDBS is new, and OFS+OBS was
changed to record its counterfactuals. The ``LocalSearch`` of GRETEL needs its context, configuration and datasets, so
it has no adapter; `bench.rivals.local_search` is our implementation.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bench.sequential import BlackBox, Matrix

EXPLAINERS = {
    "OFS+OBS": "src.explainer.heuristic.obs:ObliviousBidirectionalSearchExplainer",
    "DDBS": "src.explainer.heuristic.ddbs:DataDrivenBidirectionalSearchExplainer",
}


class Found(NamedTuple):
    """The outcome of a search."""

    distance: int | None
    calls: int
    trace: Sequence[tuple[int, int]]
    """(calls, distance) of each counterfactual that was classified."""


Search = Callable[[Matrix, BlackBox, int], Found]


@dataclass
class Instance:
    """A graph with the attributes that the explainers of GRETEL use."""

    data: Matrix
    id: int = 0
    """0 for the graph to explain and its copies."""
    label: int = 0
    node_features: Any = None
    _nx_repr: Any = None


class Oracle:
    """A black box with the interface that the explainers of GRETEL use; it counts its calls."""

    def __init__(self, black_box: BlackBox, graph: Matrix) -> None:
        self.black_box, self.graph, self.label = black_box, graph, black_box(graph)
        self.calls, self.trace = 0, list[tuple[int, int]]()

    def predict(self, instance: Instance) -> int:
        """Return the class of a graph."""
        self.calls += 1
        label = self.black_box(instance.data)
        if instance.id == 0 and label != self.label:
            self.trace.append((self.calls, EditDistance().distance(instance.data, self.graph)))
        return label


class EditDistance:
    """The number of pairs in which two graphs differ."""

    def distance(self, first: Matrix, second: Matrix) -> int:
        """Return this number."""
        return int((first != second).sum()) // 2


def load(name: str, dataset: Sequence[Matrix] = ()) -> Search | None:
    """Return a search of GRETEL; None without ``GRETEL_HOME``. ``dataset`` are the graphs that DDBS uses."""
    home = os.environ.get("GRETEL_HOME")
    if home is None:
        return None
    if home not in sys.path:
        sys.path.append(home)
    module, _, class_name = EXPLAINERS[name].partition(":")
    explainer_type = getattr(importlib.import_module(module), class_name)
    instances = [Instance(matrix.astype(np.int8), number) for number, matrix in enumerate(dataset, start=1)]

    def search(graph: Matrix, black_box: BlackBox, seed: int) -> Found:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - DDBS uses the global generator
        explainer = explainer_type.__new__(explainer_type)
        oracle = explainer.oracle = Oracle(black_box, graph)
        explainer.distance_metric, explainer.dataset = EditDistance(), SimpleNamespace(instances=instances)
        found = np.asarray(explainer.explain(Instance(graph.astype(np.int8))).data)
        distance = EditDistance().distance(found, graph) if black_box(found) != oracle.label else None
        return Found(distance, oracle.calls, oracle.trace)

    return search
