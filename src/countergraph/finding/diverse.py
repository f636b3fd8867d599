"""Find several counterfactuals of one graph that have little in common."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import BlackBoxError, InputError, Interrupted, NoPairAllowedError, check_integers
from countergraph.finding.constraints import Constraints
from countergraph.finding.find import check_time_limit, find_counterfactuals
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, as_edge_vector, as_edge_vectors
from countergraph.results.counterfactual import Counterfactuals


def find_diverse(
    black_box: object,
    graph: GraphDataset | ArrayLike,
    m: int = 3,
    runs: int = 20,
    constraints: Constraints | None = None,
    time_limit: float | None = None,
    **options: Any,  # noqa: ANN401
) -> Counterfactuals:
    """Find counterfactuals to choose ``m`` different ones from (see `Diverse`).

    Besides ``runs`` independent searches, each of the ``m`` is looked for once more with all pairs frozen that those
    before it change, so that it shares nothing with them if that is possible.

    Parameters
    ----------
    black_box, constraints, options
        As in `find_counterfactuals`.
    graph
        One graph: a `GraphDataset` of one, or an array as `find_counterfactuals` takes.
    time_limit
        Seconds for all of it.
    """
    check_integers(m=(m, 1), runs=(runs, 1))
    check_time_limit(time_limit)
    graphs = graph if isinstance(graph, GraphDataset) else _stack(np.asarray(graph))
    if len(graphs) != 1:
        raise InputError(f"diverse counterfactuals are of one graph, not of {len(graphs)}")
    began, left = time.monotonic(), time_limit
    first = find_counterfactuals(black_box, graphs, runs=runs, constraints=constraints, time_limit=left, **options)
    results, best = list(first), first.closest()
    base = constraints or Constraints()
    while best is not None and len(results) < runs + m - 1:
        left = None if time_limit is None else began + time_limit - time.monotonic()
        if left is not None and left <= 0:
            break
        base = replace(base, frozen_pairs=[*base.frozen_pairs, *best.removed, *best.added])
        try:
            [other] = find_counterfactuals(black_box, graphs, constraints=base, time_limit=left, **options)
        except NoPairAllowedError:
            break
        except (BlackBoxError, Interrupted) as error:
            error.results = Counterfactuals([*results, *error.results])
            raise
        results.append(replace(other, run=len(results)))
        best = other if other.found else None
    return Counterfactuals(results)


def _stack(graph: NDArray[np.generic]) -> Bits:
    """Return edge vectors of what may be one graph, or several."""
    one = graph.ndim == 1 or (graph.ndim == 2 and len(graph) > 1 and graph.shape[0] == graph.shape[1])
    return as_edge_vector(graph)[None] if one else as_edge_vectors(graph)
