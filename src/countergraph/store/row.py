"""A row of the store: what is kept of a search."""

from __future__ import annotations

import json
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Indices, Label
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.vocabulary import spoken, vocabulary
from countergraph.search.methods import parse_method
from countergraph.store.setting import Setting


class SearchKey(NamedTuple):
    """Where a search stands within its setting."""

    graph: int
    """The position of the graph in its cohort."""
    run: int


class Row(NamedTuple):
    """What is kept of a search: with its setting and its cohort, all of a `Counterfactual`."""

    graph: int
    run: int
    original_class: Label | None
    counterfactual_class: Label | None
    distance: int | None
    calls: int
    calls_by_phase: str
    flips: bytes | None
    trace: bytes
    stopped: str
    cost: float | None = None
    why: str = ""
    minimal: bool = False
    radius: int = 0
    optimal: bool = False

    @classmethod
    def of(cls, result: Counterfactual, graph: int) -> Self:
        """Pack a result for the ``graph`` at this position of its cohort."""
        return cls(
            graph,
            result.run,
            result.original_class,
            result.counterfactual_class,
            result.distance,
            result.calls,
            json.dumps(result.calls_by_phase),
            None if result.flips is None else _pack(result.flips),
            _pack(result.trace),
            result.stopped,
            result.cost,
            result.why,
            result.certificate.minimal,
            result.certificate.radius,
            result.certificate.optimal,
        )

    def unpack(self, setting: Setting, data: GraphDataset, classes: tuple[str, ...] | None = None) -> Counterfactual:
        """Make the result again; ``classes`` are the names by label, where they are not those of the cohort."""
        flips = None if self.flips is None else unpack_numbers(self.flips)
        speaks = flips is not None and any(phase.needs_moves for phase in parse_method(setting.method))
        moves = spoken(flips, vocabulary(data.edges[self.graph], data.atlas)) if speaks and flips is not None else []
        return Counterfactual(
            original=data.edges[self.graph],
            flips=flips,
            original_class=self.original_class,
            counterfactual_class=self.counterfactual_class,
            calls_by_phase=json.loads(self.calls_by_phase),
            method=setting.method,
            parameters=setting.parameters,
            stopped=self.stopped,
            trace=tuple((int(calls), int(distance)) for calls, distance in unpack_numbers(self.trace).reshape(-1, 2)),
            graph_index=self.graph,
            run=self.run,
            subject=data.names[self.graph],
            atlas=data.atlas,
            classes=classes or data.classes,
            moves=tuple(moves),
            cost=self.cost,
            certificate=Certificate(bool(self.minimal), self.radius, bool(self.optimal)),
            why=self.why,
        )


def _pack(numbers: ArrayLike) -> bytes:
    return np.asarray(numbers, dtype="<u4").tobytes()


def unpack_numbers(packed: bytes) -> Indices:
    """Return the numbers that bytes of a row stand for."""
    return np.frombuffer(packed, dtype="<u4").astype(np.intp)
