"""Search in words larger than an edge: moves that change all of a kind at once.

The moves of the graph stand in a line, the smallest first, so the first that changes the class is the smallest that
does. If none does alone, or half of the budget is spent, more and more are made at once, in random order, until the
class changes, and then those are taken back that are not needed, the largest first; once with those that remove and
once with those that add, since opposite moves undo each other's meaning. The distance is still the number of edges.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from countergraph.search.conversation import Answer, Flips, Found, Search, Task
from countergraph.search.prefix import stretched
from countergraph.search.trim import trimmed


def whole_moves(task: Task, start: Flips) -> Search:
    """Change all edges of a kind at once: of a region, between two coarse regions, inside a clique."""
    costs = np.array([task.limits.cost(move) for move in task.moves])
    alone = [index for index in np.argsort(costs, kind="stable") if task.limits.few(task.moves[index])]
    for index in alone[: task.max_calls // 2]:
        if (yield task.moves[index]).flipped:
            return
    order = task.rng.permutation(len(task.moves))
    for present in (True, False):
        line = np.array([index for index in order if task.graph[task.moves[index][0]] == present], dtype=np.intp)
        found = yield from _in_moves(task, stretched(line))
        if found is not None:
            yield from _in_moves(task, trimmed(found[np.argsort(-costs[found], kind="stable")]))


def _in_moves(task: Task, search: Generator[Flips, Answer, Found]) -> Generator[Flips, Answer, Found]:
    """Let a search that asks about numbers of moves ask about the flips that these are."""
    try:
        numbers = next(search)
        while True:
            answer = yield np.unique(np.concatenate([task.moves[number] for number in numbers]))
            numbers = search.send(answer)
    except StopIteration as end:
        found: Found = end.value
        return found
