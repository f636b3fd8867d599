"""Calibration: the relation between the margins of the surrogate and the scores of the black box."""

from __future__ import annotations

import math

SIGMAS = 3.0
"""A prediction is certain if it holds by this many standard deviations of the previous errors."""
ERROR_RATE = 0.01
"""The weight of the newest error in the moving average of the squared errors."""
CLIP = 1e-5
"""Probabilities are clipped to at least this distance from 0 and 1."""


def log_odds(score: float) -> float:
    """Return the log-odds of a probability: they still vary where the probability saturates."""
    score = min(max(score, CLIP), 1 - CLIP)
    return math.log(score / (1 - score))


class Calibration:
    """Linear regression from the difference of two scores (log-odds) to the margin of the surrogate.

    The *gap* of two candidates is the difference of their log-odds. Their *margin* is the difference that the surrogate
    predicts. The fit is by least squares over all pairs of candidates so far.
    """

    def __init__(self) -> None:
        self._gap_squares = self._gap_margins = 0.0
        self._error = 1.0
        """The moving average of the squared error per pair in which two candidates differ."""

    def update(self, gap: float, margin: float, n_pairs: int) -> None:
        """Learn from two candidates: their gap, their margin, and the number of pairs in which they differ."""
        self._error += ERROR_RATE * ((margin - self.to_margin(gap)) ** 2 / max(1, n_pairs) - self._error)
        self._gap_squares += gap * gap
        self._gap_margins += gap * margin

    def to_margin(self, gap: float) -> float:
        """Return the margin that corresponds to a gap."""
        return gap * max(0.0, self._gap_margins / self._gap_squares) if self._gap_squares else 0.0

    def is_surely_below(self, margin: float, gap: float, n_pairs: int) -> bool:
        """Check whether two candidates with this margin almost certainly have a smaller gap than ``gap``."""
        return margin + SIGMAS * math.sqrt(self._error * n_pairs) < self.to_margin(gap)
