"""What a file of a study contains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from countergraph.graphs.measure import Measure
from countergraph.graphs.pairs import Floats

Kind = Literal["matrix", "time series"]
Connectivity = Literal["correlation", "partial correlation", "tangent", "covariance"]
"""The kinds of connectivity that time series can be converted to."""


@dataclass(frozen=True, eq=False)
class Content:
    """The numbers of one file."""

    kind: Kind
    numbers: Floats
    """A matrix (n, n), whose diagonal has no meaning, or a time series (time points, n)."""
    rois: tuple[str, ...] | None = None
    """The names of the ROIs, if the file contains any."""
    measure: Measure | None = None
    """What the values are, if the format determines it."""


@dataclass(frozen=True)
class Reader:
    """One file format.

    Parameters
    ----------
    name
        The name of the format, for ``format=``.
    suffixes
        The ends of the names of its files, in lower case; none for a format that must be named with ``format=``.
    read
        Reads a file. It raises ``ValueError`` or an error of the library for a file that it cannot read; the message
        names the cause, not the file.
    summary
        For the list of formats.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], Content]
    summary: str = ""
