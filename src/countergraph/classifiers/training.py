"""Train and select models, and measure their accuracy by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from countergraph.classifiers.model import CLASSIFIERS, MODELS, Accuracy, Model, ModelKind
from countergraph.errors import InputError, unknown_name
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats

FOLDS = 5
"""Number of cross-validation folds, as in the paper."""
FitCallback = Callable[[int, int], None]
"""Called with the number of finished fits of the embedding and the total number of fits."""


def train(
    data: GraphDataset,
    kind: str = "contrast-subgraphs",
    classifier: str | None = None,
    *,
    progress: FitCallback | None = None,
    **settings: Any,  # noqa: ANN401
) -> Model:
    """Train a model with the given settings, and measure its accuracy on held-out graphs.

    Parameters
    ----------
    data
        The training graphs and labels.
    kind
        The kind of model, a name in `countergraph.MODELS`.
    classifier
        A name in `countergraph.CLASSIFIERS`; by default the paper's choice for this kind.
    progress
        Called after each fit with the number of finished fits and the total number of fits.
    **settings
        Settings of the embedding (see ``MODELS[kind].settings``). The defaults are the paper's settings.
    """
    chosen = _kind(kind)
    name = classifier or chosen.classifier
    complete = _settings(data, kind, settings)
    _check(data, [name])
    return _candidates(data, kind, [name], [complete], progress)[0]


def select(
    data: GraphDataset,
    kind: str = "contrast-subgraphs",
    *,
    classifiers: Sequence[str] | None = None,
    progress: FitCallback | None = None,
    **settings: Any,  # noqa: ANN401
) -> Model:
    """Select the classifier and embedding size with the best accuracy on held-out graphs, as in the paper's appendix.

    The embedding is fitted again within each of 5 stratified folds, so it never uses held-out graphs.

    Parameters
    ----------
    classifiers
        The classifiers to compare; by default svm, knn and forest, as in the paper, and also logistic for raw-edges.
    data, kind, progress, **settings
        As in `train`. If ``dimensions`` is given, the embedding size is not selected.

    Returns
    -------
    Model
        The best candidate; the first one in case of a tie. ``accuracy.chosen_from`` is the number of candidates.
    """
    chosen = _kind(kind)
    default = ["svm", "knn", "forest", *(["logistic"] if chosen.embedding is None else [])]
    names = default if classifiers is None else list(classifiers)
    _check(data, names)
    complete = _settings(data, kind, settings)
    sizes = [{**complete, "dimensions": size} for size in chosen.dimensions if "dimensions" not in settings]
    models = _candidates(data, kind, names, sizes or [complete], progress)
    best = max(models, key=lambda model: model.accuracy.cross_validated)
    return replace(best, accuracy=replace(best.accuracy, chosen_from=len(models)))


def _kind(kind: str) -> ModelKind:
    if kind not in MODELS:
        raise unknown_name("model", kind, MODELS)
    return MODELS[kind]


def _settings(data: GraphDataset, kind: str, overrides: dict[str, Any]) -> dict[str, Any]:
    known = MODELS[kind].settings
    for name in overrides:
        if name not in known:
            raise InputError(f"unknown setting {name!r} of {kind}. Supported: {', '.join(known) or 'none'}")
    return {**known, **MODELS[kind].paper.get(data.about.get("cohort", ""), {}), **overrides}


def _check(data: GraphDataset, classifiers: list[str]) -> None:
    for name in classifiers:
        if name not in CLASSIFIERS:
            raise unknown_name("classifier", name, CLASSIFIERS)
    sizes = data.class_sizes[data.class_sizes > 0]
    if len(sizes) < 2 or sizes.min() < FOLDS:
        raise InputError(f"training needs at least two classes with at least {FOLDS} graphs each; got {data!r}")


def _candidates(
    data: GraphDataset,
    kind: str,
    classifiers: list[str],
    settings: list[dict[str, Any]],
    progress: FitCallback | None,
) -> list[Model]:
    """Train every classifier with every setting; each embedding is fitted once per fold and once on all data."""
    notify = progress or (lambda done, total: None)
    models, total = [], len(settings) * (FOLDS + 1)
    for number, each in enumerate(settings):
        fits = 0

        def on_fit(number: int = number) -> None:
            nonlocal fits
            fits += 1
            notify(number * (FOLDS + 1) + fits, total)

        embedding = MODELS[kind].embedding
        measured = _measure(None if embedding is None else embedding(**each), classifiers, data, on_fit)
        for name, (estimator, accuracy) in measured.items():
            about = (data.classes, data.n_rois, data.atlas.name, data.fingerprint)
            settings_of = {"classifier": name, **each}
            models.append(Model(kind, settings_of, estimator, *about, accuracy, data.atlas.names))
    return models


def _measure(
    embedding: BaseEstimator | None, classifiers: list[str], data: GraphDataset, on_fit: Callable[[], None]
) -> dict[str, tuple[Pipeline, Accuracy]]:
    """Fit pipelines to all of ``data``, and measure their accuracy by cross-validation of the whole pipeline."""
    edges, labels = data.edges, data.labels
    predictions = {name: np.empty_like(labels) for name in classifiers}
    scores = {name: np.full(len(data), np.nan) for name in classifiers}
    for training, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(edges, labels):
        for name, pipeline in _pipelines(embedding, classifiers, data.subset(training)):
            predictions[name][held_out] = pipeline.predict(edges[held_out])
            scores[name][held_out] = _score(pipeline, edges[held_out]) if len(data.classes) == 2 else np.nan
        on_fit()
    measured = {}
    for name, pipeline in _pipelines(embedding, classifiers, data):
        measured[name] = (
            pipeline,
            Accuracy(
                training=float(accuracy_score(labels, pipeline.predict(edges))),
                cross_validated=float(accuracy_score(labels, predictions[name])),
                balanced=float(balanced_accuracy_score(labels, predictions[name])),
                auc=float(roc_auc_score(labels, scores[name])) if len(data.classes) == 2 else None,
                majority=float(data.class_sizes.max() / len(data)),
            ),
        )
    on_fit()
    return measured


def _pipelines(
    embedding: BaseEstimator | None, classifiers: list[str], data: GraphDataset
) -> Iterator[tuple[str, Pipeline]]:
    """Fit the embedding once, and each classifier on the embedded graphs."""
    steps = [] if embedding is None else [("embedding", clone(embedding).fit(data.edges, data.labels))]
    vectors = steps[0][1].transform(data.edges) if steps else data.edges
    for name in classifiers:
        yield name, Pipeline([*steps, ("classifier", CLASSIFIERS[name]().fit(vectors, data.labels))])


def _score(pipeline: Pipeline, edges: Any) -> Floats:  # noqa: ANN401
    """Return a score of each graph that increases with the confidence in class 1."""
    if hasattr(pipeline, "decision_function"):
        return np.asarray(pipeline.decision_function(edges))
    return np.asarray(pipeline.predict_proba(edges)[:, 1])
