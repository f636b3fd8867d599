"""Random flips that make the regions' numbers of connections differ more, or less.

A black box that counts, walks or compares neighbourhoods notices most where a connection more or less is unusual: at
both ends of the degrees. On the ASD cohort 1.5 to 1.8 times as many sets of two or three such flips change the mind of
graph2vec as of flips anywhere, and 1.6 or 2.3 times as many of fifty. What measures a graph as a whole, by its
clustering or its largest eigenvalue, is moved several times as far.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import degrees_of, pair_ends
from countergraph.search.parts.picking import shuffled
from countergraph.search.protocol import Flips, Task

SLANT = 2.0
"""How many times likelier, as a logarithm, a flip is for one standard deviation of the degree of an end."""
STEEP = 8.0
"""The same for flips that are almost all at the ends."""
STEEPEST = 300.0
"""More is no number any more."""


def contrasted(task: Task, slant: float = SLANT) -> Flips:
    """Return all flips in random order, rather those that add where there are many connections or remove where few."""
    return _slanted(task, slant)


def levelled(task: Task, slant: float = SLANT) -> Flips:
    """Return all flips in random order, rather those that add where there are few connections or remove where many."""
    return _slanted(task, -slant)


def _slanted(task: Task, slant: float) -> Flips:
    degrees = degrees_of(task.graph).astype(np.float64)
    degrees = (degrees - degrees.mean()) / (degrees.std() or 1.0)
    first, second = pair_ends(degrees.size)
    slants = slant * np.where(task.graph, -1, 1) * (degrees[first] + degrees[second])
    weights = np.exp(np.clip(slants, -STEEPEST, STEEPEST))
    return shuffled(np.concatenate([task.additions, task.removals]), task.rng, task.addition_weights(weights))
