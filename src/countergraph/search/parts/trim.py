"""Undoing changes in chunks that adapt: the backward half of delta debugging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countergraph.search.protocol import Ask, Flips, Part

FIRST = 16
"""The first chunk is one in so many of the changes."""


def trimmed(
    line: Flips,
    fit: Callable[[Flips], Flips] = lambda line: line,
    knows: Callable[[Flips], bool] = lambda flips: False,
) -> Part:
    """Undo chunks from the start of a line of changes: larger ones after two successes, smaller ones after a failure.

    Every change that is left was tried alone, but for what had to go with it: ``fit`` says what may be left of a line.
    What ``knows`` tells to fail is not asked.
    """
    at, k, lucky = 0, max(1, line.size // FIRST), False
    while at < line.size:
        k = min(k, line.size - at)
        tried, rest = line[:at], line[at + k :]
        candidate, kept = np.concatenate([tried, rest]), fit(np.concatenate([rest, tried]))
        candidate = candidate if kept.size == candidate.size else candidate[np.isin(candidate, kept)]
        if candidate.size and not knows(candidate) and (yield Ask(candidate)).flipped:
            at = int(np.isin(tried, candidate).sum())
            line, k, lucky = candidate, 2 * k if lucky else k, True
        else:
            at, k, lucky = at + (k == 1), max(1, k // 2), False
    return line
