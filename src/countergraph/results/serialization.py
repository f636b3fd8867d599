"""Results as plain values for JSON, and back."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Indices, Values, pair_count, pair_position, pairs_at
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.unit import Unit

FORMAT = "countergraph-counterfactual/4"
OLD_FORMATS = ("countergraph-counterfactual/2", "countergraph-counterfactual/3")
"""The formats of earlier versions, for graphs only; in the first, the keys of the classes hold labels, not names."""


def to_dict(result: Counterfactual) -> dict[str, Any]:
    """Return a result as plain values."""
    return {
        "format": FORMAT,
        "subject": result.subject,
        "named": result.named,
        "graph_index": result.graph_index,
        "run": result.run,
        "method": result.method,
        "parameters": dict(result.parameters),
        "found": result.found,
        "stopped": result.stopped,
        "why": result.why,
        "distance": result.distance,
        "original_class": result.original_class,
        "counterfactual_class": result.counterfactual_class,
        "original_label": result.original_label,
        "counterfactual_label": result.counterfactual_label,
        "classes": None if result.classes is None else list(result.classes),
        "added": [list(pair) for pair in result.added],
        "removed": [list(pair) for pair in result.removed],
        "connections": _connections(result),
        "calls": result.calls,
        "calls_by_phase": dict(result.calls_by_phase),
        "trace": [list(point) for point in result.trace],
        "units": [
            {
                "number": each.number,
                "change": each.change,
                "words": each.words,
                "pairs": _ends(each.flips, result.n_rois),
            }
            for each in result.units
        ],
        "cost": result.cost,
        "certificate": result.certificate.to_dict(),
        "sentence": result.sentence,
        "n_regions": result.n_rois,
        "weighted": result.weighted,
        "original": _encode(result.original if result.weighted else np.packbits(result.original)),
        "changed_values": None if result.changed_values is None else _encode(result.changed_values),
        "measure": result.measure,
        "valid_values": None if result.valid_values is None else _encode(result.valid_values),
        "alternatives": None if result.alternatives is None else _encode(result.alternatives),
    }


def _connections(result: Counterfactual) -> list[dict[str, Any]]:
    """Return the changed connections by the names of their ROIs, with the values of a weighted network."""
    connections = []
    for change, pairs in zip(result.change_names[::-1], (result.added, result.removed), strict=True):
        for i, j in pairs:
            connection: dict[str, Any] = {"change": change, "first": result.roi_name(i), "second": result.roi_name(j)}
            if result.weighted and result.values is not None:
                position = pair_position(i, j, result.n_rois)
                connection |= {"before": float(result.original[position]), "after": float(result.values[position])}
            connections.append(connection)
    return connections


def from_dict(plain: dict[str, Any], atlas: Atlas | None = None) -> Counterfactual:
    """Make a result from plain values."""
    if plain.get("format") not in (FORMAT, *OLD_FORMATS):
        raise InputError(f"the format of a result must be {FORMAT!r}, not {plain.get('format')!r}")
    kind = "class" if plain["format"] == OLD_FORMATS[0] else "label"
    n = plain["n_regions"]
    changed, valid, alternatives = (plain.get(name) for name in ("changed_values", "valid_values", "alternatives"))
    positions = [int(pair_position(i, j, n)) for i, j in [*plain["added"], *plain["removed"]]]
    return Counterfactual(
        original=_original(plain, pair_count(n)),
        flips=np.array(sorted(positions), dtype=np.intp) if plain["found"] else None,
        original_label=plain[f"original_{kind}"],
        counterfactual_label=plain[f"counterfactual_{kind}"],
        calls_by_phase=dict(plain["calls_by_phase"]),
        method=plain["method"],
        parameters=dict(plain["parameters"]),
        stopped=plain["stopped"],
        trace=tuple((calls, distance) for calls, distance in plain["trace"]),
        graph_index=plain["graph_index"],
        run=plain["run"],
        subject=plain["subject"],
        named=plain.get("named", True),
        atlas=atlas,
        classes=None if plain["classes"] is None else tuple(plain["classes"]),
        units=tuple(_unit(each, n) for each in plain.get("units", [])),
        cost=plain["cost"],
        certificate=Certificate.from_dict(plain["certificate"]),
        why=plain.get("why", ""),
        changed_values=None if changed is None else _decode(changed, np.float32),
        measure=plain.get("measure", "edge"),
        valid_values=None if valid is None else _decode(valid, np.float32),
        alternatives=None if alternatives is None else _decode(alternatives, np.float32),
    )


def _unit(plain: dict[str, Any], n_rois: int) -> Unit:
    flips = np.array([int(pair_position(i, j, n_rois)) for i, j in plain["pairs"]], dtype=np.intp)
    return Unit(plain["number"], plain["change"], plain["words"], flips)


def _original(plain: dict[str, Any], n_pairs: int) -> Values:
    if not plain.get("weighted", False):
        return np.unpackbits(_decode(plain["original"], np.uint8), count=n_pairs).astype(np.bool_)
    values = _decode(plain["original"], np.float32)
    if values.size != n_pairs:
        raise InputError(f"a result must have a value for each of {n_pairs} pairs, not {values.size}")
    return values


def _encode(values: NDArray[Any]) -> str:
    """Return the bytes of an array as text, in little-endian order."""
    return base64.b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode()


def _decode(text: str, dtype: type[np.generic]) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype)


def _ends(flips: Indices, n_rois: int) -> list[list[int]]:
    return [list(pair) for pair in pairs_at(flips, n_rois)]
