"""A linear support vector machine whose fitted state is plain arrays.

scikit-learn's ``SVC`` keeps the numbers of libsvm and follows them without looking, which a model file from a stranger
could abuse; the hyperplanes are all that is needed.
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
    """``SVC(kernel="linear")``, with the same answers.

    Attributes
    ----------
    coef_, intercept_ : arrays
        A hyperplane for each pair of classes; with two classes, positive means ``classes_[1]``.
    classes_ : array
    """

    coef_: Floats
    intercept_: Floats
    classes_: NDArray[np.generic]

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the hyperplanes."""
        vectors, labels = validate_data(self, X, y)
        machine = SVC(kernel="linear", C=self.C).fit(vectors, labels)
        self.coef_, self.intercept_, self.classes_ = machine.coef_, machine.intercept_, machine.classes_
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of each row: one number with two classes, one for each pair of classes with more."""
        check_is_fitted(self)
        scores = validate_data(self, X, reset=False, dtype=np.float64) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the class of each row; with more than two, the one that wins the most pairs."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(scores > 0).astype(np.intp)])
        votes = np.zeros((len(scores), len(self.classes_)))
        for score, (a, b) in zip(scores.T, combinations(range(len(self.classes_)), 2), strict=True):
            votes[:, a] += score > 0
            votes[:, b] += score <= 0
        return np.asarray(self.classes_[votes.argmax(axis=1)])
