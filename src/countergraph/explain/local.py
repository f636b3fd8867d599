"""Local explanation of one graph: how often each pair changes in many counterfactuals (section 6.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from countergraph.errors import InputError
from countergraph.finding.find import find_counterfactuals
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, Indices, pairs_at
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.results.plottable import Plottable
from countergraph.results.wording import count

RESAMPLES = 1000
"""Number of bootstrap samples for the confidence intervals."""
SPLITS = 50
"""Number of random splits into halves for the stability."""


@dataclass(frozen=True, eq=False)
class LocalExplanation(Plottable):
    """How often each pair changes in many counterfactuals of one graph.

    If a pair is often removed, its presence matters for the class. If a pair is often added, its absence matters.

    Parameters
    ----------
    results
        Counterfactuals of one graph, found with one method. `LocalExplanation.of` searches for 1000, as in the paper.
    seed
        Seed of the resampling for the confidence intervals and the stability.
    """

    results: Counterfactuals
    seed: int = 0
    _plots: ClassVar = ("local",)

    def __post_init__(self) -> None:
        if not self.results.found:
            raise InputError("none of the runs found a counterfactual; there is nothing to explain")
        first = self.results[0]
        if any((each.original != first.original).any() for each in self.results):
            raise InputError("a local explanation must be of one graph; these results are of several graphs")

    @classmethod
    def of(
        cls,
        black_box: object,
        data: GraphDataset,
        subject: str,
        runs: int = 1000,
        method: str = "ofs+obs",
        seed: int = 0,
        **options: Any,  # noqa: ANN401
    ) -> Self:
        """Search one subject of a cohort many times, as in the paper, and explain the results.

        Parameters
        ----------
        black_box, data, method, seed
            As in `find_counterfactuals`. The runs must be independent samples: do not use a method that learns from
            previous runs. Method and seed are stored with the results.
        subject
            The name of the subject.
        runs
            Number of searches.
        **options
            Further options of `find_counterfactuals`.
        """
        graph = data.subset([subject])
        return cls(find_counterfactuals(black_box, graph, method, data, runs=runs, seed=seed, **options), seed)

    @property
    def example(self) -> Counterfactual:
        """The closest counterfactual."""
        closest = self.results.closest()
        assert closest is not None  # guaranteed by __post_init__
        return closest

    @cached_property
    def _changes(self) -> tuple[Indices, Floats]:
        """The pairs that change at least once, and a 0/1 matrix, shape (counterfactuals, pairs), of the changes."""
        flips = [each.flips for each in self.results if each.flips is not None]
        pairs = np.unique(np.concatenate(flips))
        rows = np.zeros((len(flips), pairs.size))
        for row, each in zip(rows, flips, strict=True):
            row[np.searchsorted(pairs, each)] = 1
        return pairs, rows

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per changed pair: the share of counterfactuals that change it, with a 95% confidence interval.

        The interval is a bootstrap interval over the counterfactuals. Rows are in decreasing order of the share.
        """
        pairs, changes = self._changes
        rng = np.random.default_rng(self.seed)
        weights = rng.multinomial(len(changes), np.full(len(changes), 1 / len(changes)), RESAMPLES)
        low, high = np.percentile(weights @ changes / len(changes), [2.5, 97.5], axis=0)
        example = self.example
        ends = pairs_at(pairs, example.n_rois)
        frame = pd.DataFrame(
            {
                "change": np.where(self._decreases(pairs), *example.change_names),
                "first": [example.roi_name(i) for i, _ in ends],
                "second": [example.roi_name(j) for _, j in ends],
                "count": changes.sum(axis=0).astype(int),
                "share": changes.mean(axis=0),
                "low": low,
                "high": high,
                "i": [i for i, _ in ends],
                "j": [j for _, j in ends],
            }
        )
        return frame.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)

    def _decreases(self, pairs: Indices) -> Bits:
        """Return which of some changed pairs are removed or weakened; a pair has the same direction in all results."""
        directions: dict[int, bool] = {}
        for each in self.results.found:
            assert each.flips is not None
            directions.update(zip(each.flips.tolist(), each.decreased.tolist(), strict=True))
        return np.array([directions[pair] for pair in pairs.tolist()], dtype=np.bool_)

    @cached_property
    def stability(self) -> float:
        """Mean rank correlation of the shares between two random halves of the counterfactuals.

        If it is 1, more counterfactuals would not change the order of the pairs. It is NaN for fewer than four
        counterfactuals, and if all counterfactuals are equal, because the pairs then have no order.
        """
        pairs, changes = self._changes
        if len(changes) < 4 or pairs.size < 2 or np.ptp(changes, axis=0).max() == 0:
            return float("nan")
        rng, correlations = np.random.default_rng(self.seed), []
        for _ in range(SPLITS):
            order = rng.permutation(len(changes))
            halves = [changes[half].mean(axis=0) for half in (order[::2], order[1::2])]
            correlations.append(np.corrcoef(rankdata(halves[0]), rankdata(halves[1]))[0, 1])
        return float(np.mean(correlations))

    def top(self, k: int = 6) -> pd.DataFrame:
        """Return the ``k`` pairs most often removed and the ``k`` most often added, as in Figure 8 of the paper."""
        names = self.example.change_names
        return pd.concat([self.table[self.table["change"] == change].head(k) for change in names])

    @property
    def caption(self) -> str:
        """The subject, its class, the number of counterfactuals and the stability."""
        name = self.example.class_name(self.example.original_label)
        stability = "" if np.isnan(self.stability) else f", stability {self.stability:.2f}"
        found = count(len(self.results.found), "counterfactual")
        return f"{self.example.subject}, classified as {name}: pairs most often changed in {found}{stability}."

    @property
    def listing(self) -> pd.DataFrame:
        """The pairs most often removed and added."""
        return self.top().drop(columns=["i", "j"])

    def __repr__(self) -> str:
        return (
            f"LocalExplanation({self.example.subject!r}, {len(self.results.found)} counterfactuals, "
            f"{len(self.table)} pairs, stability {self.stability:.2f})"
        )
