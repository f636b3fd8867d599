"""File formats: each file imitates the layout of the tool that writes it; the source of each layout is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from nilearn.connectome import ConnectivityMeasure
from scipy.io import savemat

import countergraph as cg
from countergraph.datasets.readers.registry import READERS, read_content
from countergraph.errors import FileError, InputError

N_ROIS, N_POINTS = 5, 40
NAMES = [f"Region {k}" for k in range(N_ROIS)]
SERIES = np.random.default_rng(0).normal(size=(4, N_POINTS, N_ROIS)) + np.sin(np.arange(N_POINTS) / 5)[None, :, None]
MATRICES = np.array([np.corrcoef(each.T) for each in SERIES])
WITHOUT_DIAGONAL = [each - np.diag(np.diag(each)) for each in MATRICES]
Write = Callable[[Path, int], None]


def study(folder: Path, write: Write, suffix: str) -> Path:
    """Write one file for each of four subjects, in two classes."""
    for k in range(4):
        path = folder / ("control", "patient")[k % 2] / f"sub-{k:02d}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, k)
    return folder


def table(numbers: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(numbers, columns=NAMES)


def header_1d(path: Path, k: int) -> None:
    """Write time series as the ABIDE Preprocessed Connectomes Project: labels after "#", separated by tabs."""
    lines = ["\t".join(f"#{2001 + roi}" for roi in range(N_ROIS))]
    lines += ["\t".join(f"{value:.6f}" for value in row) for row in SERIES[k]]
    path.write_text("\n".join(lines) + "\n")


def xcpd_relmat(path: Path, k: int) -> None:
    """Write correlations as XCP-D: pandas with the index "Node", and n/a for missing values."""
    table = pd.DataFrame(MATRICES[k], NAMES, NAMES)
    table.to_csv(path, sep="\t", na_rep="n/a", index_label="Node")


def conn(path: Path, k: int) -> None:
    """Write Fisher z values as CONN: Z with NaN on the diagonal, and names as cell arrays."""
    with np.errstate(divide="ignore"):
        z = np.arctanh(MATRICES[k])
    np.fill_diagonal(z, np.nan)
    names = np.array(NAMES, dtype=object)
    extra = np.hstack([z, np.ones((N_ROIS, 2))])
    savemat(path, {"Z": extra, "names": names, "names2": np.append(names, ["seed 1", "seed 2"]), "DOF": 30.0})


def hdf5(path: Path, k: int) -> None:
    """Write a variable as MATLAB with -v7.3: HDF5 after a header of 512 bytes, transposed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file["connectivity"] = MATRICES[k].T
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))


FORMATS: dict[str, tuple[str, Write, dict[str, str], str]] = {
    "comma": (".csv", lambda path, k: np.savetxt(path, MATRICES[k], delimiter=","), {}, "correlation"),
    "semicolon": (".csv", lambda path, k: np.savetxt(path, MATRICES[k], delimiter=";"), {}, "correlation"),
    "spaces": (".txt", lambda path, k: np.savetxt(path, MATRICES[k], fmt="%9.6f"), {}, "correlation"),
    "pandas": (".csv", lambda path, k: pd.DataFrame(MATRICES[k], NAMES, NAMES).to_csv(path), {}, "correlation"),
    "XCP-D": ("_seg-Schaefer_stat-pearsoncorrelation_relmat.tsv", xcpd_relmat, {}, "correlation"),
    "numpy": (".npy", lambda path, k: np.save(path, MATRICES[k]), {}, "correlation"),
    "npz": (".npz", lambda path, k: np.savez(path, matrix=MATRICES[k]), {}, "correlation"),
    "MATLAB": (".mat", lambda path, k: savemat(path, {"r": MATRICES[k], "subject": "x"}), {}, "correlation"),
    "MATLAB 7.3": (".mat", hdf5, {}, "correlation"),
    "CONN": (".mat", conn, {}, "fisher z"),
    "MRtrix": (
        ".csv",
        lambda path, k: np.savetxt(path, np.triu(np.round(100 * np.abs(MATRICES[k])), 1), "%d", ","),
        {"format": "mrtrix"},
        "count",
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_matrices_of_every_format(name: str, tmp_path: Path) -> None:
    suffix, write, options, measure = FORMATS[name]
    data = cg.load_dataset(study(tmp_path, write, suffix), **options)
    expected = np.array(WITHOUT_DIAGONAL)[[0, 2, 1, 3]]
    if name == "CONN":
        expected = np.arctanh(expected)
    if name == "MRtrix":
        expected = np.round(100 * np.abs(expected))
    assert (data.measure, data.classes, len(data)) == (measure, ("control", "patient"), 4)
    shown = np.asarray(data.matrices, dtype=float) * (1 - np.eye(N_ROIS))
    np.testing.assert_allclose(shown, expected, atol=1e-5)
    if name in ("pandas", "XCP-D", "CONN"):
        assert data.atlas.names == tuple(NAMES)


SERIES_FORMATS: dict[str, tuple[str, Write]] = {
    "AFNI 1D": (".1D", header_1d),
    "csv with names": (".csv", lambda path, k: pd.DataFrame(SERIES[k], columns=NAMES).to_csv(path, index=False)),
    "fMRIPrep": (
        "_timeseries.tsv",
        lambda path, k: table(SERIES[k]).to_csv(path, sep="\t", index=False),
    ),
    "text": (".txt", lambda path, k: np.savetxt(path, SERIES[k])),
    "numpy": (".npy", lambda path, k: np.save(path, SERIES[k])),
    "MATLAB": (".mat", lambda path, k: savemat(path, {"ROISignals": SERIES[k]})),
}


@pytest.mark.parametrize("name", SERIES_FORMATS)
@pytest.mark.parametrize("kind", ["correlation", "partial correlation", "tangent", "covariance"])
def test_time_series_become_connectivity(name: str, kind: str, tmp_path: Path) -> None:
    suffix, write = SERIES_FORMATS[name]
    data = cg.load_dataset(study(tmp_path, write, suffix), kind=kind)
    expected = ConnectivityMeasure(kind=kind).fit_transform([SERIES[k] for k in (0, 2, 1, 3)])
    matrices, off_diagonal = np.asarray(data.matrices, dtype=float), 1 - np.eye(N_ROIS)
    np.testing.assert_allclose(matrices * off_diagonal, expected * off_diagonal, atol=1e-4)
    assert data.measure == ("correlation" if kind == "correlation" else "unknown")
    assert data.about["connectivity"] == kind


def test_square_time_series_are_named_or_chosen(tmp_path: Path) -> None:
    series = SERIES[:, :N_ROIS]
    folder = study(tmp_path / "a", lambda path, k: np.savetxt(path, series[k]), ".txt")
    with pytest.raises(FileError, match="is not symmetric"):
        cg.load_dataset(folder)
    assert cg.load_dataset(folder, format="timeseries").measure == "correlation"
    named = study(tmp_path / "b", lambda path, k: np.savetxt(path, series[k]), "_timeseries.txt")
    assert cg.load_dataset(named).measure == "correlation"


def write_text(text: str) -> Write:
    return lambda path, k: path.write_text(text)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("suffix", "write", "options", "message"),
    [
        (".csv", write_text("0,1\n1\n"), {}, "row 2 of the numbers has 1 entries, not 2"),
        (".csv", write_text("0,1\n1,x\n"), {}, r"sub-00\.csv: cannot be read as text .row 2 of the numbers has 'x'"),
        (".csv", write_text("# only a comment\n"), {}, "the file contains no numbers"),
        (".csv", write_text("ROI,A,B\nB,0,1\nA,1,0\n"), {}, "row 1 is called 'B', but column 1 'A'"),
        (
            ".csv",
            write_text("A,B,C\n0,1,n/a\n1,0,n/a\nn/a,n/a,0\n"),
            {},
            "entries of 3 of 3 ROIs are not finite .*: A, B",
        ),
        (
            ".txt",
            lambda path, k: np.savetxt(path, np.triu(MATRICES[k], 1)),
            {},
            "one triangle|MRtrix pass format='mrtrix'",
        ),
        (".npz", lambda path, k: np.savez(path, a=MATRICES[k], b=MATRICES[k]), {}, "it contains the arrays a, b; one"),
        (".npy", lambda path, k: np.save(path, MATRICES), {}, r"the shape \(4, 5, 5\); one matrix .* GraphDataset"),
        (".npy", lambda path, k: np.save(path, np.zeros(7)), {}, "7 entries fit no number of ROIs"),
        (".npy", lambda path, k: np.save(path, np.array(["a"])), {}, "type <U1, which is not numeric"),
        (
            ".mat",
            lambda path, k: savemat(path, {"a": MATRICES[k], "b": MATRICES[k]}),
            {},
            "contains a, b among",
        ),
        (".mat", lambda path, k: savemat(path, {"Z": MATRICES[k, :3], "names": ["x", "y"]}), {}, "use the file of one"),
        (".mat", write_text("no matlab"), {}, r"sub-00\.mat: cannot be read as matlab"),
        (".sav", write_text("x"), {"format": "sav"}, "format must be one of text, mrtrix, numpy, matlab, matrix, time"),
        (
            ".txt",
            lambda path, k: np.savetxt(path, SERIES[k]),
            {"format": "matrix"},
            "must be square, but it has 40",
        ),
        (".txt", lambda path, k: np.savetxt(path, SERIES[k]), {"kind": "spearman"}, "kind must be one of correlation"),
        (
            ".txt",
            lambda path, k: np.savetxt(path, SERIES[k, :2]),
            {},
            "needs at least 3 time points .*, but it has 2",
        ),
        (
            ".txt",
            lambda path, k: np.savetxt(path, SERIES[k] * [1, 1, 0, 1, 1]),
            {},
            "1 of 5 ROIs have a constant signal .column 3",
        ),
        (
            "_timeseries.tsv",
            lambda path, k: pd.DataFrame(np.where(SERIES[k] > 1.5, np.nan, SERIES[k]), columns=NAMES).to_csv(
                path, sep="\t", na_rep="n/a", index=False
            ),
            {},
            "ROIs have missing values .Region",
        ),
    ],
)
def test_malformed_files_are_refused(suffix: str, write: Write, options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        cg.load_dataset(study(tmp_path, write, suffix), **options)


def test_matrices_and_time_series_are_not_mixed(tmp_path: Path) -> None:
    folder = study(tmp_path, lambda path, k: np.savetxt(path, SERIES[k] if k else MATRICES[k]), ".txt")
    with pytest.raises(FileError, match="has 40 rows and 5 columns, which is a time series, but sub-00.txt is a mat"):
        cg.load_dataset(folder)


def test_every_reader_has_a_file_here(tmp_path: Path) -> None:
    """The readers of all formats above are registered, and each registered reader reads one of them."""
    used = set()
    for name, (suffix, write, options, _) in FORMATS.items():
        path = tmp_path / f"{name}{suffix}"
        write(path, 0)
        chosen = options.get("format")
        assert read_content(path, chosen).kind == "matrix"
        fitting = [each.name for each in READERS.values() if path.name.lower().endswith(each.suffixes or ("-",))]
        used.add(chosen or fitting[0])
    assert used == set(READERS)
