"""The black boxes by name, training one, and saying honestly how good it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.errors import InputError, unknown
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, pair_count

FOLDS = 5


@dataclass(frozen=True)
class ModelKind:
    """A kind of black box: how it is built, and the settings of the paper for its cohorts."""

    title: str
    build: Callable[..., Pipeline]
    paper: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that ``build`` takes, with their defaults."""
        return {name: each.default for name, each in inspect.signature(self.build).parameters.items()}


def _contrast_subgraphs(*, alpha: float = 0.025, random_state: int = 0) -> Pipeline:
    return make_pipeline(ContrastSubgraphs(alpha=alpha, random_state=random_state), SVC(kernel="linear"))


MODELS: dict[str, ModelKind] = {
    "contrast-subgraphs": ModelKind(
        "edges inside two contrast subgraphs, linear SVM",
        _contrast_subgraphs,
        paper={"asd": {"alpha": 0.025}, "adhd": {"alpha": 0.01}},
    ),
}


@dataclass(frozen=True)
class Accuracy:
    """How often a model is right, on the graphs it learnt from and on graphs it did not see."""

    training: float
    """On the training graphs themselves: what the paper prints. It flatters."""
    cross_validated: float
    """On held-out graphs, everything fitted anew in each of 5 folds."""
    balanced: float
    """The same, averaged over the classes."""
    auc: float
    """Area under the ROC curve of the held-out scores; NaN with more than two classes."""
    majority: float
    """What always answering the larger class would get."""


@dataclass(frozen=True, eq=False)
class Model:
    """A trained black box, with where it comes from. ``predict`` takes edge vectors, as any black box here."""

    kind: str
    settings: Mapping[str, Any]
    estimator: Pipeline
    classes: tuple[str, ...]
    n_regions: int
    atlas: str
    trained_on: str
    """The fingerprint of the training data."""
    accuracy: Accuracy

    def predict(self, edges: Bits) -> NDArray[np.int64]:
        """Return the label of each graph (graphs, pairs)."""
        if edges.shape[1] != pair_count(self.n_regions):
            raise InputError(f"this model was trained on {self.n_regions} regions; the graphs have another number")
        return np.asarray(self.estimator.predict(edges), dtype=np.int64)

    def check_fits(self, data: GraphDataset) -> None:
        """Raise `InputError` unless ``data`` has the regions and classes that the model was trained on."""
        for what, own, other in (
            ("regions", self.n_regions, data.n_regions),
            ("atlas", self.atlas, data.atlas.name),
            ("classes", self.classes, data.classes),
        ):
            if own != other:
                raise InputError(f"the model was trained with {what} {own}, but the data has {what} {other}")

    def describe(self) -> dict[str, Any]:
        """Return plain values for JSON: everything but the estimator."""
        return {
            "kind": self.kind,
            "settings": dict(self.settings),
            "classes": list(self.classes),
            "n_regions": self.n_regions,
            "atlas": self.atlas,
            "trained_on": self.trained_on,
            "accuracy": asdict(self.accuracy),
        }


def train(data: GraphDataset, kind: str = "contrast-subgraphs", **settings: Any) -> Model:  # noqa: ANN401
    """Train a black box, and measure its accuracy on graphs that it did not see.

    Parameters
    ----------
    data
        The graphs and labels to learn from.
    kind
        A name in `countergraph.MODELS`.
    **settings
        What the kind takes (``MODELS[kind].settings``). On a cohort of the paper the paper's settings are the
        defaults.
    """
    if kind not in MODELS:
        raise unknown("model", kind, MODELS)
    chosen = MODELS[kind]
    for name in settings:
        if name not in chosen.settings:
            raise InputError(f"{kind} has no setting {name!r}; it takes {', '.join(chosen.settings)}")
    if min(count for count in data.class_sizes if count) < FOLDS or np.count_nonzero(data.class_sizes) < 2:
        raise InputError(f"training needs at least two classes of at least {FOLDS} graphs each; the data has {data!r}")
    complete = {**chosen.settings, **chosen.paper.get(data.about.get("cohort", ""), {}), **settings}
    estimator = chosen.build(**complete)
    accuracy = measure(estimator, data)
    return Model(
        kind,
        complete,
        estimator.fit(data.edges, data.labels),
        data.classes,
        data.n_regions,
        data.atlas.name,
        data.fingerprint,
        accuracy,
    )


def measure(estimator: Pipeline, data: GraphDataset, seed: int = 0) -> Accuracy:
    """Measure the accuracy of an estimator, fitted to all of ``data`` and anew within each fold."""
    edges, labels = data.edges, data.labels
    answers, scores = np.empty_like(labels), np.full(len(data), np.nan)
    for seen, unseen in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(edges, labels):
        fitted = clone(estimator).fit(edges[seen], labels[seen])
        answers[unseen] = fitted.predict(edges[unseen])
        if len(data.classes) == 2:
            scores[unseen] = _score(fitted, edges[unseen])
    return Accuracy(
        training=float(accuracy_score(labels, clone(estimator).fit(edges, labels).predict(edges))),
        cross_validated=float(accuracy_score(labels, answers)),
        balanced=float(balanced_accuracy_score(labels, answers)),
        auc=float(roc_auc_score(labels, scores)) if len(data.classes) == 2 else float("nan"),
        majority=float(data.class_sizes.max() / len(data)),
    )


def _score(fitted: Pipeline, edges: Bits) -> Floats:
    """Return a number that is larger the more a graph looks like class 1."""
    if hasattr(fitted, "decision_function"):
        return np.asarray(fitted.decision_function(edges))
    return np.asarray(fitted.predict_proba(edges)[:, 1])
