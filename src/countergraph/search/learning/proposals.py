"""Starting orders, and proposals of closer candidates.

A start is an order of flips for the first counterfactual. A proposal is a candidate with fewer changes than the best.
No start and no proposal is best for every black box: a `Bandit` learns which ones succeed in a run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from countergraph.graphs.pairs import Floats
from countergraph.search.learning.degree_bias import STRONG_BIAS, decrease_degree_contrast, increase_degree_contrast
from countergraph.search.learning.embeddings import DEGREE_COUNTS, DEGREES
from countergraph.search.learning.guide import GuidedTask
from countergraph.search.parts.mutations import drop_random, restart_random
from countergraph.search.parts.orders import largest_gains
from countergraph.search.protocol import Flips

PERTURBATION = 0.3
"""The size of the random perturbation of gains, relative to their standard deviation or to the gains."""
TRIAL_BIAS_STD = 1.0
"""The standard deviation of the random trial bias between additions and removals."""
REPAIR_NOISE = 0.1
"""The standard deviation of the noise on the gains when new changes are chosen in `destroy_and_repair`."""
MAX_PATH = 341
"""The maximum length of a starting path: the fifth prefix size of `first_success`."""


def start_by_surrogate(task: GuidedTask) -> Flips:
    """Order the flips by the gains of the surrogate."""
    return _by_gain(task, task.guide.gains(), task.graph.size)


def start_towards_neighbours(task: GuidedTask) -> Flips:
    """Order the flips by their gains towards the nearest graphs of a wanted class."""
    return _by_gain(task, task.guide.neighbour_gains(), task.graph.size)


def start_by_components(task: GuidedTask) -> Flips:
    """Return a path to the nearest graphs of a wanted class in the component embedding."""
    guide = task.guide
    return guide.path_to_neighbours(guide.component_embedding, MAX_PATH)


def start_by_degrees(task: GuidedTask) -> Flips:
    """Return a path to the nearest graphs of a wanted class in the degree embedding."""
    return task.guide.path_to_neighbours(DEGREES, MAX_PATH)


def start_by_degree_counts(task: GuidedTask) -> Flips:
    """Return a path to the nearest graphs of a wanted class in the degree count embedding."""
    return task.guide.path_to_neighbours(DEGREE_COUNTS, MAX_PATH)


def proposal_size(task: GuidedTask, best: Flips) -> int:
    """Return the number of changes to propose: one less than the best has, or more if they can still cost less."""
    return min(task.limits.max_changes_below(best), 2 * best.size)


def by_surrogate(task: GuidedTask, best: Flips) -> Flips:
    """Propose the largest gains of the surrogate."""
    return _by_gain(task, task.guide.gains(), proposal_size(task, best))


def by_perturbed_surrogate(task: GuidedTask, best: Flips) -> Flips:
    """Propose the largest gains after a random perturbation by their uncertainty, towards a random other class."""
    guide = task.guide
    noise = task.rng.standard_normal(task.graph.size)
    gains = guide.gains_to_random_class(task.rng) + PERTURBATION * guide.stds() * noise
    return _by_gain(task, gains, proposal_size(task, best))


def by_side_biased_surrogate(task: GuidedTask, best: Flips) -> Flips:
    """Propose the largest gains with a random bias between additions and removals.

    Few answers are enough to learn which of two pairs has the larger effect. The effect of many additions relative to
    as many removals takes more.
    """
    gains = task.guide.gains_with_trial_bias(TRIAL_BIAS_STD * task.rng.standard_normal())
    return _by_gain(task, gains, proposal_size(task, best))


def towards_neighbours(task: GuidedTask, best: Flips) -> Flips:
    """Propose the largest gains towards the nearest graphs of a wanted class."""
    return _by_gain(task, task.guide.neighbour_gains(), proposal_size(task, best))


def by_components(task: GuidedTask, best: Flips) -> Flips:
    """Propose a randomly perturbed path in the component embedding."""
    guide = task.guide
    embedding, size = guide.component_embedding, proposal_size(task, best)
    return guide.path_to_neighbours(embedding, size, PERTURBATION * task.rng.random(task.graph.size))


def by_degrees(task: GuidedTask, best: Flips) -> Flips:
    """Propose a randomly perturbed path in the degree embedding."""
    noise = PERTURBATION * task.rng.random(task.graph.size)
    return task.guide.path_to_neighbours(DEGREES, proposal_size(task, best), noise)


def by_degree_counts(task: GuidedTask, best: Flips) -> Flips:
    """Propose a randomly perturbed path in the degree count embedding."""
    noise = PERTURBATION * task.rng.random(task.graph.size)
    return task.guide.path_to_neighbours(DEGREE_COUNTS, proposal_size(task, best), noise)


def with_more_degree_contrast(task: GuidedTask, best: Flips) -> Flips:
    """Propose additions at the ROIs of highest degree and removals at those of lowest degree."""
    return increase_degree_contrast(task, STRONG_BIAS)[: proposal_size(task, best)]


def with_less_degree_contrast(task: GuidedTask, best: Flips) -> Flips:
    """Propose additions at the ROIs of lowest degree and removals at those of highest degree."""
    return decrease_degree_contrast(task, STRONG_BIAS)[: proposal_size(task, best)]


def destroy_and_repair(task: GuidedTask, best: Flips) -> Flips:
    """Undo some changes, random ones or those of smallest gain, and add one less: those of largest gain."""
    guide, rng = task.guide, task.rng
    n_undone = max(2, best.size // 8)
    order = best[np.argsort(-guide.gains()[best])] if rng.random() < 0.5 else rng.permutation(best)
    if rng.random() < 0.5:
        gains = guide.gains() + rng.normal(0, REPAIR_NOISE, task.graph.size)
    else:
        gains = guide.neighbour_gains().copy()
    gains[best] = 0
    kept, new = order[:-n_undone], _by_gain(task, gains, n_undone - 1)
    return np.concatenate([kept, new[~np.isin(new, kept)]])


def _by_gain(task: GuidedTask, gains: Floats, size: int) -> Flips:
    """Return the flips of the largest positive gains; under ``keep_edges``, additions and removals in alternation."""
    if not task.limits.keep_edges:
        return largest_gains(gains, size)
    additions, removals = (pool[np.argsort(-gains[pool], kind="stable")] for pool in (task.additions, task.removals))
    couples = task.alternate(np.concatenate([additions, removals])).reshape(-1, 2)
    positive: Flips = couples[gains[couples].sum(axis=1) > 0].ravel()
    return positive[:size]


Start = Callable[[GuidedTask], Flips]
INFORMED_STARTS: tuple[Start, ...] = (
    start_by_surrogate,
    start_towards_neighbours,
    start_by_components,
    start_by_degrees,
    start_by_degree_counts,
)
"""The starts that use data of other graphs. The order is the numbering of the bandit's arms."""
Proposal = Callable[[GuidedTask, Flips], Flips]
PROPOSALS: tuple[Proposal, ...] = (
    by_surrogate,
    by_perturbed_surrogate,
    by_side_biased_surrogate,
    towards_neighbours,
    by_components,
    by_degrees,
    by_degree_counts,
    with_more_degree_contrast,
    with_less_degree_contrast,
    destroy_and_repair,
    drop_random,
    restart_random,
)
"""The proposals of a search with labelled graphs or in a joint run. The order is the numbering of the bandit's arms."""
UNINFORMED_PROPOSALS = tuple(
    proposal
    for proposal in PROPOSALS
    if proposal not in (by_side_biased_surrogate, with_more_degree_contrast, with_less_degree_contrast)
)
"""The proposals of an uninformed search.

The side bias did not improve its results, and it tries extreme degrees in a step of its own.
"""
