"""Read connectivity matrices; read and write dataset files."""

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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from countergraph.errors import FileError, GraphError, InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats, check_square_symmetric, pair_count, without_diagonal

if TYPE_CHECKING:
    import pandas as pd

DATASET_FORMAT, OLD_FORMAT = "countergraph-dataset/2", "countergraph-dataset/1"
"""Format name and version, stored in every dataset file. Files of version 1 hold graphs only."""
READ_ERRORS = (
    OSError,
    KeyError,
    ValueError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
"""All exceptions that numpy, zipfile and zlib raise for a damaged file or a file of another format."""


class Table(NamedTuple):
    """A numeric table, with the names of its columns if the file contains them."""

    numbers: NDArray[np.generic]
    names: tuple[str, ...] | None = None


def _read_text(path: Path, delimiter: str | None = None) -> Table:
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines:
        raise ValueError("the file is empty")
    try:
        return Table(np.loadtxt(lines, delimiter=delimiter, ndmin=2))
    except ValueError:
        if delimiter is None:
            raise
        return _parse_spreadsheet(lines, ";" if delimiter == "," and ";" in lines[0] else delimiter)


def _parse_spreadsheet(lines: list[str], delimiter: str) -> Table:
    """Read a numeric table that may have column and row names, as spreadsheets and pandas write it."""
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    empty_corner = not rows[0][0]
    header: list[str] = []
    if empty_corner or not all(_is_number(cell) for cell in rows[0][1:]):
        header, *rows = rows
    if empty_corner or not all(_is_number(row[0]) for row in rows):
        header, rows = header[1:] if len(header) == len(rows[0]) else header, [row[1:] for row in rows]
    for number, row in enumerate(rows, start=1):
        text = next((cell for cell in row if not _is_number(cell)), None)
        if text is not None or len(row) != len(rows[0]):
            found = f"{len(row)} entries, not {len(rows[0])}" if text is None else f"{text[:20]!r}, not a number"
            raise ValueError(f"row {number} of the numbers has {found}")
    has_names = bool(header) and len(header) == len(rows[0]) and not all(_is_number(cell) for cell in header)
    return Table(np.array(rows, dtype=np.float64), tuple(header) if has_names else None)


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
"""The readers of matrix files, by suffix."""


def read_matrix(path: Path) -> tuple[Floats, tuple[str, ...] | None]:
    """Read a symmetric connectivity matrix from a .txt, .csv, .tsv or .npy file, and the ROI names if there are any.

    Raises
    ------
    FileError
        If the file cannot be read, or the matrix is not square, not finite or not symmetric; the diagonal is ignored.
        The message starts with the path.
    """
    path = Path(path)
    table = _read(path)
    matrix = _drop_column_numbers(np.asarray(table.numbers, dtype=np.float64))
    try:
        if matrix.ndim != 2:
            raise GraphError(f"the matrix must be square, not of shape {matrix.shape}")
        check_square_symmetric(without_diagonal(matrix), "the matrix")
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None
    return np.asarray(matrix, dtype=np.float64), table.names


def read_numbers(path: Path) -> Floats:
    """Read a numeric array of any shape from a .txt, .csv, .tsv or .npy file."""
    return np.asarray(_read(path).numbers, dtype=np.float64)


def _read(path: Path) -> Table:
    suffix = path.suffix.lower()
    if suffix not in MATRIX_READERS:
        raise FileError(f"{path}: unknown file format {path.suffix!r}. Supported: {', '.join(MATRIX_READERS)}")
    try:
        table = MATRIX_READERS[suffix](path)
        return table._replace(numbers=_to_floats(table.numbers))
    except READ_ERRORS as error:
        raise FileError(f"{path}: cannot be read as a matrix ({error})") from error


def _drop_column_numbers(matrix: Floats) -> Floats:
    """Drop a first row that contains only the column numbers, which pandas writes for a matrix without names."""
    if matrix.ndim == 2 and len(matrix) == matrix.shape[1] + 1:
        numbers = np.arange(matrix.shape[1])
        if (matrix[0] == numbers).all() or (matrix[0] == numbers + 1).all():
            return matrix[1:]
    return matrix


def save_dataset(data: GraphDataset, path: str | Path) -> Path:
    """Write a dataset to one .npz file of plain arrays and JSON; `read_dataset` restores an equal dataset."""
    path = Path(path)
    header = {
        "format": DATASET_FORMAT,
        "names": list(data.names),
        "classes": list(data.classes),
        "atlas": data.atlas.to_dict(),
        "attributes": None if data.attributes is None else _columns(data.attributes),
        "about": dict(data.about),
        "measure": data.measure,
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        labels=data.labels,
        **({"values": data.values} if data.weighted else {"bits": np.packbits(data.edges, axis=1)}),
    )
    return write_atomic(path, buffer.getvalue())


def write_atomic(path: Path, content: bytes) -> Path:
    """Write a file atomically: readers and concurrent writers never see a partial file."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written ({error.strerror})") from error
    return path


def read_dataset(path: str | Path, *, binarize: str | None = None) -> GraphDataset:
    """Read a dataset that `save_dataset` wrote. Nothing in the file is executed.

    ``binarize`` is a rule that converts weighted networks to graphs (see `countergraph.binarize`).
    """
    data = _read_dataset(Path(path))
    if binarize is None:
        return data
    try:
        return data.binarize(binarize)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _read_dataset(path: Path) -> GraphDataset:
    if path.is_file() and not zipfile.is_zipfile(path):
        raise FileError(_not_a_dataset(path))
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            stored, labels = archive["values" if "values" in archive else "bits"], archive["labels"]
    except READ_ERRORS as error:
        raise FileError(f"{_not_a_dataset(path)} ({error})") from error
    if not isinstance(header, dict) or header.get("format") not in (DATASET_FORMAT, OLD_FORMAT):
        found = header.get("format") if isinstance(header, dict) else header
        raise FileError(f"{path}: has the format {found!r}; this version reads {DATASET_FORMAT!r}")
    try:
        return _from_parts(header, stored, labels)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: is damaged ({error})") from error


def _not_a_dataset(path: Path) -> str:
    if path.suffix.lower() == ".npz":
        return f"{path}: is not a dataset file of countergraph, or is damaged"
    return (
        f"{path}: is not a dataset file of countergraph; unknown file format {path.suffix!r}. "
        "Supported: a dataset file written by save_dataset (.npz), or a folder of matrices "
        f"({', '.join(MATRIX_READERS)})"
    )


def _to_floats(array: NDArray[np.generic]) -> Floats:
    if array.dtype.kind not in "biuf":
        raise ValueError(f"its entries have the type {array.dtype}, which is not numeric and real")
    return array.astype(np.float64)


def _columns(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert a table to JSON-serializable columns, each with its type."""
    import pandas as pd  # slow to import

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
    import pandas as pd  # slow to import

    series = {each["name"]: pd.Series(each["values"], dtype=each["dtype"]) for each in columns}
    return pd.DataFrame(series, index=range(rows))


def _from_parts(header: dict[str, Any], stored: NDArray[np.generic], labels: NDArray[np.int64]) -> GraphDataset:
    """Make a dataset; ``stored`` are the packed bits of graphs, or the values of weighted networks."""
    atlas = Atlas.from_dict(header["atlas"])
    table, measure = header["attributes"], header.get("measure", "edge")
    if measure == "edge":
        stored = np.unpackbits(stored.astype(np.uint8), axis=1, count=pair_count(len(atlas))).astype(np.bool_)
    return GraphDataset(
        stored,
        labels,
        header["names"],
        header["classes"],
        atlas,
        None if table is None else _table(table, len(labels)),
        header["about"],
        measure,
    )
