"""Text files: matrices and time series (see `countergraph.graphs.text_table`), and the connectomes of MRtrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from countergraph.datasets.readers.content import Content
from countergraph.graphs.pairs import Floats
from countergraph.graphs.text_table import read_table


def read_text(path: Path) -> Content:
    """Read a matrix, if the numbers are square, else a time series."""
    numbers, columns, rows = read_table(path)
    if len(numbers) != numbers.shape[1]:
        return Content("time series", numbers, columns)
    if rows is not None and columns is not None and rows != columns:
        place = next(k for k, (row, column) in enumerate(zip(rows, columns, strict=True)) if row != column)
        raise ValueError(f"row {place + 1} is called {rows[place]!r}, but column {place + 1} {columns[place]!r}")
    return Content("matrix", numbers, columns or rows)


def read_mrtrix(path: Path) -> Content:
    """Read a connectome of MRtrix's tck2connectome: without its option -symmetric, the lower triangle is zero."""
    content = read_text(path)
    return content if content.kind == "time series" else replace(content, numbers=mirrored(content.numbers))


def mirrored(matrix: Floats) -> Floats:
    """Return a triangular matrix as a symmetric one; other matrices unchanged."""
    lower, upper = np.tril(matrix, -1), np.triu(matrix, 1)
    if lower.any() != upper.any():
        return np.asarray(matrix + (lower + upper).T)
    return matrix
