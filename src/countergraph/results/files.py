"""Files of results, with the names of the ROIs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from countergraph.errors import FileError, InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.files import write_atomic
from countergraph.results.counterfactual import Counterfactual, Counterfactuals

FORMAT = "countergraph-results/1"
SHARED = ("original", "alternatives")
"""The arrays of weighted networks that many results share."""


def save_results(results: Counterfactuals, path: str | Path) -> Path:
    """Write results to a JSON file, which `load_results` reads back equal; all results must have the same atlas."""
    return save_plain_results(results, [each.to_dict() for each in results], path)


def save_plain_results(results: Counterfactuals, plain: list[dict[str, Any]], path: str | Path) -> Path:
    """Do the same for results that are plain values already, with additional keys."""
    atlas = results[0].atlas if len(results) else None
    if any(each.atlas != atlas for each in results):
        raise InputError(
            "results in one file must have the same atlas; these have different ones: save them to several files"
        )
    arrays: dict[str, int] = {}
    whole = {
        "format": FORMAT,
        "atlas": None if atlas is None else atlas.to_dict(),
        "cautions": list(results.cautions),
        "results": [_with_numbers(each, arrays) for each in plain],
        "arrays": list(arrays),
    }
    return write_atomic(Path(path), json.dumps(whole).encode())


def _with_numbers(plain: dict[str, Any], arrays: dict[str, int]) -> dict[str, Any]:
    """Return a result whose large arrays are replaced by their numbers: many results share them."""
    texts = {name: plain[name] for name in SHARED if isinstance(plain.get(name), str) and plain["weighted"]}
    return plain | {name: arrays.setdefault(text, len(arrays)) for name, text in texts.items()}


def _with_arrays(plain: dict[str, Any], arrays: list[str]) -> dict[str, Any]:
    return plain | {name: arrays[plain[name]] for name in SHARED if isinstance(plain.get(name), int)}


def load_results(path: str | Path) -> Counterfactuals:
    """Read results that `Counterfactuals.save` wrote."""
    path = Path(path)
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise FileError(f"{path}: is not a file of results, as Counterfactuals.save writes it")
        atlas = None if plain["atlas"] is None else Atlas.from_dict(plain["atlas"])
        results = [_with_arrays(each, plain.get("arrays", [])) for each in plain["results"]]
        return Counterfactuals(
            [Counterfactual.from_dict(each, atlas) for each in results], cautions=plain.get("cautions", ())
        )
    except FileError:
        raise
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise FileError(f"{path}: cannot be read as results ({error})") from error
