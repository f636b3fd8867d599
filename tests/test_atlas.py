from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import countergraph as cg
from countergraph.errors import InputError, NotFoundError
from countergraph.graphs.atlas import load_atlas


def test_built_in_aal_atlas_has_the_original_order() -> None:
    atlas = cg.load_atlas("aal116")
    assert len(atlas) == 116
    assert atlas.names[:2] == ("Precentral_L", "Precentral_R")
    assert atlas.names[-1] == "Vermis_10"
    assert atlas.index("Putamen_R") == 73
    assert atlas.coordinates is not None
    assert atlas.hemispheres is not None
    left = np.array([side == "L" for side in atlas.hemispheres])
    assert (atlas.coordinates[left, 0] < 0).all()
    assert atlas.networks is not None
    assert {"Frontal lobe", "Deep grey matter", "Cerebellum"} < set(atlas.networks)
    assert 79 < atlas.distance(0, 1) < 81


def test_repeated_names_get_numbers() -> None:
    atlas = cg.Atlas(["Pole", "Stem", "Pole"])
    assert atlas.names == ("Pole (1)", "Stem", "Pole (2)")
    assert np.isnan(atlas.distance(0, 1))
    assert cg.Atlas.from_dict(atlas.to_dict()) == atlas


def test_load_atlas_reads_a_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("name\tx\ty\tz\tregion\nb\t1\t2\t3\tfront\na\t4\t5\t6\tback\n")
    atlas = load_atlas(path)
    assert (atlas.name, atlas.names, atlas.networks) == ("mine", ("b", "a"), ("front", "back"))
    assert atlas.coordinates is not None
    assert atlas.coordinates.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_invalid_atlases_raise(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="networks must contain one name for each ROI; some are missing"):
        cg.Atlas(["a", "b"], networks=["frontal", float("nan")])  # type: ignore[list-item]
    with pytest.raises(InputError, match="coordinates must be 2 points"):
        cg.Atlas(["a", "b"], coordinates=[[0, 0, 0]])
    with pytest.raises(InputError, match="networks must have one entry for each of the 2 ROIs, not 1"):
        cg.Atlas(["a", "b"], networks=["x"])
    with pytest.raises(NotFoundError, match="unknown ROI 'Putamen'; did you mean Putamen_"):
        cg.load_atlas("aal116").index("Putamen")
    for text, message in (
        ("label\nx\ny\n", "needs a column 'name'; found the columns label"),
        ("name\tx\ty\tz\na\t1\t2\nb\t1\t2\t3\n", "every row"),
        ("name\tx\ty\tz\na\t1\t2\tq\nb\t1\t2\t3\n", "must be numbers"),
    ):
        (tmp_path / "bad.tsv").write_text(text)
        with pytest.raises(InputError, match=f"bad.tsv.*{message}"):
            load_atlas(tmp_path / "bad.tsv")


def test_numbers_do_not_produce_existing_names() -> None:
    atlas = cg.Atlas(["a", "a", "a (1)"])
    assert len(set(atlas.names)) == 3
    assert atlas.names[2] == "a (1)"
    assert cg.Atlas.from_dict(atlas.to_dict()) == atlas


def test_errors_of_unreadable_tables_contain_the_file_name(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    for content in (b"", b"name\n", b"\xff\xfe", b"name\tx\ty\tz\na\tnan\t1\t1\nb\t1\t1\t1\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="bad.tsv"):
            load_atlas(path)


def test_files_of_earlier_versions_are_read() -> None:
    old = {
        "name": "3 numbered regions",
        "names": ["region 0", "region 1", "region 2"],
        "coordinates": None,
        "hemispheres": None,
        "regions": ["front", "front", "back"],
    }
    atlas = cg.Atlas.from_dict(old)
    assert atlas.names == cg.Atlas.numbered(3).names == ("ROI 0", "ROI 1", "ROI 2")
    assert atlas.networks == ("front", "front", "back")
    assert cg.Atlas.from_dict({**old, "names": ["a", "region 1", "c"]}).names == ("a", "region 1", "c")
