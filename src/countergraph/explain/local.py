"""What matters for one person: how often each connection changes in many counterfactuals (section 5.1 of the paper)."""

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
from countergraph.graphs.pairs import Floats, Indices, pairs_at
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.results.plottable import Plottable
from countergraph.results.wording import count

RESAMPLES = 1000
SPLITS = 50


@dataclass(frozen=True, eq=False)
class LocalExplanation(Plottable):
    """How often each pair is changed in many counterfactuals of one graph.

    A pair that is often removed is one whose presence matters for the class; one that is often added, one whose absence
    matters.

    Parameters
    ----------
    results
        Counterfactuals of one graph, by one method; `LocalExplanation.of` finds 1000, as in the paper.
    seed
        Of the resampling behind intervals and stability.
    """

    results: Counterfactuals
    seed: int = 0
    _plots: ClassVar = ("local",)

    def __post_init__(self) -> None:
        if not self.results.found:
            raise InputError("none of the runs found a counterfactual, so there is nothing to explain")
        first = self.results[0]
        if any((each.original != first.original).any() for each in self.results):
            raise InputError("a local explanation is of one graph; these results are of several")

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
        """Search one person of a cohort many times, as the paper does, and explain what was found.

        ``options`` are those of `find_counterfactuals`. The runs should be independent samples, so not of a search that
        learns; method and seed are kept with the results.
        """
        person = data.subset([subject])
        return cls(find_counterfactuals(black_box, person, method, data, runs=runs, seed=seed, **options), seed)

    @property
    def example(self) -> Counterfactual:
        """The closest of the counterfactuals."""
        closest = self.results.closest()
        assert closest is not None  # there is one: checked when this was made
        return closest

    @cached_property
    def _changes(self) -> tuple[Indices, Floats]:
        """The pairs that change at all, and for each counterfactual (a row) which of them do."""
        flips = [each.flips for each in self.results if each.flips is not None]
        pairs = np.unique(np.concatenate(flips))
        rows = np.zeros((len(flips), pairs.size))
        for row, each in zip(rows, flips, strict=True):
            row[np.searchsorted(pairs, each)] = 1
        return pairs, rows

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each pair that changes: the share of counterfactuals that change it, with a 95% interval.

        The interval is from a bootstrap over the counterfactuals. The most important pairs come first.
        """
        pairs, changes = self._changes
        rng = np.random.default_rng(self.seed)
        weights = rng.multinomial(len(changes), np.full(len(changes), 1 / len(changes)), RESAMPLES)
        low, high = np.percentile(weights @ changes / len(changes), [2.5, 97.5], axis=0)
        example = self.example
        ends = pairs_at(pairs, example.n_rois)
        frame = pd.DataFrame(
            {
                "change": np.where(example.original[pairs], "removed", "added"),
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

    @cached_property
    def stability(self) -> float:
        """The rank correlation of the shares between two halves of the counterfactuals, averaged over random halves.

        1 if more counterfactuals would not change the order of the pairs; NaN with fewer than four, or where all pairs
        are changed as often, so that there is no order.
        """
        pairs, changes = self._changes
        if len(changes) < 4 or pairs.size < 2 or np.ptp(changes, axis=0).max() == 0:
            return float("nan")
        rng, total = np.random.default_rng(self.seed), []
        for _ in range(SPLITS):
            order = rng.permutation(len(changes))
            halves = [changes[part].mean(axis=0) for part in (order[::2], order[1::2])]
            total.append(np.corrcoef(rankdata(halves[0]), rankdata(halves[1]))[0, 1])
        return float(np.mean(total))

    def top(self, k: int = 6) -> pd.DataFrame:
        """Return the ``k`` pairs most often removed and the ``k`` most often added, as in the paper's Figure 8."""
        return pd.concat([self.table[self.table["change"] == change].head(k) for change in ("removed", "added")])

    @property
    def caption(self) -> str:
        """Whom it is about, and how far it can be trusted."""
        name = self.example.class_name(self.example.original_label)
        stable = "" if np.isnan(self.stability) else f", stability {self.stability:.2f}"
        found = count(len(self.results.found), "counterfactual")
        return f"What makes {self.example.subject} {name}: from {found}{stable}."

    @property
    def listing(self) -> pd.DataFrame:
        """The pairs most often changed."""
        return self.top().drop(columns=["i", "j"])

    def __repr__(self) -> str:
        return (
            f"LocalExplanation({self.example.subject!r}, {len(self.results.found)} counterfactuals, "
            f"{len(self.table)} pairs, stability {self.stability:.2f})"
        )
