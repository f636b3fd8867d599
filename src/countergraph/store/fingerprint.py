"""The fingerprint of a black box. It is the same in every process, and after saving and loading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.tree._tree import Tree

from countergraph.classifiers.linear_form import is_plain
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.classifiers.model import Model
from countergraph.errors import InputError
from countergraph.oracle.oracle import Oracle


def fingerprint(black_box: object) -> str:
    """Return a short digest of the fitted state of a black box.

    Supports `Model`, `LinearRule` and estimators of scikit-learn, also within an `Oracle`.

    Raises
    ------
    InputError
        For anything else: the state of a function or a service is unknown, so the user must name it.
    """
    digest = hashlib.sha256()
    for part in _parts(black_box):
        digest.update(part)
    return digest.hexdigest()[:16]


def can_be_inspected(black_box: object) -> bool:
    """Check whether a black box has a fingerprint."""
    try:
        fingerprint(black_box)
    except InputError:
        return False
    return True


def _parts(value: object) -> Iterator[bytes]:
    """Convert a value to bytes, in an order that depends only on its content."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        yield f"{type(value).__name__} {value!r};".encode()
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        yield f"array {value.dtype.str} {value.shape};".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, list | tuple):
        yield f"list {len(value)};".encode()
        for each in value:
            yield from _parts(each)
    elif isinstance(value, dict):
        yield f"dict {len(value)};".encode()
        for key in sorted(value, key=str):
            yield from _parts([key, value[key]])
    elif isinstance(value, Model):
        yield from _parts([value.kind, value.estimator])
    elif isinstance(value, Oracle):
        yield from _parts([value.input, value.classes, value.meanings, value.black_box])
        if value.with_subjects:
            yield b"with subjects;"
    elif isinstance(value, LinearRule):
        yield from _parts(["rule", value.vertex_sets, value.weights, value.intercept, value.n_rois, value.classes])
    elif isinstance(value, Tree):
        yield from _parts({name: state.tolist() for name, state in _tree_state(value).items()})
    elif isinstance(value, BaseEstimator) and is_plain(value):
        yield from _parts([type(value).__qualname__, vars(value)])
    else:
        raise InputError(
            f"the state of a {type(value).__name__} cannot be inspected: pass a name and version of the black box, for "
            "example box='my model, 3 May'"
        )


def _tree_state(tree: Tree) -> dict[str, np.ndarray]:
    return {name: np.asarray(state) for name, state in tree.__getstate__().items()}
