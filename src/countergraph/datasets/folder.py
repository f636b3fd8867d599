"""Load folders of matrices: one folder per class, one folder and a table of labels, or raw UMCD files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from countergraph.datasets.connectivity import check_kind, connectivity
from countergraph.datasets.labels import (
    Columns,
    as_table,
    attribute_table,
    encode_labels,
    order_classes,
    subject_name,
)
from countergraph.datasets.readers.content import Content
from countergraph.datasets.readers.registry import check_format, read_content, suffixes
from countergraph.errors import FileError, GraphError, InputError
from countergraph.graphs.atlas import Atlas, load_atlas
from countergraph.graphs.binarize import binarize as binarize_weights
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.measure import Measure, detect_measure
from countergraph.graphs.pairs import (
    Floats,
    Values,
    as_value_vector,
    check_square_symmetric,
    upper_triangle,
    without_diagonal,
)

if TYPE_CHECKING:
    import pandas as pd

UMCD_MATRIX = "_connectivity_matrix_file.txt"
"""How the names of matrix files of the USC Multimodal Connectivity Database (UMCD) end."""


def load_folder(
    folder: str | Path,
    *,
    labels: Mapping[str, str] | str | Path | None = None,
    atlas: Atlas | str | Path | None = None,
    binarize: str | None = None,
    measure: Measure | None = None,
    control: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    kind: str = "correlation",
    name_column: str | None = None,
    label_column: str | None = None,
    classes: Mapping[str, str] | None = None,
) -> GraphDataset:
    """Load a folder with one subfolder of matrices per class, or a folder with all matrices and a table of labels.

    Parameters
    ----------
    folder
        ``folder/CLASS/SUBJECT.txt``, one matrix or time series (time points, ROIs) for each subject, in any format of
        `countergraph.datasets.readers`; with ``labels``, ``folder/SUBJECT.txt``.
    labels
        The class of each subject by name, as a mapping or the path of a table. The other columns of a table become
        attributes of the subjects.
    atlas
        An `Atlas`, ``"aal116"``, or the path of a table (see `load_atlas`). By default the ROIs get the names of the
        columns of the files or, if these have no names, numbers.
    binarize
        A rule such as ``"percentile:90"``, which converts weighted matrices to graphs (see `countergraph.binarize`).
        Without a rule weighted matrices stay weighted.
    measure
        What the weights are: ``"correlation"``, ``"fisher z"``, ``"count"`` or ``"unknown"``. By default it is
        detected.
    control
        The class that gets label 0. By default the class with a common name of a control group, such as TD or
        control, otherwise the first class in alphabetical order.
    format
        The format of the files: ``"text"``, ``"numpy"``, ``"matlab"`` or ``"mrtrix"`` (text with one triangle), or the
        content: ``"matrix"`` or ``"timeseries"``. By default it is detected, except for ``"mrtrix"``.
    kind
        For time series, the connectivity that nilearn's ``ConnectivityMeasure`` computes: ``"correlation"``,
        ``"partial correlation"``, ``"tangent"`` or ``"covariance"``. ``"tangent"`` is fitted on all subjects of the
        folder.
    name_column, label_column
        The columns of the table ``labels``; by default the usual names, such as participant_id and diagnosis.
    classes
        The names of the classes by the entries of the column of labels: ``{"1": "ASD", "2": "TD"}``.
    """
    folder = Path(folder)
    check_format(format)
    check_kind(kind)
    about = {"source": folder.name, "binarize": binarize}
    options = ReadOptions(binarize, measure, format, kind)
    if labels is not None:
        paths = [path for path in _matrix_files(folder) if not _same_file(path, labels)]
        if not paths:
            raise FileError(f"{folder}: contains no matrices ({', '.join(suffixes())}){_unknown_formats([folder])}")
        table = as_table(labels, Columns(name_column, label_column, classes))
        names = [subject_name(path.stem, table.labels) for path in paths]
        codes, class_names = encode_labels(folder, names, table.labels, control)
        networks, used_atlas = _read_networks(paths, options, resolve_atlas(atlas))
        attributes = attribute_table(table, names)
        return _dataset(folder, networks, codes, names, class_names, used_atlas, about, attributes)
    if classes is not None or name_column is not None or label_column is not None:
        raise InputError("name_column, label_column and classes are for a table of subjects: pass labels= (--labels)")
    subfolders = [each for each in sorted(folder.iterdir()) if each.is_dir() and not _is_hidden(each)]
    groups = {each.name: _matrix_files(each) for each in subfolders}
    groups = {name: paths for name, paths in groups.items() if paths}
    if len(groups) < 2:
        raise FileError(
            f"{folder}: needs at least two subfolders of matrices ({', '.join(suffixes())}), one for each class, "
            "or labels= (a mapping or the path of a table) if all matrices are in the folder itself; "
            f"found {', '.join(groups) or 'no subfolders of matrices'}{_unknown_formats([folder, *subfolders])}"
        )
    class_names = order_classes(list(groups), control)
    paths = [path for name in class_names for path in groups[name]]
    codes = [label for label, name in enumerate(class_names) for _ in groups[name]]
    names = [path.stem for path in paths]
    networks, used_atlas = _read_networks(paths, options, resolve_atlas(atlas))
    return _dataset(folder, networks, codes, names, class_names, used_atlas, about)


def load_umcd(
    folder: str | Path,
    *,
    labels: Mapping[str, str] | str | Path,
    binarize: str | None = "percentile:90",
    measure: Measure | None = None,
    control: str | None = None,
) -> GraphDataset:
    """Load the published files of the USC Multimodal Connectivity Database (UMCD).

    Parameters
    ----------
    folder
        Contains ``SUBJECT_connectivity_matrix_file.txt``, ``SUBJECT_region_names_full_file.txt`` and
        ``SUBJECT_region_xyz_centers_file.txt`` of every subject. Names and centres must be the same for all subjects.
    labels
        The class of each subject by name, as a mapping or the path of a table (see `load_folder`).
        Required, because the files contain no labels.
    binarize, measure, control
        As in `load_folder`.
    """
    folder = Path(folder)
    labels_by_name = as_table(labels, Columns()).labels
    paths = sorted(folder.glob(f"*{UMCD_MATRIX}"))
    names = [path.name.removesuffix(UMCD_MATRIX) for path in paths]
    if not paths:
        raise FileError(f"{folder}: contains no file whose name ends in {UMCD_MATRIX}")
    codes, classes = encode_labels(folder, names, labels_by_name, control)
    atlases = [_umcd_atlas(folder, name) for name in names]
    for name, each in zip(names, atlases, strict=True):
        if each != atlases[0]:
            raise FileError(f"{folder}: {name} has other ROIs than {names[0]}; all subjects must have the same")
    about = {"source": "USC Multimodal Connectivity Database", "binarize": binarize}
    networks, _ = _read_networks(paths, ReadOptions(binarize, measure), atlases[0])
    return _dataset(folder, networks, codes, names, classes, atlases[0], about)


def _matrix_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.lower().endswith(suffixes()) and not _is_hidden(path))


def _is_hidden(path: Path) -> bool:
    """Check whether a file or folder is hidden; some systems create hidden files in every folder."""
    return path.name.startswith(".")


def _unknown_formats(folders: list[Path]) -> str:
    """Return a hint for an error message: the suffixes of the files that are not matrices, if there are any."""
    files = [path for folder in folders for path in folder.iterdir() if path.is_file() and not _is_hidden(path)]
    unknown = sorted({repr(path.suffix) for path in files if not path.name.lower().endswith(suffixes())})
    return f"; files of unknown format are ignored: {', '.join(unknown)}" if unknown else ""


def _same_file(path: Path, labels: Mapping[str, str] | str | Path) -> bool:
    return isinstance(labels, str | Path) and Path(labels).exists() and path.samefile(labels)


def resolve_atlas(atlas: Atlas | str | Path | None) -> Atlas | None:
    """Return the atlas for an `Atlas`, the name of a built-in atlas, or the path of a table; None for None."""
    if atlas is None or isinstance(atlas, Atlas):
        return atlas
    if str(atlas).lower().replace("-", "") in ("aal", "aal116"):
        return load_atlas("aal116")
    if not Path(atlas).is_file():
        raise InputError(f"atlas must be 'aal116' or the path of a table of ROIs; {str(atlas)!r} is neither")
    return load_atlas(Path(atlas))


class _Networks(NamedTuple):
    values: Values
    measure: Measure
    connectivity: str | None = None
    """How they were computed, if the files contain time series."""


class ReadOptions(NamedTuple):
    """How the files of a study are read."""

    binarize: str | None = None
    measure: Measure | None = None
    format: str | None = None
    kind: str = "correlation"


def _read_networks(paths: list[Path], options: ReadOptions, atlas: Atlas | None) -> tuple[_Networks, Atlas | None]:
    """Read networks of the same ROIs; without an atlas, the ROI names are read from the files if they contain any."""
    contents = [read_content(path, options.format) for path in paths]
    _check_alike(paths, contents)
    names_by_path = {path: each.rois for path, each in zip(paths, contents, strict=True) if each.rois is not None}
    _check_roi_names(names_by_path, atlas)
    if atlas is None and len(names_by_path) == len(paths):
        atlas = Atlas(names_by_path[paths[0]], name=f"{contents[0].numbers.shape[1]} named ROIs")
    measures: set[Measure]
    computed: str | None = None
    if contents[0].kind == "time series":
        computed = options.kind
        matrices, found = connectivity(paths, contents, computed)
        networks = [_to_values(path, each, options.binarize) for path, each in zip(paths, matrices, strict=True)]
        measures = {found} if options.binarize is None else {"edge"}
    else:
        networks = [_matrix_values(path, each, options) for path, each in zip(paths, contents, strict=True)]
        _check_graphs_or_weights(paths, networks)
        measures = {network.measure for network in networks}
    detected = measures.pop() if len(measures) == 1 else "unknown"
    measure = detected if options.measure is None else options.measure
    return _Networks(np.stack([network.values for network in networks]), measure, computed), atlas


def _check_alike(paths: list[Path], contents: list[Content]) -> None:
    """Raise `FileError` if files are of different kinds or sizes."""
    first = contents[0]
    for path, content in zip(paths, contents, strict=True):
        if content.kind != first.kind:
            rows, columns = content.numbers.shape
            raise FileError(
                f"{path}: has {rows} rows and {columns} columns, which is a {content.kind}, but {paths[0].name} is a "
                f"{first.kind}; a matrix must be square. Pass format='matrix' or 'timeseries' (--format) to choose"
            )
        n_rois = content.numbers.shape[1]
        if n_rois != first.numbers.shape[1]:
            raise FileError(
                f"{path}: has {n_rois} ROIs, but {paths[0].name} has {first.numbers.shape[1]}; all files must have the "
                "same number of ROIs"
            )


def _check_graphs_or_weights(paths: list[Path], networks: list[_Networks]) -> None:
    for path, network in zip(paths, networks, strict=True):
        if (network.measure == "edge") != (networks[0].measure == "edge"):
            weighted, graph = (path, paths[0]) if networks[0].measure == "edge" else (paths[0], path)
            raise FileError(
                f"{weighted}: contains other values than 0 and 1, but {graph.name} only 0 and 1; all matrices must be "
                "graphs or all weighted (binarize= converts them)"
            )


def _matrix_values(path: Path, content: Content, options: ReadOptions) -> _Networks:
    """Return the values of a matrix, whose diagonal is ignored."""
    matrix = content.numbers
    missing = ~np.isfinite(without_diagonal(matrix)).all(axis=0)
    if missing.any():
        names = content.rois or tuple(f"ROI {k}" for k in range(missing.size))
        which = ", ".join(names[k] for k in np.flatnonzero(missing)[:3])
        raise FileError(
            f"{path}: entries of {int(missing.sum())} of {missing.size} ROIs are not finite (NaN, n/a or infinity): "
            f"{which}{', ...' if missing.sum() > 3 else ''}"
        )
    try:
        check_square_symmetric(without_diagonal(matrix), "the matrix")
    except GraphError as error:
        triangular = not np.tril(matrix, -1).any() or not np.triu(matrix, 1).any()
        hint = "; for the triangular matrices of MRtrix pass format='mrtrix' (--format)" if triangular else ""
        raise FileError(f"{path}: {error}{hint}") from None
    network = _to_values(path, matrix, options.binarize)
    known = content.measure if options.binarize is None else None
    return network if known is None else network._replace(measure=known)


def _check_roi_names(names_by_path: dict[Path, tuple[str, ...]], atlas: Atlas | None) -> None:
    """Raise `FileError` if the ROIs of a file are in another order than in the atlas (default: the first file)."""
    if not names_by_path:
        return
    first = next(iter(names_by_path))
    expected, source = (names_by_path[first], first.name) if atlas is None else (atlas.names, f"atlas {atlas.name}")
    for path, names in names_by_path.items():
        if names != expected and (atlas is None or sorted(names) == sorted(expected)):
            column = next(i for i, (own, other) in enumerate(zip(names, expected, strict=True)) if own != other)
            raise FileError(
                f"{path}: the ROIs differ from those of {source}, or are in another order: column {column} is "
                f"{names[column]!r}, not {expected[column]!r}"
            )


def _to_values(path: Path, matrix: Floats, binarize: str | None) -> _Networks:
    try:
        if binarize is not None:
            return _Networks(binarize_weights(upper_triangle(matrix), binarize), "edge")
        values = as_value_vector(upper_triangle(matrix), "the matrix")
        return _Networks(values, detect_measure(matrix[None], values[None]))
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _dataset(
    folder: Path,
    networks: _Networks,
    labels: list[int],
    names: list[str],
    classes: list[str],
    atlas: Atlas | None,
    about: dict[str, Any],
    attributes: pd.DataFrame | None = None,
) -> GraphDataset:
    if networks.connectivity is not None:
        about = about | {"connectivity": networks.connectivity}
    try:
        return GraphDataset(networks.values, labels, names, classes, atlas, attributes, about, networks.measure)
    except InputError as error:
        raise FileError(f"{folder}: {error}") from None


def _umcd_atlas(folder: Path, name: str) -> Atlas:
    names = folder / f"{name}_region_names_full_file.txt"
    return named_atlas(names, folder / f"{name}_region_xyz_centers_file.txt", "CC200")


def named_atlas(names_file: Path, centres_file: Path, title: str) -> Atlas:
    """Read an atlas with names such as "Left Frontal Pole", which contain the hemisphere and the network."""
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
            f"{centres_file}: must contain one point (x y z) for each ROI of {names_file.name} ({error})"
        ) from None


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
