"""Ways to start, orders in which to flip pairs, and ways to propose a closer counterfactual, with fewer flips.

None is good for every black box. The searches of a run find out together which one pays (see `luck`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.learning.degree_bias import STEEP, contrasted, levelled
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.learning.views import BY_COUNT, BY_DEGREE
from countergraph.search.parts.mutations import fresh, thinned
from countergraph.search.parts.orders import strongest
from countergraph.search.protocol import Flips

DARING = 0.3
LEANING = 1.0
LONGEST_WALK = 341
"""As far as the race goes at its fifth length."""


def what_all_learned(task: GuidedTask) -> Flips:
    """Order the flips by what all searches of the run have learned."""
    return _strongest(task, task.guide.gains(), task.graph.size)


def towards_the_nearest(task: GuidedTask) -> Flips:
    """Order the flips by whether they lead towards the nearest graphs of another class."""
    return _strongest(task, task.guide.neighbours(), task.graph.size)


def towards_like_components(task: GuidedTask) -> Flips:
    """Walk towards the graphs of another class that are alike in the directions in which graphs differ most."""
    guide = task.guide
    return guide.walk(guide.components, LONGEST_WALK)


def towards_like_degrees(task: GuidedTask) -> Flips:
    """Walk towards the graphs of another class whose regions have the most similar degrees."""
    return task.guide.walk(BY_DEGREE, LONGEST_WALK)


def towards_like_counts(task: GuidedTask) -> Flips:
    """Walk towards the graphs of another class that have the most similar numbers of regions of each degree."""
    return task.guide.walk(BY_COUNT, LONGEST_WALK)


def room(task: GuidedTask, best: Flips) -> int:
    """Return how many changes to propose: one less than the best has, or more where they may still cost less."""
    return min(task.limits.room_below(best), 2 * best.size)


def guided(task: GuidedTask, best: Flips) -> Flips:
    """Take what all searches of the run have learned."""
    return _strongest(task, task.guide.gains(), room(task, best))


def daring(task: GuidedTask, best: Flips) -> Flips:
    """Do the same, but give the uncertain a chance, and other classes where there are several."""
    guide = task.guide
    noise = task.rng.standard_normal(task.graph.size)
    return _strongest(task, guide.elsewhere(task.rng) + DARING * guide.doubts() * noise, room(task, best))


def lopsided(task: GuidedTask, best: Flips) -> Flips:
    """Take what all have learned, but think more of additions and less of removals than was learned, or the contrary.

    Which of two pairs does more is soon learned; what many additions do against as many removals is not.
    """
    return _strongest(task, task.guide.leaning(LEANING * task.rng.standard_normal()), room(task, best))


def neighbourly(task: GuidedTask, best: Flips) -> Flips:
    """Go towards the nearest graphs of another class."""
    return _strongest(task, task.guide.neighbours(), room(task, best))


def by_component(task: GuidedTask, best: Flips) -> Flips:
    """Walk towards like shares in the directions in which graphs differ most, with some daring."""
    guide = task.guide
    return guide.walk(guide.components, room(task, best), DARING * task.rng.random(task.graph.size))


def by_degree(task: GuidedTask, best: Flips) -> Flips:
    """Walk towards like degrees, with some daring."""
    return task.guide.walk(BY_DEGREE, room(task, best), DARING * task.rng.random(task.graph.size))


def by_count(task: GuidedTask, best: Flips) -> Flips:
    """Walk towards like numbers of regions of each degree, with some daring."""
    return task.guide.walk(BY_COUNT, room(task, best), DARING * task.rng.random(task.graph.size))


def contrasting(task: GuidedTask, best: Flips) -> Flips:
    """Add where there are most connections, or remove where there are fewest."""
    return contrasted(task, STEEP)[: room(task, best)]


def levelling(task: GuidedTask, best: Flips) -> Flips:
    """Add where there are fewest connections, or remove where there are most."""
    return levelled(task, STEEP)[: room(task, best)]


def swapped(task: GuidedTask, best: Flips) -> Flips:
    """Destroy and repair: undo some changes, the weakest or any, and make one less of those that look strongest."""
    guide = task.guide
    undone = max(2, best.size // 8)
    line = best[np.argsort(-guide.gains()[best])] if task.rng.random() < 0.5 else task.rng.permutation(best)
    hopes = guide.gains() + task.rng.normal(0, 0.1, task.graph.size) if task.rng.random() < 0.5 else guide.neighbours()
    hopes = hopes.copy()
    hopes[best] = 0
    kept, new = line[:-undone], _strongest(task, hopes, undone - 1)
    return np.concatenate([kept, new[~np.isin(new, kept)]])


def _strongest(task: GuidedTask, gains: Floats, size: int) -> Flips:
    """Return the flips of the largest gains; where edges are kept, additions and removals by turns."""
    if not task.limits.keep_edges:
        return strongest(gains, size)
    additions, removals = (pool[np.argsort(-gains[pool], kind="stable")] for pool in (task.additions, task.removals))
    pairs = task.alternate(np.concatenate([additions, removals])).reshape(-1, 2)
    worthwhile: Flips = pairs[gains[pairs].sum(axis=1) > 0].ravel()
    return worthwhile[:size]


Start = Callable[[GuidedTask], Flips]
INFORMED: tuple[Start, ...] = (
    what_all_learned,
    towards_the_nearest,
    towards_like_components,
    towards_like_degrees,
    towards_like_counts,
)
"""The starts that know something of other graphs."""
Proposal = Callable[[GuidedTask, Flips], Flips]
TOGETHER: tuple[Proposal, ...] = (
    guided,
    daring,
    lopsided,
    neighbourly,
    by_component,
    by_degree,
    by_count,
    contrasting,
    levelling,
    swapped,
    thinned,
    fresh,
)
"""The ways of a graph in company."""
UNAIDED = tuple(way for way in TOGETHER if way not in (lopsided, contrasting, levelling))
"""Those of a graph with no company and no dataset: it came no closer by leaning, and looks at the ends by itself."""
