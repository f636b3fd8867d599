"""What the guess of a memory is worth in the scores of a black box."""

from __future__ import annotations

import math

SURE = 3.0
"""So many standard deviations make sure."""
FADING = 0.01
NEAREST = 1e-5
"""How close to 0 and 1 a probability is taken to be at most."""


def log_odds(score: float) -> float:
    """Return the logarithm of the odds of a probability: it goes on where a probability no longer moves."""
    score = min(max(score, NEAREST), 1 - NEAREST)
    return math.log(score / (1 - score))


class Calibration:
    """The guess that goes with a difference between two scores (log-odds), by least squares over all seen so far."""

    def __init__(self) -> None:
        self._gaps = self._guesses = 0.0
        self._error = 1.0

    def update(self, gap: float, guess: float, pairs: int) -> None:
        """Take in two candidates: the gap between their scores, what was guessed, the pairs in which they differ."""
        self._error += FADING * ((guess - self.guess(gap)) ** 2 / max(1, pairs) - self._error)
        self._gaps += gap * gap
        self._guesses += gap * guess

    def guess(self, gap: float) -> float:
        """Return the guess that goes with a gap between two scores."""
        return gap * max(0.0, self._guesses / self._gaps) if self._gaps else 0.0

    def surely_below(self, guess: float, gap: float, pairs: int) -> bool:
        """Tell whether a gap will turn out smaller than ``gap``, by what is guessed and how wrong guesses have been."""
        return guess + SURE * math.sqrt(self._error * pairs) < self.guess(gap)
