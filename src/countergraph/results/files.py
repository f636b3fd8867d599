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
    whole = {"format": FORMAT, "atlas": None if atlas is None else atlas.to_dict(), "results": plain}
    return write_atomic(Path(path), json.dumps(whole).encode())


def load_results(path: str | Path) -> Counterfactuals:
    """Read results that `Counterfactuals.save` wrote."""
    path = Path(path)
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise FileError(f"{path}: is not a file of results, as Counterfactuals.save writes it")
        atlas = None if plain["atlas"] is None else Atlas.from_dict(plain["atlas"])
        return Counterfactuals([Counterfactual.from_dict(each, atlas) for each in plain["results"]])
    except FileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"{path}: cannot be read as results ({error})") from error
