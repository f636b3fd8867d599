"""Files of MATLAB: versions 4 to 7 with scipy, version 7.3 (HDF5) with h5py, and those of the CONN toolbox.

CONN saves the Fisher z values of one subject and condition as ``Z`` (ROIs, ROIs and further targets), with the names of
the ROIs in ``names`` and of the targets in ``names2`` (its manual, section "First-level analyses").
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from countergraph.datasets.readers.content import Content
from countergraph.errors import InputError, missing_extra

HDF5 = b"\x89HDF\r\n\x1a\n"
HDF5_OFFSET = 512
"""MATLAB writes its own header before the HDF5 file."""


def read_matlab(path: Path) -> Content:
    """Read the only matrix or time series of a file, or the networks of the CONN toolbox."""
    try:
        variables = _read_hdf5(path) if _is_hdf5(path) else _read_old(path)
    except (InputError, OSError):
        raise
    except Exception as error:  # scipy and h5py raise many types for damaged files
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if "Z" in variables and "names" in variables:
        return _conn(variables)
    arrays = {name: each for name, each in variables.items() if _is_table(each)}
    if len(arrays) != 1:
        raise ValueError(
            f"one numeric matrix is expected, but it contains {', '.join(arrays) or 'none'} among the variables "
            f"{', '.join(variables) or '(none)'}: save one matrix per file"
        )
    [numbers] = arrays.values()
    kind = "matrix" if len(numbers) == numbers.shape[1] else "time series"
    return Content(kind, numbers.astype(np.float64))  # type: ignore[arg-type]


def _conn(variables: dict[str, Any]) -> Content:
    values, names = np.asarray(variables["Z"], dtype=np.float64), tuple(map(str, variables["names"]))
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    n = len(names)
    if values.ndim != 2 or values.shape[0] != n or values.shape[1] < n:
        raise ValueError(
            f"Z of CONN must have one row for each of the {n} names, and as many columns or more, but its shape is "
            f"{values.shape}: use the file of one subject"
        )
    targets = tuple(map(str, variables.get("names2", names)))[:n]
    if targets != names:
        raise ValueError("the first columns of Z (names2) are not the ROIs of its rows (names)")
    return Content("matrix", values[:, :n], names, "fisher z")


def _is_table(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf" and min(value.shape) > 1


def _read_old(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    loaded = loadmat(path, squeeze_me=False, chars_as_strings=True)
    return {name: _plain(value) for name, value in loaded.items() if not name.startswith("__")}


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return a cell array of texts as a list."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return ["".join(map(str, np.ravel(each))) for each in value.ravel()]
    if hasattr(value, "toarray"):
        return value.toarray()
    return value


def _is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(HDF5_OFFSET + len(HDF5))
    return start.startswith(HDF5) or start[HDF5_OFFSET:] == HDF5


def _read_hdf5(path: Path) -> dict[str, Any]:
    try:
        import h5py
    except ImportError as error:
        raise missing_extra("reading files of MATLAB 7.3", "h5py", "matlab") from error
    with h5py.File(path, "r") as file:
        return {
            name: _from_hdf5(file, file[name])
            for name in file
            if not name.startswith("#") and isinstance(file[name], h5py.Dataset)
        }


def _from_hdf5(file: Any, stored: Any) -> Any:  # noqa: ANN401
    """Return a variable; MATLAB stores the transposed array, and a text as the codes of its letters."""
    if stored.dtype.kind == "O":  # references to the cells of a cell array
        return ["".join(map(chr, np.ravel(file[each][()]))) for each in np.ravel(stored[()])]
    return np.asarray(stored[()]).T
