"""Delta debugging: undo random chunks, as large as can be undone, until no single change can be."""

from __future__ import annotations

from countergraph.search.parts.picking import shuffled
from countergraph.search.parts.trim import trimmed
from countergraph.search.protocol import Flips, Search, Task


def delta_debugging(task: Task, start: Flips) -> Search:
    """Undo random chunks until no single change can be undone any more."""
    line, before = start, -1
    while line.size != before:
        before = line.size
        line = yield from trimmed(shuffled(line, task.rng, task.removal_weights()), task.apply_limits_reversed)
