"""Searching with a store: only missing searches run, and every result is stored as soon as it is found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from countergraph.errors import InputError, Interrupted, StoppedError
from countergraph.finding.find import ProgressCallback, run_callback
from countergraph.finding.mismatch import warn_of_mismatches
from countergraph.finding.request import Request
from countergraph.finding.run import Finished, Progress, SearchRun
from countergraph.graphs.dataset import GraphDataset
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.search.driver import Asked
from countergraph.search.methods import Method, Phase
from countergraph.search.options import AUTO, SearchKeywords, SearchOptions, make_options, shows_search_options
from countergraph.search.protocol import SearchFunction
from countergraph.store.fingerprint import fingerprint
from countergraph.store.replay import Replay
from countergraph.store.row import Row, SearchKey
from countergraph.store.setting import Setting
from countergraph.store.store import Store

POLL_SECONDS = 0.2
"""How long to wait for searches that other processes have claimed."""
FIRST_CHUNK = 16
"""The number of independent searches that start together at first. An interruption loses those in progress, ..."""
QUICK, SLOW = 3.0, 12.0
"""... so the number doubles if a chunk took fewer seconds than ``QUICK``, and halves if it took more than ``SLOW``."""
Keep = Callable[[Row, float], None]
"""Called with each finished search and the seconds it took."""


@shows_search_options
def resume_counterfactuals(
    store: Store,
    black_box: object,
    graphs: GraphDataset,
    method: str | Phase | Method | SearchFunction = AUTO,
    dataset: GraphDataset | None = None,
    *,
    box: str | None = None,
    progress: ProgressCallback | None = None,
    **options: Unpack[SearchKeywords],
) -> Counterfactuals:
    """Find counterfactuals as `find_counterfactuals` does, and continue where an earlier call stopped.

    Searches that are in the store do not run again, and each result is stored immediately. So Ctrl-C, a crash or
    ``kill -9`` loses only the searches in progress: a few seconds of work, or one search if that takes longer. Searches
    that learn from each other are finished together; until then their answers are in the store, and are not requested
    again. Several processes may run the same call at the same time: they share the work.

    Parameters
    ----------
    store
        The store of finished searches.
    box
        The name and version of the black box. Required for anything but a `Model`, a `LinearRule`, and scikit-learn
        estimators and pipelines whose fitted state consists of plain arrays and trees.
    black_box, graphs, method, dataset, progress
        As in `find_counterfactuals`. The method must be registered.
    **options
        See `SearchOptions`; there is no ``time_limit``, because a call can be stopped at any time.

    Raises
    ------
    StoppedError, Interrupted
        As in `find_counterfactuals`; their ``results`` are those in the store and the partial ones.
    """
    if not isinstance(store, Store):
        raise InputError(f"store must be an open Store, not {store!r}: use with cg.Store(path) as store")
    if not isinstance(graphs, GraphDataset):
        raise InputError(f"resume_counterfactuals takes a GraphDataset, not a {type(graphs).__name__}")
    chosen = make_options(method, options)
    return resume_all(store, black_box, graphs, graphs if dataset is None else dataset, chosen, box, progress)


def resume_all(
    store: Store,
    black_box: object,
    graphs: GraphDataset,
    dataset: GraphDataset,
    options: SearchOptions,
    box: str | None = None,
    progress: ProgressCallback | None = None,
) -> Counterfactuals:
    """Do the same, with the options as one object."""
    _check_options(options)
    request = Request.of(black_box, graphs, dataset, options)
    box = fingerprint(black_box) if box is None else box
    setting = Setting.of_request(request, graphs.fingerprint, dataset.fingerprint, box)
    runs, indices = request.options.run_numbers, range(len(graphs))
    chunk, calls, total = FIRST_CHUNK, 0, len(graphs) * len(runs)

    def stored() -> Counterfactuals:
        results = store.results(setting, graphs, runs=runs, classes=request.classes)
        return Counterfactuals(request.with_alternatives(results))

    try:
        with store.renewed_claims():
            while missing := store.missing(setting, indices, runs):
                keys, began = store.claim(setting, indices, runs, chunk), time.monotonic()
                done = total - len({*missing, *keys})
                callback = _with_offset(progress, done, calls, total)
                calls += search(setting, request, keys, partial(store.add, setting), callback, store)
                if keys:
                    chunk = _next_chunk(chunk, time.monotonic() - began)
                else:
                    time.sleep(POLL_SECONDS)
    except (StoppedError, KeyboardInterrupt) as error:
        stopped = error if isinstance(error, StoppedError | Interrupted) else Interrupted("interrupted")
        stopped.results = _merged(stored(), stopped.results)
        raise stopped from error.__cause__
    results, mismatches = stored(), request.mismatches
    answers = {each.graph_index: each.original_label for each in results}
    cautions = [*mismatches.of_estimator(), *mismatches.of_answers(answers)]
    if calls and mismatches.reference is not None:
        cautions += mismatches.of_reference(request.classify_reference(mismatches.reference))
    warn_of_mismatches(cautions)
    return Counterfactuals(results, cautions=cautions)


def _check_options(options: SearchOptions) -> None:
    if options.time_limit is not None:
        raise InputError("time_limit cannot be used with a store: stop the call at any time, and repeat it to continue")
    if not options.parsed_method.is_registered:
        raise InputError(
            f"a store identifies a method by its name, but {options.parsed_method.name!r} is not registered: "
            "call countergraph.register_search first"
        )


def _next_chunk(chunk: int, seconds: float) -> int:
    """Return the number of searches to start together after ``chunk`` of them took this long."""
    return 2 * chunk if seconds < QUICK else max(1, chunk // 2) if seconds > SLOW else chunk


def _with_offset(progress: ProgressCallback | None, finished: int, calls: int, total: int) -> ProgressCallback | None:
    """Return a callback that adds what was finished before."""
    if progress is None:
        return None
    return lambda state: progress(Progress(finished + state.finished, total, calls + state.calls))


def _merged(stored: Counterfactuals, others: Iterable[Counterfactual]) -> Counterfactuals:
    """Return stored and other results, in the order of the graphs."""
    known = {(each.graph_index, each.run) for each in stored}
    new = [each for each in others if (each.graph_index, each.run) not in known]
    return Counterfactuals(sorted([*stored, *new], key=lambda each: (each.graph_index, each.run)))


def search(
    setting: Setting,
    request: Request,
    keys: Sequence[SearchKey],
    keep: Keep,
    progress: ProgressCallback | None = None,
    store: Store | None = None,
) -> int:
    """Run some searches of a request, and call ``keep`` with each as soon as it is finished; return the calls.

    With a store, the answers to searches that are finished together are stored until they are.
    """
    last, done, calls = time.perf_counter(), 0, 0

    def add(graphs: Sequence[int], result: Counterfactual) -> None:
        nonlocal last
        now = time.perf_counter()
        keep(Row.of(result, graphs[result.graph_index]), now - last)
        last = now

    for graphs, runs in _rectangles(keys, setting.is_joint):
        part = request.part(graphs, runs)
        replay = Replay(part.classify, store, setting, runs[0]) if setting.is_joint and store is not None else None
        callback = _with_offset(progress, done, calls, len(keys))
        try:
            with SearchRun.of(part, replay, warns=False) as run:
                for event in run:
                    if isinstance(event, Finished) and not setting.is_joint:
                        add(graphs, event.result)
                    if isinstance(event, Finished | Asked):
                        run_callback(callback, run.progress, run)
        except (StoppedError, Interrupted) as error:
            positions = [replace(each, graph_index=graphs[each.graph_index]) for each in error.results]
            error.results = Counterfactuals(positions)
            raise
        if setting.is_joint:
            for result in run.results:
                add(graphs, result)
        if replay is not None:
            replay.delete()
        done, calls = done + run.progress.total, calls + run.progress.calls
    return calls


def _rectangles(keys: Iterable[SearchKey], run_by_run: bool) -> list[tuple[list[int], list[int]]]:
    """Split searches into few groups, each all combinations of some graphs and some runs."""
    graphs_of: dict[int, list[int]] = {}
    for key in keys:
        graphs_of.setdefault(key.run, []).append(key.graph)
    runs_of: dict[tuple[int, ...], list[int]] = {}
    for run, graphs in graphs_of.items():
        runs_of.setdefault((*graphs, -1 - run) if run_by_run else tuple(graphs), []).append(run)
    return [([graph for graph in graphs if graph >= 0], runs) for graphs, runs in runs_of.items()]
