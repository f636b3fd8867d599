"""The portfolio: a multi-armed bandit that learns which experts succeed, for all searches of a run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from countergraph.search.learned.settings import LearnedSettings


class Portfolio:
    """Thompson sampling with beta posteriors and discounted rewards (Chapelle & Li 2011); the arms are the experts."""

    def __init__(self, settings: LearnedSettings) -> None:
        self.settings = settings
        self._rewards: dict[str, tuple[float, float]] = {}
        """The numbers of successes and failures of each expert, in addition to those of the prior."""

    def rank(self, experts: Iterable[str], rng: np.random.Generator) -> list[str]:
        """Return experts in the order in which to try them: by success rates drawn from the posterior."""
        names = list(experts)
        successes, failures = np.array([self._rewards.get(name, (0.0, 0.0)) for name in names]).T
        settings = self.settings
        rates = rng.beta(settings.prior_successes + successes, settings.prior_failures + failures)
        return [names[k] for k in np.argsort(-rates)]

    def update(self, expert: str, reward: float) -> None:
        """Learn the reward of one expert, from 0 to 1."""
        discount = self.settings.discount
        self._rewards = {name: (discount * a, discount * b) for name, (a, b) in self._rewards.items()}
        successes, failures = self._rewards.get(expert, (0.0, 0.0))
        self._rewards[expert] = (successes + reward, failures + 1 - reward)
