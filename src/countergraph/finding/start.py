"""Known counterfactuals to start from (warm start)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import InputError
from countergraph.graphs.pairs import Values, as_value_vector, as_value_vectors
from countergraph.results.counterfactual import Counterfactual
from countergraph.search.options import SearchOptions
from countergraph.search.protocol import Flips

Start = Counterfactual | Iterable[Counterfactual] | ArrayLike
"""Results of earlier searches, or the changed graphs themselves: one graph, or as many as are searched."""


def start_flips(start: Start, edges: Values, options: SearchOptions) -> tuple[Flips | None, ...]:
    """Return the flips to start from for each graph (graphs, pairs); None for graphs without a start."""
    if not any(phase.direction == "backward" or phase.improves_start for phase in options.phases):
        name = options.parsed_method.name
        raise InputError(f"method {name!r} cannot improve a start; add a backward search, such as '{name}+obs'")
    if isinstance(start, Counterfactual):
        return _from_results([start], edges, options)
    if isinstance(start, np.ndarray) and options.unit == "pair":
        return _from_graphs(start, edges)
    given = list(start) if isinstance(start, Iterable) else start
    results = [each for each in given if isinstance(each, Counterfactual)] if isinstance(given, list) else []
    if results and len(results) == len(given):  # type: ignore[arg-type]
        return _from_results(results, edges, options)
    if results:
        raise InputError("start must contain only Counterfactual objects, or be an array of changed graphs")
    if options.unit != "pair":
        raise InputError(f"with unit={options.unit!r}, start must contain results of searches with the same unit")
    return _from_graphs(given, edges)  # type: ignore[arg-type]


def _from_results(results: Iterable[Counterfactual], edges: Values, options: SearchOptions) -> tuple[Flips | None, ...]:
    positions: dict[bytes, list[int]] = {}
    for index, graph in enumerate(edges):
        positions.setdefault(graph.tobytes(), []).append(index)
    starts: list[Flips | None] = [None] * len(edges)
    for result in results:
        if result.original.tobytes() not in positions:
            raise InputError(f"start contains a counterfactual of {result.subject}, which is not one of the graphs")
        for index in positions[result.original.tobytes()]:
            best, flips = starts[index], _positions(result, options)
            if flips is not None and (best is None or flips.size < best.size):
                starts[index] = flips
    return tuple(starts)


def _positions(result: Counterfactual, options: SearchOptions) -> Flips | None:
    """Return the changes of a result in the units of the search."""
    unit = result.parameters.get("unit", "pair")
    if unit != options.unit and options.unit != "pair":
        raise InputError(
            f"start contains a counterfactual of {result.subject} with unit={unit!r}, but the search has "
            f"unit={options.unit!r}"
        )
    if result.flips is None or options.unit == "pair":
        return result.flips
    return np.array([each.number for each in result.units], dtype=np.intp)


def _from_graphs(graphs: ArrayLike, edges: Values) -> tuple[Flips | None, ...]:
    array = np.asarray(graphs)
    single = len(edges) == 1 and array.ndim < 3 and array.shape != edges.shape
    changed = as_value_vector(array, "start")[None] if single else as_value_vectors(array, "start")
    if changed.shape != edges.shape:
        raise InputError(
            f"start must contain one changed graph for each of the {len(edges)} graphs with {edges.shape[1]} pairs; "
            f"it contains {changed.shape[0]} graphs with {changed.shape[1]} pairs"
        )
    flips = [np.flatnonzero(before != after) for before, after in zip(edges, changed, strict=True)]
    return tuple(each if each.size else None for each in flips)
