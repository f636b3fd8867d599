"""Labels of the subjects: tables of labels, and the order of the classes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from countergraph.errors import FileError, InputError

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
    "name": ("name", "participant_id", "subject"),
    "label": ("label", "diagnosis", "group", "class"),
}
"""Accepted column names of a table of labels, including those of BIDS."""
MISSING_LABELS = ("n/a", "na", "nan")
"""Entries that mark a missing label, in lower case."""


def as_labels(labels: Mapping[str, str] | str | Path) -> dict[str, str]:
    """Return the class of each subject by name, without missing labels."""
    if isinstance(labels, str | Path):
        classes = read_labels(Path(labels))
    elif not hasattr(labels, "items") or hasattr(labels, "columns"):
        raise InputError(
            f"labels must be a mapping of names to classes or the path of a table, not {type(labels).__name__}"
        )
    else:
        classes = {str(name): str(label).strip() for name, label in labels.items()}
    return {name: label for name, label in classes.items() if label.casefold() not in MISSING_LABELS}


def read_labels(path: Path) -> dict[str, str]:
    """Read a .csv or .tsv table with a column of names and a column of labels (see `LABEL_COLUMNS`)."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
    header = [name for name in rows[0] if name is not None] if rows else []
    chosen = [next((name for name in names if name in header), None) for names in LABEL_COLUMNS.values()]
    for names, column in zip(LABEL_COLUMNS.values(), chosen, strict=True):
        if column is None:
            raise FileError(
                f"{path}: needs a column {' or '.join(names)}; found the columns {', '.join(header) or '(none)'}"
            )
    labels: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        name, label = ((row[str(column)] or "").strip() for column in chosen)
        if not name or not label:
            raise FileError(f"{path}: line {number} has no {chosen[0] if not name else chosen[1]}")
        if labels.setdefault(name, label) != label:
            raise FileError(f"{path}: contains two labels for {name!r}: {labels[name]} and {label}")
    return labels


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
