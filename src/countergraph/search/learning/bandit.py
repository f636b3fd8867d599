"""Which way pays: all searches of a run share what they found out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countergraph.graphs.pairs import Floats

FADING = 0.995
WON, LOST = 0.3, 4.0
"""What is thought of a way of which nothing is known: that it pays now and then."""


class Bandit:
    """How much each way paid so far; what is long ago fades, as the searches get closer and other ways pay.

    Ways are numbered from 0; how many there are, whoever picks says.
    """

    def __init__(self) -> None:
        self.won, self.lost = np.empty(0), np.empty(0)

    def pick(self, count: int, rng: np.random.Generator) -> int:
        """Pick one of ``count`` ways, each with the probability that it is the best of all (Thompson sampling)."""
        return int(self._hopes(count, rng).argmax())

    def rank(self, ways: Sequence[int], count: int, rng: np.random.Generator) -> list[int]:
        """Return some of ``count`` ways in the order in which to try them, by the same rule."""
        hopes = self._hopes(count, rng)
        return sorted(ways, key=lambda way: -hopes[way])

    def _hopes(self, count: int, rng: np.random.Generator) -> Floats:
        new = np.ones(max(0, count - self.won.size))
        self.won, self.lost = np.append(self.won, WON * new), np.append(self.lost, LOST * new)
        return rng.beta(self.won[:count], self.lost[:count])

    def update(self, way: int, share: float) -> None:
        """Take in how a way fared: how much of what it could win it won, from 0 to 1."""
        self.won += (1 - FADING) * (WON - self.won)
        self.lost += (1 - FADING) * (LOST - self.lost)
        self.won[way] += share
        self.lost[way] += 1 - share
