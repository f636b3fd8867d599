"""Global explanation of a classifier over a cohort: the four counters of the paper (sections 5.2 and 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from countergraph.errors import InputError
from countergraph.explain.significance import TestResult, changes_by_graph, exact_pair_test, permutation_test
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Floats, Indices, pair_ends, sum_at_rois
from countergraph.results.counterfactual import Counterfactuals
from countergraph.results.plottable import Plottable

SIGNS = ("+", "-")
"""Signs of the counters, as in the paper: "+" for added pairs, "-" for removed pairs."""


@dataclass(frozen=True, eq=False)
class GlobalExplanation(Plottable):
    """How often each pair is added and removed, by the class of the graph.

    ``counters[c, 0]`` is C_c+ of the paper: how often each pair is added to a graph of class c (its absence matters).
    ``counters[c, 1]`` is C_c-: how often each pair is removed from a graph of class c (its presence matters).

    Parameters
    ----------
    results
        Counterfactuals of the graphs of a cohort, with named classes and an atlas.
    """

    results: Counterfactuals
    _plots: ClassVar = ("heatmaps", "roi-bars", "roi-brain", "roi-strip", "chord")

    def __post_init__(self) -> None:
        if not self.results.found:
            raise InputError("none of the searches found a counterfactual; there is nothing to explain")
        if self.results[0].classes is None:
            raise InputError("a global explanation needs results with class names: search a GraphDataset")
        if any(each.classes != self.classes or each.n_rois != self.n_rois for each in self.results):
            raise InputError("all results of a global explanation must have the same ROIs and the same classes")

    @property
    def classes(self) -> tuple[str, ...]:
        """The class names."""
        return self.results[0].classes or ()

    @property
    def n_rois(self) -> int:
        """The number of ROIs."""
        return self.results[0].n_rois

    @property
    def atlas(self) -> Atlas:
        """The atlas of the results; numbered ROIs if they have none."""
        return self.results[0].atlas or Atlas.numbered(self.n_rois)

    @property
    def change_names(self) -> tuple[str, str]:
        """The words for a decrease and an increase: removed and added, or weakened and strengthened."""
        return self.results[0].change_names

    @cached_property
    def counters(self) -> Floats:
        """Number of changes, shape (classes, 2, pairs); the second axis is (added, removed)."""
        counters = np.zeros((len(self.classes), 2, self.results[0].original.size))
        for each in self.results.found:
            assert each.flips is not None
            assert isinstance(each.original_label, int)
            removed = each.decreased
            counters[each.original_label, 0, each.flips[~removed]] += 1
            counters[each.original_label, 1, each.flips[removed]] += 1
        return counters

    @property
    def counter_names(self) -> list[str]:
        """The names of the counters: "TD +", "TD -", ..."""
        return [f"{name} {sign}" for name in self.classes for sign in SIGNS]

    @cached_property
    def roi_counters(self) -> Floats:
        """The counters summed over the pairs of each ROI, shape (2 * classes, ROIs), as in Figure 10 of the paper."""
        return np.array([sum_at_rois(row) for row in self.counters.reshape(-1, self.counters.shape[-1])])

    @cached_property
    def roi_importance(self) -> pd.Series[float]:
        """The importance of each ROI: the sum of all counters over its pairs."""
        return pd.Series(self.roi_counters.sum(axis=0), index=list(self.atlas.names), name="importance")

    @cached_property
    def roi_table(self) -> pd.DataFrame:
        """One row per ROI, in decreasing order of importance: counters, total, and significance test."""
        columns = dict(zip(self.counter_names, self.roi_counters.astype(int), strict=True))
        table = pd.DataFrame({"ROI": list(self.atlas.names), **columns})
        if self.atlas.networks is not None:
            table.insert(1, "network", list(self.atlas.networks))
        table["total"] = self.roi_counters.sum(axis=0).astype(int)
        tests = self.significance()["roi"]
        for name in ("expected", "p", "q"):
            table[name] = tests[name].to_numpy()
        return table.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    @property
    def caption(self) -> str:
        """The number of counterfactuals and graphs, in one sentence."""
        found = self.results.found
        return f"{len(found)} counterfactuals of {len({each.graph_index for each in found})} graphs."

    @property
    def listing(self) -> pd.DataFrame:
        """The ROIs, in decreasing order of importance."""
        return self.roi_table

    @property
    def network_names(self) -> list[str]:
        """The names of the lobes or networks, in the order of the atlas; the ROI names if the atlas has none."""
        return list(dict.fromkeys(self._network_of_roi))

    @property
    def _network_of_roi(self) -> tuple[str, ...]:
        return self.atlas.networks or self.atlas.names

    @cached_property
    def _cell_of_pair(self) -> Indices:
        """For each pair, the flat index of its cell in the upper triangle of the network-by-network table."""
        number = {name: i for i, name in enumerate(self.network_names)}
        networks = np.array([number[name] for name in self._network_of_roi])
        first, second = pair_ends(self.n_rois)
        low, high = np.minimum(networks[first], networks[second]), np.maximum(networks[first], networks[second])
        return np.asarray(low * len(number) + high)

    @cached_property
    def _cell_sizes(self) -> Floats:
        """The number of pairs in each cell."""
        return np.bincount(self._cell_of_pair, minlength=len(self.network_names) ** 2).astype(np.float64)

    def by_network(self, values: Floats, normalised: bool = False) -> pd.DataFrame:
        """Sum values over the pairs within and between networks.

        Parameters
        ----------
        values
            One value for each pair, shape (pairs,).
        normalised
            Divide each sum by the number of pairs. Without it, large networks have the largest sums.

        Returns
        -------
        DataFrame
            A symmetric table, network by network.
        """
        names = self.network_names
        table: Floats = np.bincount(self._cell_of_pair, values, self._cell_sizes.size).astype(np.float64)
        if normalised:
            table /= np.maximum(self._cell_sizes, 1)
        upper = table.reshape(len(names), len(names))
        return pd.DataFrame(upper + np.triu(upper, 1).T, index=names, columns=names)

    def heatmaps(self, label: int, normalised: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the two halves of Figure 9 of the paper for a class, network by network.

        The first table counts pairs that are added to graphs of other classes when the counterfactual is of the class.
        The second counts pairs that are removed from graphs of the class. In both, the presence of the connection is
        associated with the class.

        Parameters
        ----------
        label
            The number of the class.
        normalised
            Divide each count by the number of pairs.
        """
        added = np.zeros(self.counters.shape[-1])
        for each in self.results.found:
            if each.counterfactual_label == label and each.flips is not None:
                added[each.flips[~each.decreased]] += 1
        return self.by_network(added, normalised), self.by_network(self.counters[label, 1], normalised)

    @cached_property
    def pair_table(self) -> pd.DataFrame:
        """One row per pair that changes at least once, in decreasing order of the total, with significance test."""
        first, second = pair_ends(self.n_rois)
        total = self.counters.sum(axis=(0, 1))
        changed = np.flatnonzero(total)
        tests = self.significance()["pair"]
        names = np.array(self.atlas.names)
        frame = pd.DataFrame({"first": names[first[changed]], "second": names[second[changed]]})
        for name, row in zip(self.counter_names, self.counters.reshape(-1, total.size), strict=True):
            frame[name] = row[changed].astype(int)
        frame["total"] = total[changed].astype(int)
        frame["p"], frame["q"] = tests["p"].to_numpy()[changed], tests["q"].to_numpy()[changed]
        return frame.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    @cached_property
    def network_table(self) -> pd.DataFrame:
        """One row per two networks with changes between (or within) them, with significance test."""
        tests = self.significance()["network"]
        ends = [(a, b) for i, a in enumerate(self.network_names) for b in self.network_names[i:]]
        table = pd.DataFrame(ends, columns=["first network", "second network"])
        upper = self._cell_sizes.reshape(len(self.network_names), -1)[np.triu_indices(len(self.network_names))]
        table["pairs"] = upper.astype(int)
        table["total"] = tests["observed"].to_numpy().astype(int)
        for name in ("expected", "p", "q"):
            table[name] = tests[name].to_numpy()
        changed = table[table["total"] > 0]
        return changed.sort_values("total", ascending=False, kind="stable").reset_index(drop=True)

    def significance(self, permutations: int = 1000, seed: int = 0) -> dict[str, pd.DataFrame]:
        """Test which pairs, ROIs and networks change more often than expected for random changes.

        Null hypothesis: the counterfactuals of a graph change as many pairs as observed, but random ones. Added pairs
        are drawn among the absent pairs, removed pairs among the present pairs. Changes that several counterfactuals of
        a graph share stay shared, so the number of searches per graph does not inflate the significance. One-sided
        p-values are exact for pairs and simulated for ROIs and networks. q-values control the false discovery rate
        (Benjamini & Hochberg). If the searches had constraints, or changed ROIs or networks as one step (``unit=``),
        the null model does not apply and the columns expected, p and q are NaN.

        Parameters
        ----------
        permutations
            Number of simulations for ROIs and networks.
        seed
            Seed of the simulations.

        Returns
        -------
        dict
            Tables "pair", "roi" and "network" with the columns observed, expected, p and q.
        """
        key = (permutations, seed)
        if key not in self._tests:
            self._tests[key] = self._test(permutations, np.random.default_rng(seed))
        return self._tests[key]

    @cached_property
    def _tests(self) -> dict[tuple[int, int], dict[str, pd.DataFrame]]:
        """Cache of `significance`."""
        return {}

    def _test(self, permutations: int, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
        totals = self.counters.sum(axis=(0, 1))
        if any(each.limited or each.unit != "pair" for each in self.results):
            levels = {"pair": totals, **self._aggregate(totals)}
            tests = {level: TestResult(values, *np.full((3, values.size), np.nan)) for level, values in levels.items()}
        else:
            graphs = changes_by_graph(self.results)
            sums = permutation_test(totals, self._aggregate, graphs, permutations, rng)
            tests = {"pair": exact_pair_test(totals, graphs), **sums}
        return {level: pd.DataFrame(test._asdict(), index=self._level_names(level)) for level, test in tests.items()}

    def _aggregate(self, totals: Floats) -> dict[str, Floats]:
        """Sum numbers of changes by ROI and by network."""
        table = self.by_network(totals).to_numpy()
        return {"roi": sum_at_rois(totals), "network": table[np.triu_indices(len(table))]}

    def _level_names(self, level: str) -> list[str]:
        if level == "roi":
            return list(self.atlas.names)
        if level == "network":
            names = self.network_names
            return [f"{names[i]} - {names[j]}" for i, j in zip(*np.triu_indices(len(names)), strict=True)]
        first, second = pair_ends(self.n_rois)
        names = list(self.atlas.names)
        return [f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True)]
