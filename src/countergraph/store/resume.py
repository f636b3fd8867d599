"""Searching with a store: only what is missing is searched, and every result is kept as soon as it is found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from countergraph.errors import BlackBoxError, InputError, Interrupted
from countergraph.finding.constraints import Constraints
from countergraph.finding.find import carry_out
from countergraph.finding.request import Request
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Label
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.search.driver import Progress
from countergraph.store.fingerprint import fingerprint
from countergraph.store.replay import Replay
from countergraph.store.row import Row, SearchKey
from countergraph.store.setting import Setting
from countergraph.store.store import Store

PAUSE = 0.2
FIRST = 16
"""How many searches that do not learn from each other are begun together at first ..."""
QUICK, SLOW = 3.0, 12.0
"""... twice as many next time where that took less than so many seconds, half as many where it took more: what is not
finished when something stops it is lost."""
Keep = Callable[[Row, float], None]
"""Called with a finished search and the seconds it took."""
Tell = Callable[[Progress], None]


def resume_counterfactuals(
    store: Store,
    black_box: object,
    graphs: GraphDataset,
    method: str = "learned",
    dataset: GraphDataset | None = None,
    *,
    k: int = 5,
    max_calls: int = 2000,
    seed: int = 0,
    target: Label | None = None,
    runs: int | Sequence[int] = 1,
    box: str | None = None,
    progress: Tell | None = None,
    constraints: Constraints | None = None,
    scores: bool = False,
    confirm: bool = True,
) -> Counterfactuals:
    """Find counterfactuals of many graphs as `find_counterfactuals` does, going on where an earlier call stopped.

    Whatever is in the store is not searched again, and whatever is found is in it at once, so that Ctrl-C, a crash or
    ``kill -9`` loses only what was being searched: some seconds' work, or one search where that takes longer. Searches
    that learn from each other are finished together; of those that were not, the answers are in the store, and are not
    asked for again. Several processes may do the same at once: they share the work.

    Parameters
    ----------
    store
        Where finished searches are kept.
    box
        What the black box is called, with its version. Needed for anything but a `Model`, a `LinearRule` and those of
        scikit-learn's estimators, and pipelines of them, that keep what they have learnt as plain arrays and trees.
    black_box, graphs, method, dataset, k, max_calls, seed, target, runs, progress, constraints, scores, confirm
        As in `find_counterfactuals`. A method whose searches share what they learn shares it within a run.

    Raises
    ------
    BlackBoxError, Interrupted
        As `find_counterfactuals` does; their ``results`` are what is in the store and what was found besides.
    """
    if not isinstance(graphs, GraphDataset):
        raise InputError(f"a store keeps searches of the graphs of a GraphDataset, not of a {type(graphs).__name__}")
    dataset = graphs if dataset is None else dataset
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
    box = fingerprint(black_box) if box is None else box
    setting = Setting.of(request, graphs.fingerprint, dataset.fingerprint, box)
    numbers = request.runs
    everybody, at_once, calls, total = range(len(graphs)), FIRST, 0, len(graphs) * len(numbers)
    finished = partial(store.results, setting, graphs, runs=numbers, classes=request.classes)
    try:
        with store.alive():
            while missing := store.missing(setting, everybody, numbers):
                places, began = store.claim(setting, everybody, numbers, at_once), time.monotonic()
                done = total - len({*missing, *places})
                keep, tell = partial(store.add, setting), _after(progress, done, calls, total)
                calls += search(setting, request, places, keep, tell, store)
                if places:
                    at_once = _next(at_once, time.monotonic() - began)
                else:
                    time.sleep(PAUSE)
    except (BlackBoxError, KeyboardInterrupt) as error:
        stopped = error if isinstance(error, BlackBoxError | Interrupted) else Interrupted("interrupted")
        stopped.results = _together(finished(), stopped.results)
        raise stopped from error.__cause__
    return finished()


def _next(at_once: int, seconds: float) -> int:
    """Return how many searches to begin together after so many took so long."""
    return 2 * at_once if seconds < QUICK else max(1, at_once // 2) if seconds > SLOW else at_once


def _after(progress: Tell | None, finished: int, calls: int, total: int) -> Tell | None:
    """Return what tells how far all searches are, when it is told how far those are that follow some others."""
    if progress is None:
        return None
    return lambda state: progress(Progress(finished + state.finished, total, calls + state.calls))


def _together(finished: Counterfactuals, others: Iterable[Counterfactual]) -> Counterfactuals:
    """Return finished searches and others, in the order of the graphs."""
    have = {(each.graph_index, each.run) for each in finished}
    more = [each for each in others if (each.graph_index, each.run) not in have]
    return Counterfactuals(sorted([*finished, *more], key=lambda each: (each.graph_index, each.run)))


def search(
    setting: Setting,
    request: Request,
    places: Sequence[SearchKey],
    keep: Keep,
    progress: Tell | None = None,
    store: Store | None = None,
) -> int:
    """Search some places of a request in lockstep, and hand each result to ``keep`` as soon as it is found.

    With a store, the answers to searches that are finished together are kept there until they are. Return how many
    questions were asked.
    """
    last, done, calls = time.perf_counter(), 0, 0

    def kept(graphs: Sequence[int], result: Counterfactual) -> None:
        nonlocal last
        now = time.perf_counter()
        keep(Row.of(result, graphs[result.graph_index]), now - last)
        last = now

    for graphs, runs in _rectangles(places, setting.shares):
        part = request.part(graphs, runs)
        replay = Replay(part.ask, store, setting, runs[0]) if setting.shares and store is not None else None
        at_once = None if setting.shares else partial(kept, graphs)
        try:
            tell = _after(progress, done, calls, len(places))
            results = carry_out(part, replay or part.ask, None, tell, at_once)
        except (BlackBoxError, Interrupted) as error:
            found = [replace(each, graph_index=graphs[each.graph_index]) for each in error.results]
            error.results = Counterfactuals(found)
            raise
        if setting.shares:
            for result in results:
                kept(graphs, result)
        if replay is not None:
            replay.end()
        done, calls = done + len(results), calls + results.calls
    return calls


def _rectangles(places: Iterable[SearchKey], run_by_run: bool) -> list[tuple[list[int], list[int]]]:
    """Split places into few groups, each all combinations of some graphs and some runs."""
    graphs_of: dict[int, list[int]] = {}
    for place in places:
        graphs_of.setdefault(place.run, []).append(place.graph)
    runs_of: dict[tuple[int, ...], list[int]] = {}
    for run, graphs in graphs_of.items():
        runs_of.setdefault((*graphs, -1 - run) if run_by_run else tuple(graphs), []).append(run)
    return [([graph for graph in graphs if graph >= 0], runs) for graphs, runs in runs_of.items()]
