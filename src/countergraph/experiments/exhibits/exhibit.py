"""What an exhibit is: the experiments it needs, and what it shows of their results."""

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

# Our own searches, shown beside the paper's.
OURS = ("learned",)
TITLES = {
    "published": "contrast subgraphs",
    "sub2vec": "sub2vec",
    "graph2vec": "graph2vec",
    "autoencoder": "autoencoder",
}


@dataclass(frozen=True)
class Results:
    """What was found, as exhibits ask for it: by the experiment that they declare."""

    workspace: Workspace
    store: Store
    quick: bool

    def is_complete(self, experiment: Experiment) -> bool:
        """Tell whether the store has every search of an experiment."""
        return not self.store.missing(
            self.workspace.setting(experiment), self.workspace.graphs(experiment), range(experiment.runs)
        )

    def has_all(self, exhibit: Exhibit) -> bool:
        """Tell whether the store has every search that an exhibit needs."""
        return all(self.is_complete(self.done(each)) for each in exhibit.experiments)

    def done(self, experiment: Experiment) -> Experiment:
        """Return the experiment as it was really run: the whole, or its quick part."""
        return experiment.quick if self.quick else experiment

    def of(self, experiment: Experiment) -> Counterfactuals:
        """Return the counterfactuals of an experiment."""
        return self.workspace.results(self.store, self.done(experiment))

    def spent(self, experiment: Experiment) -> Spent:
        """Return how long processes worked for an experiment."""
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
    """What an exhibit shows: text in Markdown, and pictures by name."""

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
    """Whether it shows what there is, where something is missing."""


def by_graph(results: Counterfactuals, value: Callable[[Counterfactual], float | None]) -> Floats:
    """Return a value for each graph, averaged as in the paper over the runs that have one; infinite, where none has."""
    values: dict[int, list[float]] = {}
    for result in results:
        found, have = value(result), values.setdefault(result.graph_index, [])
        if found is not None:
            have.append(found)
    return np.array([float(np.mean(each)) if each else math.inf for each in values.values()])


def percentiles(values: Floats) -> list[float]:
    """Return the percentiles that the paper prints; what lies between a number and infinity is infinite."""
    return [_percentile(values, p) for p in PERCENTILES] if values.size else []


def _percentile(values: Floats, p: int) -> float:
    below, above = (float(np.percentile(values, p, method=method)) for method in ("lower", "higher"))
    return above if below == above or math.isinf(above) else float(np.percentile(values, p))


def first_distance(result: Counterfactual) -> float | None:
    """Return the distance of the first counterfactual that was found, at the end of the phase forward."""
    return float(result.trace[0][1]) if result.trace else None


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows))


def numbers(values: Sequence[float]) -> str:
    """Return numbers as the paper prints percentiles."""
    return " / ".join(f"{value:.1f}".removesuffix(".0") for value in values)
