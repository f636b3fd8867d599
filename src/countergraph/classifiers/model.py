"""The kinds of models by name, and the trained `Model`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from countergraph.classifiers.autoencoder import Autoencoder
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.graph2vec import Graph2Vec
from countergraph.classifiers.linear_form import LinearScores, linear_form
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.linear_svm import LinearSVM
from countergraph.classifiers.sub2vec import Sub2Vec
from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, is_weighted, pair_count

CLASSIFIERS: dict[str, Callable[[], BaseEstimator]] = {
    "svm": LinearSVM,
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "knn": lambda: KNeighborsClassifier(algorithm="brute"),
    "forest": lambda: RandomForestClassifier(random_state=0),
}
"""The classifiers that can follow an embedding, by name."""

WEIGHTED_MESSAGE = (
    "this model was trained on graphs, but the networks are weighted: binarise them as the training data, "
    "data.binarize(...)"
)


@dataclass(frozen=True)
class ModelKind:
    """A kind of model: an embedding, the classifier that the paper combines with it, and the paper's settings."""

    title: str
    embedding: Callable[..., BaseEstimator] | None
    classifier: str
    paper: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The paper's settings for each cohort, where they differ from the defaults."""
    dimensions: tuple[int, ...] = ()
    """The embedding sizes that `select` compares."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the embedding, with their defaults."""
        if self.embedding is None:
            return {}
        return {name: each.default for name, each in inspect.signature(self.embedding).parameters.items()}


MODELS: dict[str, ModelKind] = {
    "contrast-subgraphs": ModelKind(
        "edges inside two contrast subgraphs",
        ContrastSubgraphs,
        "svm",
        paper={"asd": {"alpha": 0.025}, "adhd": {"alpha": 0.01}},
    ),
    "graph2vec": ModelKind("Weisfeiler-Lehman words and PV-DBOW", Graph2Vec, "knn", dimensions=(25, 50, 100)),
    "sub2vec": ModelKind("random-walk visits and PV-DBOW", Sub2Vec, "knn", dimensions=(25, 50, 100)),
    "autoencoder": ModelKind(
        "the code of a denoising autoencoder",
        Autoencoder,
        "knn",
        paper={"asd": {"dimensions": 200}, "adhd": {"dimensions": 400}},
        dimensions=(100, 200, 400),
    ),
    "raw-edges": ModelKind("the edges themselves", None, "svm"),
}
"""The kinds of models, by name."""


@dataclass(frozen=True)
class Accuracy:
    """Accuracy of a model on the training graphs and on held-out graphs."""

    training: float
    """Accuracy on the training graphs, as reported in the paper. It is too optimistic."""
    cross_validated: float
    """Accuracy on held-out graphs; embedding and classifier are fitted again in each of 5 folds."""
    balanced: float
    """Balanced accuracy on held-out graphs (the mean over the classes)."""
    auc: float | None
    """Area under the ROC curve of the held-out scores; None with more than two classes."""
    majority: float
    """Accuracy of always predicting the largest class."""
    chosen_from: int = 1
    """Number of candidates compared by ``cross_validated``; with several, the best accuracy is too optimistic."""


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model with information about its training. ``predict`` takes edge vectors (graphs, pairs)."""

    kind: str
    settings: Mapping[str, Any]
    estimator: Pipeline
    classes: tuple[str, ...]
    n_rois: int
    atlas_name: str
    trained_on: str
    """The fingerprint of the training data."""
    accuracy: Accuracy
    roi_names: tuple[str, ...] | None = None
    """The names of the ROIs in the training data; None in model files written before version 0.8.0."""

    @property
    def atlas(self) -> Atlas | None:
        """The ROIs of the training data: an atlas that contains only names."""
        return None if self.roi_names is None else Atlas(self.roi_names, name=self.atlas_name)

    def predict(self, edges: Bits) -> NDArray[np.int64]:
        """Return the label of each graph (graphs, pairs)."""
        self._check(edges)
        if self._linear is not None:
            return np.asarray(self._linear.predict(edges), dtype=np.int64)
        return np.asarray(self.estimator.predict(edges), dtype=np.int64)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, edges: Bits) -> Floats:
        """Return the probability of each class for each graph, if the classifier supports probabilities."""
        self._check(edges)
        return np.asarray(self.estimator.predict_proba(edges))

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The labels of the columns of ``predict_proba``: the classes in the training data."""
        return np.asarray(self.estimator.classes_, dtype=np.int64)

    @cached_property
    def _linear(self) -> LinearRule | LinearScores | None:
        """A faster equivalent classifier if the model is linear in the edges, else None."""
        linear = linear_form(self.estimator)
        if linear is None or isinstance(linear, LinearRule):
            return linear
        return LinearScores(linear)

    def _check(self, edges: Bits) -> None:
        if edges.ndim != 2:
            raise InputError(f"a model takes edge vectors (graphs, pairs), not an array of shape {edges.shape}")
        if edges.shape[1] != pair_count(self.n_rois):
            raise InputError(
                f"this model was trained on graphs with {self.n_rois} ROIs ({pair_count(self.n_rois)} pairs); "
                f"got {edges.shape[1]} pairs"
            )
        if edges.dtype.kind == "f" and is_weighted(edges):
            raise InputError(WEIGHTED_MESSAGE)

    def check_fits(self, data: GraphDataset) -> None:
        """Raise `InputError` unless ``data`` has the same ROIs and classes as the training data."""
        if data.weighted:
            raise InputError(WEIGHTED_MESSAGE)
        rois_known = self.roi_names is not None or self.trained_on == data.fingerprint
        for expected, found, fits in (
            (f"{self.n_rois} ROIs", f"{data.n_rois} ROIs", self.n_rois == data.n_rois),
            (
                f"atlas {self.atlas_name}",
                f"atlas {data.atlas.name}",
                rois_known or self.atlas_name == data.atlas.name,
            ),
            (f"classes {self.classes}", f"classes {data.classes}", set(self.classes) <= set(data.classes)),
        ):
            if not fits:
                raise InputError(f"the model was trained with {expected}, but the data has {found}")
        names = data.atlas.names
        for roi, (own, other) in enumerate(zip(self.roi_names or names, names, strict=True)):
            if own != other:
                raise InputError(
                    f"the model was trained on other ROIs, or on the same ROIs in another order: "
                    f"ROI {roi} is {own!r} in the model and {other!r} in the data"
                )

    def save(self, path: str | Path) -> Path:
        """Write the model to a file, which `countergraph.load_model` reads."""
        from countergraph.classifiers.model_files import save_model

        return save_model(self, path)

    def describe(self) -> dict[str, Any]:
        """Return everything except the estimator as JSON-serializable values."""
        return {
            "kind": self.kind,
            "settings": dict(self.settings),
            "classes": list(self.classes),
            "n_regions": self.n_rois,
            "atlas": self.atlas_name,
            "trained_on": self.trained_on,
            "accuracy": asdict(self.accuracy),
            "roi_names": None if self.roi_names is None else list(self.roi_names),
        }
