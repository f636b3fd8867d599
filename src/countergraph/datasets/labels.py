"""Tables of subjects: labels and attributes, and the order of the classes."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from countergraph.errors import FileError, InputError

if TYPE_CHECKING:
    import pandas as pd

CONTROL_NAMES = (
    "control",
    "controls",
    "td",
    "tdc",
    "tc",
    "hc",
    "cn",
    "nc",
    "healthy",
    "typically developing",
)
"""Common names of control groups, in lower case; a class with such a name gets label 0."""
LABEL_COLUMNS = {
    "name": ("name", "participant_id", "subject", "subject_id", "file_id", "sub", "id"),
    "label": ("label", "diagnosis", "group", "class", "dx_group", "dx"),
}
"""Usual column names of a table of subjects, in lower case: those of BIDS, ABIDE and ADHD-200."""
MISSING_LABELS = ("n/a", "na", "nan")
"""Entries that mark a missing label, in lower case."""
DELIMITERS = ("\t", ";", ",")
ID_WORDS = ("id", "sub", "subject", "participant")
"""A column whose name ends in one of these words identifies subjects; its numbers are kept as text."""


class Columns(NamedTuple):
    """The columns of a table of subjects."""

    name: str | None = None
    label: str | None = None
    """By default the first usual one (see `LABEL_COLUMNS`)."""
    classes: Mapping[str, str] | None = None
    """The names of the classes by the entries of the column of labels: ``{"1": "ASD", "2": "TD"}``."""


class SubjectTable(NamedTuple):
    """What is known about the subjects."""

    labels: dict[str, str]
    """The class of each subject by name, without missing labels."""
    attributes: dict[str, dict[str, str]]
    """The entries of the other columns, by subject."""


def as_table(labels: Mapping[str, str] | str | Path, columns: Columns) -> SubjectTable:
    """Return the table of subjects of a mapping of names to classes, or of the path of a table."""
    if isinstance(labels, str | Path):
        table = read_subject_table(Path(labels), columns)
    elif not hasattr(labels, "items") or hasattr(labels, "columns"):
        raise InputError(
            f"labels must be a mapping of names to classes or the path of a table, not {type(labels).__name__}"
        )
    else:
        table = SubjectTable({str(name): str(label).strip() for name, label in labels.items()}, {})
    known = {name: label for name, label in table.labels.items() if label.casefold() not in MISSING_LABELS}
    return table._replace(labels=_class_names(known, columns.classes))


def _class_names(labels: dict[str, str], classes: Mapping[str, str] | None) -> dict[str, str]:
    if classes is None:
        return labels
    renamed = {str(entry).strip(): str(name).strip() for entry, name in classes.items()}
    unknown = sorted({label for label in labels.values() if label not in renamed})
    if unknown:
        raise InputError(
            f"classes must name all entries of the column of labels; {', '.join(unknown[:5])} are missing, given are "
            f"{', '.join(f'{entry}={name}' for entry, name in renamed.items())}"
        )
    return {name: renamed[label] for name, label in labels.items()}


def read_subject_table(path: Path, columns: Columns = Columns()) -> SubjectTable:  # noqa: B008 - immutable
    """Read a table of subjects (.csv, .tsv, .txt): names, labels, and all other columns as attributes."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
    first = text.partition("\n")[0]
    delimiter = next((each for each in DELIMITERS if each in first), ",")
    rows = list(csv.DictReader(text.splitlines(), delimiter=delimiter))
    header = [name for name in rows[0] if name is not None] if rows else []
    name_column = _column(path, header, "name", columns.name)
    label_column = _column(path, header, "label", columns.label)
    labels: dict[str, str] = {}
    attributes: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, start=2):
        name, label = ((row[column] or "").strip() for column in (name_column, label_column))
        if not name or not label:
            raise FileError(f"{path}: line {number} has no {label_column if name else name_column}")
        if labels.setdefault(name, label) != label:
            raise FileError(f"{path}: contains two labels for {name!r}: {labels[name]} and {label}")
        others = (column for column in header if column not in (name_column, label_column))
        attributes.setdefault(name, {column: (row[column] or "").strip() for column in others})
    return SubjectTable(labels, attributes)


def _column(path: Path, header: Sequence[str], kind: str, wanted: str | None) -> str:
    """Return a column by its name; upper and lower case do not matter."""
    by_key = {name.strip().casefold(): name for name in reversed(header)}
    names = LABEL_COLUMNS[kind] if wanted is None else (wanted,)
    found = next((by_key[name.casefold()] for name in names if name.casefold() in by_key), None)
    if found is None:
        raise FileError(
            f"{path}: needs a column {' or '.join(names)}; found the columns {', '.join(header) or '(none)'}. Pass "
            f"{kind}_column= (--{kind}-column) to choose another"
        )
    return found


def attribute_table(table: SubjectTable, names: Sequence[str]) -> pd.DataFrame | None:
    """Return the attributes of some subjects, one row for each; numbers as numbers, unless they identify subjects."""
    if not table.attributes or not all(name in table.attributes for name in names):
        return None
    import pandas as pd  # slow to import

    columns: dict[str, list[float] | list[str | None]] = {}
    for column in table.attributes[names[0]]:
        entries = [table.attributes[name][column] for name in names]
        if all(_is_missing(entry) for entry in entries):
            continue
        numbers = None if column.casefold().endswith(ID_WORDS) else _numbers(entries)
        columns[column] = [None if _is_missing(entry) else entry for entry in entries] if numbers is None else numbers
    return pd.DataFrame(columns) if columns else None


def _is_missing(entry: str) -> bool:
    return not entry or entry.casefold() in MISSING_LABELS


def _numbers(entries: Sequence[str]) -> list[float] | None:
    """Return entries as numbers, NaN if missing; None if one is not a number."""
    try:
        return [math.nan if _is_missing(entry) else float(entry) for entry in entries]
    except ValueError:
        return None


def subject_name(stem: str, labels: dict[str, str]) -> str:
    """Return the subject of a file by its stem: sub-01 for sub-01_relmat (BIDS), if only sub-01 has a label."""
    short = stem.partition("_")[0]
    return short if stem not in labels and short in labels else stem


def encode_labels(
    folder: Path, names: list[str], labels: dict[str, str], control: str | None
) -> tuple[list[int], list[str]]:
    """Return the label (0, 1, ...) of each subject, and the names of the classes."""
    missing = [name for name in names if name not in labels]
    if missing:
        raise InputError(
            f"labels has no entry, or n/a, for {', '.join(missing[:3])}; every subject of {folder} needs a label"
        )
    try:
        classes = order_classes(sorted({labels[name] for name in names}), control)
    except InputError as error:
        raise FileError(f"{folder}: {error}") from None
    return [classes.index(labels[name]) for name in names], classes


def order_classes(names: Sequence[str], control: str | None) -> list[str]:
    """Return the classes with the control group first, then the others in alphabetical order."""
    if len(names) < 2:
        raise InputError(f"at least two classes are needed; found only {', '.join(names) or 'none'}")
    control = None if control is None else str(control)
    spellings: dict[str, str] = {}
    for name in names:
        other = spellings.setdefault(name.strip().casefold(), name)
        if other != name:
            raise InputError(
                f"the classes {other!r} and {name!r} differ only in upper and lower case; use one spelling"
            )
    if control is not None and control not in names:
        raise InputError(f"control must be one of {', '.join(names)}, not {control!r}")
    candidates = [name for name in names if name.lower() in CONTROL_NAMES]
    first = control or (candidates[0] if len(candidates) == 1 else min(names))
    return [first, *sorted(name for name in names if name != first)]
