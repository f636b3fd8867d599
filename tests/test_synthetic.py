from __future__ import annotations

import numpy as np
import pytest

import countergraph as cg
from countergraph.classifiers.contrast_subgraphs import ContrastSubgraphs
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import InputError


def test_default_cohort() -> None:
    data = cg.make_cohort()
    assert data.class_sizes.tolist() == [50, 50]
    assert data.atlas == cg.load_atlas("aal116")
    assert (data.edges.sum(axis=1) == 667).all()
    assert data.attributes is not None
    assert list(data.attributes) == ["age", "sex", "site"]


def test_planted_rois_have_more_edges_in_their_class() -> None:
    data = cg.make_cohort(seed=1)
    planted = data.about["planted"]
    assert not set(planted["TD"]) & set(planted["ASD"])
    for label, name in enumerate(data.classes):
        pairs = LinearRule([planted[name]], [1.0], 0.0, 116)
        inside = pairs.embed(data.edges)[:, 0]
        assert inside[data.labels == label].mean() > 1.3 * inside[data.labels != label].mean()


def test_contrast_subgraphs_recover_the_planted_rois() -> None:
    data = cg.make_cohort(seed=1)
    found = ContrastSubgraphs(alpha=0.025).fit(data.edges, data.labels).subgraphs_
    for rois, name in zip(found, data.classes, strict=True):
        true = set(data.about["planted"][name])
        assert len(true & set(rois.tolist())) / len(true | set(rois.tolist())) > 0.6


def test_the_cohort_is_determined_by_the_seed() -> None:
    assert cg.make_cohort(10, seed=5).fingerprint == cg.make_cohort(10, seed=5).fingerprint
    assert cg.make_cohort(10, seed=5).fingerprint != cg.make_cohort(10, seed=6).fingerprint


@pytest.mark.parametrize(("n_subjects", "n_rois"), [(2, 10), (7, 61), (3, 200)])
def test_cohorts_of_other_sizes(n_subjects: int, n_rois: int) -> None:
    data = cg.make_cohort(n_subjects, n_rois, density=0.2)
    assert data.edges.shape == (n_subjects, n_rois * (n_rois - 1) // 2)
    assert data.edges.mean() == pytest.approx(0.2, abs=0.02)
    assert data.atlas.coordinates is not None
    assert np.abs(data.atlas.coordinates).max() < 110


def test_invalid_arguments_raise() -> None:
    with pytest.raises(InputError, match="n_subjects must be an integer of at least 2, not 1"):
        cg.make_cohort(1)
    with pytest.raises(InputError, match="density must be between 0 and 1, and contrast at least 0; got 1.5"):
        cg.make_cohort(density=1.5)
