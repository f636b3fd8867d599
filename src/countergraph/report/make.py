"""From a black box and a cohort to a report: many searches for the cohort, more for some people, and what is proven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from countergraph.errors import BlackBoxError, InputError, Interrupted, check_integers
from countergraph.explain.quality import typical_people
from countergraph.finding.constraints import Constraints
from countergraph.finding.find import find_counterfactuals
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Label
from countergraph.report.report import Report
from countergraph.results.counterfactual import Counterfactuals
from countergraph.search.driver import Progress
from countergraph.search.methods import parse_method
from countergraph.store.resume import resume_counterfactuals
from countergraph.store.store import Store


def make_report(
    black_box: object,
    data: GraphDataset,
    method: str = "ofs+obs",
    *,
    runs: int = 5,
    subjects: Sequence[str] | int = 4,
    local_runs: int = 200,
    k: int = 5,
    max_calls: int = 2000,
    seed: int = 0,
    constraints: Constraints | None = None,
    progress: Callable[[Progress], None] | None = None,
    store: Store | None = None,
    box: str | None = None,
    scores: bool = False,
    target: Label | None = None,
    confirm: bool = True,
    diverse: int = 1,
) -> Report:
    """Explain a whole cohort, and some of its people in depth.

    Importance takes many independent counterfactuals, which ``method`` finds. What a person is told is the closest one
    that is known, so all graphs are searched once more together, by ``learned``, unless ``method`` learns itself or
    speaks in whole moves.

    Parameters
    ----------
    black_box, data, method, k, max_calls, seed, constraints, progress, scores, target, confirm
        As in `find_counterfactuals`.
    runs
        Searches for each graph of the cohort.
    subjects
        Whom to show one by one: their names, or how many to choose.
    local_runs
        Searches for each of them.
    diverse
        How many counterfactuals that differ to tell each of them, of those found.
    store, box
        Keep every finished search in a store, and go on where an earlier report stopped (see
        `resume_counterfactuals`).
    """
    if not isinstance(data, GraphDataset):
        raise InputError(f"a report is of a GraphDataset, not of a {type(data).__name__}")
    if isinstance(subjects, int) and subjects < 0:
        raise InputError(f"subjects must be names or a number of at least 0, not {subjects}")
    check_integers(diverse=(diverse, 1))
    subjects = [subjects] if isinstance(subjects, str) else subjects
    for name in () if isinstance(subjects, int) else subjects:
        data.index(name)  # refuses a name that is not there before anything is searched
    options: dict[str, Any] = {"k": k, "max_calls": max_calls, "seed": seed, "progress": progress}
    options |= {"constraints": constraints, "scores": scores, "target": target, "confirm": confirm}
    find: Callable[..., Counterfactuals] = find_counterfactuals
    if store is not None:
        find = partial(resume_counterfactuals, store, box=box)
    results = find(black_box, data, method, runs=runs, **options)
    names = typical_people(results, data, subjects) if isinstance(subjects, int) else list(subjects)
    local: dict[str, Counterfactuals] = {}
    closest = Counterfactuals([])
    try:
        for name in names:
            local[name] = find(black_box, data.subset([name]), method, data, runs=local_runs, **options)
        if names and not any(phase.learns or phase.needs_moves for phase in parse_method(method)):
            closest = find(black_box, data, "learned", **options)
        return Report(black_box, data, results, local, closest=closest, diverse=diverse).certified()
    except (BlackBoxError, KeyboardInterrupt) as error:
        stopped = error if isinstance(error, BlackBoxError | Interrupted) else Interrupted("interrupted")
        stopped.results = Counterfactuals([*results, *chain(*local.values()), *closest, *stopped.results])
        raise stopped from error.__cause__
