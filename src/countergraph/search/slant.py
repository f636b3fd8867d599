"""Random flips, rather at the regions with few connections or with many.

A black box that counts, walks or compares neighbourhoods notices most where a connection more or less is unusual: at
both ends of the degrees. Of two or three random flips there, twice as many sets change the mind of graph2vec on the ASD
cohort as of flips anywhere.
"""

from __future__ import annotations

import numpy as np

from countergraph.graphs.pairs import Floats, pair_ends
from countergraph.search.conversation import Flips, Task
from countergraph.search.picking import shuffled
from countergraph.search.views import degrees_of

SLANT = 2.0
"""How many times likelier, as a logarithm, a flip is for one standard deviation of the degree of an end."""


def at_the_rim(task: Task) -> Flips:
    """Return all flips in random order, those at regions with few connections first."""
    return _slanted(task, -SLANT)


def at_the_hubs(task: Task) -> Flips:
    """Return all flips in random order, those at regions with many connections first."""
    return _slanted(task, SLANT)


def _slanted(task: Task, slant: float) -> Flips:
    weights = np.exp(slant * _degrees_of_ends(task))
    return shuffled(np.concatenate([task.additions, task.removals]), task.rng, task.cheaply(weights))


def _degrees_of_ends(task: Task) -> Floats:
    """Return the sum of the degrees of both ends of each pair, in standard deviations above the mean."""
    degrees = degrees_of(task.graph).astype(np.float64)
    degrees = (degrees - degrees.mean()) / (degrees.std() or 1.0)
    first, second = pair_ends(degrees.size)
    return np.asarray(degrees[first] + degrees[second])
