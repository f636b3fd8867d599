"""One door to all graphs: `load_dataset`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from countergraph.datasets.cohorts import load_adhd, load_asd
from countergraph.datasets.folder import UMCD_MATRIX, load_folder, load_umcd
from countergraph.datasets.synthetic import make_cohort
from countergraph.errors import FileError, InputError, unknown_name
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.files import MATRIX_READERS, read_dataset

DATASETS: dict[str, Callable[..., GraphDataset]] = {
    "synthetic": make_cohort,
    "asd": load_asd,
    "adhd": load_adhd,
}


def load_dataset(source: str | Path, **options: Any) -> GraphDataset:  # noqa: ANN401
    """Load a dataset: a named cohort, a dataset file, or a folder.

    Parameters
    ----------
    source
        ``"asd"``, ``"adhd"`` or ``"synthetic"``; the path of a file that `save_dataset` wrote; the path of a folder
        with one folder of matrices for each class, of one with all matrices and ``labels``, or of one with raw files of
        the USC connectome database. Write ``"./asd"`` for a folder that is called like a cohort.
    **options
        What the source understands: ``root`` for the two real cohorts (see `load_asd`, `load_adhd`); ``labels``,
        ``atlas``, ``binarize`` and ``control`` for folders (see `load_folder`, `load_umcd`); all of `make_cohort`.
    """
    loader, arguments = _loader(source)
    understood = [name for name in inspect.signature(loader).parameters if name not in ("folder", "path")]
    for name in options:
        if name not in understood:
            raise InputError(
                f"{str(source)!r} is loaded without an option {name!r}; it takes {', '.join(understood) or 'none'}"
            )
    if loader is load_umcd and "labels" not in options:
        raise InputError(f"{source}: raw connectome files tell no classes; give labels= (a mapping or a table)")
    return loader(*arguments, **options)


def _loader(source: str | Path) -> tuple[Callable[..., GraphDataset], tuple[Path, ...]]:
    if isinstance(source, str) and source in DATASETS:
        return DATASETS[source], ()
    path = Path(source)
    if path.is_file() and path.suffix.lower() in MATRIX_READERS:
        raise FileError(f"{path}: is one file of numbers; a dataset is a folder with a file for each subject")
    if path.is_file():
        return read_dataset, (path,)
    if path.is_dir():
        if not any(path.iterdir()):
            raise FileError(f"{path}: the folder is empty")
        return (load_umcd if any(path.glob(f"*{UMCD_MATRIX}")) else load_folder), (path,)
    raise unknown_name("dataset, file or folder", str(source), DATASETS)
