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
from sklearn.pipeline import Pipeline
from sklearn.tree._tree import Tree

from countergraph.classifiers.autoencoder import Autoencoder
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.graph2vec import Graph2Vec
from countergraph.classifiers.model import MODELS, Accuracy, Model
from countergraph.classifiers.sub2vec import Sub2Vec
from countergraph.errors import FileError
from countergraph.graphs.files import UNREADABLE, write_whole
from countergraph.version import __version__

FORMAT = "countergraph-model/1"
LARGEST = 512 * 2**20
# Types a model file may hold besides those that skops itself knows to be harmless.
# Trees are only trusted because `_check_tree` looks at every node of them.
TRUSTED = [
    f"{each.__module__}.{each.__qualname__}" for each in (ContrastSubgraphs, Graph2Vec, Sub2Vec, Autoencoder, Tree)
]


def save_model(model: Model, path: str | Path) -> Path:
    """Write a model to one file, which `load_model` reads back."""
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
    return write_whole(path, buffer.getvalue())


def load_model(path: str | Path) -> Model:
    """Load a model that `save_model` wrote.

    Raises
    ------
    FileError
        If the file is truncated, altered, of another program or version, or holds a type that is not on the short
        list of trusted ones.
    """
    path = Path(path)
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
    untrusted = sorted(set(_untrusted(path, estimator)) - set(TRUSTED))
    if untrusted:
        raise FileError(f"{path}: holds types that are not trusted: {', '.join(untrusted)}; nothing was loaded")
    try:
        return _from_parts(header["model"], skops.io.loads(estimator, trusted=TRUSTED))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: cannot be loaded ({error})") from error


def _check_tree(tree: Tree, n_features: int) -> None:
    """Raise ValueError unless every node leads to later nodes or is a leaf, and asks for a feature that exists.

    scikit-learn follows these numbers without looking, out of memory if they say so.
    """
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    node = np.arange(tree.node_count)
    leaf = (left == -1) & (right == -1)
    inner = (node < left) & (left < node.size) & (node < right) & (right < node.size)
    inner &= (feature >= 0) & (feature < n_features)
    if tree.n_features != n_features or not node.size or not (leaf | inner).all():
        raise ValueError("it holds a decision tree that is not one")


def _untrusted(path: Path, estimator: bytes) -> list[str]:
    try:
        return list(skops.io.get_untrusted_types(data=estimator))
    except Exception as error:  # whatever skops stumbles over in a file that is not its own
        raise FileError(f"{path}: holds no readable estimator ({error})") from error


def _from_parts(plain: dict[str, Any], estimator: Any) -> Model:  # noqa: ANN401
    if plain["kind"] not in MODELS:
        raise ValueError(f"it is of the kind {plain['kind']!r}, which this version does not know")
    if not isinstance(estimator, Pipeline):
        raise ValueError(f"it holds a {type(estimator).__name__} instead of a pipeline")
    if isinstance(estimator[-1], RandomForestClassifier):
        for tree in estimator[-1].estimators_:
            _check_tree(tree.tree_, estimator[-1].n_features_in_)
    return Model(
        plain["kind"],
        plain["settings"],
        estimator,
        tuple(plain["classes"]),
        plain["n_regions"],
        plain["atlas"],
        plain["trained_on"],
        Accuracy(**plain["accuracy"]),
    )
