"""Reading matrices that other programs wrote, and datasets that we wrote."""

from __future__ import annotations

import csv
import io
import json
import secrets
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from countergraph.errors import FileError, GraphError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats, check_square_symmetric, pair_count, zero_nonfinite_diagonal

DATASET_FORMAT = "countergraph-dataset/1"
# All that numpy, zipfile and zlib raise over a file that is damaged, or not what its name says.
UNREADABLE = (
    OSError,
    KeyError,
    ValueError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


class Table(NamedTuple):
    """Numbers, with the names above their columns if they have any."""

    numbers: NDArray[np.generic]
    names: tuple[str, ...] | None = None


def _read_text(path: Path, delimiter: str | None = None) -> Table:
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines:
        raise ValueError("it is empty")
    try:
        return Table(np.loadtxt(lines, delimiter=delimiter, ndmin=2))
    except ValueError:
        if delimiter is None:
            raise
        return _spreadsheet(lines, ";" if delimiter == "," and ";" in lines[0] else delimiter)


def _spreadsheet(lines: list[str], delimiter: str) -> Table:
    """Read a table of numbers that may have names above and to the left, as spreadsheets and pandas write it."""
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    cornered = not rows[0][0]
    above: list[str] = []
    if cornered or not all(_is_number(cell) for cell in rows[0][1:]):
        above, *rows = rows
    if cornered or not all(_is_number(row[0]) for row in rows):
        above, rows = above[1:] if len(above) == len(rows[0]) else above, [row[1:] for row in rows]
    for number, row in enumerate(rows, start=1):
        strange = next((cell for cell in row if not _is_number(cell)), None)
        if strange is not None or len(row) != len(rows[0]):
            what = f"{len(row)} entries, not {len(rows[0])}" if strange is None else f"{strange[:20]!r}, not a number"
            raise ValueError(f"row {number} of the numbers has {what}")
    named = bool(above) and len(above) == len(rows[0]) and not all(_is_number(cell) for cell in above)
    return Table(np.array(rows, dtype=np.float64), tuple(above) if named else None)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


MATRIX_READERS: dict[str, Callable[[Path], Table]] = {
    ".txt": _read_text,
    ".csv": partial(_read_text, delimiter=","),
    ".tsv": partial(_read_text, delimiter="\t"),
    ".npy": lambda path: Table(np.asarray(np.load(path, allow_pickle=False))),
}


def read_matrix(path: Path) -> tuple[Floats, tuple[str, ...] | None]:
    """Read a symmetric connectivity matrix from a .txt, .csv, .tsv or .npy file, with its regions if they have names.

    Raises
    ------
    FileError
        If the file cannot be read, or the matrix is not square, not finite, not symmetric, or has a diagonal with
        entries that are neither 0 nor 1. The message starts with the path.
    """
    path = Path(path)
    table = _read(path)
    matrix = zero_nonfinite_diagonal(_without_numbered_columns(np.asarray(table.numbers, dtype=np.float64)))
    try:
        if matrix.ndim != 2:
            raise GraphError(f"the matrix must be square, not of shape {matrix.shape}")
        check_square_symmetric(matrix, "the matrix")
        diagonal = matrix.diagonal()
        if not (np.isclose(diagonal, 0, atol=1e-6) | np.isclose(diagonal, 1, atol=1e-6)).all():
            raise GraphError(f"the diagonal of the matrix must be 0 or 1, not {diagonal.max():g}; set it to 0")
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None
    return np.asarray(matrix, dtype=np.float64), table.names


def read_numbers(path: Path) -> Floats:
    """Read numbers, a matrix or any other array of them, from a .txt, .csv, .tsv or .npy file."""
    return np.asarray(_read(path).numbers, dtype=np.float64)


def _read(path: Path) -> Table:
    suffix = path.suffix.lower()
    if suffix not in MATRIX_READERS:
        raise FileError(f"{path}: a matrix is read from {', '.join(MATRIX_READERS)}, not from {path.suffix!r}")
    try:
        table = MATRIX_READERS[suffix](path)
        return table._replace(numbers=_real(table.numbers))
    except UNREADABLE as error:
        raise FileError(f"{path}: cannot be read as a matrix ({error})") from error


def _without_numbered_columns(matrix: Floats) -> Floats:
    """Drop a first row that only numbers the columns, as pandas writes it for a matrix without names."""
    if matrix.ndim == 2 and len(matrix) == matrix.shape[1] + 1:
        count = np.arange(matrix.shape[1])
        if (matrix[0] == count).all() or (matrix[0] == count + 1).all():
            return matrix[1:]
    return matrix


def save_dataset(data: GraphDataset, path: str | Path) -> Path:
    """Write a dataset to one .npz file of plain arrays and JSON, which `read_dataset` reads back equal."""
    path = Path(path)
    header = {
        "format": DATASET_FORMAT,
        "names": list(data.names),
        "classes": list(data.classes),
        "atlas": data.atlas.to_dict(),
        "attributes": None if data.attributes is None else _columns(data.attributes),
        "about": dict(data.about),
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        bits=np.packbits(data.edges, axis=1),
        labels=data.labels,
    )
    return write_atomic(path, buffer.getvalue())


def write_atomic(path: Path, content: bytes) -> Path:
    """Write a file so that a reader never sees half of it, whoever else writes it at the same time."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written ({error.strerror})") from error
    return path


def read_dataset(path: str | Path) -> GraphDataset:
    """Read a dataset that `save_dataset` wrote. Nothing in the file is executed."""
    path = Path(path)
    if path.is_file() and not zipfile.is_zipfile(path):
        raise FileError(
            f"{path}: is not a dataset file of countergraph; of matrices, give the folder that holds one for each class"
        )
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            bits, labels = archive["bits"], archive["labels"]
    except UNREADABLE as error:
        raise FileError(f"{path}: is not a dataset file of countergraph ({error})") from error
    if not isinstance(header, dict) or header.get("format") != DATASET_FORMAT:
        found = header.get("format") if isinstance(header, dict) else header
        raise FileError(f"{path}: has the format {found!r}; this version reads {DATASET_FORMAT!r}")
    try:
        return _from_parts(header, bits, labels)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: is damaged ({error})") from error


def _real(array: NDArray[np.generic]) -> Floats:
    if array.dtype.kind not in "biuf":
        raise ValueError(f"it holds entries of type {array.dtype}")
    return array.astype(np.float64)


def _columns(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Turn a table into JSON, column by column, each with its type."""
    return [
        {
            "name": name,
            "dtype": str(table[name].dtype),
            "values": [None if pd.isna(value) else value for value in table[name].astype(object)]
            if table[name].dtype.kind in "biufO"
            else [None if pd.isna(value) else str(value) for value in table[name]],
        }
        for name in table
    ]


def _table(columns: list[dict[str, Any]], rows: int) -> pd.DataFrame:
    made = {each["name"]: pd.Series(each["values"], dtype=each["dtype"]) for each in columns}
    return pd.DataFrame(made, index=range(rows))


def _from_parts(header: dict[str, Any], bits: NDArray[np.uint8], labels: NDArray[np.int64]) -> GraphDataset:
    atlas = Atlas.from_dict(header["atlas"])
    table = header["attributes"]
    return GraphDataset(
        np.unpackbits(bits, axis=1, count=pair_count(len(atlas))).astype(np.bool_),
        labels,
        header["names"],
        header["classes"],
        atlas,
        None if table is None else _table(table, len(labels)),
        header["about"],
    )
