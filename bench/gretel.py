"""The same search by GRETEL's own explainers, where the user has GRETEL. It is no part of this project.

GRETEL is not a package but a folder: clone github.com/aiim-research/GRETEL, install what it needs, and say where it is
with ``GRETEL_HOME``. Its explainers ask ``oracle.predict(instance)`` and read ``instance.data``, an adjacency matrix,
and what little they copy from one instance to the next; that is all this adapter gives them, past GRETEL's own
configuration.
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
    """A graph, as GRETEL's explainers see it."""

    data: Matrix
    id: int = 0
    label: int = 0
    node_features: Any = None
    _nx_repr: Any = None


class Oracle:
    """A black box, as GRETEL's explainers see it, that counts its calls."""

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
        """Count them."""
        return int((first != second).sum()) // 2


def load(name: str) -> Search | None:
    """Return one of GRETEL's searches, with the shape of `bench.sequential.ofs_obs`; None where GRETEL is not."""
    home = os.environ.get("GRETEL_HOME")
    if home is None:
        return None
    if home not in sys.path:
        sys.path.append(home)
    module, _, kind = EXPLAINERS[name].partition(":")
    explainer_type = getattr(importlib.import_module(module), kind)

    def search(graph: Matrix, black_box: BlackBox, seed: int) -> tuple[int | None, int]:
        random.seed(seed)
        explainer = explainer_type.__new__(explainer_type)
        explainer.oracle, explainer.distance_metric = Oracle(black_box), EditDistance()
        found = np.asarray(explainer.explain(Instance(graph.astype(np.int8))).data)
        changed = black_box(found) != black_box(graph)
        return (int((found != graph).sum()) // 2 if changed else None), explainer.oracle.calls

    return search
