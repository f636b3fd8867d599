"""Atlases: names, coordinates and networks of the ROIs of a parcellation."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from countergraph.errors import FileError, InputError, unknown_name
from countergraph.graphs.pairs import Floats


@dataclass(frozen=True, eq=False)
class Atlas:
    """An ordered list of ROIs. The position of an ROI in the list is its number in every graph.

    Parameters
    ----------
    names
        One name for each ROI. Repeated names get a number, so that all names are different.
    coordinates
        Centres in MNI space, in millimetres, shape (n, 3); None if unknown.
    hemispheres
        "L", "R" or "" (midline) for each ROI; None if unknown.
    networks
        The lobe or functional network of each ROI; None if unknown.
    name
        The name of the atlas.
    """

    names: tuple[str, ...]
    coordinates: Floats | None = None
    hemispheres: tuple[str, ...] | None = None
    networks: tuple[str, ...] | None = None
    name: str = "unnamed"
    _index: dict[str, int] = field(init=False, repr=False)

    def __init__(
        self,
        names: Sequence[str],
        coordinates: ArrayLike | None = None,
        hemispheres: Sequence[str] | None = None,
        networks: Sequence[str] | None = None,
        name: str = "unnamed",
    ) -> None:
        n = len(names)
        if n < 2:
            raise InputError(f"an atlas needs at least 2 ROIs, not {n}")
        for argument, values in (("hemispheres", hemispheres), ("networks", networks)):
            if values is not None and len(values) != n:
                raise InputError(f"{argument} must have one entry for each of the {n} ROIs, not {len(values)}")
        if networks is not None and any(each is None or each != each for each in networks):
            raise InputError("networks must contain one name for each ROI; some are missing (None or NaN)")
        centres = None if coordinates is None else _centres(coordinates, n)
        unique_names = _make_unique([str(each) for each in names])
        object.__setattr__(self, "names", unique_names)
        object.__setattr__(self, "coordinates", centres)
        object.__setattr__(self, "hemispheres", None if hemispheres is None else tuple(map(str, hemispheres)))
        object.__setattr__(self, "networks", None if networks is None else tuple(map(str, networks)))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_index", {each: i for i, each in enumerate(unique_names)})

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Atlas({self.name!r}, {len(self)} ROIs)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atlas) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.names))

    def index(self, name: str) -> int:
        """Return the number of the ROI with this name."""
        try:
            return self._index[name]
        except KeyError:
            raise unknown_name("ROI", name, self.names) from None

    def distance(self, i: int, j: int) -> float:
        """Return the distance between the centres of two ROIs in millimetres; NaN if unknown."""
        if self.coordinates is None:
            return float("nan")
        return float(np.linalg.norm(self.coordinates[i] - self.coordinates[j]))

    def to_dict(self) -> dict[str, Any]:
        """Return the atlas as lists and strings, for JSON."""
        return {
            "name": self.name,
            "names": list(self.names),
            "coordinates": None if self.coordinates is None else self.coordinates.tolist(),
            "hemispheres": None if self.hemispheres is None else list(self.hemispheres),
            "networks": None if self.networks is None else list(self.networks),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Atlas:
        """Create an atlas from the output of `to_dict`; files before 0.10 have the key "regions" for the networks."""
        renamed = {"networks" if key == "regions" else key: value for key, value in plain.items()}
        return cls(**{**renamed, "names": current_names(plain["names"])})

    @classmethod
    def numbered(cls, n_rois: int) -> Atlas:
        """Create an atlas of ROIs without names, called "ROI 0", "ROI 1", ..."""
        return cls([f"ROI {i}" for i in range(n_rois)], name=f"{n_rois} numbered ROIs")


def current_names(names: Sequence[str]) -> Sequence[str]:
    """Return the names of ROIs in a file; files before 0.10 call ROIs without names "region 0", "region 1", ..."""
    unnamed = all(name == f"region {i}" for i, name in enumerate(names))
    return [f"ROI {i}" for i in range(len(names))] if unnamed else names


ATLASES = {"aal116": "AAL-116"}
"""The built-in atlases: the argument of `load_atlas`, and the title."""


def load_atlas(source: str | Path, name: str | None = None) -> Atlas:
    """Load a built-in atlas by its name, or a table of ROIs from a file.

    Parameters
    ----------
    source
        ``"aal116"``: the 116 ROIs of the AAL atlas (Tzourio-Mazoyer et al. 2002), with MNI centres and lobes. Or the
        path of a table, separated by tabs or commas. It needs a column "name". The columns "x", "y", "z",
        "hemisphere", and "network" (or "region") are optional.
    name
        The title of the atlas; by default the name of the file without its suffix.
    """
    if str(source) in ATLASES:
        return _built_in(str(source))
    return _read_table(Path(source), name or Path(source).stem)


@lru_cache(maxsize=8)
def _built_in(name: str) -> Atlas:
    return _read_table(Path(str(files("countergraph.graphs") / "atlases" / f"{name}.tsv")), ATLASES[name])


def _read_table(path: Path, name: str) -> Atlas:
    try:
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read as a table of ROIs ({error})") from error
    if len(lines) < 3:
        raise FileError(f"{path}: an atlas table needs a header and at least two ROIs, one per line")
    header, *rows = (line.split("\t") for line in lines) if "\t" in lines[0] else csv.reader(lines)
    if "name" not in header:
        raise FileError(f"{path}: an atlas table needs a column 'name'; found the columns {', '.join(header)}")
    if any(len(row) != len(header) for row in rows):
        raise FileError(f"{path}: every row of the atlas table needs {len(header)} entries, like the header")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    coordinates = None
    if {"x", "y", "z"} <= set(header):
        try:
            coordinates = np.array([columns["x"], columns["y"], columns["z"]], dtype=float).T
        except ValueError as error:
            raise FileError(f"{path}: the coordinates x, y, z must be numbers ({error})") from None
    try:
        return Atlas(
            columns["name"], coordinates, columns.get("hemisphere"), columns.get("network", columns.get("region")), name
        )
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def _centres(coordinates: ArrayLike, n: int) -> NDArray[np.float64]:
    try:
        centres = np.array(coordinates, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"coordinates must be {n} points (x, y, z) ({error})") from None
    if centres.shape != (n, 3):
        raise InputError(f"coordinates must be {n} points (x, y, z), not an array of shape {centres.shape}")
    if not np.isfinite(centres).all():
        raise InputError("coordinates must be finite; some are NaN or infinite")
    centres.flags.writeable = False
    return centres


def _make_unique(names: list[str]) -> tuple[str, ...]:
    """Append a number to names that occur more than once: Frontal Pole (1), Frontal Pole (2)."""
    total, used = Counter(names), set(names)
    unique, last_number = [], Counter[str]()
    for name in names:
        numbered = name
        while total[name] > 1 and numbered in used:
            last_number[name] += 1
            numbered = f"{name} ({last_number[name]})"
        used.add(numbered)
        unique.append(numbered)
    return tuple(unique)
