"""The two cohorts of the paper, read from a local copy of their public data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from countergraph.datasets.folder import load_folder, named_atlas
from countergraph.errors import FileError, NotFoundError
from countergraph.graphs.binarize import binarize as binarize_weights
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.files import READ_ERRORS
from countergraph.graphs.pairs import Floats

ROOT_VARIABLE = "COUNTERGRAPH_DATA"
"""The environment variable with the default folder of the cohorts."""


def load_asd(root: str | Path | None = None) -> GraphDataset:
    """Load the ABIDE children: 52 typically developing (TD), 49 with autism (ASD), 116 AAL ROIs.

    Parameters
    ----------
    root
        The folder that contains ``asd/{asd,td}/SUBJECT.txt``; by default the value of the environment variable
        ``COUNTERGRAPH_DATA``.
    """
    folder = cohort_folder("asd", root)
    data = load_folder(folder, atlas="aal116", control="td")
    site = [name.rsplit("_", 1)[0] for name in data.names]
    return GraphDataset(
        data.edges,
        data.labels,
        data.names,
        ("TD", "ASD"),
        data.atlas,
        pd.DataFrame({"site": site}),
        {"source": "ABIDE, children below 9 years", "cohort": "asd"},
    )


def load_adhd(root: str | Path | None = None, *, binarize: str | None = "percentile:90") -> GraphDataset:
    """Load the ADHD-200 cohort: 330 typically developing (TD), 190 with ADHD, 190 CC200 ROIs.

    Parameters
    ----------
    root
        The folder that contains ``adhd/correlations.npz``; by default the value of the environment variable
        ``COUNTERGRAPH_DATA``.
    binarize
        The rule that converts correlations to edges (see `countergraph.binarize`); the default is that of the paper.
        None keeps the correlations.
    """
    folder = cohort_folder("adhd", root)
    try:
        with np.load(folder / "correlations.npz", allow_pickle=False) as archive:
            names, weights = archive["names"].tolist(), archive["upper"]
        diagnoses, ages, sexes = (
            (folder / f"{file}.txt").read_text(encoding="utf-8").splitlines()
            for file in ("subject_labels_list", "ages_list", "genders_list")
        )
    except READ_ERRORS as error:
        raise FileError(f"{folder}: cannot be read as the ADHD-200 cohort ({error})") from error
    try:
        return _adhd(folder, names, weights, binarize, diagnoses, ages, sexes)
    except ValueError as error:
        raise error if isinstance(error, FileError) else FileError(f"{folder}: {error}") from None


def _adhd(
    folder: Path,
    names: list[str],
    weights: Floats,
    binarize: str | None,
    diagnoses: list[str],
    ages: list[str],
    sexes: list[str],
) -> GraphDataset:
    return GraphDataset(
        weights if binarize is None else binarize_weights(weights, binarize),
        [diagnosis.startswith("A") for diagnosis in diagnoses],
        names,
        ("TD", "ADHD"),
        named_atlas(folder / "region_names_full.txt", folder / "region_xyz_centers.txt", "CC200"),
        pd.DataFrame(
            {
                "age": np.array(ages, dtype=float),
                "sex": sexes,
                "diagnosis": diagnoses,
                "site": [name.split("_")[0] for name in names],
            }
        ),
        {"source": "ADHD-200, USC Multimodal Connectivity Database", "cohort": "adhd", "binarize": binarize},
        None if binarize else "correlation",
    )


def cohort_folder(name: str, root: str | Path | None) -> Path:
    """Return the folder of a cohort; raise `NotFoundError` if it does not exist."""
    base = root if root is not None else os.environ.get(ROOT_VARIABLE)
    if base is None:
        raise NotFoundError(
            f"the cohort {name!r} is not part of the package; pass the folder that contains {name}/ as root= "
            f"(--root on the command line), or set the environment variable {ROOT_VARIABLE}"
        )
    folder = Path(base) / name
    if not folder.is_dir():
        raise NotFoundError(f"the cohort {name!r} is not in {base}: the folder {folder} does not exist")
    return folder
