"""Model files: one zip of JSON and a skops file. Loading one never runs code that is in it."""

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
from countergraph.graphs.files import UNREADABLE, write_atomic
from countergraph.version import __version__

FORMAT = "countergraph-model/1"
LARGEST = 512 * 2**20
# What a model file may hold: our own embeddings and classifiers, and these of scikit-learn, whose fitted state is
# looked at number by number (`_check_state`, `_check_tree`) before it is used.
EMBEDDINGS = tuple(kind.embedding for kind in MODELS.values() if kind.embedding is not None)
FINAL = (LinearSVM, LogisticRegression, KNeighborsClassifier, RandomForestClassifier)
PARTS = (*EMBEDDINGS, *FINAL, DecisionTreeClassifier)
TRUSTED = [f"{each.__module__}.{each.__qualname__}" for each in (*EMBEDDINGS, LinearSVM, Tree)]


def save_model(model: Model, path: str | Path) -> Path:
    """Write a model to one file, which `load_model` reads back."""
    if not isinstance(model, Model):
        raise InputError(
            f"only a Model, as train() makes, is kept in a file; use a {type(model).__name__} in Python, or behind a "
            "program ('program:...')"
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
        If the file is truncated, altered, of another program or version, or holds a type that is not on the short
        list of trusted ones.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path}: there is no such model file")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                raise FileError(f"{path}: is larger than a model file can be")
            header, estimator = json.loads(archive.read("model.json")), archive.read("estimator.skops")
    except UNREADABLE as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: is not a model file of countergraph, or is damaged ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileError(f"{path}: is not of the format {FORMAT!r} that this version reads")
    if header.get("digest") != hashlib.sha256(estimator).hexdigest():
        raise FileError(f"{path}: was altered after it was written (its digest does not fit)")
    _check_size(path, estimator)
    untrusted = sorted(set(_untrusted(path, estimator)) - set(TRUSTED))
    if untrusted:
        raise FileError(f"{path}: holds types that are not trusted: {', '.join(untrusted)}; nothing was loaded")
    try:
        return _from_parts(header["model"], skops.io.loads(estimator, trusted=TRUSTED))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: cannot be loaded ({error})") from error


def _check_size(path: Path, estimator: bytes) -> None:
    """Refuse an estimator that would unpack to more than a model can be; it is a zip of its own."""
    try:
        with zipfile.ZipFile(io.BytesIO(estimator)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except UNREADABLE as error:
        raise FileError(f"{path}: holds no readable estimator ({error})") from error
    if size > LARGEST:
        raise FileError(f"{path}: is larger than a model file can be")


def _check_shape(kind: str, estimator: object) -> None:
    """Raise ValueError unless ``estimator`` is the pipeline that a model of this kind is, with a sound state."""
    wanted = MODELS[kind].embedding
    steps = [each for _, each in estimator.steps] if isinstance(estimator, Pipeline) else []
    shape = [type(each) for each in steps]
    if len(shape) != (1 if wanted is None else 2) or shape[:-1] != [wanted][: len(shape) - 1] or shape[-1] not in FINAL:
        raise ValueError(f"it does not hold a pipeline of the kind {kind}")
    for each in steps:
        _check_state(each)
    if isinstance(steps[-1], RandomForestClassifier):
        for tree in steps[-1].estimators_:
            _check_tree(tree.tree_, steps[-1].n_features_in_, len(steps[-1].classes_))


def _check_state(value: object) -> None:
    """Raise ValueError unless a value is plain, or a known part all of whose attributes are."""
    if value is None or isinstance(value, bool | int | float | str | np.generic) or type(value) is Tree:
        return
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return
    if type(value) in (list, tuple):
        inside: list[object] = list(value)  # type: ignore[call-overload]
    elif type(value) is dict:
        inside = [*value, *value.values()]
    elif type(value) in PARTS:
        inside = list(vars(value).values())
    else:
        raise ValueError(f"it holds a {type(value).__name__} where none belongs")
    for each in inside:
        _check_state(each)


def _check_tree(tree: Tree, n_features: int, n_classes: int) -> None:
    """Raise ValueError unless every node leads to later nodes or is a leaf, and asks for a feature that exists.

    scikit-learn follows these numbers without looking, out of memory if they say so.
    """
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    node = np.arange(tree.node_count)
    leaf = (left == -1) & (right == -1)
    inner = (node < left) & (left < node.size) & (node < right) & (right < node.size)
    inner &= (feature >= 0) & (feature < n_features)
    sizes = (tree.n_features, tree.n_outputs, tree.n_classes.tolist(), tree.value.shape)
    if sizes != (n_features, 1, [n_classes], (node.size, 1, n_classes)) or not node.size or not (leaf | inner).all():
        raise ValueError("it holds a decision tree that is not one")


def _untrusted(path: Path, estimator: bytes) -> list[str]:
    try:
        return list(skops.io.get_untrusted_types(data=estimator))
    except Exception as error:  # whatever skops stumbles over in a file that is not its own
        raise FileError(f"{path}: holds no readable estimator ({error})") from error


def _from_parts(plain: dict[str, Any], estimator: Any) -> Model:  # noqa: ANN401
    if plain["kind"] not in MODELS:
        raise ValueError(f"it is of the kind {plain['kind']!r}, which this version does not know")
    _check_shape(plain["kind"], estimator)
    names = plain.get("roi_names", plain.get("region_names"))  # the key before version 0.10
    return Model(
        plain["kind"],
        plain["settings"],
        estimator,
        tuple(plain["classes"]),
        plain["n_regions"],
        plain["atlas"],
        plain["trained_on"],
        Accuracy(**plain["accuracy"]),
        None if names is None else tuple(names),
    )
