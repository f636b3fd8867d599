"""What the answers to a search prove by themselves about what it found; nothing more has to be asked for it."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from countergraph.search.conversation import Flips

FIRST = 17
"""Before anything is found, only sets of fewer changes than this are remembered: nothing that long will be proven."""


class Proven(NamedTuple):
    """What is proven about a counterfactual."""

    minimal: bool = False
    """Each of its changes was left out by itself, and the class did not change any more."""
    radius: int = 0
    """Every set of so many changes or fewer was asked about, and none is a counterfactual."""
    optimal: bool = False
    """So was every set of fewer changes than it has."""


NOTHING = Proven()


class Evidence:
    """The sets of changes that are known to be no counterfactuals, by their sizes.

    A set is known by the exclusive or of a random number for each of its changes (Zobrist, 1970): whatever their order,
    it is the same, and to leave one out is to apply that one's number again.

    Parameters
    ----------
    n_pairs
        How many pairs there are.
    """

    def __init__(self, n_pairs: int) -> None:
        self._numbers = _numbers(n_pairs)
        self._refuted: defaultdict[int, set[int]] = defaultdict(set)
        self._size = FIRST

    def refute(self, flips: Flips) -> None:
        """Take in that a set is no counterfactual."""
        if flips.size < self._size:
            self._refuted[flips.size].add(self._key(flips))

    def only_below(self, size: int) -> None:
        """Mind only sets of fewer than ``size`` changes from now on: the best so far has no more."""
        self._size = size
        for each in [each for each in self._refuted if each >= size]:
            del self._refuted[each]

    def about(self, best: Flips) -> Proven:
        """Return what is proven about a counterfactual."""
        less_one = self._numbers[best] ^ np.uint64(self._key(best))
        minimal = best.size == 1 or self._refuted[best.size - 1].issuperset(less_one.tolist())
        radius = 0
        while radius + 1 < best.size and len(self._refuted[radius + 1]) == comb(self._numbers.size, radius + 1):
            radius += 1
        return Proven(minimal, radius, optimal=radius == best.size - 1)

    def _key(self, flips: Flips) -> int:
        return int(np.bitwise_xor.reduce(self._numbers[flips]))


@lru_cache(maxsize=4)
def _numbers(n_pairs: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=n_pairs, dtype=np.uint64)
