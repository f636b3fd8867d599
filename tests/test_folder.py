from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import countergraph as cg
from countergraph.errors import FileError, InputError, NotFoundError
from countergraph.graphs.pairs import to_adjacency
from tests.command_line import countergraph
from tests.conftest import random_graphs

GRAPHS = random_graphs(5, 6, seed=2)
MATRICES = to_adjacency(GRAPHS)


def write(path: Path, matrix: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, matrix)
    else:
        np.savetxt(path, matrix, fmt="%g", delimiter={".csv": ",", ".tsv": "\t"}.get(path.suffix, " "))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a folder of three patients and two controls in all file formats, with other files and folders."""
    for path, matrix in zip(
        ("a/s1.txt", "a/s2.csv", "a/s3.tsv", "Controls/t1.npy", "Controls/t2.txt"), MATRICES, strict=True
    ):
        write(tmp_path / "study" / path, matrix)
    (tmp_path / "study" / "a" / "notes.md").write_text("no matrix")
    (tmp_path / "study" / ".hidden").mkdir()
    (tmp_path / "study" / "empty").mkdir()
    return tmp_path / "study"


def test_folder_with_one_subfolder_per_class(folder: Path) -> None:
    data = cg.load_dataset(folder)
    assert data.classes == ("Controls", "a"), "the class with a common name of a control group has label 0"
    assert data.names == ("t1", "t2", "s1", "s2", "s3")
    assert data.labels.tolist() == [0, 0, 1, 1, 1]
    assert (data.edges == GRAPHS[[3, 4, 0, 1, 2]]).all()
    assert cg.load_dataset(str(folder), control="a").classes == ("a", "Controls")


def test_weighted_matrices_are_binarized(folder: Path) -> None:
    weights = np.triu(np.random.default_rng(0).normal(size=(6, 6)), 1)
    write(folder / "a" / "s1.txt", weights + weights.T + np.eye(6))
    with pytest.raises(FileError, match=r"s1\.txt: contains other values than 0 and 1, but .* only 0 and 1"):
        cg.load_dataset(folder)
    data = cg.load_dataset(folder, binarize="density:0.05")
    assert data.edges[2].sum() == 1
    with pytest.raises(FileError, match=r"t1\.npy: density:0.4 keeps pairs with the lowest weight"):
        cg.load_dataset(folder, binarize="density:0.4")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((6, 5)), "must be square"),
        (np.triu(np.ones((6, 6)), 1), "is not symmetric"),
        (np.full((6, 6), np.nan), "not finite"),
        (np.full((6, 6), np.inf), "not finite"),
        (MATRICES[0] * 3, "contains other values than 0 and 1"),
        (np.zeros((7, 7)), "has 7 ROIs"),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".csv", ".tsv", ".npy"])
def test_errors_of_invalid_matrices_contain_the_file_name(
    folder: Path, matrix: np.ndarray, message: str, suffix: str
) -> None:
    write(folder / "a" / f"zz{suffix}", matrix)
    with pytest.raises(FileError, match=rf"zz\{suffix}: .*{message}"):
        cg.load_dataset(folder)


def test_tables_written_by_spreadsheets_and_pandas(folder: Path) -> None:
    frame = pd.DataFrame(MATRICES[0])
    named = frame.set_axis([f"r, {i}" for i in range(6)]).set_axis([f"r, {i}" for i in range(6)], axis=1)
    for table, options in (
        (frame, {}),
        (frame, {"index": False}),
        (frame, {"index": False, "header": False, "sep": ";"}),
        (named, {}),
        (named, {"index": False}),
        (named, {"sep": ";"}),
    ):
        table.to_csv(folder / "a" / "zz.csv", **options)
        assert (cg.load_dataset(folder).subset("zz").edges == GRAPHS[0]).all()
    (folder / "a" / "zz.csv").write_text("a,b\n0,x\n1,0\n")
    with pytest.raises(FileError, match="zz.csv: cannot be read as text .row 1 of the numbers has 'x', not a number"):
        cg.load_dataset(folder)


def test_roi_names_are_the_column_names_and_must_agree(folder: Path, tmp_path: Path) -> None:
    names = [f"r {i}" for i in range(6)]
    for at, (old, group, name) in enumerate(
        (
            ("a/s1.txt", "a", "s1"),
            ("a/s2.csv", "a", "s2"),
            ("a/s3.tsv", "a", "s3"),
            ("Controls/t1.npy", "Controls", "t1"),
            ("Controls/t2.txt", "Controls", "t2"),
        )
    ):
        (folder / old).unlink()
        pd.DataFrame(MATRICES[at], names, names).to_csv(folder / group / f"{name}.csv")
    assert cg.load_dataset(folder).atlas.names == tuple(names)
    order = [1, 0, 2, 3, 4, 5]
    pd.DataFrame(MATRICES[0], names, names).iloc[order, order].to_csv(folder / "a" / "s1.csv")
    with pytest.raises(
        FileError, match=r"s1\.csv: the ROIs differ from those of t1\.csv, .*: column 0 is 'r 1', not 'r 0'"
    ):
        cg.load_dataset(folder)
    with pytest.raises(FileError, match=r"s1\.csv: the ROIs differ from those of atlas six, or are in another order"):
        cg.load_dataset(folder, atlas=cg.Atlas(names, name="six"))
    other = cg.Atlas([f"area {i}" for i in range(6)])
    assert cg.load_dataset(folder, atlas=other).atlas == other, "the names in the atlas may be different"


def test_column_names_in_all_table_layouts(tmp_path: Path) -> None:
    names = list("ABCDEF")
    plain = pd.DataFrame(MATRICES[0], names, names)
    for number, (write_table, expected) in enumerate(
        (
            (lambda path: plain.rename_axis("ROI").to_csv(path), names),
            (lambda path: plain.to_csv(path, index=False), names),
            (lambda path: path.write_text("\n" + plain.to_csv()), names),
            (lambda path: plain.to_csv(path, sep=";"), names),
            (lambda path: plain.to_csv(path, header=False), names),
            (lambda path: np.savetxt(path, MATRICES[0], "%d", ",", header="a, comment"), None),
        )
    ):
        for group in ("a", "b"):
            (tmp_path / str(number) / group).mkdir(parents=True)
            write_table(tmp_path / str(number) / group / f"{group}1.csv")
        data = cg.load_dataset(tmp_path / str(number))
        assert (data.edges == GRAPHS[0]).all()
        assert data.atlas.names == tuple(expected or (f"ROI {i}" for i in range(6)))


def test_infinite_diagonals_are_ignored(folder: Path) -> None:
    with np.errstate(divide="ignore"):
        np.save(folder / "a" / "zz.npy", np.arctanh(np.eye(6) + 0.5 * (MATRICES[0] - np.diag(MATRICES[0].diagonal()))))
    assert (cg.load_dataset(folder, binarize="threshold:0.3").subset("zz").edges == GRAPHS[0]).all()


def test_errors_of_unreadable_files_contain_the_file_name(folder: Path) -> None:
    for name, content in (
        ("words.txt", b"a b\nc d\n"),
        ("ragged.csv", b"0,1\n1\n"),
        ("half.npy", b"\x93NUMPY"),
        ("no.txt", b""),
    ):
        path = folder / "a" / name
        path.write_bytes(content)
        with pytest.raises(FileError, match=name):
            cg.load_dataset(folder)
        path.unlink()


def test_errors_of_invalid_folders_contain_the_folder_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    with pytest.raises(FileError, match="nothing: the folder is empty"):
        cg.load_dataset(tmp_path / "nothing")
    write(tmp_path / "one" / "only" / "x.txt", MATRICES[0])
    with pytest.raises(FileError, match="one: needs at least two subfolders of matrices.*found only"):
        cg.load_dataset(tmp_path / "one")
    write(folder / "a" / "t1.txt", MATRICES[0])
    with pytest.raises(FileError, match="study: subject names must be unique; 't1' occurs 2 times"):
        cg.load_dataset(folder)
    (folder / "a" / "t1.txt").unlink()
    with pytest.raises(FileError, match="study: atlas 'AAL-116' has 116 ROIs, but the graphs have 6"):
        cg.load_dataset(folder, atlas="aal116")


def test_options_are_checked(folder: Path) -> None:
    with pytest.raises(
        InputError, match=r"unknown option 'rot' for .*study'\. Supported: labels, atlas, binarize, measure, control"
    ):
        cg.load_dataset(folder, rot="x")
    with pytest.raises(InputError, match="control must be one of Controls, a, not 'b'"):
        cg.load_dataset(folder, control="b")
    with pytest.raises(InputError, match="atlas must be 'aal116' or the path"):
        cg.load_dataset(folder, atlas="aal117")
    with pytest.raises(NotFoundError, match="unknown dataset, file or folder 'asdd'; did you mean asd"):
        cg.load_dataset("asdd")
    with pytest.raises(NotFoundError, match="pass the folder that contains adhd/ as root="):
        cg.load_dataset("adhd")
    with pytest.raises(NotFoundError, match="the folder .* does not exist"):
        cg.load_dataset("asd", root=folder)


@pytest.fixture(autouse=True)
def _no_default_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERGRAPH_DATA", raising=False)


def test_correlation_matrices_of_numpy(folder: Path) -> None:
    """A correlation matrix has a diagonal of 0.9999999999999998, and in single precision is not quite symmetric."""
    series = np.random.default_rng(0).normal(size=(6, 50))
    np.save(folder / "a" / "z1.NPY", np.corrcoef(series))
    np.save(folder / "a" / "z2.npy", np.corrcoef(series).astype(np.float32))
    with (folder / "a" / "z1.NPY").open("wb") as file:
        np.save(file, np.corrcoef(series))
    (folder / "a" / "z1.NPY.npy").unlink(missing_ok=True)
    data = cg.load_dataset(folder, binarize="percentile:95")
    assert {"z1", "z2"} < set(data.names)
    np.save(folder / "a" / "z3.npy", np.corrcoef(series) * 1j)
    with pytest.raises(FileError, match="z3.npy: .*complex"):
        cg.load_dataset(folder, binarize="percentile:95")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    for name, matrix in zip("pq", MATRICES, strict=False):
        np.savetxt(folder / f"{name}_connectivity_matrix_file.txt", matrix)
        (folder / f"{name}_region_names_full_file.txt").write_text("Left A\nRight A\nB\nB\nC\n\n")
        (folder / f"{name}_region_xyz_centers_file.txt").write_text("1 2 3\n" * 6)
    return folder


def test_raw_files(raw: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(raw, labels={"p": 1, "q": 2}, binarize="threshold:0.5")
    assert data.classes == ("1", "2")
    assert data.atlas.names == ("Left A", "Right A", "B (1)", "B (2)", "C", "unnamed")
    assert data.atlas.hemispheres == ("L", "R", "", "", "", "")
    table = tmp_path / "labels.csv"
    table.write_text("\ufeffname,label\np,x\nq,y\n", encoding="utf-8")
    assert cg.load_dataset(raw, labels=table).classes == ("x", "y")
    for content, message in (
        (b"name,label\np\nq,y\n", "line 2 has no label"),
        (b"name,label\np,x\nq,y\np,y\n", "contains two labels for 'p': x and y"),
        ("name,label\np,ä\n".encode("latin-1"), "cannot be read"),
    ):
        table.write_bytes(content)
        with pytest.raises(FileError, match=f"labels.csv.*{message}"):
            cg.load_dataset(raw, labels=table)
    with pytest.raises(InputError, match="labels must be a mapping of names to classes.*not list"):
        cg.load_dataset(raw, labels=["x", "y"])
    with pytest.raises(FileError, match="raw: at least two classes"):
        cg.load_dataset(raw, labels={"p": "x", "q": "x"})
    (raw / "q_region_xyz_centers_file.txt").write_text("1 2\n" * 6)
    with pytest.raises(FileError, match="q_region_xyz_centers_file.txt: must contain one point .* for each ROI"):
        cg.load_dataset(raw, labels={"p": "x", "q": "y"})


def test_folder_of_matrices_with_a_table_of_labels(tmp_path: Path) -> None:
    for name, matrix in zip(("s1", "s2", "s3"), MATRICES, strict=False):
        write(tmp_path / f"{name}.csv", matrix)
    (tmp_path / "labels.csv").write_text("name,label\ns1,patient\ns2,control\ns3,patient\ns9,control\n")
    (tmp_path / "._s1.csv").write_bytes(b"metadata that macOS writes")
    data = cg.load_dataset(tmp_path, labels=tmp_path / "labels.csv")
    assert data.classes == ("control", "patient")
    assert data.names == ("s1", "s2", "s3")
    assert data.labels.tolist() == [1, 0, 1]
    assert (data.adjacency[0] == MATRICES[0]).all()
    (tmp_path / "labels.csv").rename(tmp_path / "labels.md")
    bids = tmp_path / "participants.tsv"
    bids.write_text("participant_id\tage\tdiagnosis\ns1\t9\tpatient\ns2\t8\t control\ns3\t7\tpatient\n")
    assert cg.load_dataset(tmp_path, labels=bids).labels.tolist() == [1, 0, 1]
    bids.write_text("who\twhat\nx\ty\tz\n")
    with pytest.raises(FileError, match="participants.tsv: needs a column name .*; found the columns who, what"):
        cg.load_dataset(tmp_path, labels=bids)
    bids.unlink()
    series = pd.Series({"s1": "patient", "s2": "control", "s3": "patient"})
    assert cg.load_dataset(tmp_path, labels=series).labels.tolist() == [1, 0, 1]
    (tmp_path / "labels.md").rename(tmp_path / "labels.csv")
    with pytest.raises(InputError, match="labels has no entry, or n/a, for s2; every subject"):
        cg.load_dataset(tmp_path, labels={"s1": "a", "s3": "b", "labels": "a"})
    with pytest.raises(FileError, match=r"one for each class, or labels= .*found no subfolders of matrices$"):
        cg.load_dataset(tmp_path)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "notes.md").touch()
    with pytest.raises(FileError, match=r"contains no matrices \(.*\); files of unknown format are ignored: '\.md'"):
        cg.load_dataset(tmp_path / "none", labels={})


def test_table_of_labels_in_bids_style(tmp_path: Path) -> None:
    for name, matrix in zip(("sub-01_relmat", "sub-02_relmat", "sub-03_relmat"), MATRICES, strict=False):
        np.savetxt(tmp_path / f"{name}.csv", matrix, delimiter=",")
    table = tmp_path / "participants.md"
    table.write_text("participant_id,group\nsub-01,patient\nsub-02,control\nsub-03,patient\nsub-04,n/a\n")
    data = cg.load_dataset(tmp_path, labels=table)
    assert (data.names, data.labels.tolist()) == (("sub-01", "sub-02", "sub-03"), [1, 0, 1])
    assert cg.load_dataset(tmp_path, labels=table, control="patient").classes == ("patient", "control")
    table.write_text("participant_id,group\nsub-01,1\nsub-02,2\nsub-03,1\n")
    assert cg.load_dataset(tmp_path, labels=table, control=2).classes == ("2", "1")
    table.write_text("participant_id,group\nsub-01,patient\nsub-02,n/a\nsub-03,patient\n")
    with pytest.raises(InputError, match="labels has no entry, or n/a, for sub-02_relmat"):
        cg.load_dataset(tmp_path, labels=table)
    table.write_text("participant_id,group\nsub-01,ASD\nsub-02,asd\nsub-03,TD\n")
    with pytest.raises(FileError, match="'ASD' and 'asd' differ only in upper and lower case"):
        cg.load_dataset(tmp_path, labels=table)
    with pytest.raises(InputError, match="labels has no entry, or n/a, for sub-02_relmat"):
        cg.load_dataset(tmp_path, labels=pd.Series({"sub-01": "ASD", "sub-02": np.nan, "sub-03": "TD"}))
    with pytest.raises(
        InputError, match="labels must be a mapping of names to classes or the path of a table, not DataFrame"
    ):
        cg.load_dataset(tmp_path, labels=pd.read_csv(table))


ABIDE = "SUB_ID,FILE_ID,DX_GROUP,AGE_AT_SCAN,SEX,SITE_ID,comment\n"


@pytest.fixture
def abide(tmp_path: Path) -> Path:
    """Write matrices and a table as the phenotypes of ABIDE: DX_GROUP is 1 for autism and 2 for controls."""
    rows = [f"{50001 + k},Pitt_{50001 + k:07d},{1 + k % 2},{9.5 + k},{1 + k // 2},PITT," for k in range(4)]
    (tmp_path / "phenotypes.csv").write_text(ABIDE + "\n".join(rows) + "\n")
    (tmp_path / "study").mkdir()
    for k, matrix in enumerate(MATRICES[:4]):
        write(tmp_path / "study" / f"Pitt_{50001 + k:07d}.csv", matrix)
    return tmp_path


def test_tables_have_usual_columns_classes_and_attributes(abide: Path) -> None:
    data = cg.load_dataset(
        abide / "study", labels=abide / "phenotypes.csv", name_column="file_id", classes={"1": "ASD", "2": "TD"}
    )
    assert data.classes == ("TD", "ASD")
    assert data.labels.tolist() == [1, 0, 1, 0]
    assert data.attributes is not None
    assert data.attributes["AGE_AT_SCAN"].tolist() == [9.5, 10.5, 11.5, 12.5]
    assert data.attributes["SITE_ID"].tolist() == ["PITT"] * 4
    assert data.attributes["SUB_ID"].tolist() == ["50001", "50002", "50003", "50004"], "not a number to average"
    assert "comment" not in data.attributes, "a column without entries"
    assert "SUB_ID (mean)" not in data.summary()
    assert data.summary().loc["ASD", "AGE_AT_SCAN (mean)"] == 10.5
    loaded = cg.load_dataset(data.save(abide / "data.npz"))
    assert loaded.attributes is not None
    assert loaded.attributes.equals(data.attributes)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_have_any_delimiter_and_letter_case(abide: Path, delimiter: str) -> None:
    lines = ["Participant_ID,Diagnosis", *(f"Pitt_{50001 + k:07d},{'ab'[k % 2]}" for k in range(4))]
    (abide / "t.csv").write_text("\n".join(lines).replace(",", delimiter))
    data = cg.load_dataset(abide / "study", labels=abide / "t.csv")
    assert (data.classes, data.labels.tolist(), data.attributes) == (("a", "b"), [0, 1, 0, 1], None)


def test_wrong_tables_are_refused(abide: Path) -> None:
    study, table = abide / "study", abide / "phenotypes.csv"
    for options, message in (
        ({"name_column": "who"}, r"needs a column who; found .*\(--name-column\) to choose another"),
        (
            {"name_column": "FILE_ID", "label_column": "group"},
            "needs a column group; found the columns SUB_ID",
        ),
        (
            {"name_column": "FILE_ID", "classes": {"1": "ASD"}},
            "classes must name all entries .*; 2 are missing",
        ),
        ({"name_column": "SUB_ID"}, "labels has no entry, or n/a, for Pitt_0050001"),
    ):
        with pytest.raises(InputError, match=message):
            cg.load_dataset(study, labels=table, **options)
    with pytest.raises(InputError, match="are for a table of subjects: pass labels="):
        cg.load_dataset(study, classes={"1": "ASD"})


def test_tables_on_the_command_line(abide: Path) -> None:
    words = ["data", "import", "study", "--labels", "phenotypes.csv", "--name-column", "FILE_ID", "--out", "out.npz"]
    done = countergraph(*words, "--classes", "1=ASD,2=TD", cwd=abide)
    assert done.returncode == 0, done.stderr
    assert cg.load_dataset(abide / "out.npz").classes == ("TD", "ASD")
    failed = countergraph(*words, "--force", "--classes", "ASD", cwd=abide)
    assert failed.returncode == 2
    assert "--classes must be entries and names such as 1=ASD,2=TD, not 'ASD'" in failed.stderr
