"""The experts: each orders the flips of a graph, to find a first counterfactual or to propose a closer one.

No expert is best for every black box: the `Portfolio` learns which ones succeed in a run. ``best`` is the best
counterfactual so far; None at the start of a search. An order that an expert repeats would be a wasted call, so the
orders of improvement are perturbed at random.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.learned.directions import DEGREE_COUNTS, DEGREES, Embedding
from countergraph.search.learned.state import LearnedTask
from countergraph.search.parts.mutations import restart_random
from countergraph.search.parts.orders import largest_gains, random_order
from countergraph.search.parts.sampling import weighted_shuffle
from countergraph.search.protocol import NO_FLIPS, Flips, Task

REPAIR_NOISE = 0.1
"""The standard deviation of the noise on the gains when new changes are chosen in `destroy_and_repair`."""
MAX_PATH = 341
"""The maximum length of a path at the start: the fifth prefix size."""
BIAS, STRONG_BIAS = 2.0, 8.0
"""The increase of the log-weight of a flip per standard deviation of the degree of one of its ROIs."""
MAX_LOG_WEIGHT = 300.0
"""The log-weights are clipped to this absolute value, to prevent overflow."""


def max_size(task: LearnedTask, best: Flips | None) -> int:
    """Return the number of changes to propose: one less than the best has, or more if they can still cost less."""
    return task.graph.size if best is None else min(task.limits.max_changes_below(best), 2 * best.size)


def surrogate(task: LearnedTask, best: Flips | None) -> Flips:
    """Order by the gains of the surrogate."""
    return by_gain(task, task.guide.gains(), max_size(task, best))


def perturbed_surrogate(task: LearnedTask, best: Flips | None) -> Flips:
    """Order by the gains of the surrogate, perturbed by their uncertainty (Thompson sampling)."""
    if best is None:
        return NO_FLIPS
    noise = task.settings.perturbation * task.guide.stds() * task.rng.standard_normal(task.graph.size)
    return by_gain(task, task.guide.gains() + noise, max_size(task, best))


def frequencies(task: LearnedTask, best: Flips | None) -> Flips:
    """Order by the differences between the edge frequencies of the classes."""
    return by_gain(task, task.guide.frequency_gains(), max_size(task, best))


def neighbours(task: LearnedTask, best: Flips | None) -> Flips:
    """Order by the gains towards the nearest graphs of a wanted class."""
    return by_gain(task, task.guide.neighbour_gains(), max_size(task, best))


def _path(task: LearnedTask, best: Flips | None, embedding: Embedding) -> Flips:
    """Return a path to the nearest graphs of a wanted class in an embedding."""
    if best is None:
        return task.guide.path_to_neighbours(embedding, MAX_PATH)
    noise = task.settings.perturbation * task.rng.random(task.graph.size)
    return task.guide.path_to_neighbours(embedding, max_size(task, best), noise)


def components(task: LearnedTask, best: Flips | None) -> Flips:
    """Return a path to the nearest graphs of a wanted class in the space of the principal components."""
    return _path(task, best, task.guide.state.component_embedding())


def degrees(task: LearnedTask, best: Flips | None) -> Flips:
    """Return a path to the nearest graphs of a wanted class in the space of the degrees; only for graphs."""
    return NO_FLIPS if task.network.weighted else _path(task, best, DEGREES)


def degree_counts(task: LearnedTask, best: Flips | None) -> Flips:
    """Return a path to the nearest graphs of a wanted class in the space of the degree counts; only for graphs."""
    return NO_FLIPS if task.network.weighted else _path(task, best, DEGREE_COUNTS)


def more_degree_contrast(task: LearnedTask, best: Flips | None) -> Flips:
    """Prefer additions at ROIs of high degree and removals at ROIs of low degree."""
    return degree_contrast(task, BIAS if best is None else STRONG_BIAS)[: max_size(task, best)]


def less_degree_contrast(task: LearnedTask, best: Flips | None) -> Flips:
    """Prefer additions at ROIs of low degree and removals at ROIs of high degree."""
    return degree_contrast(task, -BIAS if best is None else -STRONG_BIAS)[: max_size(task, best)]


def shuffled(task: LearnedTask, best: Flips | None) -> Flips:
    """Return a random order."""
    return random_order(task) if best is None else restart_random(task, best)


def destroy_and_repair(task: LearnedTask, best: Flips | None) -> Flips:
    """Undo some changes, random ones or those of smallest gain, and add one less: those of largest gain."""
    if best is None:
        return NO_FLIPS
    guide, rng = task.guide, task.rng
    n_undone = max(2, best.size // 8)
    order = best[np.argsort(-guide.gains()[best])] if rng.random() < 0.5 else rng.permutation(best)
    if rng.random() < 0.5:
        gains = guide.gains() + rng.normal(0, REPAIR_NOISE, task.graph.size)
    else:
        gains = guide.neighbour_gains().copy()
    gains[best] = 0
    kept, new = order[:-n_undone], by_gain(task, gains, n_undone - 1)
    return np.concatenate([kept, new[~np.isin(new, kept)]])


def degree_contrast(task: Task, bias: float) -> Flips:
    """Return all flips in random order, with weights that grow or fall exponentially with the degrees of the ROIs.

    The degree of an ROI in a weighted network is the sum of the values of its pairs.
    """
    layout = task.network.layout
    degrees = layout.sum_at_ends(task.network.values.astype(np.float64))
    degrees = (degrees - degrees.mean()) / (degrees.std() or 1.0)
    log_weights = bias * np.where(task.graph, -1, 1) * (degrees[layout.first] + degrees[layout.second])
    weights = np.exp(np.clip(log_weights, -MAX_LOG_WEIGHT, MAX_LOG_WEIGHT))
    return weighted_shuffle(np.concatenate([task.additions, task.removals]), task.rng, task.addition_weights(weights))


def by_gain(task: LearnedTask, gains: Floats, size: int) -> Flips:
    """Return the flips of the largest positive gains; under ``keep_edges``, additions and removals in alternation."""
    if not task.limits.keep_edges:
        return largest_gains(gains, size)
    additions, removals = (pool[np.argsort(-gains[pool], kind="stable")] for pool in (task.additions, task.removals))
    couples = task.alternate(np.concatenate([additions, removals])).reshape(-1, 2)
    positive: Flips = couples[gains[couples].sum(axis=1) > 0].ravel()
    return positive[:size]


Expert = Callable[[LearnedTask, Flips | None], Flips]
INFORMED: tuple[Expert, ...] = (surrogate, frequencies, neighbours, components, degrees, degree_counts)
"""The experts that need graphs of a wanted class."""
EXPERTS: dict[str, Expert] = {
    expert.__name__: expert
    for expert in (
        *INFORMED,
        perturbed_surrogate,
        more_degree_contrast,
        less_degree_contrast,
        destroy_and_repair,
        shuffled,
    )
}
"""The experts by name."""


def enabled_experts(task: LearnedTask) -> dict[str, Expert]:
    """Return the experts that the settings do not switch off."""
    without = task.settings.without
    return {name: expert for name, expert in EXPERTS.items() if name not in without}
