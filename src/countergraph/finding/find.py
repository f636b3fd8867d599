"""The door: from a black box and graphs to counterfactuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import BlackBoxError, InputError, Interrupted
from countergraph.finding.constraints import Constraints
from countergraph.finding.request import Request
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Label, as_edge_vector
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.search.driver import Ask, Progress, run
from countergraph.search.record import Record


def find_counterfactual(
    black_box: object,
    graph: ArrayLike,
    method: str = "learned",
    dataset: GraphDataset | None = None,
    *,
    k: int = 5,
    max_calls: int = 2000,
    seed: int = 0,
    target: Label | None = None,
    time_limit: float | None = None,
    constraints: Constraints | None = None,
    scores: bool = False,
    confirm: bool = True,
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
        ``"learned"``, or the searches of the paper, ``"ofs+obs"``, ``"dfs+dbs"``, ...: see `countergraph.METHODS`.
    dataset
        Labelled graphs, for the data-driven methods; ``"learned"`` starts from them if there are any.
    k
        How many pairs change in one step.
    max_calls
        The most questions to the black box in each phase of the method.
    seed
        The same graph, method, parameters and seed give the same result, alone or in any company; with ``"learned"``,
        in the same company.
    target
        The class to reach, with more than two; by default any other counts.
    time_limit
        Seconds after which the search stops with the best it has.
    constraints
        What the counterfactual must keep to.
    scores
        Let ``"learned"`` use the probabilities of a black box that has ``predict_proba``. A graph is still one call,
        and its class still what ``predict`` says.
    confirm
        Ask about the result again at the end, since a black box may contradict itself: what does not hold is dropped
        for the best before it. It costs a call or two, and a few more where the black box is caught. With
        ``confirm=False`` the paper's methods count as in the paper; ``"learned"`` always confirms. What a time limit or
        Ctrl-C leaves is not confirmed.

    Returns
    -------
    Counterfactual
        With ``found`` False if there was none within the budget.
    """
    if isinstance(graph, GraphDataset | str):
        raise InputError("graph must be one graph, an array; find_counterfactuals takes data.subset([name])")
    edges = as_edge_vector(graph)[None]
    [result] = find_counterfactuals(
        black_box,
        edges,
        method,
        dataset,
        k=k,
        max_calls=max_calls,
        seed=seed,
        target=target,
        time_limit=time_limit,
        constraints=constraints,
        scores=scores,
        confirm=confirm,
    )
    return result


def find_counterfactuals(
    black_box: object,
    graphs: GraphDataset | ArrayLike,
    method: str = "learned",
    dataset: GraphDataset | None = None,
    *,
    k: int = 5,
    max_calls: int = 2000,
    seed: int = 0,
    target: Label | None = None,
    time_limit: float | None = None,
    runs: int | Sequence[int] = 1,
    progress: Callable[[Progress], None] | None = None,
    finished: Callable[[Counterfactual], None] | None = None,
    constraints: Constraints | None = None,
    scores: bool = False,
    confirm: bool = True,
) -> Counterfactuals:
    """Find counterfactuals of many graphs, several times each, all in lockstep.

    Parameters
    ----------
    graphs
        A `GraphDataset`, or a stack of matrices (m, n, n) or of edge vectors (m, pairs). A `GraphDataset` gives the
        results names and, if it holds more than one class, is the default ``dataset``.
    runs
        Searches for each graph: how many, or which. ``runs=[3]`` is the fourth of ``runs=4``, except where they learn
        from each other (`learned`).
    time_limit
        Seconds for all of it.
    progress
        Called with a `Progress` after every round.
    finished
        Called with each result as soon as its search is finished.
    black_box, method, dataset, k, max_calls, seed, target, constraints, scores, confirm
        As in `find_counterfactual`.

    Returns
    -------
    Counterfactuals
        In the order of the graphs, the runs of one graph next to each other.

    Raises
    ------
    BlackBoxError
        If the black box raises or answers nonsense. Its ``results`` are what was found until then; the same holds for
        `Interrupted`, which is raised at Ctrl-C.
    """
    check_time_limit(time_limit)
    request = Request.of(
        black_box,
        graphs,
        method=method,
        dataset=dataset,
        k=k,
        max_calls=max_calls,
        seed=seed,
        target=target,
        runs=runs,
        constraints=constraints,
        scores=scores,
        confirm=confirm,
    )
    return carry_out(request, request.ask, time_limit, progress, finished)


def check_time_limit(time_limit: object) -> None:
    """Refuse what is no number of seconds."""
    if time_limit is not None and (not isinstance(time_limit, int | float | np.number) or not time_limit > 0):
        raise InputError(f"time_limit must be a positive number of seconds, not {time_limit!r}")


def carry_out(
    request: Request,
    ask: Ask,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    finished: Callable[[Counterfactual], None] | None = None,
) -> Counterfactuals:
    """Search what is asked for. Whatever stops it gets to know what was found until then."""
    records: list[Record] = []

    def results() -> Counterfactuals:
        for record in records:
            record.hold_to_most()
        return Counterfactuals([request.result(number, record) for number, record in enumerate(records)])

    def tell(number: int) -> None:
        if finished is not None:
            finished(request.result(number, records[number]))

    try:
        run(ask, request.jobs, time_limit=time_limit, progress=progress, finished=tell, records=records)
    except BlackBoxError as error:
        error.results = results()
        raise
    except KeyboardInterrupt:
        interrupted = Interrupted("the search was interrupted; .results holds what was found")
        interrupted.results = results()
        raise interrupted from None
    return results()
