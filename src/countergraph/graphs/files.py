"""Reading matrices that other programs wrote, and datasets that we wrote."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from countergraph.errors import FileError, GraphError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats, check_square_symmetric, pair_count

DATASET_FORMAT = "countergraph-dataset/1"


def _read_text(delimiter: str | None) -> Callable[[Path], NDArray[np.generic]]:
    def read(path: Path) -> NDArray[np.generic]:
        lines = path.read_text(encoding="utf-8").splitlines()
        if not any(line.strip() for line in lines):
            raise ValueError("it is empty")
        return np.loadtxt(lines, delimiter=delimiter, ndmin=2)

    return read


MATRIX_READERS: dict[str, Callable[[Path], NDArray[np.generic]]] = {
    ".txt": _read_text(None),
    ".csv": _read_text(","),
    ".tsv": _read_text("\t"),
    ".npy": lambda path: np.asarray(np.load(path, allow_pickle=False)),
}


def read_matrix(path: Path) -> Floats:
    """Read a symmetric connectivity matrix from a .txt, .csv, .tsv or .npy file.

    Raises
    ------
    FileError
        If the file cannot be read, or the matrix is not square, not finite, not symmetric, or has a diagonal with
        entries that are neither 0 nor 1. The message starts with the path.
    """
    path = Path(path)
    if path.suffix not in MATRIX_READERS:
        raise FileError(f"{path}: a matrix is read from {', '.join(MATRIX_READERS)}, not from {path.suffix!r}")
    try:
        matrix = np.asarray(MATRIX_READERS[path.suffix](path), dtype=np.float64)
    except (OSError, ValueError, EOFError) as error:
        raise FileError(f"{path}: cannot be read as a matrix ({error})") from error
    try:
        if matrix.ndim != 2:
            raise GraphError(f"the matrix must be square, not of shape {matrix.shape}")
        check_square_symmetric(matrix, "the matrix")
        if not np.isin(matrix.diagonal(), (0, 1)).all():
            raise GraphError("the diagonal of the matrix must be 0 or 1")
    except GraphError as error:
        raise FileError(f"{path}: {error}") from None
    return matrix


def save_dataset(data: GraphDataset, path: str | Path) -> Path:
    """Write a dataset to one .npz file of plain arrays and JSON, which `read_dataset` reads back equal."""
    path = Path(path)
    header = {
        "format": DATASET_FORMAT,
        "names": list(data.names),
        "classes": list(data.classes),
        "atlas": data.atlas.to_dict(),
        "attributes": None if data.attributes is None else data.attributes.to_csv(index=False),
        "about": dict(data.about),
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        bits=np.packbits(data.edges, axis=1),
        labels=data.labels,
    )
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(buffer.getvalue())
    partial.replace(path)  # a reader never sees half a file
    return path


def read_dataset(path: str | Path) -> GraphDataset:
    """Read a dataset that `save_dataset` wrote. Nothing in the file is executed."""
    path = Path(path)
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            bits, labels = archive["bits"], archive["labels"]
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: is not a dataset file of countergraph ({error})") from error
    if not isinstance(header, dict) or header.get("format") != DATASET_FORMAT:
        found = header.get("format") if isinstance(header, dict) else header
        raise FileError(f"{path}: has the format {found!r}; this version reads {DATASET_FORMAT!r}")
    try:
        return _from_parts(header, bits, labels)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: is damaged ({error})") from error


def _from_parts(header: dict[str, Any], bits: NDArray[np.uint8], labels: NDArray[np.int64]) -> GraphDataset:
    atlas = Atlas.from_dict(header["atlas"])
    table = header["attributes"]
    return GraphDataset(
        np.unpackbits(bits, axis=1, count=pair_count(len(atlas))).astype(np.bool_),
        labels,
        header["names"],
        header["classes"],
        atlas,
        None if table is None else pd.read_csv(io.StringIO(table)),
        header["about"],
    )
