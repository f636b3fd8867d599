"""A synthetic cohort with a known difference between the classes.

Every subject is a short multivariate time series whose ROIs share latent signals: one for the whole brain, one for each
lobe, one for each pair of homologous left and right ROIs, and weak signals that only this subject has. There are two
planted sets of ROIs: the first set shares one more signal in controls, the second set in the condition. The graph is
the correlation matrix of the time series, binarized to the given density.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from countergraph.errors import InputError, check_integers
from countergraph.graphs.atlas import Atlas, load_atlas
from countergraph.graphs.binarize import binarize
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Floats, upper_triangle

GLOBAL, LOBE, HOMOLOGOUS, SUBJECT = 0.2, 0.45, 1.4, 0.4
"""Strengths of the latent signals. With these values the cohort resembles the ABIDE children (docs/datasets.md)."""
N_SUBJECT_SIGNALS = 12
"""Number of signals that only one subject has."""


def make_cohort(
    n_subjects: int = 100,
    n_rois: int = 116,
    *,
    density: float = 0.1,
    contrast: float = 0.4,
    time_points: int = 120,
    seed: int = 0,
) -> GraphDataset:
    """Create a synthetic cohort, half controls and half condition, with a known difference between the classes.

    Parameters
    ----------
    n_subjects, n_rois
        At least 2 subjects and at least 10 ROIs. With 116 ROIs the atlas is AAL, otherwise points on an ellipsoid.
    density
        The share of pairs that are edges, the same in every graph.
    contrast
        The strength of the signal that the planted ROIs share; with 0 the classes do not differ.
    time_points
        The length of the time series; shorter series give noisier graphs.
    seed
        The random seed. The same seed gives the same cohort.

    Returns
    -------
    GraphDataset
        ``about["planted"]`` maps each class name to the ROIs that have more edges with each other in that class.
    """
    check_integers(n_subjects=(n_subjects, 2), n_rois=(n_rois, 10), time_points=(time_points, 3), seed=(seed, 0))
    if not 0 < density < 1 or contrast < 0:
        raise InputError(f"density must be between 0 and 1, and contrast at least 0; got {density} and {contrast}")
    rng = np.random.default_rng(seed)
    atlas = load_atlas("aal116") if n_rois == 116 else _ellipsoid_atlas(n_rois)
    planted = rng.permutation(n_rois)[: 2 * max(3, n_rois // 6)].reshape(2, -1)
    anatomy = _anatomy(atlas, rng)
    labels = np.arange(n_subjects) % 2
    sex, site = rng.choice(["F", "M"], n_subjects), rng.choice(["north", "south"], n_subjects)
    age = rng.uniform(6, 12, n_subjects).round(1)
    correlations = np.stack([_correlation(anatomy, planted[label], contrast, time_points, rng) for label in labels])
    classes = ("TD", "ASD")
    return GraphDataset(
        binarize(upper_triangle(correlations), f"density:{density}"),
        labels,
        [f"subject-{i:03d}" for i in range(n_subjects)],
        classes,
        atlas,
        pd.DataFrame({"age": age, "sex": sex, "site": site}),
        {
            "source": "synthetic (countergraph.make_cohort)",
            "seed": int(seed),
            "contrast": contrast,
            "planted": {name: sorted(planted[label].tolist()) for label, name in enumerate(classes)},
        },
    )


def _anatomy(atlas: Atlas, rng: np.random.Generator) -> Floats:
    """Return the loading of each ROI on each signal that all subjects share, shape (rois, signals)."""
    n = len(atlas)
    lobes = _membership(list(atlas.networks or ()))
    homologous = _membership([_without_side(name) for name in atlas.names])
    weights = np.hstack([np.full((n, 1), GLOBAL), LOBE * lobes, HOMOLOGOUS * homologous])
    return np.asarray(weights * rng.uniform(0.5, 1.5, weights.shape))


def _correlation(
    anatomy: Floats, planted: np.ndarray, contrast: float, time_points: int, rng: np.random.Generator
) -> Floats:
    n = len(anatomy)
    subject = SUBJECT * (rng.random((n, N_SUBJECT_SIGNALS)) < 0.15)
    extra = np.zeros((n, 1))
    extra[planted] = contrast * rng.uniform(0.5, 1.5)
    loadings = np.hstack([anatomy, subject, extra])
    series = loadings @ rng.standard_normal((loadings.shape[1], time_points))
    series += rng.standard_normal((n, time_points))
    return np.asarray(np.corrcoef(series))


def _membership(groups: list[str]) -> Bits:
    return np.array([[group == name for name in dict.fromkeys(groups)] for group in groups], dtype=np.bool_)


def _without_side(name: str) -> str:
    return name.removesuffix("_L").removesuffix("_R")


def _ellipsoid_atlas(n_rois: int) -> Atlas:
    """Create an atlas of ROIs on a brain-sized ellipsoid, in mirrored pairs of a left and a right ROI."""
    half = (n_rois + 1) // 2
    angle = np.pi * (3 - 5**0.5) * np.arange(half)
    height = 1 - 2 * (np.arange(half) + 0.5) / half
    radius = np.sqrt(1 - height**2)
    right = np.stack([np.abs(radius * np.cos(angle)), radius * np.sin(angle), height], axis=1) * (62, 85, 55)
    centres = np.repeat(right + np.array([0, -18, 12]), 2, axis=0)[:n_rois]
    centres[::2, 0] *= -1
    lobes = [f"Zone {i * 8 // half + 1}" for i in range(half)]
    return Atlas(
        [f"R{i // 2 + 1:03d}_{'LR'[i % 2]}" for i in range(n_rois)],
        centres,
        ["LR"[i % 2] for i in range(n_rois)],
        [lobes[i // 2] for i in range(n_rois)],
        name=f"synthetic-{n_rois}",
    )
