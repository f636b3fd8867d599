"""Undo changes in chunks of adaptive size, as in delta debugging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countergraph.search.protocol import Ask, Flips, Part

N_CHUNKS = 16
"""The first chunk is this fraction (1 / `N_CHUNKS`) of the changes."""


def trim(
    order: Flips,
    apply_limits: Callable[[Flips], Flips] = lambda flips: flips,
    can_skip: Callable[[Flips], bool] = lambda flips: False,
    max_failures: float = np.inf,
) -> Part:
    """Undo chunks of changes from the beginning of an order.

    The chunk size doubles after two successes in a row and is halved after a failure. The pass ends when each remaining
    change was tried separately.

    Parameters
    ----------
    order
        The changes of a counterfactual.
    apply_limits
        Applies the constraints to a candidate. Undoing one change may require undoing others.
    can_skip
        Checks whether a candidate is known not to be a counterfactual; it then needs no call.
    max_failures
        The pass ends after this many failures in a row.
    """
    position, k, succeeded, failures = 0, max(1, order.size // N_CHUNKS), False, 0
    while position < order.size and failures < max_failures:
        k = min(k, order.size - position)
        tried, rest = order[:position], order[position + k :]
        candidate, kept = np.concatenate([tried, rest]), apply_limits(np.concatenate([rest, tried]))
        candidate = candidate if kept.size == candidate.size else candidate[np.isin(candidate, kept)]
        if candidate.size and not can_skip(candidate) and (yield Ask(candidate)).flipped:
            position = int(np.isin(tried, candidate).sum())
            order, k, succeeded, failures = candidate, 2 * k if succeeded else k, True, 0
        else:
            position, k, succeeded, failures = position + (k == 1), max(1, k // 2), False, failures + 1
    return order
