"""The alternatives: the value that each pair takes if it is changed.

A graph has one possible alternative per pair: no edge instead of an edge, and the reverse (``"toggle"``). For weighted
networks they are computed from the reference cohort (``dataset=``) and the class of the network by the black box. A
network that is part of the cohort is left out, so its own label is not used.

To add alternatives, write a function of a `Cohort` and add it to `ALTERNATIVES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import GraphError, InputError, unknown_name
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.measure import Measure, check_measure
from countergraph.graphs.pairs import Bits, Indices, Label, Values, as_value_vector, as_value_vectors, digests
from countergraph.search.protocol import counterfactual_labels

TOGGLE = "toggle"
DEFAULT_CHANGE = "quantile:0.9"
"""The alternatives of weighted networks: an extreme but observed value of the wanted class."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Ranked:
    """The values of each pair in some networks, in increasing order."""

    values: Values
    """The sorted values (networks, pairs)."""
    left_out: Indices | None = None
    """The position of a value of each pair that does not count; None if all count."""

    def without(self, values: Values) -> Ranked:
        """Return the same without one of the networks."""
        return Ranked(self.values, np.asarray((self.values < values).sum(axis=0)))

    @property
    def size(self) -> int:
        """The number of networks."""
        return len(self.values) - (self.left_out is not None)

    def at(self, rank: int) -> Values:
        """Return the value of each pair at a position in the order."""
        if self.left_out is None:
            return np.asarray(self.values[rank])
        rows = rank + (rank >= self.left_out)
        return np.asarray(np.take_along_axis(self.values, rows[None], axis=0)[0])

    @property
    def median(self) -> Values:
        """The median of each pair."""
        return np.asarray((self.at((self.size - 1) // 2) + self.at(self.size // 2)) / 2)

    def quantiles(self, q: float) -> tuple[Values, Values]:
        """Return an observed value of each pair that a share q of the networks reaches from above, and from below."""
        rank = max(0, ceil(q * self.size - ROUNDING) - 1)
        return self.at(self.size - 1 - rank), self.at(rank)


@dataclass(frozen=True, eq=False)
class Cohort:
    """The reference cohort of one search, divided by class, without the network that is explained."""

    wanted: Ranked
    """The networks of a class to reach."""
    others: Ranked
    donors: Values
    """The networks of a class to reach (networks, pairs)."""
    mean: Values
    """The mean of the cohort."""
    network: Values
    """The network that is explained."""

    @property
    def increases(self) -> Bits:
        """Which pairs are stronger in the wanted class than in the other networks, by the medians."""
        return np.asarray(self.wanted.median >= (self.others if self.others.size else self.wanted).median)


def _quantile(cohort: Cohort, q: float) -> Values:
    """Return an extreme, but observed value of the wanted class, in the direction in which the classes differ."""
    low, high = cohort.wanted.quantiles(q)
    return np.asarray(np.where(cohort.increases, high, low))


def _donor(cohort: Cohort) -> Values:
    """Return the values of the nearest network of the wanted class: a candidate is a mixture of two real networks."""
    distances = ((cohort.donors - cohort.network) ** 2).sum(axis=1)
    return np.asarray(cohort.donors[np.where(distances > 0, distances, np.inf).argmin()])


class Kind(NamedTuple):
    """One kind of alternatives."""

    compute: Callable[..., Values]
    """Returns the value of each pair, given a `Cohort` and the parameter, if it has one."""
    takes_share: bool = False
    """Whether the name has a parameter after a colon, a share from 0.5 to 1."""
    differs: bool = False
    """Whether the values differ between networks of the same class."""


ALTERNATIVES: dict[str, Kind] = {
    "quantile": Kind(_quantile, takes_share=True),
    "target-median": Kind(lambda cohort: cohort.wanted.median),
    "donor": Kind(_donor, differs=True),
    "neutral": Kind(lambda cohort: cohort.mean),
}
"""The alternatives of weighted networks, by name."""
EXAMPLES = tuple(DEFAULT_CHANGE if kind.takes_share else name for name, kind in ALTERNATIVES.items())


def check_change(change: object) -> None:
    """Raise an error unless ``change`` is the name of alternatives, or an array."""
    if isinstance(change, str) and change != TOGGLE:
        _parse(change)


def _parse(change: str) -> tuple[Kind, tuple[float, ...]]:
    """Return the kind of alternatives of a name such as "quantile:0.9", and its parameter."""
    name, colon, number = change.partition(":")
    kind = ALTERNATIVES.get(name)
    if kind is None or kind.takes_share != bool(colon):
        raise unknown_name("change", change, (TOGGLE, *EXAMPLES))
    if not kind.takes_share:
        return kind, ()
    try:
        share = float(number)
    except ValueError:
        raise InputError(f"change must be a quantile such as {DEFAULT_CHANGE!r}, not {change!r}") from None
    if not 0.5 <= share <= 1:
        raise InputError(f"the quantile of change must be between 0.5 and 1, not {share:g}")
    return kind, (share,)


class Alternatives:
    """The alternative values of the pairs of some networks.

    Parameters
    ----------
    change
        ``"toggle"``, ``"quantile:Q"``, ``"target-median"``, ``"donor"``, ``"neutral"``, or the values themselves: an
        array for all networks (pairs,) or (n, n), or one for each (networks, pairs) or (networks, n, n).
    networks
        The networks to change (networks, pairs).
    dataset
        The reference cohort.
    target
        The label of the class to reach; None for any other class.
    """

    def __init__(
        self, change: str | ArrayLike | None, networks: Values, dataset: GraphDataset | None, target: Label | None
    ) -> None:
        weighted = networks.dtype != np.bool_
        self.change = (DEFAULT_CHANGE if weighted else TOGGLE) if change is None else change
        self._networks, self._dataset, self._target = networks, dataset, target
        self._by_class: dict[Label, Values] = {}
        self._groups: dict[Label, tuple[Bits, Ranked, Ranked]] = {}
        self._given: Values | None = None
        check_change(self.change)
        if not weighted and not (isinstance(self.change, str) and self.change == TOGGLE):
            raise InputError(f"change={self.change!r} is for weighted networks; an edge can only be added or removed")
        if not weighted:
            return
        if not isinstance(self.change, str):
            self._given = _given_alternatives(self.change, networks)
        elif self.change == TOGGLE:
            raise InputError(f"change='toggle' is for graphs; choose {DEFAULT_CHANGE!r}, for example")
        elif dataset is None:
            raise InputError(
                f"change={self.change!r} needs a reference cohort: pass dataset=, or the alternative values themselves "
                "as change=array"
            )

    def of(self, index: int, own: Label) -> Values:
        """Return the alternatives of one network (pairs,), given its class."""
        values = self._networks[index]
        if values.dtype == np.bool_:
            return np.asarray(~values)
        if self._given is not None:
            return np.asarray(self._given if self._given.ndim == 1 else self._given[index])
        assert isinstance(self.change, str)
        kind, parameters = _parse(self.change)
        row = self._rows.get(digests(values[None])[0])
        shared = row is None and not kind.differs
        if shared and own in self._by_class:
            return self._by_class[own]
        found = np.asarray(kind.compute(self._cohort(values, row, own), *parameters), dtype=np.float32)
        if shared:
            self._by_class[own] = found
        return found

    def check(self, measure: Measure) -> None:
        """Raise `InputError` if values that the user gives are not possible, such as a correlation above 1."""
        if self._given is None:
            return
        try:
            check_measure(measure, self._given)
        except InputError as error:
            raise InputError(f"change: {error}") from None

    def part(self, indices: Sequence[int]) -> str | ArrayLike | None:
        """Return ``change`` for some of the networks."""
        each = self._given is not None and self._given.ndim == 2
        return self._given[list(indices)] if each and self._given is not None else self.change

    @cached_property
    def _rows(self) -> dict[bytes, int]:
        """The rows of the networks in the reference cohort."""
        assert self._dataset is not None
        return {digest: row for row, digest in enumerate(digests(self._dataset.values))}

    @cached_property
    def _mean(self) -> Values:
        assert self._dataset is not None
        return np.asarray(self._dataset.values.mean(axis=0, dtype=np.float64))

    def _cohort(self, network: Values, row: int | None, own: Label) -> Cohort:
        """Return the reference cohort for a network of class ``own``, which is ``row`` of the cohort, or not part."""
        assert self._dataset is not None
        values = self._dataset.values
        if own not in self._groups:
            is_wanted = counterfactual_labels(self._dataset.labels, own, self._target)
            wanted, others = (Ranked(np.sort(values[rows], axis=0)) for rows in (is_wanted, ~is_wanted))
            self._groups[own] = is_wanted, wanted, others
        is_wanted, wanted, others = self._groups[own]
        if row is not None and is_wanted[row]:
            wanted, is_wanted = wanted.without(network), is_wanted & (np.arange(len(values)) != row)
        elif row is not None:
            others = others.without(network)
        if not wanted.size:
            raise InputError(
                "the alternative values of the pairs are computed from the networks of the other class, but the "
                "dataset contains none: pass a dataset of several classes, or change='neutral'"
            )
        return Cohort(wanted, others, values[is_wanted], self._mean, network)


def _given_alternatives(change: ArrayLike, networks: Values) -> Values:
    """Return the alternatives that the user gives, (pairs,) or (networks, pairs)."""
    try:
        array = np.asarray(change)
        is_square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.shape != networks.shape
        one = array.ndim == 1 or is_square
        given = as_value_vector(array, "change") if one else as_value_vectors(array, "change")
    except GraphError as error:
        raise InputError(f"{error}; or give the name of alternatives, such as {DEFAULT_CHANGE!r}") from None
    if given.shape not in ((networks.shape[1],), networks.shape):
        raise InputError(
            f"change must have one value for each of {networks.shape[1]} pairs, or for each of {networks.shape[0]} "
            f"networks and {networks.shape[1]} pairs, not shape {given.shape}"
        )
    return given.astype(np.float32)
