"""The commands for whole cohorts: demo, report and reproduce."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

import countergraph as cg
from tests.command_line import countergraph, start_command


@pytest.mark.slow
def test_demo_writes_a_sentence_a_table_and_a_picture(tmp_path: Path) -> None:
    done = countergraph("demo", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [sentence] = [line for line in done.stdout.splitlines() if "would have been classified as TD." in line]
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert sentence in " ".join(readme.replace("\n> ", " ").split()), "the README quotes the demo"
    assert "in ASD" in done.stdout
    assert (tmp_path / "here" / "person.png").stat().st_size > 50_000
    assert sentence in (tmp_path / "here" / "report.html").read_text(encoding="utf-8"), (
        "the report contains the same sentence"
    )
    last = done.stdout.strip().splitlines()[-1].split()
    explained = countergraph(*last[1:], "--quiet", cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "is classified as" in explained.stdout


@pytest.mark.slow
def test_report_in_all_formats(workspace_folder: Path, tmp_path: Path) -> None:
    few = ("--runs", "1", "--local-runs", "3", "--subject", "subject-002")
    words = ("report", workspace_folder / "cohort.npz", workspace_folder / "model.cgm", *few)
    done = countergraph(*words, "--out", tmp_path / "r.json", "--figures", tmp_path / "figures", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["figures"]) == len(list((tmp_path / "figures").glob("*.png"))) >= 8
    assert json.loads((tmp_path / "r.json").read_text())["headline"] == json.loads(done.stdout)["headline"]
    page = countergraph(*words, "--out", tmp_path / "r.html")
    assert page.returncode == 0, page.stderr
    assert "written:" in page.stdout
    tables = countergraph(*words, "--out", tmp_path / "tables", "--format", "csv")
    assert tables.returncode == 0, tables.stderr
    assert (tmp_path / "tables" / "rois.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "r.docx"), "the format of a report must be html, json, csv, not 'docx': use --format"),
        (("--out", "r.html", "--figure-format", "bmp"), "--figure-format must be one of png, svg, pdf, not 'bmp'"),
        (("--out", "r.html", "--subject", "missing"), "unknown subject 'missing'"),
        (
            ("--out", "r.html", "--target", "nothing"),
            "target must be one of the classes TD, ASD (or its label), not 'nothing'",
        ),
        (("--out", "nowhere/r.html"), "nowhere/r.html: the folder nowhere does not exist"),
    ],
)
def test_invalid_report_options_raise_before_the_search(
    workspace_folder: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = countergraph(
        "report", workspace_folder / "cohort.npz", workspace_folder / "model.cgm", *arguments, cwd=tmp_path
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_demo_does_not_overwrite_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "cohort.npz").write_text("other data")
    done = countergraph("demo", "--out", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine contains files that are not from a demo; choose another folder with --out" in done.stderr
    assert (tmp_path / "mine" / "cohort.npz").read_text() == "other data"


def test_report_with_failing_model_explains_how_to_continue(workspace_folder: Path, tmp_path: Path) -> None:
    words = (
        "report",
        workspace_folder / "cohort.npz",
        f"program:{shlex.quote(sys.executable)} -c exit(3)",
        "--out",
        "report.html",
    )
    for options, again in (
        ((), "to start again; with --store FILE it would continue"),
        (("--store", "s.sqlite"), "run the same command to continue\n"),
    ):
        done = countergraph(*words, *options, cwd=tmp_path)
        assert done.returncode == 2
        assert again in done.stderr
        assert "ended with exit code 3" in done.stderr
        assert not (tmp_path / "report.html").exists()


def test_invalid_arguments_of_reproduce(tmp_path: Path) -> None:
    failed = countergraph("reproduce", "figure7", cwd=tmp_path)
    assert failed.returncode == 2
    assert "unknown table or figure 'figure7'; did you mean" in failed.stderr
    failed = countergraph("reproduce", "all", cwd=tmp_path)
    assert "is not part of the package; pass the folder" in failed.stderr
    failed = countergraph("reproduce", "all", "--workers", "0", cwd=tmp_path)
    assert "--workers must be at least 1, not 0" in failed.stderr
    (tmp_path / "notes.md").write_text("Other text")
    failed = countergraph("reproduce", "all", "--page", "notes.md", cwd=tmp_path)
    assert "error: notes.md exists and is not a page of an earlier reproduction" in failed.stderr
    assert (tmp_path / "notes.md").read_text() == "Other text"


@pytest.mark.slow
def test_reproduce_writes_a_page_and_stops_at_ctrl_c(real_data: Path, tmp_path: Path) -> None:
    words = ("reproduce", "figure6", "figure4", "--data", real_data, "--quick", "--json")
    done = countergraph(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)["files"]
    assert files == ["results/reproduction.md", "results/figures/figure4.png", "results/figures/figure6.png"]
    page = (tmp_path / files[0]).read_text()
    assert "countergraph reproduce figure6 figure4" in page
    assert "**This is the quick version**" in page
    assert "1.83" in page
    without_search = countergraph(
        "reproduce", "figure4", "figure6", "--data", real_data, "--out", "new", "--no-search", cwd=tmp_path
    )
    assert without_search.returncode == 0, without_search.stderr
    assert (tmp_path / "new" / "reproduction.md").read_text().count("Not finished") == 2
    # Figure 8 takes many seconds after its first row, so the signal arrives during the search.
    running = start_command("reproduce", "figure8", "--data", real_data, cwd=tmp_path)
    with cg.Store(tmp_path / "results" / "store.sqlite") as store:
        before = store.count()
        while store.count() == before and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate()
        assert before < store.count() < before + 1000
    assert running.returncode == 130, errors
    assert "finished searches are in results/store.sqlite; run the same command to continue" in errors
