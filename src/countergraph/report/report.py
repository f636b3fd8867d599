"""A study and everything that is told about it: tables first; the page and the files are made of these."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from countergraph.classifiers.model import Model
from countergraph.constraints import Constraints
from countergraph.counterfactual import Counterfactual, Counterfactuals
from countergraph.errors import BlackBoxError, FileError, InputError, Interrupted, check_whole_numbers
from countergraph.explain.contrastive import changes
from countergraph.explain.diverse import Diverse
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.litmus import Litmus, litmus, used_vertices
from countergraph.explain.local import LocalExplanation
from countergraph.explain.plausibility import COLUMNS, plain_results, plausibility
from countergraph.explain.quality import PERCENTILES, compare_with_optimum, typical_people
from countergraph.find import find_counterfactuals
from countergraph.graphs.dataset import GraphDataset
from countergraph.oracle import Label
from countergraph.prove import certify
from countergraph.search.driver import Progress
from countergraph.search.methods import parse_method
from countergraph.store.resume import resume_counterfactuals
from countergraph.store.store import Store
from countergraph.version import __version__
from countergraph.white_box import white_box
from countergraph.wording import count

FORMAT = "countergraph-report/1"
LONGEST_NAME = 80


@dataclass(frozen=True, eq=False)
class Report:
    """What a classifier looks at in a cohort, and why some of its people are classified as they are.

    Parameters
    ----------
    black_box
        The classifier. It is asked nothing more; what it is known to be made of is told.
    data
        The cohort.
    results
        Counterfactuals of the graphs of the cohort.
    local
        For some people, many counterfactuals each.
    proven
        For some of these, their closest counterfactual with a certificate.
    closest
        Counterfactuals that were searched to be close, not to be many; they count for people, not for the cohort.
    diverse
        How many counterfactuals that differ each of these people is told, if as many were found.
    """

    black_box: object
    data: GraphDataset
    results: Counterfactuals
    local: dict[str, Counterfactuals] = field(default_factory=dict)
    proven: dict[str, Counterfactual] = field(default_factory=dict)
    closest: Counterfactuals = field(default_factory=lambda: Counterfactuals([]))
    diverse: int = 1

    def __post_init__(self) -> None:
        check_whole_numbers(diverse=(self.diverse, 1))
        if not len(self.results):
            raise InputError("a report needs at least one result")

    @cached_property
    def whole(self) -> GlobalExplanation | None:
        """The global explanation; None if no search found anything."""
        return GlobalExplanation(self.results) if self.results.found else None

    @cached_property
    def litmus(self) -> Litmus | None:
        """The litmus test, where the vertices that the classifier uses are known."""
        used = sorted({vertex for row in self.marks.values() for vertex in row})
        return litmus(self.whole, used) if used and self.whole and len(used) < self.data.n_regions else None

    @cached_property
    def marks(self) -> dict[str, tuple[int, ...]]:
        """The vertices that the classifier is known to use, by row of the strip."""
        return used_vertices(self.black_box, self.data.classes) if len(self.data.classes) == 2 else {}

    def person(self, name: str) -> Counterfactual:
        """Return the closest counterfactual of a person, or a search that found none."""
        if name in self.proven:
            return self.proven[name]
        own = [each for each in (*self.results, *self.closest) if each.subject == name]
        everything = Counterfactuals([*own, *self.local.get(name, ())])
        return everything.closest() or everything[0]

    def others(self, name: str) -> Counterfactuals:
        """Return other counterfactuals of a person that differ from the closest, and from each other."""
        told = replace(self.person(name), run=-1)  # the first of those as close
        pool = Counterfactuals([told, *self.local[name]]).found
        return Diverse(pool, self.diverse).chosen[1:] if told.found else pool[:0]

    def certified(self) -> Report:
        """Return the same report with what can be proven about the closest counterfactual of everybody shown."""
        people = {name: self.person(name) for name in self.local}
        proven = {name: _proven(self.black_box, each) for name, each in people.items() if each.found}
        return replace(self, proven=proven)

    @property
    def missing(self) -> list[str]:
        """Of whom no counterfactual was found, though one was looked for."""
        sought = [each for each in self.results if each.stopped != "already in target class"]
        return sorted({each.subject for each in sought} - {each.subject for each in self.results.found})

    @cached_property
    def people(self) -> dict[str, LocalExplanation | None]:
        """The people shown one by one, with their local explanation where enough was found."""
        return {name: LocalExplanation(runs) if runs.found else None for name, runs in self.local.items()}

    @cached_property
    def shown(self) -> Counterfactuals:
        """What the people shown one by one are told."""
        return Counterfactuals([self.person(name) for name in self.people])

    @property
    def has_costs(self) -> bool:
        """Whether costs were minimised, not numbers of changes."""
        return any(each.cost is not None for each in (*self.results, *self.closest))

    @cached_property
    def model_table(self) -> pd.DataFrame:
        """What is known of the classifier, and how often it is right."""
        asked = {each.graph_index: each.original_class for each in self.results if each.original_class is not None}
        agrees = np.mean([label == self.data.labels[index] for index, label in asked.items()]) if asked else math.nan
        rows: list[tuple[str, object]] = [("kind", type(self.black_box).__name__)]
        if isinstance(self.black_box, Model):
            rates = self.black_box.accuracy
            rows = [
                ("kind", f"{self.black_box.kind}, {self.black_box.settings['classifier']}"),
                ("accuracy on graphs it did not see (5 folds)", rates.cross_validated),
                ("the same, balanced over the classes", rates.balanced),
                ("area under the ROC curve on graphs it did not see", rates.auc),
                ("accuracy on the graphs it learnt from", rates.training),
                ("candidates it was chosen from", rates.chosen_from),
            ]
        rows.append(("agrees with the labels of this cohort", float(agrees)))
        rows.append(("always answering the larger class", float(np.bincount(self.data.labels).max() / len(self.data))))
        return pd.DataFrame([row for row in rows if row[1] is not None], columns=["what", "value"], dtype=object)

    @cached_property
    def search_table(self) -> pd.DataFrame:
        """How the search went, by the class that the classifier gives."""
        rows = []
        for label, name in enumerate(self.data.classes):
            own = self.results.where(lambda each, label=label: each.original_class == label)  # type: ignore[misc]
            if not len(own):
                continue
            row: dict[str, object] = {"classified as": name, "searches": len(own), "found": len(own.found)}
            distances = [each.distance for each in own.found]
            for p in PERCENTILES:
                row[f"changes {p}%"] = float(np.percentile(np.array(distances), p)) if distances else math.nan
            if self.has_costs:
                row["cost (median)"] = (
                    float(np.median([each.cost or 0 for each in own.found])) if distances else math.nan
                )
            row["questions (median)"] = float(np.median([each.calls for each in own]))
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def optimum_table(self) -> pd.DataFrame | None:
        """Distances beside the exact optimum, for a classifier that is linear in the edges."""
        free = not any(each.limited for each in self.results)
        if not free or len(self.data.classes) != 2 or white_box(self.black_box) is None or not self.results.found:
            return None
        return compare_with_optimum(self.results, self.black_box).reset_index(names="what")

    @cached_property
    def facts(self) -> dict[str, Any]:
        """How this was made."""
        first = self.results[0]
        return {
            "cohort": self.data.fingerprint,
            "atlas": self.data.atlas.name,
            "method": first.method,
            **first.parameters,
            "target": first.class_name(first.parameters.get("target")),
            "runs": 1 + max(each.run for each in self.results),
            "searches": len(self.results),
            "questions about the cohort": self.results.calls,
            "questions about some people": sum(some.calls for some in self.local.values()),
            "questions for the closest, by learned": self.closest.calls,
            "questions for proofs": sum(each.certificate.calls for each in self.proven.values()),
            "countergraph": __version__,
        }

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by name: what the page shows, and the CSV files hold in full."""
        tables = {
            "cohort": self.data.summary().reset_index(names="class"),
            "model": self.model_table,
            "search": self.search_table,
            "results": self.results.to_frame().join(plausibility(self.results, self.data)[list(COLUMNS)]),
        }
        if self.optimum_table is not None:
            tables["optimum"] = self.optimum_table
        if self.whole is not None:
            tables["regions"] = self.whole.roi_table
            if self.data.atlas.regions is not None:
                tables["cells"] = self.whole.cell_table()
            tables["pairs"] = self.whole.pair_table()
        if self.litmus is not None:
            tables["litmus"] = self.litmus.listing
        if self.people:
            told = ["subject", "distance", *(["cost"] if self.has_costs else []), "proven"]
            tables["plausibility"] = self.shown.to_frame()[told].join(
                plausibility(self.shown, self.data)[list(COLUMNS)]
            )
        for name, local in self.people.items():
            tables[f"changes of {name}"] = changes(self.person(name), self.data)
            if local is not None:
                tables[f"local of {name}"] = local.table
        return tables

    @cached_property
    def headline(self) -> str:
        """The report in three sentences."""
        found = self.results.found
        graphs = len({each.graph_index for each in self.results})
        text = f"{count(graphs, 'graph')}, {count(len(self.results), 'search')}, {count(len(found), 'counterfactual')}."
        if self.whole is None:
            return f"{text} Nothing that was tried changed the classifier's answer."
        middle = int(np.median([each.distance or 0 for each in found]))
        top = ", ".join(str(name) for name in self.whole.roi_importance.nlargest(3).index)
        return (
            f"{text} Half of them change {count(middle, 'connection')} or fewer. "
            f"The regions whose connections change most often: {top}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: the same numbers as the page, and every result."""
        told = dict(zip(self.people, plain_results(self.shown, self.data), strict=True))
        return {
            "format": FORMAT,
            "headline": self.headline,
            "facts": self.facts,
            "litmus": None
            if self.litmus is None
            else {"roc_auc": self.litmus.roc_auc, "average_precision": self.litmus.average_precision},
            "people": {
                name: {
                    **{key: told[name][key] for key in ("sentence", "distance", "cost", "plausibility")},
                    "proof": told[name]["certificate"]["proof"],
                    "others": plain_results(self.others(name), self.data),
                    "stability": None if local is None or math.isnan(local.stability) else local.stability,
                    "counterfactuals": 0 if local is None else len(local.results.found),
                }
                for name, local in self.people.items()
            },
            "tables": {name: json.loads(table.to_json(orient="records")) for name, table in self.tables.items()},
            "counterfactuals": plain_results(self.results, self.data),
        }

    def save(self, path: str | Path, format: str | None = None) -> None:  # noqa: A002 - the word users know
        """Write the report: ``"html"`` one page, ``"json"`` one file, ``"csv"`` a folder with a file for each table.

        By default the ending of ``path`` decides; a path without ending is a folder for CSV.
        """
        from countergraph.report.page import render

        path = Path(path)
        writers: dict[str, Callable[[], None]] = {
            "html": lambda: _write(path, render(self)),
            "json": lambda: _write(path, json.dumps(self.to_dict(), indent=1, allow_nan=False)),
            "csv": lambda: self._write_tables(path),
        }
        kind = format or path.suffix.removeprefix(".") or "csv"
        if kind not in writers:
            raise InputError(f"a report is written as {', '.join(writers)}, not {kind!r}")
        writers[kind]()

    def _write_tables(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in zip(file_names(self.tables), self.tables.values(), strict=True):
            table.to_csv(folder / f"{name}.csv", index=False)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error


def file_names(names: Iterable[str]) -> list[str]:
    """Turn any names into different ones that are safe and short enough for files."""
    taken: list[str] = []
    for name in names:
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:LONGEST_NAME]
        twins = sum(other.casefold() == safe.casefold() for other in taken)
        taken.append(f"{safe}-{len(taken)}" if twins else safe)
    return taken


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
    check_whole_numbers(diverse=(diverse, 1))
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


def _proven(black_box: object, result: Counterfactual) -> Counterfactual:
    """Prove what can be proven: nothing, of a black box that does not say again what it said."""
    try:
        return certify(black_box, result)
    except InputError:
        return result
