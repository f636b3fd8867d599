"""The black boxes of the benchmarks, in two sets that share no cohort of the same seed and no family of models.

- `DEVELOPMENT`: settings of the learned search may be chosen on these.
- `REPORT`: run once per release, after all settings are fixed. The tables of the documentation show this set.

Each box is trained on its whole cohort. Which people are searched is decided by the benchmark (`people`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import countergraph as cg
from bench.data import real_data
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.graphs.pairs import Bits, Floats, roi_count, to_adjacency

Builder = Callable[[cg.GraphDataset], Any]


@dataclass(frozen=True)
class Box:
    """A black box of the benchmarks."""

    name: str
    cohort: str
    build: Builder
    scale: Literal["linear", "smooth", "steps"] | None = None
    """How ``decision_function`` depends on the edges, for the white-box reference; None if there is none."""


COHORTS: Mapping[str, Callable[[], cg.GraphDataset]] = {
    "built-in": cg.make_cohort,
    "asd": lambda: cg.load_dataset("asd", root=real_data()),
    "built-in-204": lambda: cg.make_cohort(204, seed=41, contrast=0.3),
    "built-in-60": lambda: cg.make_cohort(60, seed=42, density=0.15),
    "adhd": lambda: cg.load_dataset("adhd", root=real_data()),
}


@cache
def cohort(name: str) -> cg.GraphDataset:
    """Return a cohort by its name in `COHORTS`."""
    return COHORTS[name]()


@cache
def model(box: Box) -> Any:  # noqa: ANN401
    """Return the trained model of a box."""
    return box.build(cohort(box.cohort))


def people(data: cg.GraphDataset, size: int | None, seed: int = 0) -> cg.GraphDataset:
    """Return a random part of a cohort, or all of it."""
    if size is None or size >= len(data):
        return data
    return data.subset(np.sort(np.random.default_rng(seed).permutation(len(data))[:size]).tolist())


def _matrices(edges: Bits) -> Floats:
    return to_adjacency(np.asarray(edges, dtype=np.bool_)).astype(np.float64)


def degree_features(edges: Bits) -> Floats:
    """Return the degree of each ROI."""
    return np.asarray(_matrices(edges).sum(axis=1))


def clustering_features(edges: Bits) -> Floats:
    """Return the degree and the clustering coefficient of each ROI, on comparable scales."""
    matrices = _matrices(edges)
    degrees = matrices.sum(axis=1)
    triangles = np.einsum("bij,bji->bi", matrices @ matrices, matrices)
    clustering = triangles / np.maximum(degrees * (degrees - 1), 1)
    return np.concatenate([degrees / 10, clustering], axis=1)


def block_means(edges: Bits, n_blocks: int = 12) -> Floats:
    """Return the density of edges within and between blocks of consecutive ROIs."""
    matrices = _matrices(edges)
    block = np.arange(matrices.shape[1]) * n_blocks // matrices.shape[1]
    members = (block == np.arange(n_blocks)[:, None]) / np.bincount(block)[:, None]
    means = members @ matrices @ members.T
    return np.asarray(means[:, *np.triu_indices(n_blocks)])


def diffusion_features(edges: Bits) -> Floats:
    """Return degrees of the first and second neighbourhood, normalised: a graph convolution with fixed weights."""
    matrices = _matrices(edges) + np.eye(roi_count(edges.shape[1]))
    scale = 1 / np.sqrt(matrices.sum(axis=1))
    normalised = matrices * scale[:, :, None] * scale[:, None, :]
    hidden = np.maximum(normalised @ np.random.default_rng(5).standard_normal((normalised.shape[1], 16)), 0)
    return np.asarray((normalised @ hidden).reshape(len(edges), -1))


def random_network(edges: Bits) -> Floats:
    """Return 400 random rectified features of the edges."""
    weights = np.random.default_rng(6).standard_normal((edges.shape[1], 400)) / np.sqrt(0.1 * edges.shape[1])
    return np.asarray(np.maximum(np.asarray(edges, dtype=np.float64) @ weights, 0))


def _fit(make: Callable[[], Any]) -> Builder:
    return lambda data: make().fit(data.edges, data.labels)


def _features(function: Callable[[Bits], Floats], *steps: Any) -> Builder:  # noqa: ANN401
    return _fit(lambda: make_pipeline(FunctionTransformer(function), *steps))


def _one_class(data: cg.GraphDataset) -> Any:  # noqa: ANN401
    """Return a kernel machine whose intercept is so low that it gives all people one class."""
    svm = SVC(kernel="poly", degree=2, C=1.0, coef0=1.0).fit(data.edges, data.labels)
    svm.intercept_ = svm.intercept_ - svm.decision_function(data.edges).max() - 0.1
    svm._intercept_ = svm.intercept_
    return svm


class RadialSVM(SVC):  # type: ignore[misc]
    """An SVM with radial basis functions, whose predictions use matrix products: about ten times as fast as libsvm."""

    def decision_function(self, edges: Bits) -> Floats:
        """Return the decision function; positive for the second class."""
        graphs, support = edges.astype(np.float32), self.support_vectors_.astype(np.float32)
        squares = (graphs**2).sum(axis=1)[:, None] + (support**2).sum(axis=1) - 2 * graphs @ support.T
        kernel = np.exp(-self._gamma * squares.astype(np.float64))
        return np.asarray(kernel @ self.dual_coef_[0] + self.intercept_[0])

    def predict(self, edges: Bits) -> NDArray[np.int64]:
        """Return the classes."""
        return np.asarray(self.classes_[(self.decision_function(edges) > 0).astype(int)])


class GraphConvolution(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A graph convolutional network (Kipf & Welling 2017) with two layers and mean pooling, in PyTorch."""

    def __init__(self, hidden: int = 32, epochs: int = 150, seed: int = 0) -> None:
        self.hidden, self.epochs, self.seed = hidden, epochs, seed

    def fit(self, edges: Bits, labels: NDArray[np.int64]) -> GraphConvolution:
        """Train with Adam on the cross-entropy; the node features are one-hot."""
        import torch

        torch.manual_seed(self.seed)
        self.n_features_in_, self.classes_ = edges.shape[1], np.unique(labels)
        n_rois = _matrices(edges[:1]).shape[1]
        self.weights_ = [
            torch.nn.Parameter(0.3 * torch.randn(shape, dtype=torch.float64))
            for shape in ((n_rois, self.hidden), (self.hidden, self.hidden), (self.hidden,))
        ]
        self.intercept_ = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
        targets = torch.from_numpy((labels == self.classes_[1]).astype(np.float64))
        optimiser = torch.optim.Adam([*self.weights_, self.intercept_], lr=0.01, weight_decay=1e-3)
        matrices = torch.from_numpy(_normalised(edges))
        for _ in range(self.epochs):
            optimiser.zero_grad()
            loss: Any = torch.nn.functional.binary_cross_entropy_with_logits(self._margins(matrices), targets)
            loss.backward()
            optimiser.step()
        return self

    def _margins(self, matrices: Any) -> Any:  # noqa: ANN401
        first, second, last = self.weights_
        hidden = (matrices @ first).relu()
        return ((matrices @ hidden @ second).relu() @ last).mean(dim=1) * 10 + self.intercept_

    def decision_function(self, edges: Bits) -> Floats:
        """Return the log-odds of the second class."""
        import torch

        with torch.no_grad():
            parts = [self._margins(torch.from_numpy(_normalised(part))).numpy() for part in _batches(edges)]
        return np.concatenate(parts)

    def predict(self, edges: Bits) -> NDArray[np.int64]:
        """Return the classes."""
        return np.asarray(self.classes_[(self.decision_function(edges) > 0).astype(int)])


def _batches(edges: Bits, size: int = 256) -> list[Bits]:
    return [edges[k : k + size] for k in range(0, len(edges), size)]


def _normalised(edges: Bits) -> Floats:
    """Return the adjacency matrices with self-loops, normalised symmetrically."""
    matrices = _matrices(edges)
    matrices += np.eye(matrices.shape[1])
    scale = 1 / np.sqrt(matrices.sum(axis=1))
    return np.asarray(matrices * scale[:, :, None] * scale[:, None, :])


def _vote(data: cg.GraphDataset) -> Any:  # noqa: ANN401
    """Return the majority of a linear classifier, nearest neighbours and a forest."""
    members = [
        ("ridge", RidgeClassifier(100.0)),
        ("neighbours", KNeighborsClassifier(7, algorithm="brute")),
        ("trees", RandomForestClassifier(40, max_depth=5, random_state=1)),
    ]
    return VotingClassifier(members).fit(data.edges, data.labels)


def _neighbours(n: int) -> KNeighborsClassifier:
    return KNeighborsClassifier(n, algorithm="brute")


DEVELOPMENT: tuple[Box, ...] = (
    Box("linear SVM", "asd", _fit(lambda: LinearSVC(random_state=0)), "linear"),
    Box("published rule", "asd", lambda data: load_published_rule("asd", root=real_data())),
    Box("naive Bayes", "built-in", _fit(lambda: BernoulliNB())),
    Box(
        "LDA on 20 components",
        "built-in",
        _fit(lambda: make_pipeline(PCA(20, random_state=0), LinearDiscriminantAnalysis())),
        "linear",
    ),
    Box(
        "random network",
        "built-in",
        _features(random_network, StandardScaler(), RidgeClassifier(10.0)),
        "smooth",
    ),
    Box("polynomial SVM", "asd", _fit(lambda: SVC(kernel="poly", degree=3, coef0=1.0)), "smooth"),
    Box("polynomial SVM, one class", "built-in", _one_class, "smooth"),
    Box("random forest", "asd", _fit(lambda: RandomForestClassifier(100, random_state=0))),
    Box("extra trees", "built-in", _fit(lambda: ExtraTreesClassifier(60, max_depth=4, random_state=0))),
    Box("nearest neighbours", "asd", _fit(lambda: _neighbours(5))),
    Box(
        "nearest neighbours, 20 components",
        "asd",
        _fit(lambda: make_pipeline(PCA(20, random_state=0), _neighbours(5))),
    ),
    Box(
        "logistic on degrees",
        "built-in",
        _features(degree_features, StandardScaler(), LogisticRegression(C=0.01)),
        "linear",
    ),
    Box(
        "graph convolution, random",
        "built-in",
        _features(diffusion_features, StandardScaler(), LogisticRegression(C=0.001)),
        "smooth",
    ),
    Box("sub2vec", "asd", lambda data: cg.train(data, "sub2vec")),
    Box("graph2vec", "asd", lambda data: cg.train(data, "graph2vec")),
)
REPORT: tuple[Box, ...] = (
    Box("published rule", "adhd", lambda data: load_published_rule("adhd", root=real_data())),
    Box("logistic regression", "built-in-204", _fit(lambda: LogisticRegression(C=0.1)), "linear"),
    Box("logistic regression", "adhd", _fit(lambda: LogisticRegression(C=0.01)), "linear"),
    Box(
        "PCA + logistic",
        "built-in-204",
        _fit(lambda: make_pipeline(PCA(30, random_state=2), LogisticRegression(C=1.0))),
        "linear",
    ),
    Box(
        "MLP",
        "built-in-204",
        _fit(lambda: MLPClassifier((32,), alpha=1.0, max_iter=300, random_state=3)),
        "smooth",
    ),
    Box("RBF SVM", "built-in-204", _fit(lambda: RadialSVM(C=1.0)), "smooth"),
    Box("RBF SVM", "adhd", _fit(lambda: RadialSVM(C=1.0)), "smooth"),
    Box(
        "gradient boosting",
        "built-in-204",
        _fit(lambda: GradientBoostingClassifier(n_estimators=60, max_depth=2, subsample=0.7, random_state=4)),
        "steps",
    ),
    Box("GCN", "built-in-60", lambda data: GraphConvolution().fit(data.edges, data.labels), "smooth"),
    Box("vote", "built-in-60", _vote),
    Box("KNN on degrees and clustering", "built-in-204", _features(clustering_features, _neighbours(9))),
    Box("RBF SVM on block means", "built-in-204", _features(block_means, StandardScaler(), SVC()), "smooth"),
)
