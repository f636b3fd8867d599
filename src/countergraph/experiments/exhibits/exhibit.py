"""Exhibits: tables and figures of the paper, with the experiments that they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from countergraph.experiments.experiment import Experiment
from countergraph.experiments.workspace import Workspace
from countergraph.explain.quality import PERCENTILES
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.store.store import Spent, Store

OWN_METHODS = ("learned",)
"""Methods of this package that are compared with the methods of the paper."""
BOX_TITLES = {
    "published": "contrast subgraphs",
    "sub2vec": "sub2vec",
    "graph2vec": "graph2vec",
    "autoencoder": "autoencoder",
}
"""The black boxes of the paper, and their names in tables."""


@dataclass(frozen=True)
class Results:
    """Access to stored results by experiment.

    Parameters
    ----------
    workspace
        The workspace of the experiments.
    store
        The store with the results.
    quick
        Whether only the quick version of each experiment was run.
    """

    workspace: Workspace
    store: Store
    quick: bool

    def is_complete(self, experiment: Experiment) -> bool:
        """Check whether the store contains all searches of an experiment."""
        return not self.store.missing(
            self.workspace.setting(experiment), self.workspace.graphs(experiment), range(experiment.runs)
        )

    def has_all(self, exhibit: Exhibit) -> bool:
        """Check whether the store contains all searches that an exhibit needs."""
        return all(self.is_complete(self.done(each)) for each in exhibit.experiments)

    def done(self, experiment: Experiment) -> Experiment:
        """Return the experiment that was run: the full experiment, or its quick version."""
        return experiment.quick if self.quick else experiment

    def of(self, experiment: Experiment) -> Counterfactuals:
        """Return the counterfactuals of an experiment."""
        return self.workspace.results(self.store, self.done(experiment))

    def spent(self, experiment: Experiment) -> Spent:
        """Return the computing time of an experiment."""
        done = self.done(experiment)
        return self.store.spent(self.workspace.setting(done), self.workspace.graphs(done), range(done.runs))

    def data(self, experiment: Experiment) -> GraphDataset:
        """Return the cohort of an experiment."""
        return self.workspace.data(experiment)

    def box(self, experiment: Experiment) -> object:
        """Return the black box of an experiment."""
        return self.workspace.box(experiment)


@dataclass(frozen=True)
class ExhibitOutput:
    """Output of an exhibit: text in Markdown, and figures by file name."""

    text: str
    pictures: dict[str, Figure | Axes] = field(default_factory=dict)


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper."""

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    show: Callable[[Results], ExhibitOutput]
    allows_missing: bool = False
    """Whether the exhibit can be shown if some results are missing."""


def by_graph(results: Counterfactuals, value: Callable[[Counterfactual], float | None]) -> Floats:
    """Return the mean of a value over the runs of each graph, as in the paper.

    Runs without a value are ignored. If no run of a graph has a value, the mean is infinite.
    """
    values: dict[int, list[float]] = {}
    for result in results:
        single, own = value(result), values.setdefault(result.graph_index, [])
        if single is not None:
            own.append(single)
    return np.array([float(np.mean(each)) if each else math.inf for each in values.values()])


def percentiles(values: Floats) -> list[float]:
    """Return the percentiles that the paper reports; between a finite and an infinite value it is infinite."""
    return [_percentile(values, p) for p in PERCENTILES] if values.size else []


def _percentile(values: Floats, p: int) -> float:
    below, above = (float(np.percentile(values, p, method=method)) for method in ("lower", "higher"))
    return above if below == above or math.isinf(above) else float(np.percentile(values, p))


def first_distance(result: Counterfactual) -> float | None:
    """Return the distance of the first counterfactual of a search, at the end of the forward phase."""
    return float(result.trace[0][1]) if result.trace else None


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows))


def format_numbers(values: Sequence[float]) -> str:
    """Return percentiles in the format "2 / 5.4 / 9"."""
    return " / ".join(f"{value:.1f}".removesuffix(".0") for value in values)
