"""Sign-OPT, the hard-label attack on graph classifiers of Mu et al. (CCS 2021), in our own code.

The paper is "A Hard Label Black-box Adversarial Attack Against Graph Neural Networks". The algorithm and
the constants follow its repository, mujm/CCS21_GNNattack.

A direction theta has a value for each pair, and norm 1. At scale g it flips the pairs with ``g * theta > 0.5``. The
attack minimises p(theta), the sum of ``clip(g * theta - 0.5, 0, 1)`` at the smallest scale g that changes the class.

Differences from the repository, intended to save calls:

- The line search first classifies a new direction at the scale at which p is equal to that of the best direction. It
  searches the smallest scale, by bisection, only if this changes the class.
- The initial direction contains the random values of the best cluster only.
- The search can start at a known counterfactual. The initial search fails for some of our graphs.
- The search does not end when it no longer moves: it continues until the budget is spent.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import combinations
from typing import NamedTuple

import networkx as nx
import numpy as np

from countergraph.graphs.pairs import Floats, Indices, pairs_between, pairs_within, roi_count, to_adjacency
from countergraph.search.protocol import Answer, Ask, Flips, Message, Search, Task

TRIES_PER_ROI = 10
"""Random initial directions for each ROI of a cluster."""
DIRECTIONS = 100
"""Random directions for one estimate of the gradient; Q in the paper."""
SMOOTHING = 0.1
"""The norm of a random direction; mu in the paper."""
FIRST_STEP, MIN_STEP, RESET_STEP = 0.2, 1e-4, 1.0
MAX_LINE_SEARCH = 15
TOLERANCE = 1e-3
"""Relative; the repository uses 0.01 for graphs with scales of about 5 to 10."""


class Point(NamedTuple):
    """A direction that changes the class at a scale."""

    theta: Floats
    scale: float

    @property
    def flips(self) -> Flips:
        """The pairs that change."""
        return np.flatnonzero(self.scale * self.theta > 0.5)

    @property
    def p(self) -> float:
        """The value to minimise."""
        return float(np.clip(self.scale * self.theta - 0.5, 0, 1).sum())


Part = Generator[Message, Answer, Point | None]


def sign_opt(task: Task, start: Flips) -> Search:
    """Find an initial direction in clusters of ROIs, then descend along estimated signs of the gradient of p."""
    best = yield from (_point_of(start, task) if start.size else _initial_point(task))
    step = FIRST_STEP
    while best is not None and best.p > 0:
        gradient = yield from _sign_gradient(best, task.rng)
        best, step = yield from _line_search(best, gradient, step)


def _initial_point(task: Task) -> Part:
    """Return the random direction with the fewest flips, inside a cluster if possible, else between two clusters."""
    rng, fewest = task.rng, task.graph.size + 1
    values = None
    for stage in _stages(task):
        for pairs, tries in stage:
            for _ in range(tries):
                random = rng.normal(rng.random(), 0.5, pairs.size)
                flips = pairs[random > 0.5]
                if 0 < flips.size < fewest and (yield Ask(flips)).flipped:
                    fewest, values = flips.size, _random_values(task)
                    values[pairs] = random
        if values is not None:
            return (yield from _smallest_scale(values))
    return None


def _point_of(start: Flips, task: Task) -> Part:
    """Return a direction that flips the pairs of a known counterfactual first."""
    values = _random_values(task)
    values[start] = 1.01 - values[start]
    return (yield from _smallest_scale(values))


def _random_values(task: Task) -> Floats:
    """Return values that flip nothing."""
    return np.minimum(task.rng.normal(0.5, 0.1, task.graph.size), 0.5)


def _stages(task: Task) -> Iterator[list[tuple[Indices, int]]]:
    """Yield the pairs within each cluster, between any two clusters, and of the whole graph, with numbers of tries."""
    n = roi_count(task.graph.size)
    graph = nx.from_numpy_array(to_adjacency(task.graph))
    found = nx.community.louvain_communities(graph, seed=int(task.rng.integers(2**31)))
    clusters = [np.array(sorted(cluster)) for cluster in found]
    yield [(pairs_within(each, n), TRIES_PER_ROI * each.size) for each in clusters if each.size > 1]
    yield [(pairs_between(a, b, n), TRIES_PER_ROI * (a.size + b.size)) for a, b in combinations(clusters, 2)]
    yield [(np.arange(task.graph.size), TRIES_PER_ROI * n)]


def _smallest_scale(values: Floats, scale: float = 1.0) -> Generator[Message, Answer, Point]:
    """Return the smallest scale, by bisection, that changes the class, for values that change it at ``scale``."""
    norm = float(np.linalg.norm(values))
    theta, low, high = values / norm, 0.0, scale * norm
    while high - low > TOLERANCE * high:
        middle = Point(theta, (low + high) / 2)
        if middle.flips.size and (yield Ask(middle.flips)).flipped:
            high = middle.scale
        else:
            low = middle.scale
    return Point(theta, high)


def _sign_gradient(best: Point, rng: np.random.Generator) -> Generator[Message, Answer, Floats]:
    """Return the mean of random signs, each with the sign of the change of p in that direction: one call each."""
    gradient = np.zeros_like(best.theta)
    for _ in range(DIRECTIONS):
        noise = rng.standard_normal(best.theta.size)
        noise *= SMOOTHING / np.linalg.norm(noise)
        answer = yield Ask(_at_same_p(np.clip(best.theta + noise, 0, 1), best).flips)
        gradient += np.sign(noise) * (-1 if answer.flipped else 1)
    return np.asarray(gradient / DIRECTIONS)


def _line_search(best: Point, gradient: Floats, step: float) -> Generator[Message, Answer, tuple[Point, float]]:
    """Double the step while p decreases; if it does not decrease at all, divide the step by 4 until it does."""
    origin = best.theta
    improved = None
    for _ in range(MAX_LINE_SEARCH):
        better = yield from _improve(origin - step * gradient, best)
        step *= 2
        if better is None:
            break
        best = improved = better
    for _ in range(MAX_LINE_SEARCH if improved is None else 0):
        step /= 4
        better = yield from _improve(origin - step * gradient, best)
        if better is not None:
            best = better
            break
    return best, (RESET_STEP if step < MIN_STEP else step)


def _improve(theta: Floats, best: Point) -> Part:
    """Return the point of a direction if its p is smaller than that of ``best``, without more flips; else None."""
    point = _at_same_p(theta, best)
    if not point.flips.size or not (yield Ask(point.flips)).flipped:
        return None
    point = yield from _smallest_scale(point.theta, point.scale)
    return point if point.p < best.p and point.flips.size <= best.flips.size else None


def _at_same_p(theta: Floats, best: Point) -> Point:
    """Return a direction at the scale at which p has the value of ``best``, by Newton's method: no calls."""
    theta = theta / np.linalg.norm(theta)
    scale, p = best.scale, best.p
    for _ in range(10):
        values = scale * theta - 0.5
        error = float(np.clip(values, 0, 1).sum()) - p
        slope = float(theta @ ((values > 0) & (values < 1)))
        if abs(error) < TOLERANCE * p:
            break
        scale = scale - error / slope if slope > 0 else 1.02 * scale
    return Point(theta, scale)
