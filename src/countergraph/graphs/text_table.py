"""Numeric tables in text files, with comma, tab, semicolon or spaces, with or without names.

- A header of names, and a first column of names, as pandas, spreadsheets and XCP-D (column "Node") write them.
- A header after "#", as in the .1D files of AFNI and of the ABIDE Preprocessed Connectomes Project.
- ``n/a``, ``NA``, ``NaN`` and empty cells are missing values.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from countergraph.graphs.pairs import Floats

MISSING = ("n/a", "na", "nan", "")
DELIMITERS = ("\t", ";", ",")
COMMENTS = ("#", "%")


class Table(NamedTuple):
    """A numeric table."""

    numbers: Floats
    """The numbers (rows, columns); missing values are NaN."""
    columns: tuple[str, ...] | None = None
    """The names of the columns, if there are any."""
    rows: tuple[str, ...] | None = None
    """The names of the rows, if there are any."""


def read_table(path: Path) -> Table:
    """Read a table; raise ``ValueError`` if an entry is not a number, or if the rows have different lengths."""
    header, rows = _split_header(*_lines(path.read_text(encoding="utf-8-sig")))
    first = [row[0] for row in rows]
    is_named = not all(map(_is_cell, first))
    has_corner = len(header) == len(rows[0]) and bool(header) and header[0] == ""
    has_index = is_named or has_corner or (len(header) == len(rows[0]) - 1 > 0)
    if has_index:
        rows = [row[1:] for row in rows]
        header = header[1:] if len(header) == len(rows[0]) + 1 else header
    numbers = _numbers(rows)
    columns = tuple(header) if len(header) == numbers.shape[1] and not all(map(_is_cell, header)) else None
    return Table(numbers, columns, tuple(first) if is_named else None)


def _lines(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the cells of the last comment before the numbers, and of each line."""
    lines = [line.rstrip("\r\n") for line in text.splitlines() if line.strip()]
    comments = [line for line in lines if line.startswith(COMMENTS)]
    lines = [line for line in lines if not line.startswith(COMMENTS)]
    if not lines:
        raise ValueError("the file contains no numbers")
    delimiter = next((each for line in (lines[-1], lines[0]) for each in DELIMITERS if each in line), None)
    comment = comments[-1].translate(str.maketrans("#%", "  ")) if comments else ""
    return _cells(comment.strip(), delimiter), [_cells(line, delimiter) for line in lines]


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [cell.strip() for row in csv.reader([line], delimiter=delimiter) for cell in row]


def _split_header(comment: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, if there are any, and the other rows."""
    first, others = rows[0], rows[1:]
    if len(comment) == len(first) and all(map(_is_cell, first)):
        return comment, rows
    if not others:
        return [], rows
    if first[0] == "" or not all(map(_is_cell, first[1:])) or len(first) == len(others[0]) - 1:
        return first, others
    numbered = [str(k) for k in range(len(first))], [str(k + 1) for k in range(len(first))]
    return ([], others) if len(others) == len(first) and first in numbered else ([], rows)


def _is_cell(cell: str) -> bool:
    """Check whether a cell is a number, or marks a missing one."""
    if cell.lower() in MISSING:
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(rows: list[list[str]]) -> Floats:
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"row {number} of the numbers has {len(row)} entries, not {width}")
        text = next((cell for cell in row if not _is_cell(cell)), None)
        if text is not None:
            raise ValueError(f"row {number} of the numbers has {text[:20]!r}, not a number")
    return np.array([[math.nan if cell.lower() in MISSING else float(cell) for cell in row] for row in rows])
