"""The door: from a black box and graphs to counterfactuals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from countergraph.classifiers.linear_rule import linear_form
from countergraph.classifiers.model import Model
from countergraph.constraints import Constraints
from countergraph.counterfactual import Counterfactual, Counterfactuals
from countergraph.errors import BlackBoxError, InputError, Interrupted, check_whole_numbers
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import SCORE_DIGITS, Bits, as_edge_vector, as_edge_vectors
from countergraph.oracle import Label, Oracle
from countergraph.search.conversation import Reference
from countergraph.search.driver import Job, Progress, run
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.methods import Phase, parse_method
from countergraph.search.optimum import closest_crossing
from countergraph.search.record import Record
from countergraph.vocabulary import Move, spoken, vocabulary


def find_counterfactual(
    black_box: object,
    graph: ArrayLike,
    method: str = "learned",
    dataset: GraphDataset | None = None,
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
    edges = as_edge_vector(graph)[None]
    options: dict[str, Any] = {"constraints": constraints, "scores": scores, "confirm": confirm}
    [result] = find_counterfactuals(
        black_box, edges, method, dataset, k, max_calls, seed, target, time_limit, **options
    )
    return result


def find_counterfactuals(
    black_box: object,
    graphs: GraphDataset | ArrayLike,
    method: str = "learned",
    dataset: GraphDataset | None = None,
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
        A `GraphDataset`, or a stack of matrices (m, n, n) or of edge vectors (m, pairs). A `GraphDataset` is also the
        default ``dataset``, and gives the results names.
    runs
        Independent searches for each graph: how many, or which. ``runs=[3]`` is the fourth of ``runs=4``.
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
    phases = parse_method(method)
    cohort = graphs if isinstance(graphs, GraphDataset) else None
    edges = cohort.edges if cohort is not None else as_edge_vectors(graphs)  # type: ignore[arg-type]
    dataset = dataset if dataset is not None else cohort
    check_whole_numbers(k=(k, 1), max_calls=(max_calls, 1), seed=(seed, 0))
    numbers = _run_numbers(runs)
    if time_limit is not None and (not isinstance(time_limit, int | float) or not time_limit > 0):
        raise InputError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
    _check_dataset(phases, dataset, edges)
    oracle = black_box if isinstance(black_box, Oracle) else Oracle(black_box)
    if scores:
        _check_scores(phases, oracle)
    classes = oracle.classes if dataset is None else dataset.classes
    target = _target(target, classes)
    reference = None if dataset is None else Reference(dataset.edges, dataset.labels)
    atlas = None if dataset is None else dataset.atlas
    confirms = confirm or any(phase.learns for phase in phases)
    limits = [NO_LIMITS if constraints is None else constraints.limits(graph, atlas, dataset) for graph in edges]
    words = [_moves(graph, atlas, limit) if _speaks(phases) else [] for graph, limit in zip(edges, limits, strict=True)]
    jobs = [
        Job(graph, phases, k, max_calls, _seed(graph, seed, run_), target, reference, limit, moves, confirms)
        for graph, limit, moves in zip(edges, limits, [[move.flips for move in own] for own in words], strict=True)
        for run_ in numbers
    ]
    parameters: dict[str, Any] = {"k": int(k), "max_calls": int(max_calls), "seed": int(seed), "target": target}
    if constraints is not None:
        parameters["constraints"] = constraints.describe()
    if scores:
        parameters["scores"] = True
    if not confirms:
        parameters["confirm"] = False
    records: list[Record] = []

    def result(number: int) -> Counterfactual:
        job, record = jobs[number], records[number]
        index, run_ = divmod(number, len(numbers))
        return Counterfactual(
            original=job.graph,
            flips=None if record.best is None else np.sort(record.best),
            original_class=record.label,
            counterfactual_class=record.best_label,
            calls_by_phase=record.calls,
            method="+".join(phase.name for phase in phases),
            parameters=parameters,
            stopped=record.stopped or "interrupted",
            trace=tuple(record.trace),
            graph_index=index,
            run=numbers[run_],
            subject=f"Graph {index}" if cohort is None else cohort.names[index],
            atlas=None if cohort is None else cohort.atlas,
            moves=() if record.best is None else tuple(spoken(record.best, words[index])),
            cost=None if job.limits.costs is None or record.best is None else job.limits.rank(record.best)[1],
            classes=classes,
        )

    def results() -> Counterfactuals:
        return Counterfactuals([result(number) for number in range(len(jobs))])

    def tell(number: int) -> None:
        if finished is not None:
            finished(result(number))

    try:
        run(
            lambda batch: (oracle.ask_with_scores if scores else oracle.ask)(batch, classes),
            jobs,
            time_limit=time_limit,
            progress=progress,
            finished=tell,
            records=records,
        )
    except BlackBoxError as error:
        error.results = results()
        raise
    except KeyboardInterrupt:
        for record in records:
            record.hold_to_most()
        interrupted = Interrupted("the search was interrupted; .results holds what was found")
        interrupted.results = results()
        raise interrupted from None
    return results()


def optimal_counterfactual(rule: object, graph: ArrayLike) -> Counterfactual:
    """Return a closest counterfactual of a classifier that is linear in the edges: no other has fewer changes.

    Parameters
    ----------
    rule
        A `LinearRule`, a linear scikit-learn classifier on edge vectors, or `ContrastSubgraphs` with a linear one.
    graph
        An adjacency matrix (n, n) or an edge vector (pairs,).
    """
    linear = linear_form(rule.estimator if isinstance(rule, Model) else rule)
    if linear is None:
        raise InputError(
            f"the optimum is known only for two-class classifiers that are linear in the edges; {rule!r} is not one"
        )
    edges = as_edge_vector(graph)
    coefficients, intercept = np.asarray(linear.coef_).ravel(), float(np.asarray(linear.intercept_).ravel()[0])
    if coefficients.size != edges.size:
        raise InputError(f"the rule has {coefficients.size} pairs, the graph {edges.size}: they differ in regions")
    flips = closest_crossing(edges, coefficients, intercept)
    above = round(float(coefficients[edges].sum() + intercept), SCORE_DIGITS) > 0
    low, high = np.asarray(linear.classes_).tolist()
    return Counterfactual(
        original=edges,
        flips=flips,
        original_class=high if above else low,
        counterfactual_class=None if flips is None else low if above else high,
        calls_by_phase={},
        method="optimum",
        parameters={},
        stopped="finished" if flips is not None else "not found",
    )


def _check_dataset(phases: tuple[Phase, ...], dataset: object, edges: Bits) -> None:
    if dataset is not None and not isinstance(dataset, GraphDataset):
        raise InputError(f"dataset must be a GraphDataset, not {type(dataset).__name__}")
    needing = [phase.name for phase in phases if phase.needs_dataset]
    if needing and dataset is None:
        learn = "learn" if len(needing) > 1 else "learns"
        raise InputError(f"{' and '.join(needing)} {learn} from labelled graphs: give a GraphDataset as dataset=")
    if dataset is not None and dataset.edges.shape[1] != edges.shape[1]:
        raise InputError(
            f"the graphs have {edges.shape[1]} pairs, the dataset {dataset.edges.shape[1]}: they differ in regions"
        )


def _speaks(phases: tuple[Phase, ...]) -> bool:
    return any(phase.needs_moves for phase in phases)


def _moves(graph: Bits, atlas: Atlas | None, limits: Limits) -> list[Move]:
    """Return the moves of a graph that may be made as a whole."""
    if limits.keep_edges or limits.keep_connected:
        raise InputError("whole moves cannot keep the number of edges, or the graph connected; choose another method")
    moves = vocabulary(graph, atlas)
    return moves if limits.allowed is None else [move for move in moves if limits.allowed[move.flips].all()]


def _check_scores(phases: tuple[Phase, ...], oracle: Oracle) -> None:
    if not any(phase.learns for phase in phases):
        method = "+".join(phase.name for phase in phases)
        raise InputError(f"scores=True is for searches that learn, such as 'learned'; {method!r} uses classes only")
    if not oracle.has_probabilities:
        raise InputError("scores=True needs probabilities, but the black box has no method predict_proba")


def _target(target: Label | None, classes: tuple[str, ...] | None) -> Label | None:
    if target is None or classes is None:
        return int(target) if isinstance(target, np.integer) else target
    if isinstance(target, str) and target in classes:
        return classes.index(target)
    if isinstance(target, int | np.integer) and 0 <= target < len(classes):
        return int(target)
    raise InputError(f"target must be one of the classes {', '.join(classes)} (or its label), not {target!r}")


def _seed(graph: Bits, seed: int, run_: int) -> np.random.SeedSequence:
    """Seed a search by what it searches, not by where it stands, so that company never matters."""
    digest = hashlib.blake2b(np.packbits(graph).tobytes(), digest_size=8).digest()
    return np.random.SeedSequence([seed, run_, int.from_bytes(digest, "little")])


def _run_numbers(runs: int | Sequence[int]) -> list[int]:
    if not isinstance(runs, Sequence):
        check_whole_numbers(runs=(runs, 1))
        return list(range(runs))
    for number in runs:
        check_whole_numbers(runs=(number, 0))
    if not runs:
        raise InputError("runs must name at least one run")
    return [int(number) for number in runs]
