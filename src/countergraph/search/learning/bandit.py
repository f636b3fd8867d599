"""A multi-armed bandit: it learns which of several alternatives succeeds most, for all searches of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from countergraph.graphs.pairs import Floats

DISCOUNT = 0.995
"""The factor by which old rewards are discounted at each update, because success rates change during a run."""
PRIOR_SUCCESSES, PRIOR_FAILURES = 0.3, 4.0
"""The parameters of the beta prior of an arm: it succeeds now and then."""


class Bandit:
    """Beta-Bernoulli Thompson sampling with discounted rewards.

    The arms are numbered from 0. The caller passes their number to each draw; new arms start with the prior.
    """

    def __init__(self) -> None:
        self.successes, self.failures = np.empty(0), np.empty(0)

    def pick(self, n_arms: int, rng: np.random.Generator) -> int:
        """Draw one of ``n_arms`` arms, each with the probability that it is the best (Thompson sampling)."""
        return int(self._sample(n_arms, rng).argmax())

    def rank(self, arms: Sequence[int], n_arms: int, rng: np.random.Generator) -> list[int]:
        """Return some of ``n_arms`` arms in the order in which to try them, by the same rule."""
        samples = self._sample(n_arms, rng)
        return sorted(arms, key=lambda arm: -samples[arm])

    def _sample(self, n_arms: int, rng: np.random.Generator) -> Floats:
        """Draw a success rate of each arm from its posterior."""
        new = np.ones(max(0, n_arms - self.successes.size))
        self.successes = np.append(self.successes, PRIOR_SUCCESSES * new)
        self.failures = np.append(self.failures, PRIOR_FAILURES * new)
        return rng.beta(self.successes[:n_arms], self.failures[:n_arms])

    def update(self, arm: int, reward: float) -> None:
        """Learn the reward of one arm, from 0 to 1."""
        self.successes += (1 - DISCOUNT) * (PRIOR_SUCCESSES - self.successes)
        self.failures += (1 - DISCOUNT) * (PRIOR_FAILURES - self.failures)
        self.successes[arm] += reward
        self.failures[arm] += 1 - reward
