from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("own_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_explains(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "would have been classified as" in done.stdout
    assert "False" not in done.stdout


def test_there_is_an_example_for_each_type_of_black_box() -> None:
    assert {path.stem for path in EXAMPLES} == {
        *(f"own_{kind}" for kind in ("scikit_learn", "networkx", "torch", "program", "service", "confounds")),
        *(f"own_{kind}" for kind in ("nilearn", "brainnetcnn", "counts")),
    }
