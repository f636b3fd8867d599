"""Search in words larger than an edge: moves that change all of a kind at once.

The moves of the graph stand in a line, the smallest first, so the first that changes the class is the smallest that
does. If none does alone, they are made one after the other in random order until the class changes, and then each is
taken back in turn if it is not needed, the largest first; once with those that remove and once with those that add,
since opposite moves undo each other's meaning. The distance is still the number of edges.
"""

from __future__ import annotations

import numpy as np

from countergraph.search.conversation import NO_FLIPS, Flips, Search, Task


def whole_moves(task: Task, start: Flips) -> Search:
    """Change all edges of a kind at once: of a region, between two coarse regions, inside a clique."""
    for move in sorted(task.moves, key=task.limits.cost):
        if (yield move).flipped:
            return
    order = [task.moves[int(index)] for index in task.rng.permutation(len(task.moves))]
    for present in (True, False):
        yield from _combined(task, [move for move in order if task.graph[move[0]] == present])


def _combined(task: Task, moves: list[Flips]) -> Search:
    """Make one move after the other until the class changes, then take back what is not needed."""
    made: list[Flips] = []
    for move in moves:
        made.append(move)
        if (yield _union(made)).flipped:
            break
    else:
        return
    for move in sorted(made, key=task.limits.cost, reverse=True):
        rest = [each for each in made if each is not move]
        if rest and (yield _union(rest)).flipped:
            made = rest


def _union(moves: list[Flips]) -> Flips:
    return np.unique(np.concatenate(moves)) if moves else NO_FLIPS
