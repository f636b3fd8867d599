"""Find several counterfactuals of one graph that have little in common."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import InputError, Interrupted, NoPairAllowedError, StoppedError, check_integers
from countergraph.finding.constraints import Constraints
from countergraph.finding.find import ProgressCallback, find_all
from countergraph.finding.inputs import are_counts
from countergraph.finding.request import Request
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Values, as_value_vectors
from countergraph.results.counterfactual import Counterfactuals
from countergraph.search.methods import Method, Phase
from countergraph.search.options import SearchKeywords, make_options, shows_search_options
from countergraph.search.protocol import SearchFunction

DEFAULT_RUNS = 20


@partial(shows_search_options, runs=DEFAULT_RUNS)
def find_diverse(
    black_box: object,
    graph: GraphDataset | ArrayLike,
    m: int = 3,
    method: str | Phase | Method | SearchFunction = "learned",
    dataset: GraphDataset | None = None,
    *,
    progress: ProgressCallback | None = None,
    **options: Unpack[SearchKeywords],
) -> Counterfactuals:
    """Find a pool of counterfactuals from which `Diverse` selects ``m`` that differ.

    After ``runs`` independent searches (default 20), up to ``m - 1`` further searches freeze all pairs that the
    counterfactuals before them change, so that their results have no change in common if that is possible.

    Parameters
    ----------
    black_box, method, dataset, progress
        As in `find_counterfactuals`.
    graph
        One graph: a `GraphDataset` of one, or an array as in `find_counterfactuals`.
    m
        The number of counterfactuals to select later.
    **options
        See `SearchOptions`. ``time_limit`` is for all searches together.
    """
    check_integers(m=(m, 1))
    chosen = make_options(method, options, runs=DEFAULT_RUNS)
    graphs = graph if isinstance(graph, GraphDataset) else _stack(np.asarray(graph), dataset)
    if len(graphs) != 1:
        raise InputError(f"find_diverse takes one graph, not {len(graphs)}")
    began, runs = time.monotonic(), len(chosen.run_numbers)
    request = Request.of(black_box, graphs, dataset, chosen)
    request.check_subject_is_known()
    first = find_all(request, progress)
    results, best = list(first), first.closest()
    constraints = chosen.constraints if isinstance(chosen.constraints, Constraints) else Constraints()
    while best is not None and len(results) < runs + m - 1:
        left = None if chosen.time_limit is None else began + chosen.time_limit - time.monotonic()
        if left is not None and left <= 0:
            break
        frozen = [*constraints.frozen_pairs, *best.removed, *best.added]
        constraints = replace(constraints, frozen_pairs=frozen)
        try:
            one = replace(chosen, runs=1, constraints=constraints, time_limit=left)
            [other] = find_all(Request.of(black_box, graphs, dataset, one), progress)
        except NoPairAllowedError:
            break
        except (StoppedError, Interrupted) as error:
            error.results = Counterfactuals([*results, *error.results])
            raise
        if not other.found and other.calls == 1:
            break  # no pair is left that can change
        results.append(replace(other, run=1 + max(each.run for each in results)))
        best = other if other.found else None
    return Counterfactuals(results, first.shared_calls, first.cautions)


def _stack(graph: NDArray[np.generic], dataset: GraphDataset | None) -> Values:
    """Return the vectors of one network or of several."""
    one = graph.ndim == 1 or (graph.ndim == 2 and len(graph) > 1 and graph.shape[0] == graph.shape[1])
    return as_value_vectors(graph[None] if one else graph, weighted=are_counts(graph, dataset))
