from __future__ import annotations

import contextlib
import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import countergraph as cg
from countergraph.datasets.load import DATASETS
from countergraph.errors import FileError, InputError, NotFoundError
from countergraph.graphs.files import write_atomic
from tests.conftest import random_graphs


def small() -> cg.GraphDataset:
    """Return 5 graphs with 6 ROIs, 15 pairs, 3 classes and 2 attributes: all these numbers differ."""
    return cg.GraphDataset(
        random_graphs(5, 6, seed=1),
        [1, 0, 2, 0, 0],
        ["e", "d", "c", "b", "ä b"],
        ("healthy", "mild", "severe"),
        cg.Atlas(list("uvwxyz")),
        pd.DataFrame({"age": [50, 40, 30, 20, 10.5], "sex": ["F", "M", "F", "F", "M"]}),
        {"source": "here"},
    )


def test_datasets_are_immutable_and_have_the_documented_types() -> None:
    data = small()
    assert data.edges.dtype == bool
    assert data.adjacency.dtype == np.uint8
    assert data.adjacency.shape == (5, 6, 6)
    assert data.labels.dtype == np.int64
    assert data.class_sizes.tolist() == [3, 1, 1]
    for array in (data.edges, data.labels, data.adjacency):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        data.labels = np.zeros(5)  # type: ignore[misc,assignment]
    assert repr(data) == "GraphDataset(3 healthy, 1 mild, 1 severe; 6 ROIs of unnamed)"


def test_datasets_copy_their_arguments() -> None:
    edges = random_graphs(4, 5, seed=0)
    data = cg.GraphDataset(edges, [0, 1, 0, 1])
    before = data.edges.copy()
    edges[:] = True
    assert (data.edges == before).all()


def test_subsets_select_all_fields() -> None:
    data = small()
    for chosen in ([3, 0], ["b", "e"], np.array([3, 0])):
        part = data.subset(chosen)
        assert part.names == ("b", "e")
        assert part.labels.tolist() == [0, 1]
        assert (part.edges == data.edges[[3, 0]]).all()
        assert part.attributes is not None
        assert part.attributes["age"].tolist() == [20, 50]
    assert data.subset(data.labels == 0).names == ("d", "b", "ä b")
    assert data.subset("ä b").names == ("ä b",)
    assert len(data.subset([])) == 0
    with pytest.raises(NotFoundError, match="unknown subject 'x'"):
        data.subset(["x"])
    with pytest.raises(InputError, match="a mask must have one entry for each of the 5 graphs"):
        data.subset(np.array([True, False]))


def test_frequencies_and_summary() -> None:
    data = small()
    assert np.allclose(data.class_means[0], data.edges[[1, 3, 4]].mean(axis=0))
    assert np.isnan(data.subset([0, 2]).class_means[0]).all()
    summary = data.summary()
    assert summary.loc["healthy", "graphs"] == 3
    assert summary.loc["healthy", "age (mean)"] == pytest.approx(23.5)
    assert summary.loc["healthy", "sex"] == "2 M, 1 F"
    assert summary.loc["mild", "edges (mean)"] == data.edges[0].sum()


def test_different_cohorts_have_different_fingerprints() -> None:
    data = small()
    assert data.fingerprint == small().fingerprint
    assert data.fingerprint != data.subset([4, 3, 2, 1, 0]).fingerprint


def test_saved_datasets_are_restored(tmp_path: Path) -> None:
    data = small()
    back = cg.load_dataset(data.save(tmp_path / "cohort.npz"))
    assert (back.edges == data.edges).all()
    assert (back.labels == data.labels).all()
    assert (back.names, back.classes, back.atlas) == (data.names, data.classes, data.atlas)
    assert dict(back.about) == dict(data.about)
    pd.testing.assert_frame_equal(back.attributes, data.attributes)


@pytest.mark.parametrize("name", DATASETS)
def test_load_every_dataset_by_name(name: str, request: pytest.FixtureRequest) -> None:
    options = inspect.signature(DATASETS[name]).parameters
    root = {"root": request.getfixturevalue("real_data")} if "root" in options else {}
    data = cg.load_dataset(name, **root)
    assert len(data.classes) == 2
    assert data.class_sizes.min() > 0
    assert len(set(data.names)) == len(data)
    assert data.fingerprint == cg.load_dataset(name, **root).fingerprint
    with pytest.raises(InputError, match=f"unknown option 'colour' for '{name}'. Supported: "):
        cg.load_dataset(name, colour="red")


def test_concurrent_writes_are_atomic(tmp_path: Path) -> None:
    path, contents = tmp_path / "x", [bytes([n]) * 2**20 for n in range(4)]
    write_atomic(path, contents[0])
    with ThreadPoolExecutor(8) as threads:
        written = [threads.submit(write_atomic, path, content) for content in contents * 10]
        read = [threads.submit(path.read_bytes) for _ in range(40)]
        assert all(each.result() == path for each in written)
        assert all(each.result() in contents for each in read)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("options", [{}, {"binarize": "percentile:90"}])
@pytest.mark.parametrize("content", [b"$FL2@(#) SPSS DATA FILE", b""])
def test_unknown_file_formats_are_named(tmp_path: Path, content: bytes, options: dict[str, str]) -> None:
    (tmp_path / "data.sav").write_bytes(content)
    with pytest.raises(FileError, match=r"data\.sav: .* unknown file format '\.sav'\. Supported: a dataset file"):
        cg.load_dataset(tmp_path / "data.sav", **options)


def test_dataset_files_have_no_options_except_binarize(tmp_path: Path) -> None:
    path = small().save(tmp_path / "cohort.npz")
    with pytest.raises(InputError, match=r"cohort\.npz: a dataset file contains its labels .* Remove control=$"):
        cg.load_dataset(path, control="control")
    with pytest.raises(FileError, match=r"cohort\.npz: these networks are graphs already"):
        cg.load_dataset(path, binarize="percentile:90")


def test_damaged_files_and_files_of_other_formats_raise(tmp_path: Path) -> None:
    path = small().save(tmp_path / "cohort.npz")
    content = path.read_bytes()
    for broken, message in (
        (content[: len(content) // 2], "is not a dataset file"),
        (b"", "is not a dataset file"),
        (b"hello", "is not a dataset file"),
    ):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=rf"cohort\.npz: {message}"):
            cg.load_dataset(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(FileError, match=r"cohort\.npz: is not a dataset file"):
        cg.load_dataset(path)
    header = np.frombuffer(b'{"format": "countergraph-dataset/99"}', dtype=np.uint8)
    np.savez(path, header=header, bits=np.zeros((1, 1)), labels=np.zeros(1))
    with pytest.raises(FileError, match="has the format 'countergraph-dataset/99'; this version reads"):
        cg.load_dataset(path)
    header = np.frombuffer(b'{"format": "countergraph-dataset/1"}', dtype=np.uint8)
    np.savez(path, header=header, bits=np.zeros((1, 1)), labels=np.zeros(1))
    with pytest.raises(FileError, match=r"cohort\.npz: is damaged"):
        cg.load_dataset(path)


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", header=np.array([print], dtype=object))
    with pytest.raises(FileError, match="is not a dataset file"):
        cg.load_dataset(tmp_path / "evil.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [0, 1]}, "labels must have one entry for each of the 3 graphs"),
        ({"labels": [0, 1, 5]}, "labels must be integers from 0 to 1"),
        ({"labels": [0, 1, 0.5]}, "labels must be integers"),
        ({"labels": ["a", "b", "a"]}, "or the class names control, condition; 'a' is neither"),
        ({"labels": [0, 1, np.nan]}, "nan is neither"),
        ({"atlas": "aal116"}, "atlas must be an Atlas, for example load_atlas.'aal116'., not 'aal116'"),
        ({"names": ["a", "a", "b"]}, "'a' occurs 2 times"),
        ({"names": ["a"]}, "names must have one entry for each of the 3 graphs, not 1"),
        ({"classes": ["x"]}, "classes must be at least two"),
        ({"atlas": cg.Atlas(list("abc"))}, "has 3 ROIs, but the graphs have 4"),
        ({"attributes": pd.DataFrame({"age": [1]})}, "attributes must have one row for each"),
        (
            {"values": np.full((3, 6), np.nan)},
            "values must be finite, but the connection of ROI 0 and ROI 1 in network 0 is nan",
        ),
    ],
)
def test_invalid_arguments_raise(change: dict, message: str) -> None:
    arguments = {"values": random_graphs(3, 4, seed=0), "labels": [0, 1, 0], **change}
    if "classes" in change:
        arguments["labels"] = [0, 0, 0]
    with pytest.raises(InputError, match=message):
        cg.GraphDataset(**arguments)


def test_saved_attributes_keep_their_types(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "code": ["001", "002", "NA", ""],
            "score": np.array([1.5, np.nan, 3, 4], dtype=np.float32),
            "visits": np.array([1, 2, 3, 4], dtype=np.int8),
            "smokes": [True, False, True, True],
            "born": pd.to_datetime(["2001-02-03", None, "2003-01-01", "2004-01-01"]),
            "group": pd.Categorical(["x", "y", "x", "y"]),
            7: [1, 2, 3, 4],
        }
    )
    data = cg.GraphDataset(random_graphs(4, 5, seed=0), [0, 1, 0, 1], attributes=table)
    back = cg.load_dataset(data.save(tmp_path / "x.npz"))
    pd.testing.assert_frame_equal(back.attributes, data.attributes)
    empty = cg.GraphDataset(random_graphs(4, 5, seed=0), [0, 1, 0, 1], attributes=pd.DataFrame(index=range(4)))
    assert len(cg.load_dataset(empty.save(tmp_path / "y.npz"))) == 4


def test_datasets_can_be_pickled_and_copied() -> None:
    import copy
    import pickle

    data = small()
    for other in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data)):
        assert other.fingerprint == data.fingerprint
        assert dict(other.about) == dict(data.about)


def test_a_damaged_byte_raises_or_has_no_effect(tmp_path: Path) -> None:
    path = small().save(tmp_path / "cohort.npz")
    good = path.read_bytes()
    for position in range(0, len(good), 17):
        broken = bytearray(good)
        broken[position] ^= 0x55
        path.write_bytes(bytes(broken))
        with contextlib.suppress(FileError):
            assert len(cg.load_dataset(path)) == 5


def test_more_invalid_arguments_raise(tmp_path: Path) -> None:
    data = small()
    for which, message in ((3, "must be a list of names or positions"), ([99], "positions must be between 0 and 4")):
        with pytest.raises(InputError, match=message):
            data.subset(which)
    with pytest.raises(InputError, match="about must contain only JSON-serializable values"):
        cg.GraphDataset(data.edges, data.labels, classes=data.classes, about={"x": np.int64(1)})
    with pytest.raises(FileError, match="cannot be written"):
        data.save(tmp_path / "no" / "x.npz")
    with pytest.raises(InputError, match="not of type complex128"):
        cg.GraphDataset(data.edges * 1j, data.labels, classes=data.classes)
    with pytest.raises(InputError, match="must be an array of numbers"):
        cg.GraphDataset([[0, 1, 0], [1]], [0, 1])
    with pytest.raises(InputError, match="labels must be integers"):
        cg.GraphDataset(data.edges, [np.nan] * 5, classes=data.classes)


def test_labels_may_be_class_names() -> None:
    data = cg.GraphDataset(random_graphs(3, 5, seed=1), ["ill", "well", "ill"], classes=("well", "ill"))
    assert data.labels.tolist() == [1, 0, 1]


def test_attributes_are_sorted_by_name() -> None:
    edges, names = random_graphs(3, 6, seed=0), ["a", "b", "c"]
    reverse_order = pd.DataFrame({"age": [30, 20, 10]}, index=["c", "b", "a"])
    data = cg.GraphDataset(edges, [0, 1, 0], names, attributes=reverse_order)
    assert data.attributes is not None
    assert data.attributes["age"].tolist() == [10, 20, 30]
    with pytest.raises(InputError, match="index of attributes must contain the names of the graphs"):
        cg.GraphDataset(edges, [0, 1, 0], names, attributes=reverse_order.rename(index={"a": "x"}))


@pytest.mark.parametrize(("which", "invalid"), [([-200, 1], -200), ([-1], -1), ([0, 9], 9)])
def test_invalid_positions_raise(which: list[int], invalid: int) -> None:
    with pytest.raises(InputError, match=f"between 0 and 2, not {invalid}$"):
        cg.GraphDataset(random_graphs(3, 6, seed=0), [0, 1, 0]).subset(which)


def test_vectors_with_the_diagonal_raise() -> None:
    with pytest.raises(InputError, match="the graphs have 7 .edge vectors must not contain the diagonal."):
        cg.GraphDataset(np.zeros((2, 21), dtype=bool), [0, 1], atlas=cg.Atlas.numbered(6))
