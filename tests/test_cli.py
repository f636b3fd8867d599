"""The command line: output, error messages and exit codes."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import countergraph as cg
from tests.command_line import countergraph, start_command


def test_show_and_import(workspace_folder: Path) -> None:
    shown = countergraph("data", "show", "study", cwd=workspace_folder)
    assert shown.returncode == 0, shown.stderr
    assert "24 graphs with 20 ROIs (atlas: 20 numbered ROIs)" in shown.stdout
    assert "hc" in shown.stdout
    imported = countergraph("data", "import", "study", "--out", "mine.npz", "--json", cwd=workspace_folder)
    assert json.loads(imported.stdout)["graphs"] == 24
    again = countergraph("data", "show", "mine.npz", "--json", cwd=workspace_folder)
    report = json.loads(again.stdout)
    assert report["classes"] == ["hc", "ms"]
    assert report["names"][0] == "p 0"
    assert [row["graphs"] for row in report["summary"]] == [12, 12]
    failed = countergraph("data", "import", "study", "--out", "mine.npz", cwd=workspace_folder)
    assert failed.returncode == 2
    assert "mine.npz exists" in failed.stderr
    assert (
        countergraph("data", "import", "study", "--out", "mine.npz", "--force", "-q", cwd=workspace_folder).stdout == ""
    )


def test_train_then_explain(workspace_folder: Path) -> None:
    trained = countergraph(
        "train", "study", "--classifier", "svm", "--set", "alpha=0.05", "--out", "own.cgm", cwd=workspace_folder
    )
    assert trained.returncode == 0, trained.stderr
    for words in ("the training graphs", "held-out graphs", "always predicting the larger class", "saved to own.cgm"):
        assert words in trained.stdout
    explained = countergraph("explain", "study", "own.cgm", "--subject", "p 3", "--out", "p.json", cwd=workspace_folder)
    assert explained.returncode == 0, explained.stderr
    assert "p 3 is classified as" in explained.stdout
    assert "calls of the model" in explained.stdout
    [saved] = json.loads((workspace_folder / "p.json").read_text())["results"]
    assert saved["sentence"] in explained.stdout.replace("\n", " ")


def test_json_output_equals_the_results_of_python(workspace_folder: Path) -> None:
    words = (
        "explain",
        "cohort.npz",
        "model.cgm",
        "--subject",
        "subject-005",
        "--method",
        "dfs+lbs",
        "--seed",
        7,
        "--runs",
        3,
    )
    results = json.loads(countergraph(*words, "--json", cwd=workspace_folder).stdout)
    data, model = cg.load_dataset(workspace_folder / "cohort.npz"), cg.load_model(workspace_folder / "model.cgm")
    expected = cg.find_counterfactuals(model, data.subset(["subject-005"]), "dfs+lbs", data, seed=7, runs=3)
    measures = cg.plausibility(expected, data).drop(columns=["subject", "run"]).to_dict("records")
    plain = [each.to_dict() | {"plausibility": row} for each, row in zip(expected, measures, strict=True)]
    assert results == plain
    quiet = countergraph(*words, "--quiet", cwd=workspace_folder)
    best = expected.closest()
    assert best is not None
    assert quiet.stdout.strip() == best.sentence
    assert quiet.stderr == ""


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(workspace_folder: Path, ending: str) -> None:
    path = workspace_folder / f"picture.{ending}"
    done = countergraph(
        "explain", "cohort.npz", "model.cgm", "--subject", "subject-002", "--out", path, cwd=workspace_folder
    )
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size > 10_000
    assert done.stderr == ""


def test_no_counterfactual_exits_with_code_1(workspace_folder: Path) -> None:
    done = countergraph(
        "explain", "cohort.npz", "model.cgm", "--subject", "subject-002", "--max-calls", 1, cwd=workspace_folder
    )
    assert done.returncode == 1
    assert "No counterfactual was found within 1 call: the budget of calls is spent." in done.stdout
    as_json = countergraph(
        "explain",
        "cohort.npz",
        "model.cgm",
        "--subject",
        "subject-002",
        "--max-calls",
        1,
        "--json",
        cwd=workspace_folder,
    )
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)[0]["found"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explain", "cohort.npz", "model.cgm", "--subject", "x"], "error: unknown subject 'x'"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "subject-01"], "did you mean subject-0"),
        (["explain", "cohort.npz", "cohort.npz", "--subject", "subject-001"], "cohort.npz: is not a model file"),
        (["explain", "study", "model.cgm", "--subject", "p 1"], "the model was trained with classes"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--method", "obs"], "must start with"),
        (
            ["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--out", "x.doc"],
            "--out must end in .json, .png, .svg, .pdf, not in .doc",
        ),
        (
            ["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--out", "no/x.png"],
            "no/x.png: the folder no does not exist",
        ),
        (
            ["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--runs", "0"],
            "runs must be an integer",
        ),
        (
            ["explain", "cohort.npz", "published", "--subject", "subject-001"],
            "the published rules are only for the cohorts asd and adhd",
        ),
        (["explain", "cohort.npz", "model.cgm"], "--subject"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "a", "--colour", "red"], "--colour"),
        (["train", "nowhere"], "unknown dataset, file or folder 'nowhere'"),
        (["train", "cohort.npz", "--model", "magic", "--out", "z.cgm"], "unknown model 'magic'"),
        (["train", "asd", "--out", "z.cgm"], "pass the folder that contains asd/"),
        (["data", "show", "synthetic", "--atlas", "aal116"], "unknown option 'atlas' for 'synthetic'"),
        (["data", "show", "model.cgm"], "model.cgm: is not a dataset file"),
    ],
)
def test_invalid_input_exits_with_code_2_and_without_traceback(
    workspace_folder: Path, words: list[str], message: str
) -> None:
    done = countergraph(*words, cwd=workspace_folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (workspace_folder / "z.cgm").exists()


def test_train_warns_if_all_graphs_get_the_same_class(workspace_folder: Path, tmp_path: Path) -> None:
    done = countergraph("train", workspace_folder / "cohort.npz", "--set", "alpha=5", "--out", tmp_path / "x.cgm", "-q")
    assert done.returncode == 0, done.stderr
    assert "warning: the model gives every graph the same class" in done.stderr


def test_target_equal_to_the_predicted_class_exits_with_code_1(workspace_folder: Path) -> None:
    words = ("explain", workspace_folder / "cohort.npz", workspace_folder / "model.cgm", "--subject", "subject-005")
    [result] = json.loads(countergraph(*words, "--json").stdout)
    name = result["classes"][result["original_label"]]
    assert name == result["original_class"]
    done = countergraph(*words, "--target", name, "-q")
    assert (done.returncode, done.stdout.strip()) == (1, f"subject-005 is already classified as {name}.")


def test_radius_that_takes_too_many_calls_is_not_proven(workspace_folder: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(workspace_folder / "cohort.npz")
    cg.train(data, "raw-edges", classifier="forest").save(tmp_path / "forest.cgm")
    words = (
        "explain",
        workspace_folder / "cohort.npz",
        tmp_path / "forest.cgm",
        "--subject",
        "subject-005",
        "--method",
        "ofs",
    )
    done = countergraph(*words, "--certify", 9)
    assert done.returncode == 0, done.stderr
    assert (
        "not proven: a radius of 9 among 190 pairs takes more than 10,000,000 calls; use a smaller radius"
        in done.stderr
    )
    assert "would have been classified as" in done.stdout


def test_methods_and_version() -> None:
    listed = json.loads(countergraph("methods", "--json").stdout)
    assert listed["methods"] == list(cg.list_methods())
    plain = countergraph("methods").stdout
    assert all(phase["title"] in plain for phase in listed["phases"])
    module = [sys.executable, "-m", "countergraph", "--version"]
    version = subprocess.run(module, capture_output=True, text=True, check=True).stdout
    assert version == countergraph("--version").stdout == f"countergraph {cg.__version__}\n"


def test_cli_does_not_import_large_libraries_at_start() -> None:
    code = (
        "import sys; from countergraph.cli.app import app; "
        "print([m for m in ('sklearn', 'matplotlib', 'nilearn', 'pandas', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_real_cohort_by_name(real_data: Path) -> None:
    done = countergraph("explain", "asd", "published", "--root", real_data, "--subject", "MaxMun_d_0051353", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MaxMun_d_0051353 is classified as ASD. If ")
    assert re.search(r"\d+ connections \(\d+ (between|within) the \w+", done.stdout), (
        "a long list is grouped by network"
    )


SLOW_TO_PROVE = """import json, sys, time
for number, line in enumerate(sys.stdin):
    if number == 600:
        open("proving", "w").close()
        time.sleep(60)
    graph = json.loads(line)
    print(json.dumps({{"id": graph["id"], "label": int(len(graph["edges"]) > {})}}), flush=True)
"""


def test_interrupted_proof_keeps_the_result(workspace_folder: Path, tmp_path: Path) -> None:
    n_edges = int(cg.load_dataset(workspace_folder / "cohort.npz").edges[3].sum())
    (tmp_path / "box.py").write_text(SLOW_TO_PROVE.format(n_edges + 4))
    words: list[object] = ["explain", workspace_folder / "cohort.npz", f"program:{shlex.quote(sys.executable)} box.py"]
    words += ["--subject", "subject-003", "--method", "ofs", "--max-calls", 300, "--certify", 2, "--out", "found.json"]
    running = start_command(*words, cwd=tmp_path)
    while not (tmp_path / "proving").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "subject-003 is classified as" in output
    [found] = json.loads((tmp_path / "found.json").read_text())["results"]
    assert found["subject"] == "subject-003"


def test_radius_under_constraints_is_not_proven(workspace_folder: Path) -> None:
    words = (
        "explain",
        workspace_folder / "cohort.npz",
        workspace_folder / "model.cgm",
        "--subject",
        "subject-003",
        "--only",
        "removed",
    )
    done = countergraph(*words, "--certify", "1")
    assert done.returncode == 0
    assert "not proven: a radius cannot be proven for a counterfactual under constraints" in done.stderr
    assert "No single change can be left out." in " ".join(done.stdout.split())
    failed = countergraph(*words, "--certify", "-1")
    assert failed.returncode == 2
    assert "certify must be an integer of at least 0" in failed.stderr


INCONSISTENT = """import json, sys
for number, line in enumerate(sys.stdin):
    graph = json.loads(line)
    dense = len(graph["edges"]) > {} or number == 450
    print(json.dumps({{"id": graph["id"], "label": int(dense)}}), flush=True)
"""


def test_inconsistent_model_proves_nothing(workspace_folder: Path, tmp_path: Path) -> None:
    n_edges = int(cg.load_dataset(workspace_folder / "cohort.npz").edges[3].sum())
    (tmp_path / "box.py").write_text(INCONSISTENT.format(n_edges + 4))
    box = f"program:{shlex.quote(sys.executable)} box.py"
    words = (
        "explain",
        workspace_folder / "cohort.npz",
        box,
        "--subject",
        "subject-003",
        "--method",
        "ofs",
        "--max-calls",
        300,
    )
    done = countergraph(*words, "--certify", 2, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nothing is proven: the black box gives different answers to the same graph" in done.stderr
    assert json.loads(done.stdout)[0]["certificate"]["proof"] == "nothing"


def test_names_with_brackets_are_printed_unchanged(workspace_folder: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(workspace_folder / "cohort.npz")
    cg.GraphDataset(data.edges, data.labels, classes=("hc [/b]", "[left]")).save(tmp_path / "x.npz")
    shown = countergraph("data", "show", tmp_path / "x.npz")
    assert shown.returncode == 0, shown.stderr
    assert "hc [/b]" in shown.stdout
    assert "[left]" in shown.stdout


def test_target_is_a_class_name_even_if_it_is_a_number(workspace_folder: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(workspace_folder / "cohort.npz")
    numbered = cg.GraphDataset(data.edges, data.labels, data.names, ("1", "2"), data.atlas)
    numbered.save(tmp_path / "x.npz")
    cg.train(numbered).save(tmp_path / "x.cgm")
    words = ("explain", "x.npz", "x.cgm", "--subject", "subject-002", "--json", "--target")
    results = {name: json.loads(countergraph(*words, name, cwd=tmp_path).stdout)[0] for name in ("1", "2")}
    assert {each["stopped"] for each in results.values()} == {"finished", "already in target class"}
    own = results["1"]["original_label"]
    assert results["1"]["original_class"] == ("1", "2")[own]
    assert results[("1", "2")[own]]["stopped"] == "already in target class"


def test_published_rule_of_an_imported_cohort(real_data: Path, tmp_path: Path) -> None:
    assert countergraph("data", "import", "asd", "--root", real_data, "--out", tmp_path / "asd.npz").returncode == 0
    words = ("explain", tmp_path / "asd.npz", "published", "--root", real_data, "--subject", "KKI_0050792", "-q")
    assert countergraph(*words).returncode == 0


def test_store_show_and_export(workspace_folder: Path, tmp_path: Path) -> None:
    data, model = cg.load_dataset(workspace_folder / "cohort.npz"), cg.load_model(workspace_folder / "model.cgm")
    with cg.Store(tmp_path / "store.sqlite") as store:
        cg.resume_counterfactuals(store, model, data, max_calls=30)
    shown = countergraph("store", "show", "store.sqlite", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "24 finished searches" in shown.stdout
    assert "seed" not in shown.stdout
    [row] = json.loads(countergraph("store", "show", "store.sqlite", "--json", cwd=tmp_path).stdout)
    assert (row["method"], row["searches"], row["max_calls"]) == ("learned", 24, 30)
    exported = countergraph("store", "export", "store.sqlite", "--out", "rows.csv", cwd=tmp_path)
    assert "24 searches -> rows.csv" in exported.stdout
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 25
    with cg.Store(tmp_path / "store.sqlite") as store:
        cg.resume_counterfactuals(store, model, data.subset([1]), "ofs+obs", seed=7)
    assert "seed" in countergraph("store", "show", "store.sqlite", cwd=tmp_path).stdout, (
        "columns that differ between settings are shown"
    )
    failed = countergraph("store", "show", "nothing.sqlite", cwd=tmp_path)
    assert (failed.returncode, failed.stderr) == (2, "error: nothing.sqlite: the file does not exist\n")


def test_certificates_are_written_to_files(workspace_folder: Path, tmp_path: Path) -> None:
    words = (
        "explain",
        workspace_folder / "cohort.npz",
        workspace_folder / "model.cgm",
        "--subject",
        "subject-005",
        "--method",
        "ofs",
    )
    done = countergraph(*words, "--certify", 1, "--runs", 2, "--out", "results.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert json.loads((tmp_path / "results.json").read_text())["results"] == printed
    assert [each.sentence for each in cg.load_results(tmp_path / "results.json")] == [
        each["sentence"] for each in printed
    ]
    assert {each["certificate"]["calls"] > 0 for each in printed} == {False, True}


DENSER = """import json, os, sys
if os.path.exists("unavailable"):
    raise SystemExit("the classifier is unavailable")
for line in sys.stdin:
    graph = json.loads(line)
    print(json.dumps({{"id": graph["id"], "label": int(len(graph["edges"]) > {})}}), flush=True)
"""


def test_explain_stores_finished_searches_and_continues(workspace_folder: Path, tmp_path: Path) -> None:
    program = f"program:{shlex.quote(sys.executable)} box.py"
    words = ("explain", workspace_folder / "cohort.npz", program, "--subject", "subject-005", "--json")
    options = ("--method", "ofs+obs", "--only", "added", "--store", "searches.sqlite")
    n_edges = cg.load_dataset(workspace_folder / "cohort.npz").subset(["subject-005"]).edges.sum()
    (tmp_path / "box.py").write_text(DENSER.format(n_edges + 3))
    first = countergraph(*words, *options, "--runs", 2, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    (tmp_path / "unavailable").touch()
    again = countergraph(*words, *options, "--runs", 2, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout), "no call is repeated"
    more = countergraph(*words, *options, "--runs", 3, cwd=tmp_path)
    assert more.returncode == 2
    assert "the classifier is unavailable" in more.stderr
    assert json.loads(more.stdout)[:2] == json.loads(first.stdout), "the stored results are printed"
    (tmp_path / "unavailable").unlink()
    (tmp_path / "box.py").write_text(DENSER.format(n_edges + 4))
    [other] = json.loads(countergraph(*words, *options, cwd=tmp_path).stdout)
    assert (other["distance"], json.loads(first.stdout)[0]["distance"]) == (5, 4), "another program has its own results"
    failed = countergraph(*words, *options, "--time-limit", 5, cwd=tmp_path)
    assert "--store keeps only finished searches, so it cannot be combined with --time-limit" in failed.stderr
