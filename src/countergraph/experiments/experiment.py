"""An experiment, declared: which cohort, which black box, which search, how often."""

from __future__ import annotations

from dataclasses import dataclass, replace

QUICK_EVERY, QUICK_RUNS, QUICK_LOCAL_RUNS = 8, 1, 100


@dataclass(frozen=True)
class Experiment:
    """Counterfactuals of a cohort, as plain values. The defaults are the paper's."""

    cohort: str
    """"asd" or "adhd"."""
    box: str
    """"published" for the authors' own contrast-subgraph rule, or a kind of `countergraph.MODELS`."""
    method: str = "ofs+obs"
    runs: int = 5
    k: int = 5
    max_calls: int = 2000
    seed: int = 0
    subject: str | None = None
    """One person instead of everybody."""
    every: int = 1
    """Every how many-th graph is searched."""
    neighbours: int | None = None
    """How many neighbours vote in a KNN black box; None for the 5 of scikit-learn."""

    @property
    def quick(self) -> Experiment:
        """A small part of the experiment: its rows are among those of the whole."""
        if self.subject is not None:
            return replace(self, runs=min(self.runs, QUICK_LOCAL_RUNS))
        return replace(self, runs=min(self.runs, QUICK_RUNS), every=max(self.every, QUICK_EVERY))
