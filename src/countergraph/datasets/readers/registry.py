"""The registered file formats."""

from __future__ import annotations

from pathlib import Path

from countergraph.datasets.readers.content import Content, Reader
from countergraph.datasets.readers.matlab import read_matlab
from countergraph.datasets.readers.numpy_files import read_numpy
from countergraph.datasets.readers.text import read_mrtrix, read_text
from countergraph.errors import FileError, InputError
from countergraph.graphs.files import READ_ERRORS

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("text", (".txt", ".csv", ".tsv", ".1d"), read_text, summary="matrices and time series"),
        Reader("mrtrix", (), read_mrtrix, summary="text with one triangle, as tck2connectome writes it"),
        Reader("numpy", (".npy", ".npz"), read_numpy, summary="one matrix, vector or time series"),
        Reader("matlab", (".mat",), read_matlab, summary="one matrix or time series; files of the CONN toolbox"),
    )
}
"""The formats by name. The first reader with the suffix of a file reads it."""
KINDS = {"matrix": "matrix", "timeseries": "time series"}
"""What ``format=`` may require of the content."""
TIME_SERIES_NAME = "_timeseries"
"""The end of the names of files that contain time series, by BIDS."""


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats."""
    return tuple(dict.fromkeys(suffix for reader in READERS.values() for suffix in reader.suffixes))


def check_format(name: str | None) -> None:
    """Raise `InputError` for an unknown format."""
    if name is not None and name not in (*READERS, *KINDS):
        raise InputError(f"format must be one of {', '.join((*READERS, *KINDS))}, not {name!r}")


def read_content(path: Path, name: str | None = None) -> Content:
    """Read a file.

    Parameters
    ----------
    path
        The file.
    name
        The format; by default it is detected. ``"matrix"`` and ``"timeseries"`` only determine the kind of content.

    Raises
    ------
    FileError
        If no format fits, if the file cannot be read, or if it contains another kind.
    """
    reader = _reader(path, name)
    try:
        content = reader.read(path)
    except InputError:
        raise
    except READ_ERRORS as error:
        raise FileError(f"{path}: cannot be read as {reader.name} ({error})") from error
    is_series = name == "timeseries" or (name != "matrix" and _is_series(path))
    if is_series and content.kind == "matrix":
        content = Content("time series", content.numbers, content.rois)
    if name == "matrix" and content.kind != "matrix":
        rows, columns = content.numbers.shape
        raise FileError(f"{path}: a matrix must be square, but it has {rows} rows and {columns} columns")
    return content


def _is_series(path: Path) -> bool:
    stem = path.name.lower().partition(".")[0]
    return path.suffix.lower() == ".1d" or stem.endswith(TIME_SERIES_NAME)


def _reader(path: Path, name: str | None) -> Reader:
    if name in READERS:
        return READERS[name]
    for reader in READERS.values():
        if path.name.lower().endswith(reader.suffixes):
            return reader
    raise FileError(f"{path}: unknown file format {path.suffix!r}. Supported: {', '.join(suffixes())}")
