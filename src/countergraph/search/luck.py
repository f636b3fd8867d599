"""Which way of proposing pays: all searches of a run share what they found out."""

from __future__ import annotations

import numpy as np

FADING = 0.995


class Luck:
    """How much closer each way led so far; what is long ago fades, as the searches get closer and other ways pay."""

    def __init__(self, ways: int) -> None:
        self.won = np.ones(ways)
        self.lost = np.ones(ways)

    def pick(self, rng: np.random.Generator) -> int:
        """Pick a way, each with the probability that it is the best of all (Thompson sampling)."""
        return int(rng.beta(self.won, self.lost).argmax())

    def tell(self, way: int, share: float) -> None:
        """Take in how a way fared: which share of the changes it saved."""
        for count in (self.won, self.lost):
            count += (1 - FADING) * (1 - count)
        self.won[way] += share
        self.lost[way] += 1 - share
