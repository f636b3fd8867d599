"""Search in words larger than an edge: moves that change all of a kind at once.

The moves of the graph stand in a line, the smallest first, so the first that changes the class is the smallest that
does. When half of the budget is spent, more and more are made at once, in random order, until the class changes, and
then those are taken back that are not needed, the largest first; once with those that remove and once with those that
add, since opposite moves undo each other's meaning. If that fails, too, the rest of the line is asked about, and at
last one move after the other is made. The distance is still the number of edges.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np

from countergraph.search.parts.prefix import stretched
from countergraph.search.parts.trim import trimmed
from countergraph.search.protocol import Answer, Ask, Attempt, Flips, Message, Search, Task, translated

Success = Generator[Message, Answer, bool]


def whole_moves(task: Task, start: Flips) -> Search:
    """Change all edges of a kind at once: of a region, between two coarse regions, inside a clique."""
    moves = sorted(task.moves, key=task.limits.cost)
    few = [move for move in moves if task.limits.within_most(move)]
    removes = np.array([task.graph[move[0]] for move in moves], dtype=np.bool_)
    order, half = task.rng.permutation(len(moves)), task.max_calls // 2
    lines = (order[removes[order]], order[~removes[order]])
    if (yield from _alone(few[:half])) or (yield from _together(moves, lines, stretched)):
        return
    if not (yield from _alone(few[half:])):
        yield from _together(moves, lines, _one_by_one)


def _alone(moves: Sequence[Flips]) -> Success:
    """Make one of the moves."""
    for move in moves:
        if (yield Ask(move)).flipped:
            return True
    return False


def _together(moves: Sequence[Flips], lines: Sequence[Flips], forward: Callable[[Flips], Attempt]) -> Success:
    """Make several moves of each line of numbers, then take back what is not needed."""

    def union(numbers: Flips) -> Flips:
        return np.unique(np.concatenate([moves[number] for number in numbers]))

    crossed = False
    for line in lines:
        found = yield from translated(forward(line), union)
        if found is not None:
            yield from translated(trimmed(np.sort(found)[::-1]), union)
            crossed = True
    return crossed


def _one_by_one(order: Flips) -> Attempt:
    """Make one move after the other: a black box may change its mind on the way, and change it back."""
    for size in range(1, order.size + 1):
        if (yield Ask(order[:size])).flipped:
            return order[:size]
    return None
