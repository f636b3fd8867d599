"""Whose graph is of which class: tables of labels, and the order of the classes."""

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
COLUMNS = {
    "name": ("name", "participant_id", "subject"),
    "label": ("label", "diagnosis", "group", "class"),
}
"""What the columns of a table of labels may be called; those of BIDS among them."""
UNKNOWN = ("n/a", "na", "nan")
"""What says in a table that a label is not known."""


def as_labels(labels: Mapping[str, str] | str | Path) -> dict[str, str]:
    """Return the class of each subject, by name, as far as it is known."""
    if isinstance(labels, str | Path):
        told = read_labels(Path(labels))
    elif not hasattr(labels, "items") or hasattr(labels, "columns"):
        raise InputError(f"labels must map names to classes, or be the path of a table, not {type(labels).__name__}")
    else:
        told = {str(name): str(label).strip() for name, label in labels.items()}
    return {name: label for name, label in told.items() if label.casefold() not in UNKNOWN}


def read_labels(path: Path) -> dict[str, str]:
    """Read a table, commas or tabs between, with a column of names and one of labels, called as in `COLUMNS`."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from error
    header = [name for name in rows[0] if name is not None] if rows else []
    chosen = [next((name for name in names if name in header), None) for names in COLUMNS.values()]
    for what, column in zip(COLUMNS, chosen, strict=True):
        if column is None:
            raise FileError(f"{path}: needs a column called {' or '.join(COLUMNS[what])}; it has {', '.join(header)}")
    labels: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        name, label = ((row[str(column)] or "").strip() for column in chosen)
        if not name or not label:
            raise FileError(f"{path}: line {number} lacks a {chosen[0] if not name else chosen[1]}")
        if labels.setdefault(name, label) != label:
            raise FileError(f"{path}: labels {name!r} as {label} and as {labels[name]}")
    return labels


def subject_of(stem: str, given: dict[str, str]) -> str:
    """Return whose file it is: sub-01 also of sub-01_relmat, as BIDS calls it, if only that has a label."""
    short = stem.partition("_")[0]
    return short if stem not in given and short in given else stem


def coded(folder: Path, names: list[str], given: dict[str, str], control: str | None) -> tuple[list[int], list[str]]:
    """Return the label of each subject, and the classes."""
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"labels has no entry for {', '.join(missing[:3])}, or says n/a; every subject of {folder} needs one"
        )
    try:
        classes = order_classes(sorted({given[name] for name in names}), control)
    except InputError as error:
        raise FileError(f"{folder}: {error}") from None
    return [classes.index(given[name]) for name in names], classes


def order_classes(names: Sequence[str], control: str | None) -> list[str]:
    """Put the control group first, then the others in alphabetical order."""
    if len(names) < 2:
        raise InputError(f"at least two classes are needed to tell apart; found only {', '.join(names) or 'none'}")
    control = None if control is None else str(control)
    spellings: dict[str, str] = {}
    for name in names:
        other = spellings.setdefault(name.strip().casefold(), name)
        if other != name:
            raise InputError(f"the classes {other!r} and {name!r} differ in their letters' case only; write them alike")
    if control is not None and control not in names:
        raise InputError(f"control must be one of {', '.join(names)}, not {control!r}")
    usual = [name for name in names if name.lower() in CONTROL_NAMES]
    first = control or (usual[0] if len(usual) == 1 else min(names))
    return [first, *sorted(name for name in names if name != first)]
