"""Model files: a zip archive of JSON and a skops file. Loading never executes code from the file."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from countergraph.classifiers.linear_svm import LinearSVM
from countergraph.classifiers.model import MODELS, Accuracy, Model
from countergraph.errors import FileError, InputError
from countergraph.graphs.atlas import current_names
from countergraph.graphs.files import READ_ERRORS, write_atomic
from countergraph.version import __version__

FORMAT = "countergraph-model/1"
"""Format name and version, stored in every model file."""
MAX_BYTES = 512 * 2**20
"""Maximal uncompressed size of a model file; protects against archives that expand to fill the memory."""
EMBEDDINGS = tuple(kind.embedding for kind in MODELS.values() if kind.embedding is not None)
"""The embeddings that a model file may contain."""
CLASSIFIER_TYPES = (LinearSVM, LogisticRegression, KNeighborsClassifier, RandomForestClassifier)
"""The classifiers that a model file may contain; `_check_state` and `_check_tree` check their fitted state."""
ESTIMATOR_TYPES = (*EMBEDDINGS, *CLASSIFIER_TYPES, DecisionTreeClassifier)
"""All estimators that a model file may contain, also as parts of other estimators."""
TRUSTED_TYPES = [f"{each.__module__}.{each.__qualname__}" for each in (*EMBEDDINGS, LinearSVM, Tree)]
"""Types that skops may load in addition to those that it trusts by default."""


def save_model(model: Model, path: str | Path) -> Path:
    """Write a model to one file; `load_model` reads it."""
    if not isinstance(model, Model):
        raise InputError(
            f"model must be a Model, as returned by train() or select(), not {type(model).__name__}; use other "
            "classifiers directly in Python, or as a program ('program:...') on the command line"
        )
    path = Path(path)
    estimator = skops.io.dumps(model.estimator)
    header = {
        "format": FORMAT,
        "version": __version__,
        "digest": hashlib.sha256(estimator).hexdigest(),
        "model": model.describe(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(header, indent=1))
        archive.writestr("estimator.skops", estimator)
    return write_atomic(path, buffer.getvalue())


def load_model(path: str | Path) -> Model:
    """Load a model that `save_model` wrote.

    Raises
    ------
    FileError
        If the file is truncated, was modified, was written by another program or version, or contains a type that is
        not trusted.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path}: model file not found")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                raise FileError(f"{path}: is larger than the maximum of {MAX_BYTES // 2**20} MB when unpacked")
            header, estimator = json.loads(archive.read("model.json")), archive.read("estimator.skops")
    except READ_ERRORS as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: is not a model file of countergraph, or is damaged ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileError(f"{path}: does not have the format {FORMAT!r} that this version reads")
    if header.get("digest") != hashlib.sha256(estimator).hexdigest():
        raise FileError(f"{path}: was modified after it was written (the digest does not match)")
    _check_size(path, estimator)
    untrusted = sorted(set(_untrusted(path, estimator)) - set(TRUSTED_TYPES))
    if untrusted:
        raise FileError(f"{path}: contains types that are not trusted: {', '.join(untrusted)}; nothing was loaded")
    try:
        return _from_parts(header["model"], skops.io.loads(estimator, trusted=TRUSTED_TYPES))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: cannot be loaded ({error})") from error


def _check_size(path: Path, estimator: bytes) -> None:
    """Raise `FileError` if the estimator, which is itself a zip archive, is larger than `MAX_BYTES` when unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(estimator)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except READ_ERRORS as error:
        raise FileError(f"{path}: contains no readable estimator ({error})") from error
    if size > MAX_BYTES:
        raise FileError(f"{path}: is larger than the maximum of {MAX_BYTES // 2**20} MB when unpacked")


def _check_pipeline(kind: str, estimator: object) -> None:
    """Raise ValueError unless ``estimator`` is a pipeline of this kind of model with a valid fitted state."""
    embedding = MODELS[kind].embedding
    steps = [each for _, each in estimator.steps] if isinstance(estimator, Pipeline) else []
    types = [type(each) for each in steps]
    expected = [] if embedding is None else [embedding]
    if len(types) != len(expected) + 1 or types[:-1] != expected or types[-1] not in CLASSIFIER_TYPES:
        raise ValueError(f"it does not contain a pipeline of the kind {kind}")
    for each in steps:
        _check_state(each)
    if isinstance(steps[-1], RandomForestClassifier):
        for tree in steps[-1].estimators_:
            _check_tree(tree.tree_, steps[-1].n_features_in_, len(steps[-1].classes_))


def _check_state(value: object) -> None:
    """Raise ValueError unless a value is plain, or a container or known estimator with only such values."""
    if value is None or isinstance(value, bool | int | float | str | np.generic) or type(value) is Tree:
        return
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return
    if type(value) in (list, tuple):
        parts: list[object] = list(value)  # type: ignore[call-overload]
    elif type(value) is dict:
        parts = [*value, *value.values()]
    elif type(value) in ESTIMATOR_TYPES:
        parts = list(vars(value).values())
    else:
        raise ValueError(f"it contains an unexpected object of type {type(value).__name__}")
    for each in parts:
        _check_state(each)


def _check_tree(tree: Tree, n_features: int, n_classes: int) -> None:
    """Raise ValueError unless every node is a leaf, or has children with larger numbers and an existing feature.

    scikit-learn uses these indices without checks; invalid indices would cause invalid memory access.
    """
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    node = np.arange(tree.node_count)
    leaf = (left == -1) & (right == -1)
    inner = (node < left) & (left < node.size) & (node < right) & (right < node.size)
    inner &= (feature >= 0) & (feature < n_features)
    sizes = (tree.n_features, tree.n_outputs, tree.n_classes.tolist(), tree.value.shape)
    if sizes != (n_features, 1, [n_classes], (node.size, 1, n_classes)) or not node.size or not (leaf | inner).all():
        raise ValueError("it contains an invalid decision tree")


def _untrusted(path: Path, estimator: bytes) -> list[str]:
    try:
        return list(skops.io.get_untrusted_types(data=estimator))
    except Exception as error:  # skops raises many types of exceptions for files of other formats
        raise FileError(f"{path}: contains no readable estimator ({error})") from error


def _from_parts(plain: dict[str, Any], estimator: Any) -> Model:  # noqa: ANN401
    if plain["kind"] not in MODELS:
        raise ValueError(f"it has the unknown kind {plain['kind']!r}")
    _check_pipeline(plain["kind"], estimator)
    names = plain.get("roi_names", plain.get("region_names"))  # key before version 0.10
    return Model(
        plain["kind"],
        plain["settings"],
        estimator,
        tuple(plain["classes"]),
        plain["n_regions"],
        plain["atlas"],
        plain["trained_on"],
        Accuracy(**plain["accuracy"]),
        None if names is None else tuple(current_names(names)),
    )
