"""Files of a report, whatever its people are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path

import pandas as pd

from countergraph.errors import FileError
from countergraph.graphs.files import write_atomic

LONGEST_NAME = 80


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write a folder with a CSV file for each table."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written ({error.strerror})") from error
    for name, table in zip(file_names(tables), tables.values(), strict=True):
        write_atomic(folder / f"{name}.csv", table.to_csv(index=False).encode())


def file_names(names: Iterable[str]) -> list[str]:
    """Turn any names into different ones that are safe and short enough for files."""
    taken: list[str] = []
    for name in names:
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:LONGEST_NAME]
        others = {other.casefold() for other in taken}
        numbered = (f"{safe}-{number}" for number in count(2))
        taken.append(next(each for each in chain([safe], numbered) if each.casefold() not in others))
    return taken
