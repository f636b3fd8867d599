"""`load_dataset`: load a dataset from any supported source."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from countergraph.datasets.cohorts import load_adhd, load_asd
from countergraph.datasets.folder import UMCD_MATRIX, load_folder, load_umcd
from countergraph.datasets.readers.registry import suffixes
from countergraph.datasets.synthetic import make_cohort
from countergraph.errors import FileError, InputError, unknown_name
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.files import read_dataset

DATASETS: dict[str, Callable[..., GraphDataset]] = {
    "synthetic": make_cohort,
    "asd": load_asd,
    "adhd": load_adhd,
}
"""The datasets that `load_dataset` loads by name."""


def load_dataset(source: str | Path, **options: Any) -> GraphDataset:  # noqa: ANN401
    """Load a dataset: a named cohort, a dataset file, or a folder.

    Parameters
    ----------
    source
        A name: ``"asd"``, ``"adhd"`` or ``"synthetic"``. Or the path of a file that `save_dataset` wrote. Or the path
        of a folder: with one subfolder of matrices per class, with all matrices (needs ``labels``), or with raw files
        of the USC Multimodal Connectivity Database (needs ``labels``). For a folder with the name of a cohort, write
        ``"./asd"``.
    **options
        The options of the source: ``root`` for the two real cohorts (see `load_asd`, `load_adhd`); ``labels``,
        ``atlas``, ``binarize`` and ``control`` for folders (see `load_folder`, `load_umcd`); all parameters of
        `make_cohort` for ``"synthetic"``; ``binarize`` for a dataset file of weighted networks.
    """
    loader, arguments = _loader(source)
    others = [name for name in options if name != "binarize"]
    if loader is read_dataset and others:
        read_dataset(*arguments)  # a file that is not a dataset is the real cause of the error, not the option
        raise InputError(
            f"{source}: a dataset file contains its labels and its atlas, so its only option is binarize=. "
            f"Remove {', '.join(f'{name}=' for name in others)}"
        )
    supported = [name for name in inspect.signature(loader).parameters if name not in ("folder", "path")]
    for name in options:
        if name not in supported:
            raise InputError(f"unknown option {name!r} for {str(source)!r}. Supported: {', '.join(supported)}")
    if loader is load_umcd and "labels" not in options:
        raise InputError(f"{source}: these files contain no labels; pass labels= (a mapping or the path of a table)")
    return loader(*arguments, **options)


def _loader(source: str | Path) -> tuple[Callable[..., GraphDataset], tuple[Path, ...]]:
    if isinstance(source, str) and source in DATASETS:
        return DATASETS[source], ()
    path = Path(source)
    if path.is_file() and path.suffix.lower() != ".npz" and path.name.lower().endswith(suffixes()):
        raise FileError(
            f"{path}: is a single matrix or time series; pass the folder that contains one file for each subject"
        )
    if path.is_file():
        return read_dataset, (path,)
    if path.is_dir():
        if not any(path.iterdir()):
            raise FileError(f"{path}: the folder is empty")
        return (load_umcd if any(path.glob(f"*{UMCD_MATRIX}")) else load_folder), (path,)
    raise unknown_name("dataset, file or folder", str(source), DATASETS)
