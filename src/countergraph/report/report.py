"""A study and everything that is told about it: tables first; the page and the files are made of these."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from countergraph.errors import InputError, check_integers, unknown_name
from countergraph.explain.contrastive import changes
from countergraph.explain.diverse import Diverse
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.litmus import Litmus, litmus, used_vertices
from countergraph.explain.local import LocalExplanation
from countergraph.explain.plausibility import COLUMNS, plain_results, plausibility
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.files import write_atomic
from countergraph.proofs.certify import certify
from countergraph.report.files import write_tables
from countergraph.report.tables import (
    agreement,
    has_costs,
    model_table,
    optimum_table,
    plausibility_table,
    search_table,
)
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.results.wording import count
from countergraph.version import __version__

FORMAT = "countergraph-report/1"


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
        check_integers(diverse=(self.diverse, 1))
        if not len(self.results):
            raise InputError("a report needs at least one result")

    def __repr__(self) -> str:
        return f"<Report: {self.headline}>"

    def _repr_html_(self) -> str:
        return f'<p>{escape(self.headline)}</p><p>save("report.html") writes the page.</p>'

    @cached_property
    def whole(self) -> GlobalExplanation | None:
        """The global explanation; None if no search found anything."""
        return GlobalExplanation(self.results) if self.results.found else None

    @cached_property
    def litmus(self) -> Litmus | None:
        """The litmus test, where the vertices that the classifier uses are known."""
        used = sorted({vertex for row in self.marks.values() for vertex in row})
        return litmus(self.whole, used) if used and self.whole and len(used) < self.data.n_rois else None

    @cached_property
    def marks(self) -> dict[str, tuple[int, ...]]:
        """The vertices that the classifier is known to use, by row of the strip."""
        return used_vertices(self.black_box, self.data.classes) if len(self.data.classes) == 2 else {}

    def person(self, name: str) -> Counterfactual:
        """Return the closest counterfactual of a person, or a search that found none."""
        if name in self.proven:
            return self.proven[name]
        own = [each for each in (*self.results, *self.closest) if each.subject == name]
        if not own:
            raise unknown_name("person", name, {each.subject for each in self.results})
        everything = Counterfactuals([*own, *self.local.get(name, ())])
        return everything.closest() or everything[0]

    def others(self, name: str) -> Counterfactuals:
        """Return other counterfactuals of a person shown one by one that differ from the closest, and each other."""
        if name not in self.local:
            raise unknown_name("person shown one by one", name, self.local)
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
        """Of whom the searches of the cohort found no counterfactual, though they looked for one."""
        sought = [each for each in self.results if each.stopped != "already in target class"]
        return sorted({each.subject for each in sought} - {each.subject for each in self.results.found})

    @cached_property
    def cautions(self) -> list[str]:
        """What should be known before anything else is believed."""
        said, agrees = [], agreement(self.data, self.results)
        if agrees < 0.5:
            said.append(
                f"The classifier calls only {agrees:.0%} of the graphs what they are labelled. Are its classes in the "
                f"order {', '.join(self.data.classes)}, and does it get the graphs as it did when it was trained?"
            )
        sought = [each for each in self.results if each.stopped != "already in target class"]
        advice = "" if "learned" in self.facts["method"] else ' The method "learned" finds more.'
        for label, name in enumerate(self.data.classes) if self.results.found else ():
            own = Counterfactuals([each for each in sought if each.original_label == label])
            if 2 * len(own.found) < len(own):
                said.append(
                    f"Only {len(own.found)} of {len(own)} searches of graphs that are classified as {name} found a "
                    f"counterfactual: what is said of everybody hardly speaks of these.{advice}"
                )
        return said

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
        return has_costs(self.results) or has_costs(self.closest)

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
            "model": model_table(self.black_box, self.data, self.results),
            "search": search_table(self.data, self.results),
            "results": self.results.to_frame().join(plausibility(self.results, self.data)[list(COLUMNS)]),
        }
        optimum = optimum_table(self.black_box, self.data, self.results)
        if optimum is not None:
            tables["optimum"] = optimum
        if self.whole is not None:
            tables["regions"] = self.whole.roi_table
            if self.data.atlas.networks is not None:
                tables["cells"] = self.whole.cell_table
            tables["pairs"] = self.whole.pair_table
        if self.litmus is not None:
            tables["litmus"] = self.litmus.listing
        if self.people:
            tables["plausibility"] = plausibility_table(self.data, self.shown)
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
            "cautions": self.cautions,
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
        writers: dict[str, Callable[[], object]] = {
            "html": lambda: write_atomic(path, render(self).encode()),
            "json": lambda: write_atomic(path, json.dumps(self.to_dict(), indent=1, allow_nan=False).encode()),
            "csv": lambda: write_tables(path, self.tables),
        }
        kind = format or path.suffix.removeprefix(".") or "csv"
        if kind not in writers:
            raise InputError(f"a report is written as {', '.join(writers)}, not {kind!r}")
        writers[kind]()


def _proven(black_box: object, result: Counterfactual) -> Counterfactual:
    """Prove what can be proven: nothing, of a black box that does not say again what it said."""
    try:
        return certify(black_box, result)
    except InputError:
        return result
