"""Random restarts around the best so far: destroy and repair, without learning anything."""

from __future__ import annotations

from countergraph.search.parts.mutations import exchanged, fresh, thinned
from countergraph.search.parts.picking import shuffled
from countergraph.search.parts.trim import trimmed
from countergraph.search.protocol import Ask, Flips, Search, Task

MUTATIONS = (exchanged, fresh, thinned)
PATIENCE = 100


def evolution(task: Task, start: Flips) -> Search:
    """Change the best in a random way, and trim it when it is closer, until `PATIENCE` changes in a row were not."""
    best, failed = start, 0
    while best.size > 1 and failed < PATIENCE:
        candidate = MUTATIONS[task.rng.integers(len(MUTATIONS))](task, best)
        answer = yield Ask(candidate)
        if answer.flipped:
            order = shuffled(answer.asked, task.rng, task.removal_weights())
            best, failed = (yield from trimmed(order, task.apply_limits_reversed)), 0
        else:
            failed += 1
