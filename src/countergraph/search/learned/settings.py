"""Every constant of the learned search in one place, so that an ablation is a parameter (`bench/ablation.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class ExplorationLimits(NamedTuple):
    """When exploration ends."""

    min_changes: int
    """It ends when the best counterfactual has fewer changes."""
    window: int
    min_gain: float
    """It ends when the relative gain of the last epochs, the mean over all searches, is below this."""


STANDARD = ExplorationLimits(min_changes=13, window=4, min_gain=0.02)
THOROUGH = ExplorationLimits(min_changes=2, window=8, min_gain=0.002)


@dataclass(frozen=True)
class LearnedSettings:
    """The constants of the learned search. They were chosen on the development set of `bench/boxes.py` only."""

    # Surrogate: prior standard deviations of the coefficients, in units of log-odds. 0 switches a part off.
    pair_std: float = 0.3
    """The weight of a pair, which all graphs share."""
    roi_std: float = 0.3
    roi_answers: float = 500.0
    """The effect of a change at an ROI, and of any addition or removal, which the graphs of a class share."""
    own_roi_std: float = 0.03
    """The same for one graph."""
    expert_mean: float = 1.0
    """The prior mean of the weight of the discriminative direction; that of the other directions is 0."""
    expert_std: float = 1.0
    """The weight of a direction."""
    offset_std: float = 100.0
    """The distance of a graph to the decision boundary."""
    inverse_regularisation: float = 0.01
    """The parameter C of the logistic regression that gives the discriminative direction."""
    score_precision: float = 10.0
    """The largest inverse variance of the error of a score."""
    refit_growth: float = 1.1
    refit_after: int = 20
    """The surrogate is fitted again when the answers have grown by this factor plus this number."""
    first_fit: float = 8.0
    """The number of answers per graph before the first fit."""
    fit_steps: int = 4
    gradient_steps: int = 20
    """The maximum number of steps of a fit, and of conjugate gradient steps in each of them."""
    max_entries: int = 10_000_000
    """The maximum number of entries of the design matrix; the oldest answers are dropped."""

    # Portfolio.
    without: frozenset[str] = frozenset()
    """The names of experts that are not used."""
    discount: float = 0.995
    """The factor by which old rewards are discounted at each update, because success rates change during a run."""
    prior_successes: float = 0.3
    prior_failures: float = 4.0
    """The parameters of the beta prior of an expert: it succeeds now and then."""
    perturbation: float = 0.3
    """The size of the random perturbation of gains, relative to their uncertainty or to the gains."""

    # Steps.
    patience: float = 6.0
    patience_per_change: float = 0.1
    """A step ends after this many failures in a row, plus so many per change of the best counterfactual."""
    quick_undo: float = 5.0
    """In a quick search, undoing ends after so many more failures in a row."""
    repeat_below: float = 0.65
    """Improvement is repeated if undoing changes reduces the cost to less than this share."""
    epoch_share: float = 0.1
    min_epoch: int = 10
    """The number of boundary samples of an epoch, relative to the calls so far; and at least."""
    pool_factors: tuple[float, float] = (2.0, 60.0)
    """Boundary samples are drawn from the n flips of largest gain; n / changes of the best is between these factors."""
    own_pool_factors: tuple[float, float] = (1.0, 4.0)
    """The same for a graph without data: it cannot learn about many pairs."""
    grace_epochs: int = 10
    """The number of epochs before exploration may end."""
    standard: ExplorationLimits = STANDARD
    thorough: ExplorationLimits = THOROUGH
    """When exploration ends, by effort."""


DEFAULT_SETTINGS = LearnedSettings()
