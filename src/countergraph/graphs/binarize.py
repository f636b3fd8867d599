"""From a weighted connectivity matrix to a graph.

A rule is a name and a number, in Python and on the command line alike: ``"percentile:90"``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import GraphError, InputError, unknown_name
from countergraph.graphs.pairs import Bits, roi_count, upper_triangle, zero_nonfinite_diagonal


def _percentile(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep what is at least the given percentile of the subject's own weights (signed)."""
    return np.asarray(weights >= np.percentile(weights, value, axis=-1, keepdims=True))


def _absolute_percentile(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep what is in absolute value at least the given percentile of the subject's own absolute weights."""
    return _percentile(np.abs(weights), value)


def _threshold(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep what is at least a fixed value."""
    return np.asarray(weights >= value)


def _density(weights: NDArray[np.floating], value: float) -> Bits:
    """Keep the strongest share of the pairs, exactly: among equal weights the first pairs win."""
    keep = round(value * weights.shape[-1])
    order = np.argsort(-weights, axis=-1, kind="stable")
    bits = np.zeros(weights.shape, dtype=np.bool_)
    np.put_along_axis(bits, order[..., :keep], True, axis=-1)
    return bits


@dataclass(frozen=True)
class _Rule:
    apply: Callable[[NDArray[np.floating], float], Bits]
    lowest: float
    highest: float
    share: Callable[[float], float] | None = None
    """Which share of the pairs the number means to keep."""


BINARIZERS: dict[str, _Rule] = {
    "percentile": _Rule(_percentile, 0, 100, lambda value: 1 - value / 100),
    "absolute-percentile": _Rule(_absolute_percentile, 0, 100, lambda value: 1 - value / 100),
    "threshold": _Rule(_threshold, -np.inf, np.inf),
    "density": _Rule(_density, 0, 1, lambda value: value),
}


def binarize(weights: ArrayLike, rule: str = "percentile:90") -> Bits:
    """Turn weights into edge vectors (..., pairs), which every function here takes for graphs.

    Parameters
    ----------
    weights
        Connectivity matrices, shape (..., n, n), or their strict upper triangles, shape (..., pairs).
    rule
        ``"percentile:90"`` keeps the weights at or above each subject's own 90th percentile, as the paper does;
        ``"absolute-percentile:90"`` the same of the absolute values; ``"threshold:0.3"`` all weights of at least
        0.3; ``"density:0.1"`` exactly the strongest tenth of the pairs.
    """
    if not isinstance(rule, str):
        raise InputError(f"binarize needs a name and a number such as 'percentile:90', not {rule!r}")
    name, _, number = rule.partition(":")
    if name not in BINARIZERS:
        raise unknown_name("way to binarise", name, BINARIZERS)
    chosen = BINARIZERS[name]
    try:
        value = float(number)
    except ValueError:
        raise InputError(f"binarize needs a name and a number such as 'percentile:90', not {rule!r}") from None
    if not chosen.lowest <= value <= chosen.highest:
        raise InputError(f"{name} must be between {chosen.lowest:g} and {chosen.highest:g}, not {value:g}")
    if chosen.highest == 100 and 0 < value < 1:
        raise InputError(f"{name}:{value:g} is below the first of a hundred; did you mean {name}:{100 * value:g}?")
    array = np.asarray(weights, dtype=np.float64 if np.asarray(weights).dtype.kind != "f" else None)
    if not array.size:
        raise InputError("weights must not be empty")
    finite = zero_nonfinite_diagonal(array)
    array = finite if _are_matrices(finite) else array
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"weights has entries that are not finite (NaN or infinity), the first at {where}")
    if _are_matrices(array):
        array = np.asarray(upper_triangle(array), dtype=array.dtype)
    elif array.ndim > 1 and array.shape[-1] == array.shape[-2] and not _fits_pairs(array.shape[-1]):
        raise InputError("weights must be symmetric matrices, or vectors of pairs; these matrices are not symmetric")
    else:
        roi_count(array.shape[-1])
    edges = chosen.apply(array, value)
    if chosen.share is not None and 0 < chosen.share(value) < 1:
        strengths = np.abs(array) if name.startswith("absolute") else array
        _check_ties(strengths, edges, rule)
    _check_something_is_left(edges, rule)
    return edges


def _check_something_is_left(edges: Bits, rule: str) -> None:
    """Refuse a rule that makes any graph empty, or complete."""
    for told, what in ((edges.any(axis=-1), "no"), ((~edges).any(axis=-1), "every")):
        if not told.all():
            whose = "" if told.ndim == 0 else f" of graph {int(np.argmin(told.ravel()))}"
            raise InputError(f"{rule} keeps {what} connection{whose}, so there is no network left to speak of")


def _check_ties(strengths: NDArray[np.floating], edges: Bits, rule: str) -> None:
    """Refuse to keep some, or all, of the many pairs that are equally weak, as in a matrix that is mostly zeros."""
    lowest = strengths.min(axis=-1, keepdims=True)
    weakest = strengths == lowest
    tied = (weakest & edges).any(axis=-1) & (weakest.sum(axis=-1) > 1)
    if tied.any():
        weight = float(lowest[..., 0][tied].flat[0])
        raise InputError(
            f"{rule} would keep connections of the lowest weight there is, {weight:g}, which many have; "
            "keep fewer, or choose them by threshold"
        )


def _are_matrices(array: NDArray[np.floating]) -> bool:
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
        return False
    return bool(np.allclose(array, np.swapaxes(array, -1, -2), rtol=0, atol=1e-6))


def _fits_pairs(entries: int) -> bool:
    try:
        roi_count(entries)
    except GraphError:
        return False
    return True
