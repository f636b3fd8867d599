"""What a classifier looks at, over a whole cohort: the four counters of the paper (sections 5.2 and 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from countergraph.errors import InputError
from countergraph.explain.chance import TestResult, changes_of, pairs_against_chance, sums_against_chance
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats, Indices, pair_ends, sum_at_rois
from countergraph.results.counterfactual import Counterfactuals
from countergraph.results.plottable import Plottable

SIGNS = ("+", "-")


@dataclass(frozen=True, eq=False)
class GlobalExplanation(Plottable):
    """How often each pair is added and removed, by the class of the graph.

    ``counters[c, 0]`` is the paper's C_c+, how often each pair is added to a graph of class c (its absence matters);
    ``counters[c, 1]`` is C_c-, how often it is removed (its presence matters).

    Parameters
    ----------
    results
        Counterfactuals of the graphs of a cohort, with named classes and an atlas.
    """

    results: Counterfactuals
    _plots: ClassVar = ("heatmaps", "roi-bars", "roi-brain", "roi-strip", "chord")

    def __post_init__(self) -> None:
        if not self.results.found:
            raise InputError("none of the searches found a counterfactual, so there is nothing to explain")
        if self.results[0].classes is None:
            raise InputError("a global explanation needs results whose classes have names: search a GraphDataset")
        if any(each.classes != self.classes or each.n_rois != self.n_rois for each in self.results):
            raise InputError("results that are explained together must have the same regions and the same classes")

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.results[0].classes or ()

    @property
    def n_rois(self) -> int:
        """The number of regions."""
        return self.results[0].n_rois

    @property
    def atlas(self) -> Atlas:
        """What the regions are called."""
        return self.results[0].atlas or Atlas.numbered(self.n_rois)

    @cached_property
    def counters(self) -> Floats:
        """Shape (classes, 2, pairs)."""
        counters = np.zeros((len(self.classes), 2, self.results[0].original.size))
        for each in self.results.found:
            assert each.flips is not None
            assert isinstance(each.original_label, int)
            removed = each.original[each.flips]
            counters[each.original_label, 0, each.flips[~removed]] += 1
            counters[each.original_label, 1, each.flips[removed]] += 1
        return counters

    @property
    def counter_names(self) -> list[str]:
        """The names of the rows of ``counters``: "TD +", "TD -", ..."""
        return [f"{name} {sign}" for name in self.classes for sign in SIGNS]

    @cached_property
    def roi_counters(self) -> Floats:
        """The counters summed over the pairs at each region, shape (2 * classes, regions): the strip of Figure 10."""
        return np.array([sum_at_rois(row) for row in self.counters.reshape(-1, self.counters.shape[-1])])

    @cached_property
    def roi_importance(self) -> pd.Series[float]:
        """All counters summed over the pairs at each region: the importance of the region."""
        return pd.Series(self.roi_counters.sum(axis=0), index=list(self.atlas.names), name="importance")

    @cached_property
    def roi_table(self) -> pd.DataFrame:
        """One row for each region, the most important first: its counters, their sum, and a test against chance."""
        columns = dict(zip(self.counter_names, self.roi_counters.astype(int), strict=True))
        table = pd.DataFrame({"region": list(self.atlas.names), **columns})
        if self.atlas.networks is not None:
            table.insert(1, "part of", list(self.atlas.networks))
        table["total"] = self.roi_counters.sum(axis=0).astype(int)
        tests = self.significance()["roi"]
        for name in ("expected", "p", "q"):
            table[name] = tests[name].to_numpy()
        return table.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    @property
    def caption(self) -> str:
        """What it was made from."""
        found = self.results.found
        return f"{len(found)} counterfactuals of {len({each.graph_index for each in found})} graphs."

    @property
    def listing(self) -> pd.DataFrame:
        """The regions, the most important first."""
        return self.roi_table

    @property
    def network_names(self) -> list[str]:
        """The coarse regions of the atlas, in the order in which they occur; the regions themselves if it has none."""
        return list(dict.fromkeys(self._coarse))

    @property
    def _coarse(self) -> tuple[str, ...]:
        return self.atlas.networks or self.atlas.names

    @cached_property
    def _cells(self) -> Indices:
        """For each pair its cell in the table of coarse regions, row by row; the smaller region is the row."""
        number = {name: i for i, name in enumerate(self.network_names)}
        coarse = np.array([number[name] for name in self._coarse])
        first, second = pair_ends(self.n_rois)
        low, high = np.minimum(coarse[first], coarse[second]), np.maximum(coarse[first], coarse[second])
        return np.asarray(low * len(number) + high)

    @cached_property
    def _cell_sizes(self) -> Floats:
        return np.bincount(self._cells, minlength=len(self.network_names) ** 2).astype(np.float64)

    def by_region(self, values: Floats, normalised: bool = False) -> pd.DataFrame:
        """Sum values over pairs (pairs,) into a symmetric table of coarse regions.

        ``normalised`` divides by the number of pairs in each cell; otherwise large regions always win.
        """
        names = self.network_names
        table: Floats = np.bincount(self._cells, values, self._cell_sizes.size).astype(np.float64)
        if normalised:
            table /= np.maximum(self._cell_sizes, 1)
        upper = table.reshape(len(names), len(names))
        return pd.DataFrame(upper + np.triu(upper, 1).T, index=names, columns=names)

    def heatmaps(self, label: int, normalised: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the two halves of the paper's Figure 9 for a class: presence matters for it in both.

        The first sums how often pairs are added to graphs that become of the class by it, the second how often they are
        removed from graphs of the class itself.
        """
        added = np.zeros(self.counters.shape[-1])
        for each in self.results.found:
            if each.counterfactual_label == label and each.flips is not None:
                added[each.flips[~each.original[each.flips]]] += 1
        return self.by_region(added, normalised), self.by_region(self.counters[label, 1], normalised)

    @cached_property
    def pair_table(self) -> pd.DataFrame:
        """One row for each pair that ever changes, the most often first, with a test against chance."""
        first, second = pair_ends(self.n_rois)
        total = self.counters.sum(axis=(0, 1))
        seen = np.flatnonzero(total)
        tests = self.significance()["pair"]
        names = np.array(self.atlas.names)
        frame = pd.DataFrame({"first": names[first[seen]], "second": names[second[seen]]})
        for name, row in zip(self.counter_names, self.counters.reshape(-1, total.size), strict=True):
            frame[name] = row[seen].astype(int)
        frame["total"] = total[seen].astype(int)
        frame["p"], frame["q"] = tests["p"].to_numpy()[seen], tests["q"].to_numpy()[seen]
        return frame.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    @cached_property
    def cell_table(self) -> pd.DataFrame:
        """One row for each two coarse regions between which anything changes, with a test against chance."""
        tests = self.significance()["cell"]
        ends = [(a, b) for i, a in enumerate(self.network_names) for b in self.network_names[i:]]
        table = pd.DataFrame(ends, columns=["first", "second"])
        upper = self._cell_sizes.reshape(len(self.network_names), -1)[np.triu_indices(len(self.network_names))]
        table["pairs"] = upper.astype(int)
        table["total"] = tests["observed"].to_numpy().astype(int)
        for name in ("expected", "p", "q"):
            table[name] = tests[name].to_numpy()
        changed = table[table["total"] > 0]
        return changed.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    def significance(self, permutations: int = 1000, seed: int = 0) -> dict[str, pd.DataFrame]:
        """Test which pairs, regions and cells change more often than if the changes fell at random.

        Under the null hypothesis the counterfactuals of a graph change as many pairs as they do, added ones among those
        absent from it and removed ones among those present, but any of them; what several of them change, they change
        together. So a graph counts once, however often it is searched. One-sided p-values are exact for pairs; for
        regions and cells they come from simulating that ``permutations`` times. q-values control the false discovery
        rate (Benjamini & Hochberg). Under constraints chance is another, so nothing is tested there.

        Returns
        -------
        dict
            "pair", "roi" and "cell", each a table with the columns observed, expected, p and q.
        """
        key = (permutations, seed)
        if key not in self._tests:
            self._tests[key] = self._test(permutations, np.random.default_rng(seed))
        return self._tests[key]

    @cached_property
    def _tests(self) -> dict[tuple[int, int], dict[str, pd.DataFrame]]:
        return {}

    def _test(self, permutations: int, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
        totals = self.counters.sum(axis=(0, 1))
        if any(each.limited for each in self.results):
            levels = {"pair": totals, **self._sums(totals)}
            tests = {level: TestResult(values, *np.full((3, values.size), np.nan)) for level, values in levels.items()}
        else:
            people = changes_of(self.results)
            sums = sums_against_chance(totals, self._sums, people, permutations, rng)
            tests = {"pair": pairs_against_chance(totals, people), **sums}
        return {level: pd.DataFrame(test._asdict(), index=self._level_names(level)) for level, test in tests.items()}

    def _sums(self, totals: Floats) -> dict[str, Floats]:
        cells = self.by_region(totals).to_numpy()
        return {"roi": sum_at_rois(totals), "cell": cells[np.triu_indices(len(cells))]}

    def _level_names(self, level: str) -> list[str]:
        if level == "roi":
            return list(self.atlas.names)
        if level == "cell":
            names = self.network_names
            return [f"{names[i]} - {names[j]}" for i, j in zip(*np.triu_indices(len(names)), strict=True)]
        first, second = pair_ends(self.n_rois)
        names = list(self.atlas.names)
        return [f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True)]
