"""Constraints on counterfactuals: which pairs may change, the cost of a change, and what must be preserved."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import FileError, InputError, NoPairAllowedError, check_integers, unknown_name
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.files import read_numbers
from countergraph.graphs.pairs import Bits, Floats, pair_count, pair_ends, pair_position, roi_count, upper_triangle
from countergraph.search.limits import Limits
from countergraph.search.network import Network

Roi = int | str
COSTS = ("length", "plausible")
LEAST_COST = 0.05
"""The cost of a change that makes the graph like all others, for ``cost="plausible"``."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on a counterfactual. The driver applies them to every candidate of every search.

    Parameters
    ----------
    only
        Only changes in this direction: ``"added"`` or ``"removed"``; for weighted networks ``"strengthened"`` or
        ``"weakened"``.
    frozen_pairs
        Pairs of ROIs, by number or name, that must not change.
    frozen_rois
        ROIs, by number or name, whose pairs must not change.
    frozen_networks
        Lobes or networks of the atlas ("Frontal lobe"), whose pairs must not change.
    within
        Lobes or networks: only pairs inside one of them may change.
    between
        Pairs of lobes or networks, or of single ROIs ("Thalamus_L"): only pairs between the two may change. With
        ``within``, a pair may change if either of the two allows it.
    cost
        What is minimised instead of the number of changes: a positive number per pair, as an edge vector or a matrix
        (for example the distance of the correlation from the threshold); ``"length"`` in mm; or ``"plausible"``, a high
        cost for changes that are rare in the dataset.
    most
        The maximum number of changes.
    keep_edges
        Require as many additions as removals.
    keep_connected
        Do not split connected components.
    """

    only: Literal["added", "removed", "strengthened", "weakened"] | None = None
    frozen_pairs: Sequence[tuple[Roi, Roi]] = ()
    frozen_rois: Sequence[Roi] = ()
    frozen_networks: Sequence[str] = ()
    within: Sequence[str] = ()
    between: Sequence[tuple[str, str]] = ()
    cost: ArrayLike | str | None = None
    most: int | None = None
    keep_edges: bool = False
    keep_connected: bool = False

    def __post_init__(self) -> None:
        if self.only not in (None, "added", "removed", "strengthened", "weakened"):
            raise InputError(
                f"only must be 'added' or 'removed', or 'strengthened' or 'weakened' for weighted networks, not "
                f"{self.only!r}"
            )
        if self.only is not None and self.keep_edges:
            raise InputError(f"keep_edges needs additions and removals, but only={self.only!r} excludes one of them")
        if self.most is not None:
            check_integers(most=(self.most, 1))
        if self.keep_edges and self.most == 1:
            raise InputError("keep_edges needs one addition per removal, so most must be at least 2")
        for name in ("keep_edges", "keep_connected"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, not {getattr(self, name)!r}")
        for name in ("frozen_pairs", "frozen_rois", "frozen_networks", "within", "between"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Collection):
                raise InputError(f"{name} must be a list, such as [{given!r}]")
        for name in ("frozen_pairs", "between"):
            for pair in getattr(self, name):
                if isinstance(pair, str) or not isinstance(pair, Collection) or len(pair) != 2:
                    raise InputError(f"{name} must be a list of pairs, but contains {pair!r}")

    def limits(self, network: Network, atlas: Atlas | None, data: GraphDataset | None) -> Limits:
        """Return the constraints for one network, as the driver applies them."""
        decreases = network.decreases
        allowed = self._allowed(roi_count(decreases.size), atlas)
        if self.only is not None:
            allowed = allowed & (decreases if self.only in ("removed", "weakened") else ~decreases)
        costs = self._costs(network, atlas, data)
        return Limits(allowed, costs, self.most, self.keep_edges, self.keep_connected)

    def check_weighted(self, n_pairs: int, atlas: Atlas | None, data: GraphDataset | None) -> None:
        """Raise `InputError` if the constraints do not apply to weighted networks, or name unknown ROIs."""
        for name, given in (("keep_edges", self.keep_edges), ("keep_connected", self.keep_connected)):
            if given:
                raise InputError(f"{name} is for graphs: a change of a weighted network neither adds nor removes edges")
        if isinstance(self.cost, str) and self.cost == "plausible":
            raise InputError("cost='plausible' is for graphs: it is computed from the frequencies of edges")
        self._allowed(roi_count(n_pairs), atlas)
        self._costs(Network(np.zeros(n_pairs, np.float32), np.zeros(n_pairs, np.float32)), atlas, data)

    def _allowed(self, n: int, atlas: Atlas | None) -> Bits:
        first, second = pair_ends(n)
        allowed = np.ones(first.size, dtype=np.bool_)
        if self.within or self.between:
            allowed = np.zeros(first.size, dtype=np.bool_)
            for name in self.within:
                inside = _members(name, atlas)
                allowed |= inside[first] & inside[second]
            for pair in self.between:
                one, other = (_members(name, atlas) for name in pair)
                allowed |= (one[first] & other[second]) | (other[first] & one[second])
        for name in self.frozen_networks:
            frozen = _members(name, atlas)
            allowed &= ~(frozen[first] | frozen[second])
        for roi in self.frozen_rois:
            position = _position(roi, n, atlas)
            allowed &= (first != position) & (second != position)
        for one_end, other_end in self.frozen_pairs:
            i, j = sorted((_position(one_end, n, atlas), _position(other_end, n, atlas)))
            if i == j:
                raise InputError(f"a pair in frozen_pairs needs two different ROIs, not {one_end!r} twice")
            allowed[pair_position(i, j, n)] = False
        if not allowed.any():
            raise NoPairAllowedError("these constraints forbid the change of every pair; remove some of them")
        return allowed

    def _costs(self, network: Network, atlas: Atlas | None, data: GraphDataset | None) -> Floats | None:
        if self.cost is None:
            return None
        n = roi_count(network.values.size)
        if isinstance(self.cost, str):
            first, second = pair_ends(n)
            if self.cost not in COSTS:
                raise unknown_name("cost", self.cost, COSTS)
            if self.cost == "length":
                if atlas is None or atlas.coordinates is None:
                    raise InputError("cost='length' needs an atlas with coordinates")
                lengths = np.linalg.norm(atlas.coordinates[first] - atlas.coordinates[second], axis=1)
                if not lengths.all():
                    one, other = (atlas.names[ends[lengths.argmin()]] for ends in (first, second))
                    raise InputError(f"cost='length' needs different coordinates, but {one} and {other} have the same")
                return np.asarray(lengths)
            if data is None:
                raise InputError("cost='plausible' needs a dataset: pass dataset=")
            share = data.edges.mean(axis=0)
            return np.asarray(LEAST_COST + np.where(network.decreases, share, 1 - share))
        return pair_costs(self.cost, n)

    def describe(self) -> dict[str, Any]:
        """Return the constraints as plain values for JSON; an array of costs as its fingerprint."""
        plain: dict[str, Any] = {
            "only": self.only,
            "frozen_pairs": [[_plain(roi) for roi in pair] for pair in self.frozen_pairs],
            "frozen_rois": [_plain(roi) for roi in self.frozen_rois],
            "frozen_networks": list(self.frozen_networks),
            "within": list(self.within),
            "between": [list(pair) for pair in self.between],
            "cost": self.cost if self.cost is None or isinstance(self.cost, str) else _fingerprint(self.cost),
            "most": None if self.most is None else int(self.most),
            "keep_edges": self.keep_edges,
            "keep_connected": self.keep_connected,
        }
        return {name: value for name, value in plain.items() if value not in (None, [], False)}


def pair_costs(cost: ArrayLike, n: int) -> Floats:
    """Return the cost of each pair of ``n`` ROIs from an edge vector or a matrix, whose diagonal is ignored."""
    try:
        costs = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"cost must be one of {', '.join(COSTS)} or numbers ({error})") from error
    if costs.shape == (n, n):
        if not np.allclose(costs, costs.T, equal_nan=True):
            raise InputError("a matrix of costs must be symmetric")
        costs = np.asarray(upper_triangle(costs), dtype=np.float64)
    if costs.shape != (pair_count(n),):
        raise InputError(f"cost needs a number for each of {pair_count(n)} pairs, or {n} x {n}, not {costs.shape}")
    invalid = costs[~(np.isfinite(costs) & (costs > 0))]
    if invalid.size:
        raise InputError(
            f"costs must be finite and positive, not {invalid[0]:g}; use frozen_pairs for pairs that must not change"
        )
    return costs


def read_costs(path: Path, n: int) -> Floats:
    """Read the cost of each pair of ``n`` ROIs from a file: a symmetric matrix, or one number per pair."""
    numbers = read_numbers(path)
    try:
        return pair_costs(numbers.ravel() if 1 in numbers.shape else numbers, n)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _fingerprint(costs: ArrayLike) -> str:
    return hashlib.blake2b(np.asarray(costs, dtype=np.float64).tobytes(), digest_size=8).hexdigest()


def _plain(roi: Roi) -> Roi:
    return roi if isinstance(roi, str) else int(roi)


def _members(name: str, atlas: Atlas | None) -> Bits:
    """Return a mask of the ROIs of a lobe or network, or of the ROI with this name."""
    networks = None if atlas is None else atlas.networks
    if atlas is not None and name in atlas.names and name not in (networks or ()):
        return np.array([own == name for own in atlas.names])
    if atlas is None or networks is None:
        raise InputError(f"{name!r} is not an ROI, and the atlas has no lobes or networks")
    if name not in networks:
        raise unknown_name("ROI, lobe or network", name, dict.fromkeys([*networks, *atlas.names]))
    return np.array([own == name for own in networks])


def _position(roi: Roi, n: int, atlas: Atlas | None) -> int:
    if isinstance(roi, str):
        if atlas is None:
            raise InputError(f"there is no atlas to look up {roi!r}: use the number of the ROI")
        return atlas.index(roi)
    if not isinstance(roi, int | np.integer) or isinstance(roi, bool):
        raise InputError(f"an ROI must be a name or a number from 0 to {n - 1}, not {roi!r}")
    if not 0 <= roi < n:
        raise InputError(f"an ROI must be a name or a number from 0 to {n - 1}, not {roi}")
    return int(roi)
