"""The commands about whole cohorts: the demo, the report, the reproduction of the paper."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

import countergraph as cg
from tests.command_line import begun, countergraph


@pytest.mark.slow
def test_the_demo_ends_with_a_sentence_a_table_and_a_picture(tmp_path: Path) -> None:
    done = countergraph("demo", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [sentence] = [line for line in done.stdout.splitlines() if "would have been classified as TD." in line]
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert sentence in " ".join(readme.replace("\n> ", " ").split()), "the README quotes the demo"
    assert "in ASD" in done.stdout
    assert (tmp_path / "here" / "person.png").stat().st_size > 50_000
    assert sentence in (tmp_path / "here" / "report.html").read_text(encoding="utf-8"), "both tell the same"
    last = done.stdout.strip().splitlines()[-1].split()
    asked = countergraph(*last[1:], "--quiet", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    assert "is classified as" in asked.stdout


@pytest.mark.slow
def test_a_report_in_every_format(place: Path, tmp_path: Path) -> None:
    few = ("--runs", "1", "--local-runs", "3", "--subject", "subject-002")
    who = ("report", place / "cohort.npz", place / "model.cgm", *few)
    told = countergraph(*who, "--out", tmp_path / "r.json", "--figures", tmp_path / "figures", "--json")
    assert told.returncode == 0, told.stderr
    assert len(json.loads(told.stdout)["figures"]) == len(list((tmp_path / "figures").glob("*.png"))) >= 8
    assert json.loads((tmp_path / "r.json").read_text())["headline"] == json.loads(told.stdout)["headline"]
    page = countergraph(*who, "--out", tmp_path / "r.html")
    assert page.returncode == 0, page.stderr
    assert "written:" in page.stdout
    tables = countergraph(*who, "--out", tmp_path / "tables", "--format", "csv")
    assert tables.returncode == 0, tables.stderr
    assert (tmp_path / "tables" / "regions.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "r.docx"), "a report is written as html, json, csv, not 'docx'"),
        (("--out", "r.html", "--figure-format", "bmp"), "--figure-format is one of png, svg, pdf, not 'bmp'"),
        (("--out", "r.html", "--subject", "nobody"), "unknown subject 'nobody'"),
        (
            ("--out", "r.html", "--target", "nothing"),
            "target must be one of the classes TD, ASD (or its label), not 'nothing'",
        ),
        (("--out", "nowhere/r.html"), "there is no folder nowhere to write to"),
    ],
)
def test_a_report_that_cannot_be_is_refused_at_once(
    place: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = countergraph("report", place / "cohort.npz", place / "model.cgm", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_demo_overwrites_nothing_of_yours(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "cohort.npz").write_text("precious")
    done = countergraph("demo", "--out", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine holds files that are not of a demo" in done.stderr
    assert (tmp_path / "mine" / "cohort.npz").read_text() == "precious"


def test_a_report_whose_model_dies_says_how_to_lose_nothing(place: Path, tmp_path: Path) -> None:
    words = (
        "report",
        place / "cohort.npz",
        f"program:{shlex.quote(sys.executable)} -c exit(3)",
        "--out",
        "report.html",
    )
    for options, again in (((), "start over; with --store FILE it would go on"), (("--store", "s.sqlite"), "to go on")):
        done = countergraph(*words, *options, cwd=tmp_path)
        assert done.returncode == 2
        assert again in done.stderr
        assert "ended with exit code 3" in done.stderr
        assert not (tmp_path / "report.html").exists()


def test_reproduce_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    refused = countergraph("reproduce", "figure7", cwd=tmp_path)
    assert refused.returncode == 2
    assert "unknown table or figure 'figure7'; did you mean" in refused.stderr
    refused = countergraph("reproduce", "all", cwd=tmp_path)
    assert "is not part of the package; pass the folder" in refused.stderr
    assert "workers must be at least 1" in countergraph("reproduce", "all", "--workers", "0", cwd=tmp_path).stderr
    (tmp_path / "diary.md").write_text("Dear diary")
    refused = countergraph("reproduce", "all", "--page", "diary.md", cwd=tmp_path)
    assert "error: diary.md exists, and is no page of an earlier reproduction" in refused.stderr
    assert (tmp_path / "diary.md").read_text() == "Dear diary"


@pytest.mark.slow
def test_reproduce_writes_a_page_goes_on_and_stops_at_ctrl_c(real_data: Path, tmp_path: Path) -> None:
    words = ("reproduce", "figure6", "figure4", "--data", real_data, "--quick", "--json")
    done = countergraph(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)["files"]
    assert files == ["results/reproduction.md", "results/figures/figure4.png", "results/figures/figure6.png"]
    page = (tmp_path / files[0]).read_text()
    assert "countergraph reproduce figure6 figure4" in page
    assert "**This is the quick part**" in page
    assert "1.83" in page
    gaps = countergraph(
        "reproduce", "figure4", "figure6", "--data", real_data, "--out", "new", "--no-search", cwd=tmp_path
    )
    assert gaps.returncode == 0, gaps.stderr
    assert (tmp_path / "new" / "reproduction.md").read_text().count("Not finished") == 2
    # All of figure 8 takes many seconds after its first row: the signal comes in the middle.
    running = begun("reproduce", "figure8", "--data", real_data, cwd=tmp_path)
    with cg.Store(tmp_path / "results" / "store.sqlite") as store:
        before = store.count()
        while store.count() == before and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate()
        assert before < store.count() < before + 1000
    assert running.returncode == 130, errors
    assert "safe in results/store.sqlite; run the same command to go on" in errors
