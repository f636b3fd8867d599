"""Extract the linear rule of a model whose score is linear in the edges.

Every two-class linear classifier of scikit-learn on edge vectors, with ``coef_`` (1, pairs), ``intercept_`` and
``classes_``, is such a model; `linear_form` also finds it inside a pipeline. Subclasses outside scikit-learn and
countergraph, and objects with a replaced ``predict``, are excluded, because they may predict in another way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, issparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.graphs.pairs import Bits, Floats, roi_count, snap_to_zero


class LinearInEdges(Protocol):
    """A two-class classifier whose score is ``edges @ coef_[0] + intercept_``; positive means ``classes_[1]``."""

    @property
    def coef_(self) -> Floats:
        """The weight of every edge, shape (1, pairs)."""
        ...

    @property
    def intercept_(self) -> Floats:
        """The intercept, shape (1,)."""
        ...

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The class for scores <= 0 and the class for scores > 0."""
        ...


@dataclass(frozen=True, eq=False)
class LinearWeights:
    """The coefficients of a two-class linear classifier on edge vectors."""

    coef_: Floats
    intercept_: Floats
    classes_: NDArray[np.generic]


class _Affine(NamedTuple):
    """An affine step of a pipeline: ``(x - mean) @ matrix / scale``."""

    mean: Floats | float
    scale: Floats | float
    matrix: Floats | csr_array | None = None
    """(input features, output features); None for the identity."""

    def before(self, rule: LinearInEdges) -> LinearWeights:
        """Return the rule on the input of this step that is equivalent to ``rule`` on its output."""
        weights = coefficients_of(rule)[0][None] / self.scale
        weights = weights if self.matrix is None else weights @ self.matrix.T
        return LinearWeights(weights, np.asarray(rule.intercept_) - (weights * self.mean).sum(axis=1), rule.classes_)


def _affine(step: object) -> _Affine | None:
    """Return a fitted step of a pipeline as an affine function; None if it is not known to be one."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return _Affine(0.0, 1.0)
    if isinstance(step, FunctionTransformer) and step.func is None:
        return _Affine(0.0, 1.0)
    if isinstance(step, StandardScaler):
        centred = step.mean_ is not None and step.with_mean
        return _Affine(step.mean_ if centred else 0.0, 1.0 if step.scale_ is None else step.scale_)
    if isinstance(step, RobustScaler):
        return _Affine(step.center_ if step.with_centering else 0.0, step.scale_ if step.with_scaling else 1.0)
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):  # "clip" is new in scikit-learn 1.9
        return _Affine(0.0, step.scale_)
    if isinstance(step, MinMaxScaler) and not step.clip:
        return _Affine(-step.min_ / step.scale_, 1 / step.scale_)
    if isinstance(step, PCA):
        deviations = np.sqrt(step.explained_variance_)
        scale = np.maximum(deviations, np.finfo(deviations.dtype).eps) if step.whiten else 1.0  # as scikit-learn does
        return _Affine(step.mean_, scale, step.components_.T)
    if isinstance(step, TruncatedSVD):
        return _Affine(0.0, 1.0, step.components_.T)
    if isinstance(step, SelectorMixin):
        return _Affine(0.0, 1.0, csr_array(eye_array(len(step.get_support())))[:, step.get_support()])
    return None


def linear_form(model: object) -> LinearInEdges | None:
    """Return the linear rule that is equivalent to ``model``, or None if there is none.

    Supports `LinearRule`, two-class linear scikit-learn classifiers on edge vectors, also after steps of a pipeline
    that are affine (scalers, PCA, truncated SVD, feature selection), and `ContrastSubgraphs` with a linear classifier.
    """
    if isinstance(model, BaseSearchCV) and is_plain(model) and hasattr(model, "best_estimator_"):
        return linear_form(model.best_estimator_)
    if isinstance(model, Pipeline) and any(_is_plain_pipeline(step) for _, step in model.steps) and is_plain(model):
        return linear_form(_flat(model))
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    if not all(step is None or isinstance(step, str) or is_plain(step) for step in steps) or not is_plain(model):
        return None
    if isinstance(model, Pipeline) and len(model) == 2 and isinstance(model[0], ContrastSubgraphs):
        last = model[1]
        if _is_binary_linear(last):
            n_rois = roi_count(model[0].n_features_in_)
            intercept, classes = float(np.ravel(last.intercept_)[0]), last.classes_.tolist()
            return LinearRule(model[0].subgraphs_, np.ravel(last.coef_).tolist(), intercept, n_rois, classes)
        return None
    if isinstance(model, Pipeline) and len(model) > 1:
        inner = linear_form(model[1:])
        affine = None if inner is None else _affine(steps[0])
        return None if affine is None or inner is None else affine.before(inner)
    if isinstance(model, Pipeline) and len(model) == 1:
        return linear_form(steps[0])
    return model if _is_binary_linear(model) else None


def _flat(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline whose steps are not pipelines."""
    steps = [
        (f"{name} {number}", inner)
        for name, step in pipeline.steps
        for number, (_, inner) in enumerate(_flat(step).steps if _is_plain_pipeline(step) else [("", step)])
    ]
    return Pipeline(steps)


def _is_plain_pipeline(step: object) -> TypeGuard[Pipeline]:
    return isinstance(step, Pipeline) and is_plain(step)


def coefficients_of(linear: LinearInEdges) -> tuple[Floats, float]:
    """Return the weight of every pair, and the intercept."""
    weights: Any = linear.coef_
    weights = weights.toarray() if issparse(weights) else weights  # as after sparsify()
    return np.asarray(weights, dtype=np.float64).ravel(), float(np.asarray(linear.intercept_).ravel()[0])


def is_plain(model: object) -> bool:
    """Check whether a model is of a class of scikit-learn or countergraph and its methods were not replaced."""
    known_class = type(model).__module__.startswith(("sklearn.", "countergraph."))
    return known_class and not {"predict", "decision_function", "transform"} & vars(model).keys()


def _is_binary_linear(model: object) -> TypeGuard[LinearInEdges]:
    """Check whether a model has the attributes of a two-class linear classifier."""
    if not (hasattr(model, "coef_") and hasattr(model, "intercept_") and hasattr(model, "classes_")):
        return False
    return len(model.classes_) == 2 and (np.ndim(model.coef_) == 1 or model.coef_.shape[0] == 1)


class LinearScores:
    """Fast predictions of a linear rule with a separate weight for every edge, by table look-up.

    Eight pairs of the graph are packed into one byte. For each byte a table contains the sum of the weights for all 256
    values, so that a prediction needs one look-up for every eight pairs.
    """

    def __init__(self, rule: LinearInEdges) -> None:
        coefficients = np.asarray(rule.coef_, dtype=np.float64).ravel()
        padded = np.zeros((-(-coefficients.size // 8), 8))
        padded.reshape(-1)[: coefficients.size] = coefficients
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
        self.weights = coefficients
        self.table = (padded @ bits.T).ravel()
        self.starts = 256 * np.arange(len(padded))
        self.intercept = float(np.asarray(rule.intercept_).ravel()[0])
        self.classes = np.asarray(rule.classes_)

    def predict(self, edges: Bits) -> NDArray[np.generic]:
        """Return the class of each graph (graphs, pairs)."""
        packed = np.packbits(edges.astype(np.bool_, copy=False), axis=1)
        scores = snap_to_zero(self.table.take(packed + self.starts).sum(axis=1) + self.intercept, self.weights)
        return np.asarray(self.classes[(scores > 0).astype(np.intp)])
