"""Searching with a store: only what is missing is searched, and every result is kept as soon as it is found."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from countergraph.constraints import Constraints
from countergraph.counterfactual import Counterfactual, Counterfactuals
from countergraph.errors import BlackBoxError, Interrupted
from countergraph.experiments.fingerprint import fingerprint
from countergraph.experiments.replay import Replay
from countergraph.experiments.row import Place, Row
from countergraph.experiments.setting import Setting
from countergraph.experiments.store import Store
from countergraph.find import carry_out
from countergraph.graphs.dataset import GraphDataset
from countergraph.oracle import Label
from countergraph.request import Request
from countergraph.search.driver import Progress

PAUSE = 0.2
Keep = Callable[[Row, float], None]
"""Told a finished search and the seconds it took."""


def resume_counterfactuals(
    store: Store,
    black_box: object,
    graphs: GraphDataset,
    method: str = "learned",
    dataset: GraphDataset | None = None,
    k: int = 5,
    max_calls: int = 2000,
    seed: int = 0,
    target: Label | None = None,
    runs: int | Sequence[int] = 1,
    box: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    constraints: Constraints | None = None,
    scores: bool = False,
    confirm: bool = True,
) -> Counterfactuals:
    """Find counterfactuals of many graphs as `find_counterfactuals` does, going on where an earlier call stopped.

    Whatever is in the store is not searched again, and whatever is found is in it at once, so that Ctrl-C, a crash or
    ``kill -9`` loses only what was being searched. Searches that learn from each other are finished together; of those
    that were not, the answers are in the store, and are not asked for again. Several processes may do the same at
    once: they share the work.

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
    dataset = graphs if dataset is None else dataset
    question = (method, dataset, k, max_calls, seed, target, runs, constraints, scores, confirm)
    request = Request.of(black_box, graphs, *question)
    box = fingerprint(black_box) if box is None else box
    setting = Setting.of(request, graphs.fingerprint, dataset.fingerprint, box)
    numbers = request.runs
    everybody = range(len(graphs))
    finished = partial(store.results, setting, graphs, runs=numbers, classes=request.classes)
    try:
        with store.alive():
            while store.missing(setting, everybody, numbers):
                places = store.claim(setting, everybody, numbers)
                keep = partial(store.add, setting)
                search(setting, black_box, graphs, dataset, places, keep, progress, constraints, store)
                if not places:
                    time.sleep(PAUSE)
    except (BlackBoxError, KeyboardInterrupt) as error:
        stopped = error if isinstance(error, BlackBoxError | Interrupted) else Interrupted("interrupted")
        stopped.results = _together(finished(), stopped.results)
        raise stopped from error.__cause__
    return finished()


def _together(finished: Counterfactuals, others: Iterable[Counterfactual]) -> Counterfactuals:
    """Return finished searches and others, in the order of the graphs."""
    have = {(each.graph_index, each.run) for each in finished}
    more = [each for each in others if (each.graph_index, each.run) not in have]
    return Counterfactuals(sorted([*finished, *more], key=lambda each: (each.graph_index, each.run)))


def search(
    setting: Setting,
    black_box: object,
    data: GraphDataset,
    dataset: GraphDataset,
    places: Iterable[Place],
    keep: Keep,
    progress: Callable[[Progress], None] | None = None,
    constraints: Constraints | None = None,
    store: Store | None = None,
) -> None:
    """Search some places of a setting in lockstep, and hand each result to ``keep`` as soon as it is found.

    With a store, the answers to searches that are finished together are kept there until they are.
    """
    last = time.perf_counter()

    def kept(graphs: Sequence[int], result: Counterfactual) -> None:
        nonlocal last
        now = time.perf_counter()
        keep(Row.of(result, graphs[result.graph_index]), now - last)
        last = now

    budget = (setting.k, setting.max_calls, setting.seed, setting.target)
    scores = "scores" in json.loads(setting.asked)
    for graphs, runs in _rectangles(places, setting.shares):
        question = (setting.method, dataset, *budget, runs, constraints, scores, setting.confirm)
        request = Request.of(black_box, data.subset(graphs), *question)
        replay = Replay(request.ask, store, setting, runs[0]) if setting.shares and store is not None else None
        at_once = None if setting.shares else partial(kept, graphs)
        try:
            results = carry_out(request, replay or request.ask, None, progress, at_once)
        except (BlackBoxError, Interrupted) as error:
            found = [replace(each, graph_index=graphs[each.graph_index]) for each in error.results]
            error.results = Counterfactuals(found)
            raise
        if setting.shares:
            for result in results:
                kept(graphs, result)
        if replay is not None:
            replay.end()


def _rectangles(places: Iterable[Place], run_by_run: bool) -> list[tuple[list[int], list[int]]]:
    """Split places into few groups, each all combinations of some graphs and some runs."""
    graphs_of: dict[int, list[int]] = {}
    for place in places:
        graphs_of.setdefault(place.run, []).append(place.graph)
    runs_of: dict[tuple[int, ...], list[int]] = {}
    for run, graphs in graphs_of.items():
        runs_of.setdefault((*graphs, -1 - run) if run_by_run else tuple(graphs), []).append(run)
    return [([graph for graph in graphs if graph >= 0], runs) for graphs, runs in runs_of.items()]
