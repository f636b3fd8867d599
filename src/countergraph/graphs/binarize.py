"""Binarization of weighted connectivity matrices.

A rule is a name and a number, for example ``"percentile:90"``, in Python and on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import GraphError, InputError, unknown_name
from countergraph.graphs.pairs import Bits, roi_count, upper_triangle, zero_nonfinite_diagonal


def _percentile(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep weights at or above the given percentile of the weights of the same subject (signed)."""
    return np.asarray(weights >= np.percentile(weights, value, axis=-1, keepdims=True))


def _absolute_percentile(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep weights with an absolute value at or above the given percentile of the subject's absolute weights."""
    return _percentile(np.abs(weights), value)


def _threshold(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep weights at or above a fixed value."""
    return np.asarray(weights >= value)


def _density(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep exactly this share of the pairs, the strongest first; of pairs with equal weights, the first ones."""
    n_kept = round(value * weights.shape[-1])
    order = np.argsort(-weights, axis=-1, kind="stable")
    bits = np.zeros(weights.shape, dtype=np.bool_)
    np.put_along_axis(bits, order[..., :n_kept], True, axis=-1)
    return bits


@dataclass(frozen=True)
class _Rule:
    apply: Callable[[NDArray[np.floating], float], Bits]
    minimum: float
    maximum: float
    density: Callable[[float], float] | None = None
    """Return the share of pairs to keep for a value of the rule; None if it depends on the weights."""


BINARIZERS: dict[str, _Rule] = {
    "percentile": _Rule(_percentile, 0, 100, lambda value: 1 - value / 100),
    "absolute-percentile": _Rule(_absolute_percentile, 0, 100, lambda value: 1 - value / 100),
    "threshold": _Rule(_threshold, -np.inf, np.inf),
    "density": _Rule(_density, 0, 1, lambda value: value),
}


def binarize(weights: ArrayLike, rule: str = "percentile:90") -> Bits:
    """Convert connectivity weights to edge vectors (..., pairs), the graph format of this package.

    Parameters
    ----------
    weights
        Connectivity matrices, shape (..., n, n), or their strict upper triangles, shape (..., pairs).
    rule
        ``"percentile:90"`` keeps the weights at or above the 90th percentile of each subject, as in the paper.
        ``"absolute-percentile:90"`` does the same with the absolute values. ``"threshold:0.3"`` keeps all weights of
        at least 0.3. ``"density:0.1"`` keeps exactly the strongest 10 percent of the pairs.
    """
    if not isinstance(rule, str):
        raise InputError(f"binarize must be a rule with a number such as 'percentile:90', not {rule!r}")
    name, _, number = rule.partition(":")
    if name not in BINARIZERS:
        raise unknown_name("binarization rule", name, BINARIZERS)
    chosen = BINARIZERS[name]
    try:
        value = float(number)
    except ValueError:
        raise InputError(f"binarize must be a rule with a number such as 'percentile:90', not {rule!r}") from None
    if not chosen.minimum <= value <= chosen.maximum:
        raise InputError(f"{name} must be between {chosen.minimum:g} and {chosen.maximum:g}, not {value:g}")
    if chosen.maximum == 100 and 0 < value < 1:
        raise InputError(
            f"a percentile is a number between 0 and 100, so {name}:{value:g} is probably a mistake; "
            f"did you mean {name}:{100 * value:g}?"
        )
    array = np.asarray(weights, dtype=np.float64 if np.asarray(weights).dtype.kind != "f" else None)
    if not array.size:
        raise InputError("weights must not be empty")
    finite = zero_nonfinite_diagonal(array)
    array = finite if _are_matrices(finite) else array
    if not np.isfinite(array).all():
        position = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"weights contains entries that are not finite (NaN or infinity), the first at {position}")
    if _are_matrices(array):
        array = np.asarray(upper_triangle(array), dtype=array.dtype)
    elif array.ndim > 1 and array.shape[-1] == array.shape[-2] and not _is_pair_count(array.shape[-1]):
        raise InputError("weights must be symmetric matrices or vectors of pairs; these matrices are not symmetric")
    else:
        roi_count(array.shape[-1])
    edges = chosen.apply(array, value)
    if chosen.density is not None and 0 < chosen.density(value) < 1:
        strengths = np.abs(array) if name.startswith("absolute") else array
        _check_ties(strengths, edges, rule)
    _check_not_empty_or_complete(edges, rule)
    return edges


def _check_not_empty_or_complete(edges: Bits, rule: str) -> None:
    """Raise `InputError` if the rule makes any graph empty or complete."""
    for valid, quantity, result in (
        (edges.any(axis=-1), "no", "empty"),
        ((~edges).any(axis=-1), "every", "complete"),
    ):
        if not valid.all():
            graph = "" if valid.ndim == 0 else f" of graph {int(np.argmin(valid.ravel()))}"
            raise InputError(f"{rule} keeps {quantity} pair{graph}: the resulting graph is {result}")


def _check_ties(strengths: NDArray[np.floating], edges: Bits, rule: str) -> None:
    """Raise `InputError` if a kept pair has the lowest weight and others share it, as in a matrix of mostly zeros."""
    lowest = strengths.min(axis=-1, keepdims=True)
    weakest = strengths == lowest
    tied = (weakest & edges).any(axis=-1) & (weakest.sum(axis=-1) > 1)
    if tied.any():
        weight = float(lowest[..., 0][tied].flat[0])
        raise InputError(
            f"{rule} keeps pairs with the lowest weight, {weight:g}, which several pairs share; "
            "keep fewer pairs, or use a rule such as 'threshold:0.3'"
        )


def _are_matrices(array: NDArray[np.floating]) -> bool:
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
        return False
    return bool(np.allclose(array, np.swapaxes(array, -1, -2), rtol=0, atol=1e-6))


def _is_pair_count(n_entries: int) -> bool:
    try:
        roi_count(n_entries)
    except GraphError:
        return False
    return True
