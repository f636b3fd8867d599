from __future__ import annotations

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import InputError


def test_it_looks_like_a_cohort() -> None:
    data = cg.make_cohort()
    assert data.class_sizes.tolist() == [50, 50]
    assert data.atlas == cg.load_atlas("aal116")
    assert (data.edges.sum(axis=1) == 667).all()
    assert data.attributes is not None
    assert list(data.attributes) == ["age", "sex", "site"]


def test_the_planted_contrast_is_there() -> None:
    data = cg.make_cohort(seed=1)
    planted = data.about["planted"]
    assert not set(planted["TD"]) & set(planted["ASD"])
    for label, name in enumerate(data.classes):
        pairs = cg.LinearRule([planted[name]], [1.0], 0.0, 116)
        inside = pairs.embed(data.edges)[:, 0]
        assert inside[data.labels == label].mean() > 1.3 * inside[data.labels != label].mean()


def test_contrast_subgraphs_recover_it() -> None:
    data = cg.make_cohort(seed=1)
    found = cg.ContrastSubgraphs(alpha=0.025).fit(data.edges, data.labels).subgraphs_
    for vertices, name in zip(found, data.classes, strict=True):
        true = set(data.about["planted"][name])
        assert len(true & set(vertices.tolist())) / len(true | set(vertices.tolist())) > 0.6


def test_same_seed_same_cohort() -> None:
    assert cg.make_cohort(10, seed=5).fingerprint == cg.make_cohort(10, seed=5).fingerprint
    assert cg.make_cohort(10, seed=5).fingerprint != cg.make_cohort(10, seed=6).fingerprint


@pytest.mark.parametrize(("subjects", "regions"), [(2, 10), (7, 61), (3, 200)])
def test_any_size(subjects: int, regions: int) -> None:
    data = cg.make_cohort(subjects, regions, density=0.2)
    assert data.edges.shape == (subjects, regions * (regions - 1) // 2)
    assert data.edges.mean() == pytest.approx(0.2, abs=0.02)
    assert data.atlas.coordinates is not None
    assert np.abs(data.atlas.coordinates).max() < 110


def test_refusals() -> None:
    with pytest.raises(InputError, match="n_subjects must be a whole number of at least 2, not 1"):
        cg.make_cohort(1)
    with pytest.raises(InputError, match="density must lie between 0 and 1"):
        cg.make_cohort(density=1.5)
