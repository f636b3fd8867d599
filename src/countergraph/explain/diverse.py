"""Counterfactuals that differ: several ways out, and what differing costs."""

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


def jaccard(first: Counterfactual, second: Counterfactual) -> float:
    """Return the share of the changes of either that are not changes of both: 0 for the same, 1 for nothing shared."""
    assert first.flips is not None
    assert second.flips is not None
    shared = np.intersect1d(first.flips, second.flips).size
    return 1 - shared / (first.flips.size + second.flips.size - shared)


@dataclass(frozen=True, eq=False)
class Diverse(Plottable):
    """Several counterfactuals of one graph, chosen to differ.

    Diversity is the mean Jaccard distance between the sets of changes of every two. Among those found, ``m`` are chosen
    one after the other: first the closest, then always the one that differs most from the nearest of those chosen; then
    those after the first are exchanged for others as long as that makes the whole more diverse.

    Parameters
    ----------
    results
        Counterfactuals of one graph: ``find_counterfactuals(..., runs=50)`` or `find_diverse`.
    m
        How many to choose.
    """

    results: Counterfactuals
    m: int = 3
    _plots: ClassVar = ("diverse",)

    def __post_init__(self) -> None:
        check_integers(m=(self.m, 1))
        if not self.results.found:
            raise InputError("none of the runs found a counterfactual, so there is nothing to choose from")
        first = self.results[0]
        if any((each.original != first.original).any() for each in self.results):
            raise InputError("diverse counterfactuals are of one graph; these results are of several")

    @property
    def caption(self) -> str:
        """How many were chosen, and how much they differ."""
        many = f"{count(len(self.chosen), 'counterfactual')} of {self.chosen[0].subject}"
        if len(self.chosen) == 1:
            return f"{many}: no other was found." if self.m > 1 else f"{many}."
        shared = 1 - self.diversity
        common = (
            f"any two have {shared:.0%} of their changes in common, on average" if shared else "they share no change"
        )
        return f"{many}, diversity {self.diversity:.2f}: {common}."

    @property
    def diversity(self) -> float:
        """How much those chosen differ: 0 if they are the same, 1 if they share nothing; NaN for one alone."""
        return diversity(self.chosen)

    @property
    def listing(self) -> pd.DataFrame:
        """The trade-off curve."""
        return self.curve

    @cached_property
    def _pool(self) -> list[Counterfactual]:
        """Different counterfactuals, the closest first, or the cheapest where they have costs."""
        different = {each.flips.tobytes(): each for each in reversed(self.results.found) if each.flips is not None}
        return sorted(different.values(), key=lambda each: (each.cost or 0, each.distance or 0, each.run))

    def choose(self, most: int | None = None) -> Counterfactuals:
        """Return up to ``m`` counterfactuals of at most ``most`` changes that differ as much as they can."""
        pool = [at for at, each in enumerate(self._pool) if most is None or (each.distance or 0) <= most]
        gaps = self._gaps[np.ix_(pool, pool)]
        chosen = [0] if pool else []
        while len(chosen) < min(self.m, len(pool)):
            chosen.append(int(gaps[chosen].min(axis=0).argmax()))
        exchanged = True
        while exchanged:
            exchanged = False
            for place in range(1, len(chosen)):
                others = gaps[chosen[:place] + chosen[place + 1 :]].sum(axis=0)
                others[[each for each in chosen if each != chosen[place]]] = -1
                better = int(others.argmax())
                if others[better] > others[chosen[place]] + 1e-12:
                    chosen[place], exchanged = better, True
        return Counterfactuals([self._pool[pool[index]] for index in chosen])

    @cached_property
    def _gaps(self) -> Floats:
        """How much every two of the pool differ."""
        sets = [each.flips for each in self._pool if each.flips is not None]
        pairs = np.unique(np.concatenate(sets))
        changed = np.array([np.isin(pairs, flips) for flips in sets], dtype=np.float64)
        sizes, shared = changed.sum(axis=1), changed @ changed.T
        return np.asarray(1 - shared / (sizes[:, None] + sizes - shared))

    @cached_property
    def chosen(self) -> Counterfactuals:
        """Those chosen of all that were found."""
        return self.choose()

    @cached_property
    def curve(self) -> pd.DataFrame:
        """What diversity costs: for numbers of changes allowed, the diversity of those chosen, and their distance.

        A number of changes that allows for nothing more diverse than fewer is left out.

        What was chosen with fewer changes may be chosen with more, too, so among as many diversity never falls.
        """
        rows: list[dict[str, float]] = []
        chosen = Counterfactuals([])
        for most in sorted({each.distance or 0 for each in self._pool}):
            wider = self.choose(most)
            if not rows or len(wider) > len(chosen) or diversity(wider) > diversity(chosen):
                chosen = wider
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
    """Return the mean Jaccard distance between the changes of every two; NaN for fewer than two."""
    gaps = [jaccard(first, second) for first, second in combinations(results.found, 2)]
    return float(np.mean(gaps)) if gaps else float("nan")
