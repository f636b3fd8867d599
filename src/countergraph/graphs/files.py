"""Read and write dataset files; read numbers."""

from __future__ import annotations

import io
import json
import secrets
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from countergraph.errors import FileError, InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats, pair_count
from countergraph.graphs.text_table import read_table

if TYPE_CHECKING:
    import pandas as pd

DATASET_FORMAT, OLD_FORMAT = "countergraph-dataset/2", "countergraph-dataset/1"
"""Format name and version, stored in every dataset file. Files of version 1 hold graphs only."""
NUMBERS = (".txt", ".csv", ".tsv", ".npy")
"""The suffixes of files of numbers."""
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


def read_numbers(path: Path) -> Floats:
    """Read a numeric array of any shape from a .npy file, or from a text file."""
    if path.suffix.lower() not in NUMBERS:
        raise FileError(f"{path}: unknown file format {path.suffix!r}. Supported: {', '.join(NUMBERS)}")
    try:
        if path.suffix.lower() == ".npy":
            return _to_floats(np.asarray(np.load(path, allow_pickle=False)))
        return read_table(path).numbers
    except READ_ERRORS as error:
        raise FileError(f"{path}: cannot be read as numbers ({error})") from error


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
        "Supported: a dataset file written by data.save (.npz), or a folder of matrices or time series"
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
