"""The public functions that find counterfactuals: loops over a `SearchRun`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from numpy.typing import ArrayLike

from countergraph.errors import CallbackError, InputError, Interrupted
from countergraph.finding.inputs import are_counts
from countergraph.finding.request import Request
from countergraph.finding.run import Finished, Progress, SearchRun, interrupted
from countergraph.finding.start import Start
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import as_value_vector
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.search.driver import Asked
from countergraph.search.methods import Method, Phase
from countergraph.search.options import AUTO, SearchKeywords, make_options, shows_search_options
from countergraph.search.protocol import SearchFunction

ProgressCallback = Callable[[Progress], object]
ResultCallback = Callable[[Counterfactual], object]


@shows_search_options
def find_counterfactual(
    black_box: object,
    graph: ArrayLike,
    method: str | Phase | Method | SearchFunction = AUTO,
    dataset: GraphDataset | None = None,
    *,
    start: Start | None = None,
    **options: Unpack[SearchKeywords],
) -> Counterfactual:
    """Find the smallest change of one graph that changes its class.

    Parameters
    ----------
    black_box
        Any classifier: an object with ``predict`` on edge vectors (batch, pairs), a callable on adjacency matrices
        (batch, n, n), or an `Oracle` around anything else.
    graph
        An adjacency matrix (n, n) or an edge vector (pairs,).
    method
        See `SearchOptions`.
    dataset
        Labelled graphs for the data-driven methods, and prior knowledge for ``"learned"``.
    start
        A known counterfactual to improve (see `SearchRun`).
    **options
        See `SearchOptions`; ``runs`` must be 1.

    Returns
    -------
    Counterfactual
        With ``found`` False if there was none within the budget.
    """
    if isinstance(graph, GraphDataset | str):
        raise InputError("graph must be one graph, an array; find_counterfactuals takes data.subset([name])")
    values = as_value_vector(graph, weighted=are_counts(graph, dataset))[None]
    chosen = make_options(method, options)
    if len(chosen.run_numbers) != 1:
        raise InputError("find_counterfactual returns one result, so runs must be 1; use find_counterfactuals")
    request = Request.of(black_box, values, dataset, chosen, start)
    request.check_subject_is_known()
    [result] = find_all(request)
    return result


@shows_search_options
def find_counterfactuals(
    black_box: object,
    graphs: GraphDataset | ArrayLike,
    method: str | Phase | Method | SearchFunction = AUTO,
    dataset: GraphDataset | None = None,
    *,
    start: Start | None = None,
    progress: ProgressCallback | None = None,
    finished: ResultCallback | None = None,
    **options: Unpack[SearchKeywords],
) -> Counterfactuals:
    """Find counterfactuals of many graphs in a joint run, one or more searches per graph.

    Parameters
    ----------
    black_box
        As in `find_counterfactual`.
    graphs
        A `GraphDataset`, or a stack of matrices (m, n, n) or of edge vectors (m, pairs). The results of a
        `GraphDataset` have its names and, if it has more than one class, it is the default ``dataset``.
    method, dataset, start
        See `SearchRun`.
    progress
        Called with a `Progress` after every batch.
    finished
        Called with each result as soon as its search is finished.
    **options
        See `SearchOptions`.

    Returns
    -------
    Counterfactuals
        In the order of the graphs; the runs of one graph are consecutive.

    Raises
    ------
    BlackBoxError, CallbackError, Interrupted
        If the black box or a callback raises, or at Ctrl-C. The attribute ``results`` holds the partial results.
    """
    request = Request.of(black_box, graphs, dataset, make_options(method, options), start)
    return find_all(request, progress, finished)


def find_all(
    request: Request, progress: ProgressCallback | None = None, finished: ResultCallback | None = None
) -> Counterfactuals:
    """Run a request to its end, and call the callbacks."""
    run = SearchRun.of(request)
    try:
        with run:
            for event in run:
                if isinstance(event, Finished):
                    run_callback(finished, event.result, run)
                if isinstance(event, Finished | Asked):
                    run_callback(progress, run.progress, run)
        return run.results
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise interrupted(run) from None


def run_callback(callback: Callable[[Any], object] | None, value: object, run: SearchRun) -> None:
    """Call a callback of the user; if it raises, raise `CallbackError` with the partial results of the run."""
    if callback is None:
        return
    try:
        callback(value)
    except KeyboardInterrupt:
        raise interrupted(run) from None
    except Exception as error:
        stopped = CallbackError(
            f"a callback raised {type(error).__name__}: {error}; the attribute results holds the partial results"
        )
        stopped.results = run.results
        raise stopped from error
