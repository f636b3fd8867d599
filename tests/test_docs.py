"""The documentation, tested against the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import countergraph as cg
from countergraph.search.methods import PHASES

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_the_python_of_the_page_on_data_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "datasets.md").read_text("utf-8"), re.DOTALL)
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "patient" in done.stdout
    assert done.stdout.splitlines()[-1].isdecimal()


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["README.md", "docs/explanations.md", "docs/constraints.md", "docs/searches.md", "docs/weighted.md"]
)
def test_the_python_of_the_docs_runs(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "would have been classified as" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", ["classifiers.md", "experiments.md"])
def test_the_python_of_short_pages_runs(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_search_of_the_contributing_guide_works(cohort: cg.GraphDataset, model: cg.Model, monkeypatch) -> None:
    from countergraph.search.methods import PHASES, Phase

    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    exec(re.sub(r"^   ", "", block, flags=re.MULTILINE), names)
    monkeypatch.setitem(PHASES, "doubling", Phase("doubling", "forward", names["doubling"], "", ""))
    results = cg.find_counterfactuals(model, cohort, "doubling+obs", runs=2)
    assert len(results.found) == len(results)
    assert all(model.predict(each.edges[None])[0] != each.original_label for each in results if each.edges is not None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_every_search_and_every_command_is_documented() -> None:
    searches = (ROOT / "docs" / "searches.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | {phase.direction} | {phase.title}" in searches for name, phase in PHASES.items())
    from countergraph.cli.app import app

    commands = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    names = [command.name for command in app.registered_commands]
    assert all(f"`countergraph {name}" in commands for name in names)


def test_every_public_name_is_importable_and_documented_by_its_docstring() -> None:
    for name in cg.__all__:
        assert getattr(cg, name) is not None
        if callable(getattr(cg, name)):
            assert getattr(cg, name).__doc__, name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        cg.nonsense  # noqa: B018
