"""The folder of the real cohorts for the benchmarks."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_ROOT = Path(__file__).parents[2] / "shared" / "data"


class SkippedError(Exception):
    """A benchmark cannot run on this machine; the message contains the reason."""


def real_data() -> Path:
    """Return the folder of the real cohorts; raise `SkippedError` if there is none."""
    root = Path(os.environ.get("COUNTERGRAPH_DATA", DEFAULT_ROOT))
    if not (root / "asd").is_dir():
        raise SkippedError(f"no real cohorts in {root}; set COUNTERGRAPH_DATA to their folder")
    return root
