"""Make a report of a cohort: searches for all subjects, more searches for some of them, and certificates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Unpack

from countergraph.errors import InputError, Interrupted, StoppedError, check_integers
from countergraph.explain.quality import typical_people
from countergraph.finding.find import ProgressCallback, find_all
from countergraph.finding.request import Request
from countergraph.graphs.dataset import GraphDataset
from countergraph.report.report import Report
from countergraph.results.counterfactual import Counterfactuals
from countergraph.search.methods import Method, Phase
from countergraph.search.options import SearchKeywords, SearchOptions, make_options, shows_search_options
from countergraph.search.protocol import SearchFunction
from countergraph.store.resume import resume_all
from countergraph.store.store import Store

DEFAULT_RUNS = 5
SHORTEST = 0.01
"""Seconds for each of the remaining searches when the time limit is spent."""


@partial(shows_search_options, runs=DEFAULT_RUNS)
def make_report(
    black_box: object,
    data: GraphDataset,
    method: str | Phase | Method | SearchFunction | None = None,
    *,
    subjects: Sequence[str] | int = 4,
    local_runs: int = 200,
    diverse: int = 1,
    progress: ProgressCallback | None = None,
    store: Store | None = None,
    box: str | None = None,
    **options: Unpack[SearchKeywords],
) -> Report:
    """Explain a whole cohort, and some of its subjects in detail.

    Importance needs many independent counterfactuals, which ``method`` finds. The explanation of a single subject is
    the closest known counterfactual. So all graphs are searched once more with ``"learned"``, unless ``method`` is a
    joint method.

    Parameters
    ----------
    black_box, data, progress
        As in `find_counterfactuals`.
    method
        The searches. By default ``"ofs+obs"`` but, for a cohort of weighted networks, one run of ``"learned"``: random
        searches change several times as many pairs of dense networks as needed.
    subjects
        The subjects that are shown one by one: their names, or how many to select.
    local_runs
        The number of searches for each of them.
    diverse
        The number of different counterfactuals to show for each of them, as far as they were found.
    store, box
        Store every finished search, and continue where an earlier report stopped (see `resume_counterfactuals`).
    **options
        See `SearchOptions`; ``runs``, the number of searches per graph of the cohort, is 5 by default. ``time_limit``
        is for all searches together.
    """
    if not isinstance(data, GraphDataset):
        raise InputError(f"make_report takes a GraphDataset, not a {type(data).__name__}")
    if isinstance(subjects, int) and subjects < 0:
        raise InputError(f"subjects must be names or a number of at least 0, not {subjects}")
    check_integers(diverse=(diverse, 1), local_runs=(local_runs, 1))
    subjects = [subjects] if isinstance(subjects, str) else subjects
    for name in () if isinstance(subjects, int) else subjects:
        data.index(name)  # raises for an unknown name before the first search
    chosen = make_options("ofs+obs" if method is None else method, options, runs=DEFAULT_RUNS, amounts=True)
    of_cohort = chosen
    if method is None and data.weighted:
        of_cohort = replace(chosen, method="learned", runs=1)
    began = time.monotonic()

    def find(graphs: GraphDataset, options: SearchOptions) -> Counterfactuals:
        if options.time_limit is not None:
            left = began + options.time_limit - time.monotonic()
            options = replace(options, time_limit=max(left, SHORTEST))
        if store is not None:
            return resume_all(store, black_box, graphs, data, options, box, progress)
        return find_all(Request.of(black_box, graphs, data, options), progress)

    results = find(data, of_cohort)
    local: dict[str, Counterfactuals] = {}
    closest = Counterfactuals([])
    try:
        if subjects and not of_cohort.parsed_method.is_joint:
            closest = find(data, replace(chosen, method="learned", runs=1))
        pool = results if results.found else closest
        names = typical_people(pool, data, subjects) if isinstance(subjects, int) else list(subjects)
        for name in names:
            local[name] = find(data.subset([name]), replace(chosen, runs=local_runs))
        return Report(black_box, data, results, local, closest=closest, diverse=diverse).certified()
    except (StoppedError, KeyboardInterrupt) as error:
        stopped = error if isinstance(error, StoppedError | Interrupted) else Interrupted("interrupted")
        stopped.results = Counterfactuals([*results, *chain(*local.values()), *closest, *stopped.results])
        raise stopped from error.__cause__
