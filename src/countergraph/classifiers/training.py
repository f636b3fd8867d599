"""Training a black box, choosing one, and saying honestly how good it is."""

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
Progress = Callable[[int, int], None]
"""Called with the numbers of finished and of all fits of an embedding."""


def train(
    data: GraphDataset,
    kind: str = "contrast-subgraphs",
    classifier: str | None = None,
    *,
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401
) -> Model:
    """Train a black box with given settings, and measure its accuracy on graphs that it did not see.

    Parameters
    ----------
    data
        The graphs and labels to learn from.
    kind
        A name in `countergraph.MODELS`.
    classifier
        A name in `countergraph.CLASSIFIERS`; by default the paper's choice for this kind.
    progress
        Called after each fit with the numbers of finished and of all fits.
    **settings
        Of the embedding (``MODELS[kind].settings``). The paper's settings are the defaults.
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
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401
) -> Model:
    """Train the classifier and embedding size that do best on unseen graphs, as the paper's appendix describes.

    The embedding is fitted anew within each of 5 stratified folds, so nothing of a held-out graph is known to it.

    Parameters
    ----------
    classifiers
        Which to compare; by default svm, knn and forest, as in the paper, and for raw edges logistic regression too.
    data, kind, progress, **settings
        As in `train`; a ``dimensions`` that is given is not chosen.

    Returns
    -------
    Model
        With ``accuracy.chosen_from`` candidates compared. Among equals the first wins.
    """
    chosen = _kind(kind)
    usual = ["svm", "knn", "forest", *(["logistic"] if chosen.embedding is None else [])]
    names = usual if classifiers is None else list(classifiers)
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


def _settings(data: GraphDataset, kind: str, given: dict[str, Any]) -> dict[str, Any]:
    known = MODELS[kind].settings
    for name in given:
        if name not in known:
            raise InputError(f"{kind} has no setting {name!r}; it takes {', '.join(known) or 'none'}")
    return {**known, **MODELS[kind].paper.get(data.about.get("cohort", ""), {}), **given}


def _check(data: GraphDataset, classifiers: list[str]) -> None:
    for name in classifiers:
        if name not in CLASSIFIERS:
            raise unknown_name("classifier", name, CLASSIFIERS)
    sizes = data.class_sizes[data.class_sizes > 0]
    if len(sizes) < 2 or sizes.min() < FOLDS:
        raise InputError(f"training needs at least two classes, and {FOLDS} graphs of each; the data has {data!r}")


def _candidates(
    data: GraphDataset,
    kind: str,
    classifiers: list[str],
    settings: list[dict[str, Any]],
    progress: Progress | None,
) -> list[Model]:
    """Train every classifier on every setting of the embedding, each of which is fitted once for each fold."""
    tell = progress or (lambda done, total: None)
    models, total = [], len(settings) * (FOLDS + 1)
    for number, each in enumerate(settings):
        fits = 0

        def fitted(number: int = number) -> None:
            nonlocal fits
            fits += 1
            tell(number * (FOLDS + 1) + fits, total)

        embedding = MODELS[kind].embedding
        measured = _measure(None if embedding is None else embedding(**each), classifiers, data, fitted)
        for name, (estimator, accuracy) in measured.items():
            about = (data.classes, data.n_rois, data.atlas.name, data.fingerprint)
            settings_of = {"classifier": name, **each}
            models.append(Model(kind, settings_of, estimator, *about, accuracy, data.atlas.names))
    return models


def _measure(
    embedding: BaseEstimator | None, classifiers: list[str], data: GraphDataset, fitted: Callable[[], None]
) -> dict[str, tuple[Pipeline, Accuracy]]:
    """Fit pipelines to all of ``data``, and measure them by fitting everything anew within each fold."""
    edges, labels = data.edges, data.labels
    answers = {name: np.empty_like(labels) for name in classifiers}
    scores = {name: np.full(len(data), np.nan) for name in classifiers}
    for seen, unseen in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(edges, labels):
        for name, pipeline in _pipelines(embedding, classifiers, data.subset(seen)):
            answers[name][unseen] = pipeline.predict(edges[unseen])
            scores[name][unseen] = _score(pipeline, edges[unseen]) if len(data.classes) == 2 else np.nan
        fitted()
    measured = {}
    for name, pipeline in _pipelines(embedding, classifiers, data):
        measured[name] = (
            pipeline,
            Accuracy(
                training=float(accuracy_score(labels, pipeline.predict(edges))),
                cross_validated=float(accuracy_score(labels, answers[name])),
                balanced=float(balanced_accuracy_score(labels, answers[name])),
                auc=float(roc_auc_score(labels, scores[name])) if len(data.classes) == 2 else None,
                majority=float(data.class_sizes.max() / len(data)),
            ),
        )
    fitted()
    return measured


def _pipelines(
    embedding: BaseEstimator | None, classifiers: list[str], data: GraphDataset
) -> Iterator[tuple[str, Pipeline]]:
    """Fit the embedding once, and each classifier on what it makes of the graphs."""
    steps = [] if embedding is None else [("embedding", clone(embedding).fit(data.edges, data.labels))]
    vectors = steps[0][1].transform(data.edges) if steps else data.edges
    for name in classifiers:
        yield name, Pipeline([*steps, ("classifier", CLASSIFIERS[name]().fit(vectors, data.labels))])


def _score(pipeline: Pipeline, edges: Any) -> Floats:  # noqa: ANN401
    """Return a number that is larger the more a graph looks like class 1."""
    if hasattr(pipeline, "decision_function"):
        return np.asarray(pipeline.decision_function(edges))
    return np.asarray(pipeline.predict_proba(edges)[:, 1])
