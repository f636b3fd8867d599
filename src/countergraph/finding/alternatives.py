"""The alternatives: the value that each pair takes if it is changed.

A graph has one possible alternative per pair: no edge instead of an edge, and the reverse (``"toggle"``). For weighted
networks they are computed from the reference cohort (``dataset=``) and the class of the network by the black box; the
label of the network itself is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import GraphError, InputError, unknown_name
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Label, Values, as_value_vector, as_value_vectors
from countergraph.search.protocol import counterfactual_labels

DEFAULT_CHANGE = "quantile:0.9"
"""The alternatives of weighted networks: an extreme but observed value of the wanted class."""


@dataclass(frozen=True, eq=False)
class Cohorts:
    """The reference cohort of one search, divided by class."""

    values: Values
    labels: Values
    own: Label
    target: Label | None

    @cached_property
    def is_wanted(self) -> Bits:
        """Which of the networks have a wanted class."""
        wanted = counterfactual_labels(self.labels, self.own, self.target)
        if not wanted.any():
            raise InputError(
                "the alternative values of the pairs are computed from the networks of the other class, but the "
                "dataset contains none: pass a dataset of several classes, or change='neutral'"
            )
        return wanted

    @cached_property
    def increases(self) -> Bits:
        """Which pairs are stronger in the wanted class than in the other networks, by the medians."""
        others = self.values[~self.is_wanted]
        other_medians = np.median(others if len(others) else self.values, axis=0)
        return np.asarray(np.median(self.values[self.is_wanted], axis=0) >= other_medians)


def _quantile(cohorts: Cohorts, values: Values, q: float) -> Values:
    """Return an extreme, but observed value of the wanted class, in the direction in which the classes differ."""
    low, high = np.quantile(cohorts.values[cohorts.is_wanted], [1 - q, q], axis=0)
    return np.asarray(np.where(cohorts.increases, high, low))


def _target_median(cohorts: Cohorts, values: Values) -> Values:
    """Return the median of the wanted class."""
    return np.asarray(np.median(cohorts.values[cohorts.is_wanted], axis=0))


def _donor(cohorts: Cohorts, values: Values) -> Values:
    """Return the values of the nearest network of the wanted class: a candidate is a mixture of two real networks."""
    donors = cohorts.values[cohorts.is_wanted]
    distances = ((donors - values) ** 2).sum(axis=1)
    return np.asarray(donors[np.where(distances > 0, distances, np.inf).argmin()])


def _neutral(cohorts: Cohorts, values: Values) -> Values:
    """Return the mean of the cohort: a change removes the information in a pair."""
    return np.asarray(cohorts.values.mean(axis=0, dtype=np.float64))


ALTERNATIVES: dict[str, Callable[[Cohorts, Values], Values]] = {
    "target-median": _target_median,
    "donor": _donor,
    "neutral": _neutral,
}
"""The alternatives of weighted networks without a parameter. ``"quantile:Q"`` has one."""
PER_NETWORK = {"donor"}
"""Alternatives that differ between the networks of a class."""


def check_change(change: object) -> None:
    """Raise an error unless ``change`` is the name of alternatives, or an array."""
    if not isinstance(change, str) or change in ("toggle", *ALTERNATIVES):
        return
    name, _, number = change.partition(":")
    if name != "quantile":
        raise unknown_name("change", change, ("toggle", DEFAULT_CHANGE, *ALTERNATIVES))
    try:
        q = float(number)
    except ValueError:
        raise InputError(f"change must be a quantile such as {DEFAULT_CHANGE!r}, not {change!r}") from None
    if not 0.5 <= q <= 1:
        raise InputError(f"the quantile of change must be between 0.5 and 1, not {q:g}")


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
        self.change = (DEFAULT_CHANGE if weighted else "toggle") if change is None else change
        self._networks, self._dataset, self._target = networks, dataset, target
        self._by_class: dict[Label, Values] = {}
        self._given: Values | None = None
        check_change(self.change)
        if not weighted and not (isinstance(self.change, str) and self.change == "toggle"):
            raise InputError(f"change={self.change!r} is for weighted networks; an edge can only be added or removed")
        if not weighted:
            return
        if not isinstance(self.change, str):
            self._given = _given_alternatives(self.change, networks)
        elif self.change == "toggle":
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
        if self.change in PER_NETWORK:
            return self._compute(own, values)
        if own not in self._by_class:
            self._by_class[own] = self._compute(own, values)
        return self._by_class[own]

    def _compute(self, own: Label, values: Values) -> Values:
        assert self._dataset is not None
        assert isinstance(self.change, str)
        cohorts = Cohorts(self._dataset.values, self._dataset.labels, own, self._target)
        name, _, number = self.change.partition(":")
        if name == "quantile":
            return _quantile(cohorts, values, float(number)).astype(np.float32)
        return ALTERNATIVES[name](cohorts, values).astype(np.float32)


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
