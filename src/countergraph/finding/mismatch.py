"""Signs that a classifier and the networks do not belong together.

A classifier answers to any vector of the right length, so the wrong kind of values, or the wrong order of the pairs,
gives explanations without any error. These checks look at what a fitted estimator of scikit-learn stores about its
training data, and compare the answers on the original networks with the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from countergraph.graphs.pairs import Floats, Label, Values, pair_position, roi_count

MIN_LABELLED = 20
"""Answers are compared with labels if there are at least this many, of several classes."""
LARGEST_SCALE = 3.0
"""The data may deviate this many times more, or less, from the means of a fitted scaler than its training data."""
MIN_CORRELATION, CLEARLY_HIGHER = 0.8, 0.2
"""The correlation of the means of a fitted scaler with those of the data, in the right order of the pairs."""
MAX_NETWORKS = 200
"""The number of networks that are compared with a fitted scaler."""


def estimator_mismatches(estimator: object, values: Values) -> Iterator[str]:
    """Yield what the attributes of a fitted estimator tell about its training data that does not fit the networks.

    ``values`` are networks as the estimator receives them (networks, pairs).
    """
    steps = _steps(estimator)
    n_pairs, n_features = values.shape[1], getattr(estimator, "n_features_in_", None)
    if n_features is not None and n_features != n_pairs:
        yield _wrong_size(int(n_features), n_pairs)
        return
    weighted = values.dtype != np.bool_
    sample = values[:: -(-len(values) // MAX_NETWORKS)].astype(np.float64)
    first: Any = steps[0] if steps else None
    if _has_size(first, "mean_", n_pairs) and _has_size(first, "scale_", n_pairs):
        yield from _scaler_mismatches(first.mean_, first.scale_, sample, weighted)
        return
    yield from _kind_mismatches(_trained_on_edges(first, n_pairs), weighted)


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


def answer_mismatches(answers: Sequence[Label], labels: Sequence[Label], classes: Sequence[str]) -> Iterator[str]:
    """Yield what the answers on the original networks tell, compared with their labels."""
    n = len(answers)
    counts = np.unique(np.array(labels), return_counts=True)[1]
    if n < MIN_LABELLED or counts.size < 2:
        return
    if len(set(answers)) == 1:
        name = classes[answers[0]] if isinstance(answers[0], int) and answers[0] < len(classes) else answers[0]
        yield f"the classifier gives all {n} networks the same class ({name})"
        return
    agreement, largest = float(np.mean([a == b for a, b in zip(answers, labels, strict=True)])), counts.max() / n
    if agreement <= largest:
        yield (
            f"the classifier agrees with the labels of {agreement:.0%} of {n} networks; always answering the larger "
            f"class would agree with {largest:.0%}"
        )


def _steps(estimator: object) -> list[Any]:
    """Return the steps of a pipeline, or a list of the estimator itself."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list):
        return [estimator]
    return [step for _, step in steps if step is not None and not isinstance(step, str)]


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


def _scaler_mismatches(means: Floats, scales: Floats, sample: Floats, weighted: bool) -> Iterator[str]:
    varied = scales != 1.0 if (scales != 1.0).any() else np.ones_like(scales, dtype=bool)
    is_bernoulli = np.allclose(scales[varied] ** 2, (means * (1 - means))[varied], rtol=1e-3, atol=1e-6)
    kind = list(_kind_mismatches(is_bernoulli, weighted))
    if kind:
        yield from kind
        return
    own = sample.mean(axis=0)
    upper, lower = _correlation(means, own), _correlation(means, own[_lower_triangle(own.size)])
    if lower > MIN_CORRELATION and lower > upper + CLEARLY_HIGHER:
        yield (
            "the features of the classifier are the lower triangle row by row, as nilearn's sym_matrix_to_vec returns "
            "it, but the networks are vectors of the upper triangle: fit it on data.values"
        )
        return
    ratio = float(np.sqrt(np.median(np.mean(((sample - means) / scales)[:, varied] ** 2, axis=0))))
    if not 1 / LARGEST_SCALE < ratio < LARGEST_SCALE and len(sample) > 1:
        yield (
            "the means and variances of the first step of the classifier cannot come from such data: after scaling, "
            f"the values have a typical size of {ratio:.2g} instead of 1"
        )


def _correlation(one: Floats, other: Floats) -> float:
    if not one.std() or not other.std():
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _lower_triangle(n_pairs: int) -> np.typing.NDArray[np.intp]:
    """Return for each entry of the lower triangle, row by row, the position of its pair."""
    rows, columns = np.tril_indices(roi_count(n_pairs), -1)
    return pair_position(columns, rows, roi_count(n_pairs))


def _trained_on_edges(step: object, n_pairs: int) -> bool | None:
    """Return whether the training data, or the thresholds, that an estimator stores are those of graphs."""
    for name in ("support_vectors_", "_fit_X"):
        stored = getattr(step, name, None)
        if isinstance(stored, np.ndarray) and stored.ndim == 2 and stored.shape[1] == n_pairs and stored.size:
            return bool(np.isin(stored, (0, 1)).all())
    trees = getattr(step, "estimators_", None)
    if trees is None:
        return None
    found = [tree.tree_.threshold[tree.tree_.feature >= 0] for tree in np.ravel(trees) if hasattr(tree, "tree_")]
    thresholds = np.concatenate(found) if found else np.empty(0)
    return bool((thresholds == 0.5).all()) if thresholds.size else None
