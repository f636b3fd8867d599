"""A linear support vector machine whose fitted state consists of plain arrays.

scikit-learn's ``SVC`` stores the internal indices of libsvm and uses them without checks, so a manipulated model file
could cause invalid memory access. `LinearSVM` stores only the hyperplanes.
"""

from __future__ import annotations

from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted, validate_data

from countergraph.graphs.pairs import Floats


class LinearSVM(ClassifierMixin, BaseEstimator):
    """Linear support vector classifier with the same predictions as ``SVC(kernel="linear")``.

    Attributes
    ----------
    coef_, intercept_ : arrays
        One hyperplane for each pair of classes. With two classes, a positive score means ``classes_[1]``.
    classes_ : array
        The classes.
    """

    coef_: Floats
    intercept_: Floats
    classes_: NDArray[np.generic]

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the hyperplanes."""
        vectors, labels = validate_data(self, X, y)
        svc = SVC(kernel="linear", C=self.C).fit(vectors, labels)
        self.coef_, self.intercept_, self.classes_ = svc.coef_, svc.intercept_, svc.classes_
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of each row: one number with two classes, otherwise one for each pair of classes."""
        check_is_fitted(self)
        scores = validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the class of each row; with more than two classes, the one with the most pairwise votes."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(scores > 0).astype(np.intp)])
        votes = np.zeros((len(scores), len(self.classes_)))
        for score, (a, b) in zip(scores.T, combinations(range(len(self.classes_)), 2), strict=True):
            votes[:, a] += score > 0
            votes[:, b] += score <= 0
        return np.asarray(self.classes_[votes.argmax(axis=1)])
