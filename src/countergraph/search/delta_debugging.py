"""Delta debugging: undo random chunks of changes until no single change can be undone."""

from __future__ import annotations

from countergraph.search.parts.sampling import weighted_shuffle
from countergraph.search.parts.trim import trim
from countergraph.search.protocol import Flips, Search, Task


def delta_debugging(task: Task, start: Flips) -> Search:
    """Repeat passes of `trim` over the shuffled changes until a pass undoes nothing: the result is 1-minimal."""
    flips, before = start, -1
    while flips.size != before:
        before = flips.size
        order = weighted_shuffle(flips, task.rng, task.removal_weights())
        flips = yield from trim(order, task.apply_limits_reversed)
