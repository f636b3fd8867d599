"""Output files of a report, with safe file names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path

import pandas as pd

from countergraph.errors import FileError
from countergraph.graphs.files import write_atomic

MAX_NAME_LENGTH = 80
"""Maximum length of a file name without its suffix; leaves room for a number and the suffix."""


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write each table as a CSV file into ``folder``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written ({error.strerror})") from error
    for name, table in zip(file_names(tables), tables.values(), strict=True):
        write_atomic(folder / f"{name}.csv", table.to_csv(index=False).encode())


def file_names(names: Iterable[str]) -> list[str]:
    """Return a unique, safe and short file name for each name."""
    unique: list[str] = []
    for name in names:
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:MAX_NAME_LENGTH]
        used = {other.casefold() for other in unique}
        numbered = (f"{safe}-{number}" for number in count(2))
        unique.append(next(each for each in chain([safe], numbered) if each.casefold() not in used))
    return unique
