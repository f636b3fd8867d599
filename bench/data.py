"""Where the benchmarks find the real cohorts."""

from __future__ import annotations

import os
from pathlib import Path

BESIDE = Path(__file__).parents[2] / "shared" / "data"


class SkippedError(Exception):
    """A benchmark cannot be run here, and why."""


def real_data() -> Path:
    """Return the folder of the real cohorts."""
    root = Path(os.environ.get("COUNTERGRAPH_DATA", BESIDE))
    if not (root / "asd").is_dir():
        raise SkippedError("the real cohorts are neither in ../shared/data nor where COUNTERGRAPH_DATA points")
    return root
