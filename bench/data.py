"""Where the benchmarks find the real cohorts."""

from __future__ import annotations

import os
from pathlib import Path

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def real_data() -> Path | None:
    """Return the folder of the real cohorts, or None where there is none."""
    root = Path(os.environ.get("COUNTERGRAPH_DATA", BESIDE))
    return root if (root / "asd").is_dir() else None
