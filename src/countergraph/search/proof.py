"""Properties of a counterfactual that follow from the answers to its search, without additional calls."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from countergraph.search.protocol import Flips

FIRST = 17
"""Before the first counterfactual is found, only sets of fewer flips are recorded: longer ones are never needed."""


class Proof(NamedTuple):
    """The properties of a counterfactual that are proven."""

    minimal: bool = False
    """Without any single one of its changes it is not a counterfactual: every such set was classified."""
    radius: int = 0
    """All sets of at most this many changes were classified, and none is a counterfactual."""
    optimal: bool = False
    """All sets with fewer changes were classified, and none is a counterfactual."""


NO_PROOF = Proof()


class RefutedSets:
    """The sets of flips that were classified and are not counterfactuals, by size.

    The hash of a set is the exclusive or of one random number per flip (Zobrist, 1970). It does not depend on the
    order, and removing a flip applies its number a second time.

    Parameters
    ----------
    n_pairs
        The number of pairs of the graph.
    n_changeable
        How many of them can change; None for all.
    """

    def __init__(self, n_pairs: int, n_changeable: int | None = None) -> None:
        self._numbers, self._n_changeable = _numbers(n_pairs), n_pairs if n_changeable is None else n_changeable
        self._refuted: defaultdict[int, set[int]] = defaultdict(set)
        self._size = FIRST

    def add(self, flips: Flips) -> None:
        """Record a set that is not a counterfactual."""
        if flips.size < self._size:
            self._refuted[flips.size].add(self._hash(flips))

    def keep_below(self, size: int) -> None:
        """Keep only sets of fewer than ``size`` flips from now on: the best counterfactual has ``size``."""
        self._size = size
        for each in [each for each in self._refuted if each >= size]:
            del self._refuted[each]

    def proof_of(self, best: Flips) -> Proof:
        """Return the properties that the recorded sets prove about a counterfactual."""
        without_one = self._numbers[best] ^ np.uint64(self._hash(best))
        minimal = best.size == 1 or self._refuted[best.size - 1].issuperset(without_one.tolist())
        radius = 0
        while radius + 1 < best.size and len(self._refuted[radius + 1]) == comb(self._n_changeable, radius + 1):
            radius += 1
        return Proof(minimal, radius, optimal=radius == best.size - 1)

    def _hash(self, flips: Flips) -> int:
        return int(np.bitwise_xor.reduce(self._numbers[flips]))


@lru_cache(maxsize=4)
def _numbers(n_pairs: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=n_pairs, dtype=np.uint64)
