"""Which way pays: all searches of a run share what they found out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FADING = 0.995
WON, LOST = 0.3, 4.0
"""What is thought of a way of which nothing is known: that it pays now and then."""


class Luck:
    """How much each way paid so far; what is long ago fades, as the searches get closer and other ways pay."""

    def __init__(self, ways: int) -> None:
        self.won = np.full(ways, WON)
        self.lost = np.full(ways, LOST)

    def pick(self, rng: np.random.Generator) -> int:
        """Pick a way, each with the probability that it is the best of all (Thompson sampling)."""
        return int(rng.beta(self.won, self.lost).argmax())

    def line_up(self, ways: Sequence[int], rng: np.random.Generator) -> list[int]:
        """Return some ways in the order in which to try them, by the same rule."""
        hopes = rng.beta(self.won, self.lost)
        return sorted(ways, key=lambda way: -hopes[way])

    def tell(self, way: int, share: float) -> None:
        """Take in how a way fared: how much of what it could win it won, from 0 to 1."""
        self.won += (1 - FADING) * (WON - self.won)
        self.lost += (1 - FADING) * (LOST - self.lost)
        self.won[way] += share
        self.lost[way] += 1 - share
