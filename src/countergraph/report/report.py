"""Report of a study: tables, headline and warnings, from which the page and the files are made."""

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
from countergraph.explain.litmus import Litmus, litmus, used_rois
from countergraph.explain.local import LocalExplanation
from countergraph.explain.plausibility import measures, plain_results
from countergraph.finding.alternatives import DEFAULT_CHANGE
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
"""Format name in the JSON file."""
MIN_ACCURACY = 0.5
"""Below this accuracy on the cohort, the report warns that classes or inputs may be mixed up."""


@dataclass(frozen=True, eq=False)
class Report:
    """Explanation of a classifier for a whole cohort, and for selected subjects.

    `make_report` runs the searches and creates a report.

    Parameters
    ----------
    black_box
        The classifier. The report describes it, but does not call it, except in `certified`.
    data
        The cohort.
    results
        Counterfactuals of the graphs of the cohort.
    local
        Many counterfactuals of each selected subject, keyed by the name of the subject.
    proven
        The closest counterfactual of selected subjects, with a certificate.
    closest
        Additional counterfactuals from a search for close counterfactuals. They are used for the selected subjects, not
        for the global explanation.
    diverse
        Maximum number of diverse counterfactuals that are shown for each selected subject.
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
            raise InputError("results is empty; a report needs at least one result")

    def __repr__(self) -> str:
        return f"<Report: {self.headline}>"

    def _repr_html_(self) -> str:
        return f'<p>{escape(self.headline)}</p><p>save("report.html") writes the page.</p>'

    @cached_property
    def global_explanation(self) -> GlobalExplanation | None:
        """The global explanation; None if no search found a counterfactual."""
        return GlobalExplanation(self.results) if self.results.found else None

    @cached_property
    def litmus(self) -> Litmus | None:
        """The litmus test; None unless the ROIs that the classifier uses are known."""
        used, explanation = sorted({roi for row in self.marks.values() for roi in row}), self.global_explanation
        return litmus(explanation, used) if used and explanation and len(used) < self.data.n_rois else None

    @cached_property
    def marks(self) -> dict[str, tuple[int, ...]]:
        """The ROIs that the classifier is known to use, keyed by the row of the ROI strip (see `used_rois`)."""
        return used_rois(self.black_box, self.data.classes) if len(self.data.classes) == 2 else {}

    def person(self, name: str) -> Counterfactual:
        """Return the closest counterfactual of a subject; if none was found, a result without counterfactual."""
        if name in self.proven:
            return self.proven[name]
        own = [each for each in (*self.results, *self.closest) if each.subject == name]
        if not own:
            raise unknown_name("subject", name, {each.subject for each in self.results})
        candidates = Counterfactuals([*own, *self.local.get(name, ())])
        return candidates.closest() or candidates[0]

    def others(self, name: str) -> Counterfactuals:
        """Return alternatives to the closest counterfactual of a selected subject, chosen to be diverse."""
        if name not in self.local:
            raise unknown_name("selected subject", name, self.local)
        closest = replace(self.person(name), run=-1)  # run=-1 puts it before other results with the same distance
        pool = Counterfactuals([closest, *self.local[name]]).found
        return Diverse(pool, self.diverse).chosen[1:] if closest.found else pool[:0]

    def certified(self) -> Report:
        """Return the report with certificates for the closest counterfactuals of the selected subjects."""
        closest = {name: self.person(name) for name in self.local}
        proven = {name: _certify(self.black_box, each) for name, each in closest.items() if each.found}
        return replace(self, proven=proven)

    @property
    def missing(self) -> list[str]:
        """The subjects that were searched without finding a counterfactual."""
        return sorted({each.subject for each in self._searched} - {each.subject for each in self.results.found})

    @property
    def _searched(self) -> list[Counterfactual]:
        """The results of all searches, without graphs that were already in the target class."""
        return [each for each in self.results if each.stopped != "already in target class"]

    @cached_property
    def cautions(self) -> list[str]:
        """Warnings about the validity of the report."""
        warnings, accuracy = (
            [f"{each[0].upper()}{each[1:]}. The explanations may be wrong." for each in self.results.cautions],
            agreement(self.data, self.results),
        )
        if accuracy <= MIN_ACCURACY and not warnings:
            warnings.append(
                f"The predictions of the classifier agree with only {accuracy:.0%} of the labels. Check that the order "
                f"of its classes is {', '.join(self.data.classes)}, and that the graphs have the same format as in "
                "training."
            )
        advice = "" if "learned" in self.facts["method"] else ' The method "learned" usually finds more.'
        for label, name in enumerate(self.data.classes) if self.results.found else ():
            own = Counterfactuals([each for each in self._searched if each.original_label == label])
            if 2 * len(own.found) < len(own):
                warnings.append(
                    f"Only {len(own.found)} of {len(own)} searches of graphs classified as {name} found a "
                    f"counterfactual: the global explanation is not representative of this class.{advice}"
                )
        return warnings

    @cached_property
    def people(self) -> dict[str, LocalExplanation | None]:
        """The local explanations of the selected subjects; None if no counterfactual was found."""
        return {name: LocalExplanation(runs) if runs.found else None for name, runs in self.local.items()}

    @cached_property
    def subject_results(self) -> Counterfactuals:
        """The closest counterfactuals of the selected subjects."""
        return Counterfactuals([self.person(name) for name in self.people])

    @property
    def has_costs(self) -> bool:
        """Whether the searches minimised costs instead of the number of changes."""
        return has_costs(self.results) or has_costs(self.closest)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Settings of the searches, and number of calls."""
        first = self.results[0]
        weights = {"values": self.data.measure, "change": DEFAULT_CHANGE} if self.data.weighted else {}
        return {
            **weights,
            "cohort": self.data.fingerprint,
            "atlas": self.data.atlas.name,
            "method": first.method,
            **first.parameters,
            "target": first.class_name(first.parameters.get("target")),
            "runs": 1 + max(each.run for each in self.results),
            "searches": len(self.results),
            "calls for the cohort": self.results.calls,
            "calls for single subjects": sum(runs.calls for runs in self.local.values()),
            "calls for the closest counterfactuals (learned)": self.closest.calls,
            "calls for certificates": sum(each.certificate.calls for each in self.proven.values()),
            "countergraph": __version__,
        }

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by name. The CSV files contain them in full; the page shows the first rows."""
        tables = {
            "cohort": self.data.summary().reset_index(names="class"),
            "model": model_table(self.black_box, self.data, self.results),
            "search": search_table(self.data, self.results),
            "results": self.results.to_frame().join(measures(self.results, self.data)),
        }
        optimum = optimum_table(self.black_box, self.data, self.results)
        if optimum is not None:
            tables["optimum"] = optimum
        if self.global_explanation is not None:
            tables["rois"] = self.global_explanation.roi_table
            if self.data.atlas.networks is not None:
                tables["networks"] = self.global_explanation.network_table
            tables["pairs"] = self.global_explanation.pair_table
        if self.litmus is not None:
            tables["litmus"] = self.litmus.listing
        if self.people:
            tables["plausibility"] = plausibility_table(self.data, self.subject_results)
        for name, local in self.people.items():
            tables[f"changes of {name}"] = changes(self.person(name), self.data)
            if local is not None:
                tables[f"local of {name}"] = local.table
        return tables

    @cached_property
    def headline(self) -> str:
        """The main results in three sentences."""
        found = self.results.found
        graphs = len({each.graph_index for each in self.results})
        text = f"{count(graphs, 'graph')}, {count(len(self.results), 'search')}, {count(len(found), 'counterfactual')}."
        if self.global_explanation is None:
            return f"{text} No counterfactual was found."
        median = int(np.median([each.distance or 0 for each in found]))
        noun = {"pair": "connection", "roi": "ROI", "network": "group"}[found[0].unit]
        what = f"{count(median, noun)}{' of connections' if noun == 'group' else ''}"
        top = ", ".join(str(name) for name in self.global_explanation.roi_importance.nlargest(3).index)
        return (
            f"{text} Half of the counterfactuals change {what} or fewer. "
            f"The ROIs whose connections change most often: {top}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: the numbers of the page, and all results."""
        subjects = dict(zip(self.people, plain_results(self.subject_results, self.data), strict=True))
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
                    **{key: subjects[name][key] for key in ("sentence", "distance", "cost", "plausibility")},
                    "proof": subjects[name]["certificate"]["proof"],
                    "others": [_without_arrays(each) for each in plain_results(self.others(name), self.data)],
                    "stability": None if local is None or math.isnan(local.stability) else local.stability,
                    "counterfactuals": 0 if local is None else len(local.results.found),
                }
                for name, local in self.people.items()
            },
            "tables": {name: json.loads(table.to_json(orient="records")) for name, table in self.tables.items()},
            "counterfactuals": [_without_arrays(each) for each in plain_results(self.results, self.data)],
        }

    def save(self, path: str | Path, format: str | None = None) -> None:  # noqa: A002 - established name
        """Write the report.

        Parameters
        ----------
        path
            The file or folder to write.
        format
            "html" for one page, "json" for one file, "csv" for a folder with a file for each table. By default the
            suffix of ``path``; "csv" if it has none.
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
            raise InputError(f"format must be one of {', '.join(writers)}, not {kind!r}")
        writers[kind]()


def _without_arrays(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the values of all pairs of a weighted network: 100 KB for each result."""
    left_out = ("original", "alternatives", "valid_values") if plain["weighted"] else ()
    return {name: value for name, value in plain.items() if name not in left_out}


def _certify(black_box: object, result: Counterfactual) -> Counterfactual:
    """Return the result with a certificate; unchanged if the black box gives inconsistent answers."""
    try:
        return certify(black_box, result)
    except InputError:
        return result
