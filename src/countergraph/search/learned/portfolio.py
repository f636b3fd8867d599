"""The portfolio: a multi-armed bandit that learns which experts succeed, for all searches of a run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from countergraph.search.learned.settings import LearnedSettings


class Portfolio:
    """Thompson sampling with beta posteriors and discounted rewards (Chapelle & Li 2011); the arms are the experts."""

    def __init__(self, settings: LearnedSettings) -> None:
        self._prior = np.array([[settings.prior_successes], [settings.prior_failures]])
        self._discount = settings.discount
        self._numbers: dict[str, int] = {}
        self._rewards = np.zeros((2, 0))
        """The numbers of successes and failures of each expert, in addition to those of the prior."""

    def rank(self, experts: Iterable[str], rng: np.random.Generator) -> list[str]:
        """Return experts in the order in which to try them: by success rates drawn from the posterior."""
        names = list(experts)
        columns = [self._number(name) for name in names]
        rates = rng.beta(*(self._prior + self._rewards[:, columns]))
        return [names[k] for k in np.argsort(rates)[::-1]]

    def update(self, expert: str, reward: float) -> None:
        """Learn the reward of one expert, from 0 to 1."""
        number = self._number(expert)
        self._rewards *= self._discount
        self._rewards[:, number] += reward, 1 - reward

    def _number(self, expert: str) -> int:
        """Return the column of an expert; add a column for a new one."""
        if expert not in self._numbers:
            self._numbers[expert] = len(self._numbers)
            self._rewards = np.pad(self._rewards, ((0, 0), (0, 1)))
        return self._numbers[expert]
