"""From time series to networks, with nilearn's ``ConnectivityMeasure``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from countergraph.datasets.readers.content import Connectivity, Content
from countergraph.errors import FileError, InputError
from countergraph.graphs.measure import Measure
from countergraph.graphs.pairs import Floats

MEASURES: dict[str, Measure] = {"correlation": "correlation"}
"""What the values of a kind of connectivity are; unknown for the others."""


def check_kind(kind: str) -> None:
    """Raise `InputError` for an unknown kind of connectivity."""
    if kind not in get_args(Connectivity):
        raise InputError(f"kind must be one of {', '.join(get_args(Connectivity))}, not {kind!r}")


def connectivity(paths: Sequence[Path], contents: Sequence[Content], kind: str) -> tuple[Floats, Measure]:
    """Return the matrices (subjects, n, n) of time series, and their measure."""
    for path, content in zip(paths, contents, strict=True):
        _check_series(path, content)
    from nilearn.connectome import ConnectivityMeasure  # slow to import

    series = [each.numbers for each in contents]
    matrices = ConnectivityMeasure(kind=kind).fit_transform(series)
    return np.asarray(matrices, dtype=np.float64), MEASURES.get(kind, "unknown")


def _check_series(path: Path, content: Content) -> None:
    series = content.numbers
    n_points, n_rois = series.shape
    names = content.rois or tuple(f"column {k + 1}" for k in range(n_rois))
    if n_points < 3:
        raise FileError(f"{path}: a time series needs at least 3 time points (rows), but it has {n_points}")
    for problem, found in (
        ("missing values", ~np.isfinite(series).all(axis=0)),
        ("a constant signal", np.ptp(series, axis=0) == 0),
    ):
        if found.any():
            which = ", ".join(names[k] for k in np.flatnonzero(found)[:5])
            raise FileError(f"{path}: {int(found.sum())} of {n_rois} ROIs have {problem} ({which})")
