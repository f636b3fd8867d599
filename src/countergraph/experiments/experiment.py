"""The declaration of an experiment: cohort, black box, options of the search, number of runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

from countergraph.errors import InputError
from countergraph.search.options import SearchKeywords, SearchOptions

QUICK_EVERY, QUICK_RUNS, QUICK_LOCAL_RUNS = 8, 1, 100
PAPER = SearchOptions("ofs+obs", runs=5, confirm=False, effort="quick")
"""The options of the paper."""


@dataclass(frozen=True)
class Experiment:
    """Counterfactuals of a cohort."""

    cohort: str
    """"asd" or "adhd"."""
    box: str
    """"published" for the contrast-subgraph rule of the authors, or a kind of `countergraph.classifiers.MODELS`."""
    options: SearchOptions = PAPER
    subject: str | None = None
    """One subject instead of the whole cohort."""
    every: int = 1
    """Search every n-th graph."""
    neighbours: int | None = None
    """The number of neighbours of a KNN black box; None for 5, the default of scikit-learn."""

    def __post_init__(self) -> None:
        if self.options.time_limit is not None or self.options.run_numbers != tuple(range(self.runs)):
            raise InputError("an experiment has no time_limit, and its runs are a number: runs=5")

    @classmethod
    def of(
        cls,
        cohort: str,
        box: str,
        method: str = "ofs+obs",
        *,
        subject: str | None = None,
        every: int = 1,
        neighbours: int | None = None,
        **options: Unpack[SearchKeywords],
    ) -> Experiment:
        """Return an experiment with the options of the paper, and quick effort, except for those that are given."""
        return cls(cohort, box, replace(PAPER, method=method, **options), subject, every, neighbours)

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.options.parsed_method.name

    @property
    def runs(self) -> int:
        """The number of runs per graph."""
        return len(self.options.run_numbers)

    def with_runs(self, runs: int) -> Experiment:
        """Return the same experiment with another number of runs."""
        return replace(self, options=replace(self.options, runs=runs))

    @property
    def quick(self) -> Experiment:
        """A small part of the experiment; its searches are a subset of those of the whole."""
        if self.subject is not None:
            return self.with_runs(min(self.runs, QUICK_LOCAL_RUNS))
        return replace(self.with_runs(min(self.runs, QUICK_RUNS)), every=max(self.every, QUICK_EVERY))
