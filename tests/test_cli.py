"""The command line, as a shell sees it."""

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
from tests.command_line import begun, countergraph


def test_show_and_import(place: Path) -> None:
    shown = countergraph("data", "show", "study", cwd=place)
    assert shown.returncode == 0, shown.stderr
    assert "24 graphs on the 20 regions" in shown.stdout
    assert "hc" in shown.stdout
    imported = countergraph("data", "import", "study", "--out", "mine.npz", "--json", cwd=place)
    assert json.loads(imported.stdout)["graphs"] == 24
    again = countergraph("data", "show", "mine.npz", "--json", cwd=place)
    report = json.loads(again.stdout)
    assert report["classes"] == ["hc", "ms"]
    assert report["names"][0] == "p 0"
    assert [row["graphs"] for row in report["summary"]] == [12, 12]
    refused = countergraph("data", "import", "study", "--out", "mine.npz", cwd=place)
    assert refused.returncode == 2
    assert "mine.npz exists" in refused.stderr
    assert countergraph("data", "import", "study", "--out", "mine.npz", "--force", "-q", cwd=place).stdout == ""


def test_train_then_explain(place: Path) -> None:
    trained = countergraph(
        "train", "study", "--classifier", "svm", "--set", "alpha=0.05", "--out", "own.cgm", cwd=place
    )
    assert trained.returncode == 0, trained.stderr
    for words in ("graphs it learnt from", "did not see", "always answering the larger class", "saved to own.cgm"):
        assert words in trained.stdout
    asked = countergraph("explain", "study", "own.cgm", "--subject", "p 3", "--out", "p.json", cwd=place)
    assert asked.returncode == 0, asked.stderr
    assert "p 3 is classified as" in asked.stdout
    assert "questions to the model" in asked.stdout
    [saved] = json.loads((place / "p.json").read_text())["results"]
    assert saved["sentence"] in asked.stdout.replace("\n", " ")


def test_json_is_all_there_is_and_agrees_with_python(place: Path) -> None:
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
    results = json.loads(countergraph(*words, "--json", cwd=place).stdout)
    data, model = cg.load_dataset(place / "cohort.npz"), cg.load_model(place / "model.cgm")
    expected = cg.find_counterfactuals(model, data.subset(["subject-005"]), "dfs+lbs", data, seed=7, runs=3)
    measures = cg.plausibility(expected, data).drop(columns=["subject", "run"]).to_dict("records")
    plain = [each.to_dict() | {"plausibility": row} for each, row in zip(expected, measures, strict=True)]
    assert results == plain
    quiet = countergraph(*words, "--quiet", cwd=place)
    best = expected.closest()
    assert best is not None
    assert quiet.stdout.strip() == best.sentence
    assert quiet.stderr == ""


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(place: Path, ending: str) -> None:
    path = place / f"picture.{ending}"
    done = countergraph("explain", "cohort.npz", "model.cgm", "--subject", "subject-002", "--out", path, cwd=place)
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size > 10_000
    assert done.stderr == ""


def test_nothing_found_is_exit_code_1(place: Path) -> None:
    done = countergraph("explain", "cohort.npz", "model.cgm", "--subject", "subject-002", "--max-calls", 1, cwd=place)
    assert done.returncode == 1
    assert "No counterfactual was found within 1 question: the budget is used up." in done.stdout
    silent = countergraph(
        "explain", "cohort.npz", "model.cgm", "--subject", "subject-002", "--max-calls", 1, "--json", cwd=place
    )
    assert silent.returncode == 1
    assert json.loads(silent.stdout)[0]["found"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explain", "cohort.npz", "model.cgm", "--subject", "x"], "error: unknown subject 'x'"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "subject-01"], "did you mean subject-0"),
        (["explain", "cohort.npz", "cohort.npz", "--subject", "subject-001"], "cohort.npz: is not a model file"),
        (["explain", "study", "model.cgm", "--subject", "p 1"], "the model was trained with classes"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--method", "obs"], "must start with"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--out", "x.doc"], "--out writes .json"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--out", "no/x.png"], "no folder no"),
        (
            ["explain", "cohort.npz", "model.cgm", "--subject", "subject-001", "--runs", "0"],
            "runs must be an integer",
        ),
        (["explain", "cohort.npz", "published", "--subject", "subject-001"], "published for the cohorts asd and adhd"),
        (["explain", "cohort.npz", "model.cgm"], "--subject"),
        (["explain", "cohort.npz", "model.cgm", "--subject", "a", "--colour", "red"], "--colour"),
        (["train", "nowhere"], "unknown dataset, file or folder 'nowhere'"),
        (["train", "cohort.npz", "--model", "magic", "--out", "z.cgm"], "unknown model 'magic'"),
        (["train", "asd", "--out", "z.cgm"], "pass the folder that contains asd/"),
        (["data", "show", "synthetic", "--atlas", "aal116"], "unknown option 'atlas' for 'synthetic'"),
        (["data", "show", "model.cgm"], "model.cgm: is not a dataset file"),
    ],
)
def test_bad_input_is_exit_code_2_and_no_traceback(place: Path, words: list[str], message: str) -> None:
    done = countergraph(*words, cwd=place)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (place / "z.cgm").exists()


def test_a_model_that_never_changes_its_mind_is_noted(place: Path, tmp_path: Path) -> None:
    done = countergraph("train", place / "cohort.npz", "--set", "alpha=5", "--out", tmp_path / "x.cgm", "-q")
    assert done.returncode == 0, done.stderr
    assert "it gives every graph the same class" in done.stderr


def test_a_wish_that_is_fulfilled_is_said_to_be(place: Path) -> None:
    words = ("explain", place / "cohort.npz", place / "model.cgm", "--subject", "subject-005")
    [result] = json.loads(countergraph(*words, "--json").stdout)
    name = result["classes"][result["original_class"]]
    done = countergraph(*words, "--target", name, "-q")
    assert (done.returncode, done.stdout.strip()) == (1, f"subject-005 is classified as {name} already.")


def test_what_takes_too_long_to_prove_is_not_proven_and_nothing_is_lost(place: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(place / "cohort.npz")
    cg.train(data, "raw-edges", classifier="forest").save(tmp_path / "forest.cgm")
    words = ("explain", place / "cohort.npz", tmp_path / "forest.cgm", "--subject", "subject-005", "--method", "ofs")
    done = countergraph(*words, "--certify", 9)
    assert done.returncode == 0, done.stderr
    assert "not proven: a radius of 9 among 190 pairs takes more than 10,000,000 questions" in done.stderr
    assert "would have been classified as" in done.stdout


def test_methods_and_version() -> None:
    listed = json.loads(countergraph("methods", "--json").stdout)
    assert listed["methods"] == list(cg.list_methods())
    plain = countergraph("methods").stdout
    assert all(phase["title"] in plain for phase in listed["phases"])
    module = [sys.executable, "-m", "countergraph", "--version"]
    alone = subprocess.run(module, capture_output=True, text=True, check=True).stdout
    assert alone == countergraph("--version").stdout == f"countergraph {cg.__version__}\n"


def test_the_help_does_not_wait_for_heavy_imports() -> None:
    code = (
        "import sys; from countergraph.cli.app import app; "
        "print([m for m in ('sklearn', 'matplotlib', 'nilearn', 'pandas', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_real_cohort_by_name(real_data: Path) -> None:
    done = countergraph("explain", "asd", "published", "--root", real_data, "--subject", "MaxMun_d_0051353", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MaxMun_d_0051353 is classified as ASD. If ")
    assert re.search(r"\d+ connections \(\d+ (between|within) the \w+", done.stdout), "told by region, since it is long"


SLOW_TO_PROVE = """import json, sys, time
for number, line in enumerate(sys.stdin):
    if number == 600:
        open("proving", "w").close()
        time.sleep(60)
    asked = json.loads(line)
    print(json.dumps({{"id": asked["id"], "label": int(len(asked["edges"]) > {})}}), flush=True)
"""


def test_what_was_found_is_not_lost_when_its_proof_is_interrupted(place: Path, tmp_path: Path) -> None:
    n_edges = int(cg.load_dataset(place / "cohort.npz").edges[3].sum())
    (tmp_path / "box.py").write_text(SLOW_TO_PROVE.format(n_edges + 4))
    words: list[object] = ["explain", place / "cohort.npz", f"program:{shlex.quote(sys.executable)} box.py"]
    words += ["--subject", "subject-003", "--method", "ofs", "--max-calls", 300, "--certify", 2, "--out", "found.json"]
    running = begun(*words, cwd=tmp_path)
    while not (tmp_path / "proving").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "subject-003 is classified as" in said
    [found] = json.loads((tmp_path / "found.json").read_text())["results"]
    assert found["subject"] == "subject-003"


def test_less_is_proven_where_more_is_too_much(place: Path) -> None:
    words = ("explain", place / "cohort.npz", place / "model.cgm", "--subject", "subject-003", "--only", "removed")
    done = countergraph(*words, "--certify", "1")
    assert done.returncode == 0
    assert "not proven: a radius is proven for free counterfactuals only" in done.stderr
    assert "No single change can be left out." in " ".join(done.stdout.split())
    refused = countergraph(*words, "--certify", "-1")
    assert refused.returncode == 2
    assert "certify must be an integer of at least 0" in refused.stderr


FICKLE_LATER = """import json, sys
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    dense = len(asked["edges"]) > {} or number == 450
    print(json.dumps({{"id": asked["id"], "label": int(dense)}}), flush=True)
"""


def test_a_model_that_contradicts_itself_proves_nothing_at_all(place: Path, tmp_path: Path) -> None:
    n_edges = int(cg.load_dataset(place / "cohort.npz").edges[3].sum())
    (tmp_path / "box.py").write_text(FICKLE_LATER.format(n_edges + 4))
    box = f"program:{shlex.quote(sys.executable)} box.py"
    words = ("explain", place / "cohort.npz", box, "--subject", "subject-003", "--method", "ofs", "--max-calls", 300)
    done = countergraph(*words, "--certify", 2, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nothing is proven: the black box answers the same question in two ways" in done.stderr
    assert json.loads(done.stdout)[0]["certificate"]["proof"] == "nothing"


def test_names_with_brackets_are_printed_as_they_are(place: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(place / "cohort.npz")
    cg.GraphDataset(data.edges, data.labels, classes=("hc [/b]", "[left]")).save(tmp_path / "x.npz")
    shown = countergraph("data", "show", tmp_path / "x.npz")
    assert shown.returncode == 0, shown.stderr
    assert "hc [/b]" in shown.stdout
    assert "[left]" in shown.stdout


def test_classes_that_are_numbers_are_named_by_name(place: Path, tmp_path: Path) -> None:
    data = cg.load_dataset(place / "cohort.npz")
    numbered = cg.GraphDataset(data.edges, data.labels, data.names, ("1", "2"), data.atlas)
    numbered.save(tmp_path / "x.npz")
    cg.train(numbered).save(tmp_path / "x.cgm")
    who = ("explain", "x.npz", "x.cgm", "--subject", "subject-002", "--json", "--target")
    ends = {name: json.loads(countergraph(*who, name, cwd=tmp_path).stdout)[0] for name in ("1", "2")}
    assert {each["stopped"] for each in ends.values()} == {"finished", "already in target class"}
    own = ends["1"]["original_class"]
    assert ends[("1", "2")[own]]["stopped"] == "already in target class"


def test_the_published_rule_of_an_imported_cohort(real_data: Path, tmp_path: Path) -> None:
    assert countergraph("data", "import", "asd", "--root", real_data, "--out", tmp_path / "asd.npz").returncode == 0
    words = ("explain", tmp_path / "asd.npz", "published", "--root", real_data, "--subject", "KKI_0050792", "-q")
    assert countergraph(*words).returncode == 0


def test_a_store_is_shown_and_exported(place: Path, tmp_path: Path) -> None:
    data, model = cg.load_dataset(place / "cohort.npz"), cg.load_model(place / "model.cgm")
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
    assert "seed" in countergraph("store", "show", "store.sqlite", cwd=tmp_path).stdout, "what tells them apart"
    refused = countergraph("store", "show", "nothing.sqlite", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (2, "error: nothing.sqlite: there is no such store\n")


def test_what_is_proven_is_written_too(place: Path, tmp_path: Path) -> None:
    words = ("explain", place / "cohort.npz", place / "model.cgm", "--subject", "subject-005", "--method", "ofs")
    done = countergraph(*words, "--certify", 1, "--runs", 2, "--out", "why.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert json.loads((tmp_path / "why.json").read_text())["results"] == told
    assert [each.sentence for each in cg.load_results(tmp_path / "why.json")] == [each["sentence"] for each in told]
    assert {each["certificate"]["calls"] > 0 for each in json.loads(done.stdout)} == {False, True}


DENSER = """import json, os, sys
if os.path.exists("dead"):
    raise SystemExit("gone")
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({{"id": asked["id"], "label": int(len(asked["edges"]) > {})}}), flush=True)
"""


def test_explain_keeps_finished_searches_and_goes_on(place: Path, tmp_path: Path) -> None:
    program = f"program:{shlex.quote(sys.executable)} box.py"
    words = ("explain", place / "cohort.npz", program, "--subject", "subject-005", "--json")
    options = ("--method", "ofs+obs", "--only", "added", "--store", "searches.sqlite")
    n_edges = cg.load_dataset(place / "cohort.npz").subset(["subject-005"]).edges.sum()
    (tmp_path / "box.py").write_text(DENSER.format(n_edges + 3))
    first = countergraph(*words, *options, "--runs", 2, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    (tmp_path / "dead").touch()
    again = countergraph(*words, *options, "--runs", 2, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout), "nothing is asked again"
    more = countergraph(*words, *options, "--runs", 3, cwd=tmp_path)
    assert more.returncode == 2
    assert "gone" in more.stderr
    assert json.loads(more.stdout)[:2] == json.loads(first.stdout), "what was found is not lost"
    (tmp_path / "dead").unlink()
    (tmp_path / "box.py").write_text(DENSER.format(n_edges + 4))
    [other] = json.loads(countergraph(*words, *options, cwd=tmp_path).stdout)
    assert (other["distance"], json.loads(first.stdout)[0]["distance"]) == (5, 4), "another program, another answer"
    refused = countergraph(*words, *options, "--time-limit", 5, cwd=tmp_path)
    assert "--store keeps finished searches only" in refused.stderr
