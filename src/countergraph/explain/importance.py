"""What a classifier looks at, over a whole cohort: the four counters of the paper (sections 5.2 and 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats, Indices, pair_ends
from countergraph.results.counterfactual import Counterfactuals
from countergraph.results.drawn import Drawn

SIGNS = ("+", "-")
AT_ONCE = 100
"""Simulations that are in memory at the same time."""


@dataclass(frozen=True, eq=False)
class GlobalExplanation(Drawn):
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

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.results[0].classes or ()

    @property
    def n_regions(self) -> int:
        """The number of regions."""
        return self.results[0].n_regions

    @property
    def atlas(self) -> Atlas:
        """What the regions are called."""
        return self.results[0].atlas or Atlas.numbered(self.n_regions)

    @cached_property
    def counters(self) -> Floats:
        """Shape (classes, 2, pairs)."""
        counters = np.zeros((len(self.classes), 2, self.results[0].original.size))
        for each in self.results.found:
            assert each.flips is not None
            assert isinstance(each.original_class, int)
            removed = each.original[each.flips]
            counters[each.original_class, 0, each.flips[~removed]] += 1
            counters[each.original_class, 1, each.flips[removed]] += 1
        return counters

    @property
    def counter_names(self) -> list[str]:
        """The names of the rows of ``counters``: "TD +", "TD -", ..."""
        return [f"{name} {sign}" for name in self.classes for sign in SIGNS]

    @cached_property
    def roi_counters(self) -> Floats:
        """The counters summed over the pairs at each region, shape (2 * classes, regions): the strip of Figure 10."""
        return self._by_region(self.counters.reshape(-1, self.counters.shape[-1]))

    @cached_property
    def roi_importance(self) -> pd.Series[float]:
        """All counters summed over the pairs at each region: the importance of the region."""
        return pd.Series(self.roi_counters.sum(axis=0), index=list(self.atlas.names), name="importance")

    @cached_property
    def roi_table(self) -> pd.DataFrame:
        """One row for each region, the most important first: its counters, their sum, and a test against chance."""
        columns = dict(zip(self.counter_names, self.roi_counters.astype(int), strict=True))
        table = pd.DataFrame({"region": list(self.atlas.names), **columns})
        if self.atlas.regions is not None:
            table.insert(1, "part of", list(self.atlas.regions))
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

    def _by_region(self, values: Floats) -> Floats:
        first, second = pair_ends(self.n_regions)
        summed = np.zeros((len(values), self.n_regions))
        for row, each in zip(summed, values, strict=True):
            row += np.bincount(first, each, self.n_regions) + np.bincount(second, each, self.n_regions)
        return summed

    @property
    def region_names(self) -> list[str]:
        """The coarse regions of the atlas, in the order in which they occur; the regions themselves if it has none."""
        return list(dict.fromkeys(self._coarse))

    @property
    def _coarse(self) -> tuple[str, ...]:
        return self.atlas.regions or self.atlas.names

    @cached_property
    def _cells(self) -> Indices:
        """For each pair its cell in the table of coarse regions, row by row; the smaller region is the row."""
        number = {name: i for i, name in enumerate(self.region_names)}
        coarse = np.array([number[name] for name in self._coarse])
        first, second = pair_ends(self.n_regions)
        low, high = np.minimum(coarse[first], coarse[second]), np.maximum(coarse[first], coarse[second])
        return np.asarray(low * len(number) + high)

    @cached_property
    def _cell_sizes(self) -> Floats:
        return np.bincount(self._cells, minlength=len(self.region_names) ** 2).astype(np.float64)

    def by_region(self, values: Floats, normalised: bool = False) -> pd.DataFrame:
        """Sum values over pairs (pairs,) into a symmetric table of coarse regions.

        ``normalised`` divides by the number of pairs in each cell; otherwise large regions always win.
        """
        names = self.region_names
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
            if each.counterfactual_class == label and each.flips is not None:
                added[each.flips[~each.original[each.flips]]] += 1
        return self.by_region(added, normalised), self.by_region(self.counters[label, 1], normalised)

    def pair_table(self, permutations: int = 1000, seed: int = 0) -> pd.DataFrame:
        """Return one row for each pair that ever changes, with a test against chance (see `significance`)."""
        first, second = pair_ends(self.n_regions)
        total = self.counters.sum(axis=(0, 1))
        seen = np.flatnonzero(total)
        tests = self.significance(permutations, seed)["pair"]
        names = np.array(self.atlas.names)
        frame = pd.DataFrame({"first": names[first[seen]], "second": names[second[seen]]})
        for name, row in zip(self.counter_names, self.counters.reshape(-1, total.size), strict=True):
            frame[name] = row[seen].astype(int)
        frame["total"] = total[seen].astype(int)
        frame["p"], frame["q"] = tests["p"].to_numpy()[seen], tests["q"].to_numpy()[seen]
        return frame.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    def cell_table(self) -> pd.DataFrame:
        """Return one row for each two coarse regions between which anything changes, with a test against chance."""
        tests = self.significance()["cell"]
        ends = [(a, b) for i, a in enumerate(self.region_names) for b in self.region_names[i:]]
        table = pd.DataFrame(ends, columns=["first", "second"])
        upper = self._cell_sizes.reshape(len(self.region_names), -1)[np.triu_indices(len(self.region_names))]
        table["pairs"] = upper.astype(int)
        table["total"] = tests["observed"].to_numpy().astype(int)
        for name in ("expected", "p", "q"):
            table[name] = tests[name].to_numpy()
        changed = table[table["total"] > 0]
        return changed.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    def significance(self, permutations: int = 1000, seed: int = 0) -> dict[str, pd.DataFrame]:
        """Test which pairs, regions and cells change more often than if the changes fell at random.

        Under the null hypothesis every counterfactual changes as many pairs as it does, added ones among those absent
        from its graph and removed ones among those present, but any of them. One-sided p-values come from simulating
        that ``permutations`` times; q-values control the false discovery rate (Benjamini & Hochberg). Under constraints
        chance is another, so nothing is tested there.

        Returns
        -------
        dict
            "pair", "roi" and "cell", each a table with the columns observed, expected, p and q.
        """
        key = (permutations, seed)
        if key not in self._tests:
            self._tests[key] = self._simulate(permutations, np.random.default_rng(seed))
        return self._tests[key]

    @cached_property
    def _tests(self) -> dict[tuple[int, int], dict[str, pd.DataFrame]]:
        return {}

    def _simulate(self, permutations: int, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
        observed = self._levels(self.counters.sum(axis=(0, 1)))
        sums = {level: np.zeros_like(values) for level, values in observed.items()}
        reached = {level: np.zeros_like(values) for level, values in observed.items()}
        pools = self._pools()
        for begun in range(0, permutations, AT_ONCE):
            for totals in _scattered(pools, self.counters.shape[-1], min(AT_ONCE, permutations - begun), rng):
                for level, values in self._levels(totals).items():
                    sums[level] += values
                    reached[level] += values >= observed[level]
        tables = {}
        for level, values in observed.items():
            p = (reached[level] + 1) / (permutations + 1)
            columns = {
                "observed": values,
                "expected": sums[level] / permutations,
                "p": p,
                "q": false_discovery_control(p),
            }
            tables[level] = pd.DataFrame(columns, index=self._level_names(level))
            if any(each.limited for each in self.results):
                tables[level][["expected", "p", "q"]] = np.nan
        return tables

    def _levels(self, totals: Floats) -> dict[str, Floats]:
        cells = self.by_region(totals).to_numpy()
        return {
            "pair": totals,
            "roi": self._by_region(totals[None])[0],
            "cell": cells[np.triu_indices(len(cells))],
        }

    def _level_names(self, level: str) -> list[str]:
        if level == "roi":
            return list(self.atlas.names)
        if level == "cell":
            names = self.region_names
            return [f"{names[i]} - {names[j]}" for i, j in zip(*np.triu_indices(len(names)), strict=True)]
        first, second = pair_ends(self.n_regions)
        names = list(self.atlas.names)
        return [f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True)]

    def _pools(self) -> list[tuple[Indices, int]]:
        """For each counterfactual, where additions (and removals) could have fallen, and how many of them did."""
        absent: dict[bytes, Indices] = {}
        present: dict[bytes, Indices] = {}
        pools = []
        for each in self.results.found:
            key = each.original.tobytes()
            if key not in absent:
                absent[key], present[key] = np.flatnonzero(~each.original), np.flatnonzero(each.original)
            pools += [(absent[key], len(each.added)), (present[key], len(each.removed))]
        return [(pool, count) for pool, count in pools if count]


def _scattered(pools: list[tuple[Indices, int]], n_pairs: int, rounds: int, rng: np.random.Generator) -> Floats:
    """Let the changes of each counterfactual fall at random into its pools; count them by round and pair."""
    rows = n_pairs * np.arange(rounds)[:, None]
    cells = np.concatenate([(pool[_some(pool.size, count, rounds, rng)] + rows).ravel() for pool, count in pools])
    return np.bincount(cells, minlength=rounds * n_pairs).reshape(rounds, n_pairs).astype(np.float64)


def _some(size: int, count: int, rounds: int, rng: np.random.Generator) -> Indices:
    """Draw ``count`` different numbers below ``size``, in each of some rounds."""
    if count**2 > size:
        return np.array([rng.choice(size, count, replace=False, shuffle=False) for _ in range(rounds)])
    drawn = rng.integers(size, size=(rounds, count))
    while (twice := (np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(axis=1)).any():
        drawn[twice] = rng.integers(size, size=(int(twice.sum()), count))
    return drawn
