"""Destroy-and-repair search without learning: random mutations of the best counterfactual, each success trimmed."""

from __future__ import annotations

from countergraph.search.parts.mutations import drop_random, exchange_random, restart_random
from countergraph.search.parts.sampling import weighted_shuffle
from countergraph.search.parts.trim import trim
from countergraph.search.protocol import Ask, Flips, Search, Task

MUTATIONS = (exchange_random, restart_random, drop_random)
PATIENCE = 100
"""The number of failed mutations in a row after which the search ends."""


def evolution(task: Task, start: Flips) -> Search:
    """Mutate the best counterfactual, and trim each success, until `PATIENCE` mutations in a row have failed."""
    best, failed = start, 0
    while best.size > 1 and failed < PATIENCE:
        candidate = MUTATIONS[task.rng.integers(len(MUTATIONS))](task, best)
        answer = yield Ask(candidate)
        if answer.flipped:
            order = weighted_shuffle(answer.asked, task.rng, task.removal_weights())
            best, failed = (yield from trim(order, task.apply_limits_reversed)), 0
        else:
            failed += 1
