"""Folders of matrices: one for each class, one with a table of labels, or raw files of the USC connectome database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from countergraph.datasets.labels import as_labels, coded, order_classes, subject_of
from countergraph.errors import FileError, InputError
from countergraph.graphs.atlas import Atlas, load_atlas
from countergraph.graphs.binarize import binarize as binarize_weights
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.files import MATRIX_READERS, read_matrix
from countergraph.graphs.pairs import Bits, Floats, as_edge_vector, roi_count, upper_triangle

UMCD_MATRIX = "_connectivity_matrix_file.txt"


def load_folder(
    folder: str | Path,
    *,
    labels: Mapping[str, str] | str | Path | None = None,
    atlas: Atlas | str | Path | None = None,
    binarize: str | None = None,
    control: str | None = None,
) -> GraphDataset:
    """Load a folder that has one folder of matrices for each class, or all matrices beside each other.

    Parameters
    ----------
    folder
        ``folder/CLASS/SUBJECT.txt`` (or .csv, .tsv, .npy), one matrix for each subject; with ``labels``,
        ``folder/SUBJECT.txt``.
    labels
        The class of each subject by name, as a mapping or the path of a table (see `read_labels`).
    atlas
        An `Atlas`, ``"aal116"``, or the path of a table (see `load_atlas`); by default the regions are called what the
        columns of the files are, or numbered.
    binarize
        A rule such as ``"percentile:90"`` for weighted matrices (see `countergraph.binarize`); without one the
        matrices must hold only 0 and 1.
    control
        The class that gets label 0. By default a class with a usual name of a control group, such as TD or control;
        otherwise the first in alphabetical order.
    """
    folder = Path(folder)
    about = {"source": folder.name, "binarize": binarize}
    if labels is not None:
        paths = [path for path in _matrix_files(folder) if not _same_file(path, labels)]
        if not paths:
            raise FileError(f"{folder}: has no matrices ({', '.join(MATRIX_READERS)}) to label")
        given = as_labels(labels)
        names = [subject_of(path.stem, given) for path in paths]
        codes, classes = coded(folder, names, given, control)
        edges, regions = _read_graphs(paths, binarize, resolve_atlas(atlas))
        return _dataset(folder, edges, codes, names, classes, regions, about)
    groups = {each.name: _matrix_files(each) for each in sorted(folder.iterdir()) if each.is_dir() and _shown(each)}
    groups = {name: paths for name, paths in groups.items() if paths}
    if len(groups) < 2:
        raise FileError(
            f"{folder}: needs at least two folders of matrices ({', '.join(MATRIX_READERS)}), one for each class, "
            f"or labels= (a mapping or a CSV file) for matrices beside each other; found {', '.join(groups) or 'none'}"
        )
    classes = order_classes(list(groups), control)
    paths = [path for name in classes for path in groups[name]]
    codes = [label for label, name in enumerate(classes) for _ in groups[name]]
    names = [path.stem for path in paths]
    edges, regions = _read_graphs(paths, binarize, resolve_atlas(atlas))
    return _dataset(folder, edges, codes, names, classes, regions, about)


def load_umcd(
    folder: str | Path,
    *,
    labels: Mapping[str, str] | str | Path,
    binarize: str = "percentile:90",
    control: str | None = None,
) -> GraphDataset:
    """Load the files of the USC Multimodal Connectivity Database as they are published.

    Parameters
    ----------
    folder
        Holds ``SUBJECT_connectivity_matrix_file.txt`` and beside it ``..._region_names_full_file.txt`` and
        ``..._region_xyz_centers_file.txt``, which must be the same for every subject.
    labels
        The class of each subject by name, as a mapping or the path of a table (see `read_labels`).
        The files themselves do not tell.
    binarize, control
        As in `load_folder`.
    """
    folder = Path(folder)
    given = as_labels(labels)
    paths = sorted(folder.glob(f"*{UMCD_MATRIX}"))
    names = [path.name.removesuffix(UMCD_MATRIX) for path in paths]
    if not paths:
        raise FileError(f"{folder}: has no file that ends in {UMCD_MATRIX}")
    codes, classes = coded(folder, names, given, control)
    atlases = [_umcd_atlas(folder, name) for name in names]
    for name, each in zip(names, atlases, strict=True):
        if each != atlases[0]:
            raise FileError(f"{folder}: the regions of {name} are not those of {names[0]}")
    about = {"source": "USC Multimodal Connectivity Database", "binarize": binarize}
    edges, _ = _read_graphs(paths, binarize, atlases[0])
    return _dataset(folder, edges, codes, names, classes, atlases[0], about)


def _matrix_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in MATRIX_READERS and _shown(path))


def _shown(path: Path) -> bool:
    """Tell whether a file or folder is meant to be seen: many systems leave hidden ones beside others."""
    return not path.name.startswith(".")


def _same_file(path: Path, labels: Mapping[str, str] | str | Path) -> bool:
    return isinstance(labels, str | Path) and Path(labels).exists() and path.samefile(labels)


def resolve_atlas(atlas: Atlas | str | Path | None) -> Atlas | None:
    """Turn what a user may call an atlas into one."""
    if atlas is None or isinstance(atlas, Atlas):
        return atlas
    if str(atlas).lower().replace("-", "") in ("aal", "aal116"):
        return load_atlas("aal116")
    if not Path(atlas).is_file():
        raise InputError(f"atlas must be 'aal116' or the path of a table of regions; {str(atlas)!r} is neither")
    return load_atlas(Path(atlas))


def _read_graphs(paths: list[Path], binarize: str | None, atlas: Atlas | None) -> tuple[Bits, Atlas | None]:
    """Read matrices of the same regions; where no atlas names them, the files may."""
    graphs: list[Bits] = []
    named: dict[Path, tuple[str, ...]] = {}
    for path in paths:
        matrix, names = read_matrix(path)
        edges = _to_edges(path, matrix, binarize)
        if graphs and edges.size != graphs[0].size:
            raise FileError(
                f"{path}: has {len(matrix)} regions, but {paths[0].name} has {roi_count(graphs[0].size)}; "
                "all must have the same"
            )
        graphs.append(edges)
        if names is not None:
            named[path] = names
    _check_names(named, atlas)
    if atlas is None and len(named) == len(paths):
        atlas = Atlas(named[paths[0]], name=f"{len(matrix)} named regions")
    return np.stack(graphs), atlas


def _check_names(named: dict[Path, tuple[str, ...]], atlas: Atlas | None) -> None:
    """Refuse files whose regions are in another order than those of the atlas or, without one, of the first file."""
    if not named:
        return
    first = next(iter(named))
    known, whose = (named[first], first.name) if atlas is None else (atlas.names, f"atlas {atlas.name}")
    for path, names in named.items():
        if names != known and (atlas is None or sorted(names) == sorted(known)):
            at = next(at for at, (one, other) in enumerate(zip(names, known, strict=True)) if one != other)
            raise FileError(
                f"{path}: the regions are not those of {whose}, or in another order: column {at} is "
                f"{names[at]!r}, not {known[at]!r}"
            )


def _to_edges(path: Path, matrix: Floats, binarize: str | None) -> Bits:
    try:
        if binarize is not None:
            return binarize_weights(upper_triangle(matrix), binarize)
        return as_edge_vector(matrix, "the matrix")
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _dataset(
    folder: Path,
    edges: Bits,
    labels: list[int],
    names: list[str],
    classes: list[str],
    atlas: Atlas | None,
    about: dict[str, Any],
) -> GraphDataset:
    try:
        return GraphDataset(edges, labels, names, classes, atlas, about=about)
    except InputError as error:
        raise FileError(f"{folder}: {error}") from None


def _umcd_atlas(folder: Path, name: str) -> Atlas:
    names = folder / f"{name}_region_names_full_file.txt"
    return named_atlas(names, folder / f"{name}_region_xyz_centers_file.txt", "CC200")


def named_atlas(names_file: Path, centres_file: Path, title: str) -> Atlas:
    """Read an atlas of names such as "Left Frontal Pole", which tell the side and the part of the brain."""
    names = [name or "unnamed" for name in _lines(names_file)]
    sides = [name.split()[0] if name.split()[0] in ("Left", "Right") else "" for name in names]
    try:
        centres = np.array([[float(number) for number in line.split()] for line in _lines(centres_file)])
        return Atlas(
            names,
            centres,
            [side[:1] for side in sides],
            [name.removeprefix(side).strip() for name, side in zip(names, sides, strict=True)],
            name=title,
        )
    except ValueError as error:
        raise FileError(
            f"{centres_file}: does not hold a point for each region of {names_file.name} ({error})"
        ) from None


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
