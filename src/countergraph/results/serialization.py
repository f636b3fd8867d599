"""Results as plain values for JSON, and back."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Indices, pair_count, pair_position, pairs_at
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.vocabulary import Move

FORMAT = "countergraph-counterfactual/3"
OLD_FORMAT = "countergraph-counterfactual/2"
"""The format of versions 0.8 and 0.9: the keys of the classes hold labels, not names."""


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
        "connections": [
            {"change": change, "first": result.roi_name(i), "second": result.roi_name(j)}
            for change, pairs in (("added", result.added), ("removed", result.removed))
            for i, j in pairs
        ],
        "calls": result.calls,
        "calls_by_phase": dict(result.calls_by_phase),
        "trace": [list(point) for point in result.trace],
        "moves": [
            {"change": move.change, "words": move.words, "pairs": _ends(move.flips, result.n_rois)}
            for move in result.moves
        ],
        "cost": result.cost,
        "certificate": result.certificate.to_dict(),
        "sentence": result.sentence,
        "n_regions": result.n_rois,
        "original": base64.b64encode(np.packbits(result.original).tobytes()).decode(),
    }


def from_dict(plain: dict[str, Any], atlas: Atlas | None = None) -> Counterfactual:
    """Make a result from plain values."""
    if plain.get("format") not in (FORMAT, OLD_FORMAT):
        raise InputError(f"the format of a result must be {FORMAT!r}, not {plain.get('format')!r}")
    kind = "class" if plain["format"] == OLD_FORMAT else "label"
    n = plain["n_regions"]
    packed = np.frombuffer(base64.b64decode(plain["original"]), dtype=np.uint8)
    positions = [int(pair_position(i, j, n)) for i, j in [*plain["added"], *plain["removed"]]]
    return Counterfactual(
        original=np.unpackbits(packed, count=pair_count(n)).astype(np.bool_),
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
        moves=tuple(
            Move(move["change"], move["words"], np.array([int(pair_position(i, j, n)) for i, j in move["pairs"]]))
            for move in plain["moves"]
        ),
        cost=plain["cost"],
        certificate=Certificate.from_dict(plain["certificate"]),
        why=plain.get("why", ""),
    )


def _ends(flips: Indices, n_rois: int) -> list[list[int]]:
    return [list(pair) for pair in pairs_at(flips, n_rois)]
