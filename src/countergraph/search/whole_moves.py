"""Search over moves: groups of pairs that change together.

1. Try each move separately, smallest first, with half of the budget. The first success is the smallest possible move.
2. Combine moves: apply growing prefixes of a random order of moves until the class changes, then revert the moves that
   are not needed, largest first. Do this once with the moves that remove edges and once with those that add edges,
   because opposite moves would cancel each other.
3. If that fails, try the remaining moves separately.
4. If that fails, apply the moves one after the other, in the same random orders.

The distance of the result is the number of changed pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np

from countergraph.search.parts.prefix import grow_and_bisect
from countergraph.search.parts.trim import trim
from countergraph.search.protocol import Answer, Ask, Attempt, Flips, Message, Search, Task, translated

Success = Generator[Message, Answer, bool]
"""A step of the search that returns whether it has found a counterfactual."""


def whole_moves(task: Task, start: Flips) -> Search:
    """Change groups of pairs together: all of an ROI, between two networks, inside a clique."""
    moves = sorted(task.moves, key=task.limits.cost)
    small_moves = [move for move in moves if task.limits.within_most(move)]
    removes = np.array([task.graph[move[0]] for move in moves], dtype=np.bool_)
    order, half = task.rng.permutation(len(moves)), task.max_calls // 2
    orders = (order[removes[order]], order[~removes[order]])
    if (yield from _try_separately(small_moves[:half])) or (yield from _combine(moves, orders, grow_and_bisect)):
        return
    if not (yield from _try_separately(small_moves[half:])):
        yield from _combine(moves, orders, _grow_one_by_one)


def _try_separately(moves: Sequence[Flips]) -> Success:
    """Try one move at a time until one is a counterfactual."""
    for move in moves:
        if (yield Ask(move)).flipped:
            return True
    return False


def _combine(moves: Sequence[Flips], orders: Sequence[Flips], forward: Callable[[Flips], Attempt]) -> Success:
    """Find a combination of moves in each order of move numbers, then revert the moves that are not needed."""

    def union(numbers: Flips) -> Flips:
        return np.unique(np.concatenate([moves[number] for number in numbers]))

    success = False
    for order in orders:
        found = yield from translated(forward(order), union)
        if found is not None:
            yield from translated(trim(np.sort(found)[::-1]), union)
            success = True
    return success


def _grow_one_by_one(order: Flips) -> Attempt:
    """Classify every prefix of an order: the class may change and change back between the steps of bisection."""
    for size in range(1, order.size + 1):
        if (yield Ask(order[:size])).flipped:
            return order[:size]
    return None
