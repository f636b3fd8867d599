"""Signs that a classifier and the networks do not belong together.

A classifier answers to any vector of the right length, so the wrong kind of values, or the wrong order of the pairs,
gives explanations without any error. These checks look at what a fitted estimator of scikit-learn stores about its
training data, and compare the answers on the original networks with the labels.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from countergraph.errors import MismatchWarning
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats, Indices, Label, Values, pair_position, roi_count
from countergraph.oracle.oracle import Oracle

MIN_LABELLED = 20
"""Answers are compared with labels if there are at least this many, of several classes."""
LARGEST_SCALE = 3.0
"""The data may deviate this many times more, or less, from the means of a fitted scaler than its training data."""
MIN_CORRELATION, CLEARLY_HIGHER = 0.8, 0.2
"""The correlation of the means of a fitted scaler with those of the data, in the right order of the pairs."""
CLEARLY_BALANCED = 2 / 3
"""A mean agreement of the classes above this is better than chance, even if one class is rare."""
OTHER_ORDER = 0.3
"""Below this correlation the pairs are in another order, if the means of two halves of the data agree."""
MAX_NETWORKS = 200
"""The number of networks that are compared with a fitted scaler."""
MAX_REFERENCE, MAX_REFERENCE_OTHERS = 200, 100
"""The number of labelled networks that are classified for the comparison, if few networks are searched: by estimators
of scikit-learn, and by other black boxes, of which a call may be expensive."""
N_DEVIATIONS = 2.0
"""If only a part of the labelled networks is classified, agreement must be this many standard deviations too low."""


@dataclass(frozen=True, eq=False)
class Mismatches:
    """The checks of one run: a black box, the networks that are searched, and the labelled networks."""

    oracle: Oracle
    values: Values
    cohort: GraphDataset | None
    dataset: GraphDataset | None
    may_ask: bool = True
    """Whether labelled networks may be classified for the checks."""

    def of_estimator(self) -> list[str]:
        """Check the attributes of a fitted estimator of scikit-learn, without a call."""
        if self.oracle.input != "edges" or not self._is_estimator or not len(self.values):
            return []
        values = self.values if self.dataset is None else self.dataset.values
        return list(estimator_mismatches(self._estimator, values))

    def of_answers(self, answers: Mapping[int, Label | None]) -> list[str]:
        """Check the answers on the searched networks, given by their positions."""
        if self.cohort is None:
            return []
        labels = self.cohort.labels.tolist()
        known = [(answer, labels[index]) for index, answer in answers.items() if isinstance(answer, int)]
        return list(answer_mismatches(known, self.cohort.classes)) if len(known) == len(labels) else []

    @property
    def reference(self) -> Values | None:
        """The labelled networks to classify for the same check, if the labels of the searched ones are too few.

        None for graphs, unless the black box is an estimator of scikit-learn: a call may be expensive.
        """
        searched = None if self.cohort is None else self.cohort.labels
        few = searched is None or len(searched) < MIN_LABELLED or np.unique(searched).size < 2
        if self.dataset is None or not few or not self.may_ask or self.oracle.with_subjects:
            return None
        if not self._is_estimator and not self.dataset.weighted:
            return None
        return None if self.of_estimator() else self.dataset.values[self._rows]

    def of_reference(self, answers: Sequence[Label]) -> list[str]:
        """Check the answers on the networks of ``reference``."""
        assert self.dataset is not None
        known = list(zip(answers, self.dataset.labels[self._rows].tolist(), strict=True))
        deviations = 0.0 if len(known) == len(self.dataset) else N_DEVIATIONS
        return list(answer_mismatches(known, self.dataset.classes, deviations))

    @property
    def _rows(self) -> Indices:
        n = 0 if self.dataset is None else len(self.dataset)
        limit = MAX_REFERENCE if self._is_estimator else MAX_REFERENCE_OTHERS
        return np.unique(np.linspace(0, n - 1, min(n, limit)).astype(np.intp))

    @property
    def _estimator(self) -> object:
        """The black box, or the object of which it is a method."""
        return getattr(self.oracle.black_box, "__self__", self.oracle.black_box)

    @property
    def _is_estimator(self) -> bool:
        return type(self._estimator).__module__.startswith("sklearn.")


def warn_of_mismatches(found: Iterable[str]) -> None:
    """Warn that the classifier and the networks do not belong together."""
    for each in found:
        warnings.warn(f"{each}. The explanations may be wrong.", MismatchWarning, stacklevel=5)


def estimator_mismatches(estimator: object, values: Values) -> Iterator[str]:
    """Yield what the attributes of a fitted estimator show about its training data that does not fit the networks.

    ``values`` are networks as the estimator receives them (networks, pairs).
    """
    n_pairs, n_features = values.shape[1], getattr(estimator, "n_features_in_", None)
    if n_features is not None and n_features != n_pairs:
        yield _wrong_size(int(n_features), n_pairs)
        return
    weighted = values.dtype != np.bool_
    sample = values[:: -(-len(values) // MAX_NETWORKS)].astype(np.float64)
    first = _first_step(estimator, n_pairs)
    training = _training_values(first, n_pairs)
    if training is not None:
        yield from _value_mismatches(training, sample, weighted)
    else:
        yield from _kind_mismatches(_trees_of_edges(first), weighted)


def _first_step(estimator: Any, n_pairs: int) -> Any:  # noqa: ANN401
    """Return the first fitted step that receives the values themselves: of a pipeline, a grid search or an ensemble."""
    if hasattr(estimator, "best_estimator_"):
        return _first_step(estimator.best_estimator_, n_pairs)
    if isinstance(getattr(estimator, "steps", None), list):
        steps = [step for _, step in estimator.steps if step is not None and not isinstance(step, str)]
        kept = [step for step in steps if not _keeps_values(step, n_pairs)]
        return _first_step(kept[0], n_pairs) if kept else None
    members = getattr(estimator, "calibrated_classifiers_", None) or getattr(estimator, "estimators_", None)
    if not isinstance(members, list) or not members or hasattr(members[0], "tree_"):
        return estimator
    member = members[0]
    return _first_step(getattr(member, "estimator", None) or member, n_pairs)


def _keeps_values(step: Any, n_pairs: int) -> bool:  # noqa: ANN401
    """Check whether a step passes all pairs on as they are: imputation, or a selection of all features."""
    if hasattr(step, "statistics_"):
        return len(step.statistics_) == n_pairs
    return hasattr(step, "get_support") and len(step.get_support()) == n_pairs and bool(step.get_support().all())


class _Training(NamedTuple):
    """What a fitted step stores about the values of its training data."""

    centres: Floats
    """The typical value of each pair."""
    scales: Floats
    """The typical deviation from it."""
    are_edges: bool | None
    """Whether the values were 0 and 1; None if it is not known."""


def _training_values(step: Any, n_pairs: int) -> _Training | None:  # noqa: ANN401
    """Return what a step stores about its training data; None for steps that are not listed here."""
    for name in ("support_vectors_", "_fit_X"):  # SVC, KNeighborsClassifier
        stored = getattr(step, name, None)
        if isinstance(stored, np.ndarray) and stored.ndim == 2 and stored.shape[1] == n_pairs and len(stored) > 1:
            are_edges = bool(np.isin(stored, (0, 1)).all())
            return _Training(stored.mean(axis=0, dtype=np.float64), stored.std(axis=0, dtype=np.float64), are_edges)
    theta = getattr(step, "theta_", None)
    if isinstance(theta, np.ndarray) and theta.ndim == 2 and theta.shape[1] == n_pairs:  # GaussianNB
        centres, shares = step.class_prior_ @ theta, step.class_prior_[:, None]
        variances = (shares * (step.var_ + (theta - centres) ** 2)).sum(axis=0)
        return _Training(centres, np.sqrt(variances), None)
    quantiles = getattr(step, "quantiles_", None)
    if isinstance(quantiles, np.ndarray) and quantiles.ndim == 2 and quantiles.shape[1] == n_pairs:
        low, centres, high = np.quantile(quantiles, (0.25, 0.5, 0.75), axis=0)
        return _Training(centres, (high - low) / 1.35, bool(np.isin(quantiles, (0, 1)).all()))
    if _has_size(step, "mean_", n_pairs) and _has_size(step, "scale_", n_pairs):  # StandardScaler
        scales = np.sqrt(step.var_) if _has_size(step, "var_", n_pairs) else step.scale_
        varied = scales > 0
        bernoulli = np.allclose(scales[varied] ** 2, (step.mean_ * (1 - step.mean_))[varied], 1e-3, 0)
        return _Training(step.mean_, scales, bernoulli if varied.any() else None)
    if _has_size(step, "data_min_", n_pairs) and _has_size(step, "data_max_", n_pairs):
        are_edges = bool(np.isin([step.data_min_, step.data_max_], (0, 1)).all())
        return _Training((step.data_min_ + step.data_max_) / 2, (step.data_max_ - step.data_min_) / 4, are_edges)
    if _has_size(step, "center_", n_pairs) and _has_size(step, "scale_", n_pairs):
        scales = np.where(step.scale_ == 1, 0, step.scale_ / 1.35)  # 1 stands for an interquartile range of 0
        return _Training(step.center_, scales, None)
    if _has_size(step, "mean_", n_pairs) and hasattr(step, "explained_variance_ratio_"):
        total = float(step.explained_variance_.sum() / step.explained_variance_ratio_.sum())
        bernoulli = float((step.mean_ * (1 - step.mean_)).sum()) * step.n_samples_ / max(1, step.n_samples_ - 1)
        return _Training(
            step.mean_, np.full(n_pairs, np.sqrt(total / n_pairs)), bool(np.isclose(total, bernoulli, 1e-3))
        )
    return None


def _kind_mismatches(trained_on_edges: bool | None, weighted: bool) -> Iterator[str]:
    """Compare the kind of the training data, graphs or weighted networks, with that of the networks."""
    if trained_on_edges is True and weighted:
        yield (
            "the classifier was fitted on graphs (values 0 and 1), but the networks are weighted: binarise them as its "
            "training data"
        )
    if trained_on_edges is False and not weighted:
        yield (
            "the classifier was fitted on other values than 0 and 1, but the networks are graphs: pass the weighted "
            "networks that it was trained on"
        )


def answer_mismatches(
    known: Sequence[tuple[Label, int]], classes: Sequence[str], n_deviations: float = 0.0
) -> Iterator[str]:
    """Yield what is wrong with the answers on labelled networks. ``known`` holds the answer and the label of each.

    ``n_deviations`` is the number of standard deviations by which the agreement must be too low.
    """
    n, counts = len(known), Counter(label for _, label in known)
    if n < MIN_LABELLED or len(counts) < 2:
        return
    first = known[0][0]
    if all(answer == first for answer, _ in known):
        name = classes[first] if isinstance(first, int) and first < len(classes) else first
        yield f"the classifier gives all {n} networks the same class ({name})"
        return
    agreed, largest = Counter(label for answer, label in known if answer == label), max(counts.values())
    total, balanced = agreed.total(), float(np.mean([agreed[label] / counts[label] for label in counts]))
    too_low = total <= largest - n_deviations * (largest * (1 - largest / n)) ** 0.5
    if too_low and balanced < CLEARLY_BALANCED:
        yield (
            f"the classifier agrees with the labels of {total / n:.0%} of {n} networks; always answering the larger "
            f"class would agree with {largest / n:.0%}. Either its input or the order of its classes is wrong, or what "
            "it has learned does not hold for these networks"
        )


def _has_size(step: object, name: str, size: int) -> bool:
    value = getattr(step, name, None)
    return isinstance(value, np.ndarray) and value.shape == (size,)


def _wrong_size(n_features: int, n_pairs: int) -> str:
    n = roi_count(n_pairs)
    kinds = {n_pairs + n: "the triangle with the diagonal", n * n: "the whole matrix"}
    hint = f", which is {kinds[n_features]}" if n_features in kinds else ""
    return (
        f"the classifier was fitted on {n_features} features{hint}; the networks have {n_pairs} pairs, the upper "
        "triangle row by row: fit it on data.values, or pass a function of matrices"
    )


def _value_mismatches(training: _Training, sample: Floats, weighted: bool) -> Iterator[str]:
    """Compare what a step stores about its training data with networks."""
    kind = list(_kind_mismatches(training.are_edges, weighted))
    if kind:
        yield from kind
        return
    centres, varied = training.centres, training.scales > 0
    own = sample.mean(axis=0)
    upper, lower = _correlation(centres, own), _correlation(centres, own[_lower_triangle(own.size)])
    if lower > MIN_CORRELATION and lower > upper + CLEARLY_HIGHER:
        yield (
            "the features of the classifier are the lower triangle row by row, as nilearn's sym_matrix_to_vec returns "
            "it, but the networks are vectors of the upper triangle: fit it on data.values"
        )
        return
    if upper < OTHER_ORDER and len(sample) >= MIN_LABELLED and _repeats(sample):
        yield (
            f"the means of the training data of the classifier have the correlation {upper:.2f} with the means of the "
            "networks: the ROIs seem to be in another order, or the values are of another kind"
        )
        return
    deviations = ((sample - centres)[:, varied] / training.scales[varied]) ** 2
    average = np.mean if np.ptp(training.scales) == 0 else np.median
    ratio = float(np.sqrt(average(deviations.mean(axis=0)))) if varied.any() else 1.0
    if not 1 / LARGEST_SCALE < ratio < LARGEST_SCALE and len(sample) > 1:
        yield (
            "the means and variances of the first step of the classifier cannot come from such data: after scaling, "
            f"the values have a typical size of {ratio:.2g} instead of 1"
        )


def _repeats(sample: Floats) -> bool:
    """Check whether the means of two halves of the networks agree."""
    return _correlation(sample[::2].mean(axis=0), sample[1::2].mean(axis=0)) > MIN_CORRELATION


def _correlation(one: Floats, other: Floats) -> float:
    if one.ndim != 1 or not np.isfinite(one).all() or not np.isfinite(other).all():
        return 0.0
    if not one.std() or not other.std():
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _lower_triangle(n_pairs: int) -> np.typing.NDArray[np.intp]:
    """Return for each entry of the lower triangle, row by row, the position of its pair."""
    rows, columns = np.tril_indices(roi_count(n_pairs), -1)
    return pair_position(columns, rows, roi_count(n_pairs))


def _trees_of_edges(step: object) -> bool | None:
    """Return whether the thresholds of trees are those of graphs; None if it is not known."""
    trees = [tree for tree in np.ravel(getattr(step, "estimators_", ())) if hasattr(tree, "tree_")]
    found = [tree.tree_.threshold[tree.tree_.feature >= 0] for tree in trees]
    thresholds = np.concatenate(found) if found else np.empty(0)
    if ((thresholds <= 0) | (thresholds >= 1)).any():
        return False
    if not thresholds.size or any(tree.splitter == "random" for tree in trees):
        return None  # a random threshold between 0 and 1 separates edges, too
    return bool((thresholds == 0.5).all())
