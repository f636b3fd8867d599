"""Random restarts around the best so far: destroy and repair, without learning anything."""

from __future__ import annotations

from countergraph.search.conversation import Flips, Search, Task
from countergraph.search.parts.mutations import exchanged, fresh, thinned
from countergraph.search.parts.picking import shuffled
from countergraph.search.parts.trim import trimmed

MUTATIONS = (exchanged, fresh, thinned)
PATIENCE = 100


def evolution(task: Task, start: Flips) -> Search:
    """Change the best in a random way, and trim it when it is closer, until `PATIENCE` changes in a row were not."""
    best, failed = start, 0
    while best.size > 1 and failed < PATIENCE:
        candidate = MUTATIONS[task.rng.integers(len(MUTATIONS))](task, best)
        answer = yield candidate
        if answer.flipped:
            best, failed = (yield from trimmed(shuffled(answer.asked, task.rng, task.dearly()), task.trailing)), 0
        else:
            failed += 1
