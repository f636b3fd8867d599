"""A row of the store: the result of one search."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.finding.units import changed_units, units_of_result
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Indices, Label, Values
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.store.setting import Setting


class SearchKey(NamedTuple):
    """The identity of a search within its setting."""

    graph: int
    """The position of the graph in its cohort."""
    run: int


class Row(NamedTuple):
    """The values that, with the setting and the cohort, make up a `Counterfactual`."""

    graph: int
    run: int
    original_class: Label | None
    """The label, not the name."""
    counterfactual_class: Label | None
    """The label, not the name."""
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
    changed_values: bytes | None = None
    """The values of the changed pairs of a weighted network."""
    units: bytes | None = None
    """The numbers of the changed units, if they are larger than pairs."""
    valid_values: bytes | None = None
    """The nearest correlation matrix of a weighted network, if it was requested."""

    @classmethod
    def of(cls, result: Counterfactual, graph: int) -> Self:
        """Pack a result; ``graph`` is the position of the graph in its cohort."""
        return cls(
            graph,
            result.run,
            result.original_label,
            result.counterfactual_label,
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
            _pack_values(result.changed_values),
            _pack([unit.number for unit in result.units]) if result.units else None,
            _pack_values(result.valid_values),
        )

    def unpack(self, setting: Setting, data: GraphDataset, classes: tuple[str, ...] | None = None) -> Counterfactual:
        """Return the result; ``classes`` are the names of the classes, if they are not those of the cohort."""
        flips = None if self.flips is None else unpack_numbers(self.flips)
        result = Counterfactual(
            original=data.values[self.graph],
            flips=flips,
            original_label=self.original_class,
            counterfactual_label=self.counterfactual_class,
            calls_by_phase=json.loads(self.calls_by_phase),
            method=setting.method,
            parameters=setting.parameters,
            stopped=self.stopped,
            trace=tuple((int(calls), int(distance)) for calls, distance in unpack_numbers(self.trace).reshape(-1, 2)),
            graph_index=self.graph,
            run=self.run,
            subject=data.names[self.graph],
            named=True,
            atlas=data.atlas,
            classes=classes or data.classes,
            cost=self.cost,
            certificate=Certificate(bool(self.minimal), self.radius, bool(self.optimal)),
            why=self.why,
            changed_values=_unpack_values(self.changed_values),
            measure=data.measure,
            valid_values=_unpack_values(self.valid_values),
        )

        if self.units is None or flips is None:
            return result
        numbers, names = unpack_numbers(self.units).tolist(), result.change_names
        return replace(result, units=changed_units(units_of_result(result), numbers, flips, result.decreased, names))


def _pack_values(values: Values | None) -> bytes | None:
    return None if values is None else values.astype("<f4").tobytes()


def _unpack_values(packed: bytes | None) -> Values | None:
    return None if packed is None else unpack_values(packed)


def unpack_values(packed: bytes) -> Values:
    """Return the values that are packed in a row."""
    return np.frombuffer(packed, dtype="<f4").astype(np.float32)


def _pack(numbers: ArrayLike) -> bytes:
    return np.asarray(numbers, dtype="<u4").tobytes()


def unpack_numbers(packed: bytes) -> Indices:
    """Return the numbers that are packed in a row."""
    return np.frombuffer(packed, dtype="<u4").astype(np.intp)


NUMBERS: dict[str, Callable[[bytes], NDArray[np.generic]]] = {
    "flips": unpack_numbers,
    "units": unpack_numbers,
    "changed_values": unpack_values,
}
"""The columns with packed numbers, and how to unpack them."""
