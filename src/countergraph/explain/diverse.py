"""Diverse counterfactuals: several different explanations of one graph, and the diversity by number of changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np
import pandas as pd

from countergraph.errors import InputError, check_integers
from countergraph.graphs.pairs import Floats
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.results.plottable import Plottable
from countergraph.results.wording import count

TOLERANCE = 1e-12
"""Smallest gain in diversity that counts as an improvement; prevents infinite loops due to rounding errors."""


def jaccard_distance(first: Counterfactual, second: Counterfactual) -> float:
    """Return the Jaccard distance between two sets of changes: 0 if they are equal, 1 if they are disjoint."""
    assert first.flips is not None
    assert second.flips is not None
    shared = np.intersect1d(first.flips, second.flips).size
    return 1 - shared / (first.flips.size + second.flips.size - shared)


@dataclass(frozen=True, eq=False)
class Diverse(Plottable):
    """A diverse subset of the counterfactuals of one graph.

    Diversity is the mean Jaccard distance between the sets of changes of all pairs of counterfactuals. The selection is
    greedy: it starts with the closest counterfactual and repeatedly adds the one with the largest distance to the
    nearest counterfactual that is already selected. Then it replaces counterfactuals other than the first by others as
    long as this increases the diversity.

    Parameters
    ----------
    results
        Counterfactuals of one graph: ``find_counterfactuals(..., runs=50)`` or `find_diverse`.
    m
        Number of counterfactuals to select.
    """

    results: Counterfactuals
    m: int = 3
    _plots: ClassVar = ("diverse",)

    def __post_init__(self) -> None:
        check_integers(m=(self.m, 1))
        if not self.results.found:
            raise InputError("none of the runs found a counterfactual; there is nothing to select from")
        first = self.results[0]
        if any((each.original != first.original).any() for each in self.results):
            raise InputError("diverse counterfactuals must be of one graph; these results are of several graphs")

    @property
    def caption(self) -> str:
        """Number and diversity of the selected counterfactuals, in one sentence."""
        selected = f"{count(len(self.chosen), 'counterfactual')} of {self.chosen[0].subject}"
        if len(self.chosen) == 1:
            return f"{selected}: no other was found." if self.m > 1 else f"{selected}."
        shared = 1 - self.diversity
        overlap = f"two of them share {shared:.0%} of their changes on average" if shared else "they share no change"
        return f"{selected}, diversity {self.diversity:.2f}: {overlap}."

    @property
    def diversity(self) -> float:
        """Diversity of the selected counterfactuals: 0 if all are equal, 1 if all are disjoint, NaN if only one."""
        return diversity(self.chosen)

    @property
    def listing(self) -> pd.DataFrame:
        """The diversity by maximum number of changes."""
        return self.curve

    @cached_property
    def _pool(self) -> list[Counterfactual]:
        """Distinct counterfactuals, sorted by cost (if there are costs) and distance."""
        distinct = {each.flips.tobytes(): each for each in reversed(self.results.found) if each.flips is not None}
        return sorted(distinct.values(), key=lambda each: (each.cost or 0, each.distance or 0, each.run))

    def choose(self, most: int | None = None) -> Counterfactuals:
        """Select up to ``m`` diverse counterfactuals among those with at most ``most`` changes."""
        pool = [index for index, each in enumerate(self._pool) if most is None or (each.distance or 0) <= most]
        distances = self._distances[np.ix_(pool, pool)]
        chosen = [0] if pool else []
        while len(chosen) < min(self.m, len(pool)):
            chosen.append(int(distances[chosen].min(axis=0).argmax()))
        exchanged = True
        while exchanged:
            exchanged = False
            for slot in range(1, len(chosen)):
                gains = distances[chosen[:slot] + chosen[slot + 1 :]].sum(axis=0)
                gains[[each for each in chosen if each != chosen[slot]]] = -1
                best = int(gains.argmax())
                if gains[best] > gains[chosen[slot]] + TOLERANCE:
                    chosen[slot], exchanged = best, True
        return Counterfactuals([self._pool[pool[index]] for index in chosen])

    @cached_property
    def _distances(self) -> Floats:
        """Jaccard distances within the pool, shape (counterfactuals, counterfactuals)."""
        sets = [each.flips for each in self._pool if each.flips is not None]
        pairs = np.unique(np.concatenate(sets))
        changed = np.array([np.isin(pairs, flips) for flips in sets], dtype=np.float64)
        sizes, shared = changed.sum(axis=1), changed @ changed.T
        return np.asarray(1 - shared / (sizes[:, None] + sizes - shared))

    @cached_property
    def chosen(self) -> Counterfactuals:
        """The selected counterfactuals, without a limit on the number of changes."""
        return self.choose()

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Diversity by maximum number of changes (column "at most"), with the mean distance of the selection.

        A selection that is possible with fewer changes is also possible with more. Therefore the diversity of
        selections of equal size never decreases. Limits that do not improve the selection are omitted.
        """
        rows: list[dict[str, float]] = []
        chosen = Counterfactuals([])
        for most in sorted({each.distance or 0 for each in self._pool}):
            candidate = self.choose(most)
            if not rows or len(candidate) > len(chosen) or diversity(candidate) > diversity(chosen):
                chosen = candidate
            else:
                continue
            rows.append(
                {
                    "at most": most,
                    "chosen": len(chosen),
                    "distance (mean)": float(np.mean([each.distance or 0 for each in chosen])),
                    "diversity": diversity(chosen),
                }
            )
        return pd.DataFrame(rows)


def diversity(results: Counterfactuals) -> float:
    """Return the mean Jaccard distance between all pairs of counterfactuals; NaN for fewer than two."""
    distances = [jaccard_distance(first, second) for first, second in combinations(results.found, 2)]
    return float(np.mean(distances)) if distances else float("nan")
