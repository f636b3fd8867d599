"""Export a store to CSV or Parquet, row by row with constant memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from countergraph.errors import FileError, InputError, missing_extra
from countergraph.store.store import Store

FORMATS = (".csv", ".parquet")
BATCH = 10_000


def export(store: Store, path: str | Path) -> int:
    """Write all finished searches to a .csv or .parquet file, and return their number.

    ``flips``, the positions of the changed pairs, ``changed_values``, their values in a weighted network, and
    ``units``, the numbers of changed units, are lists in Parquet, and numbers separated by spaces in CSV.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InputError(
            f"the file to export to must end in {' or '.join(FORMATS)}, not in {path.suffix or path.name!r}"
        )
    partial = path.with_name(path.name + ".part")
    try:
        count = (_write_csv if path.suffix == ".csv" else _write_parquet)(store.rows(), partial)
        partial.replace(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        partial.unlink(missing_ok=True)
    return count


def _write_csv(rows: Iterator[dict[str, Any]], path: Path) -> int:
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for count, row in enumerate(rows, start=1):
            if count == 1:
                writer.writerow(row)
            writer.writerow(" ".join(map(str, each)) if isinstance(each, list) else each for each in row.values())
    return count


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("writing Parquet files", "pyarrow", "parquet") from error
    # Classes and targets are numbers for some black boxes and strings for others; a column needs one type.
    text = ("target", "original_class", "counterfactual_class")
    numbers = ("k", "max_calls", "seed", "confirm", "graph", "run", "distance", "calls", "minimal", "radius", "optimal")
    reals = ("seconds", "finished_at", "cost")
    count, writer = 0, None
    while batch := list(islice(rows, BATCH)):
        count += len(batch)
        for row in batch:
            row.update({name: None if row[name] is None else str(row[name]) for name in text})
        if writer is None:
            types = {**dict.fromkeys(numbers, pa.int64()), **dict.fromkeys(reals, pa.float64())}
            types |= {"flips": pa.list_(pa.int32()), "units": pa.list_(pa.int32())}
            types["changed_values"] = pa.list_(pa.float32())
            schema = pa.schema([(name, types.get(name, pa.string())) for name in batch[0]])
            writer = pq.ParquetWriter(path, schema)
        writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    if writer is None:
        raise InputError("the store contains no finished search")
    writer.close()
    return count
