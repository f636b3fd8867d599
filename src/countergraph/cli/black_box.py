"""The black box that a word on the command line means, and the classes that it answers."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from countergraph.errors import InputError

if TYPE_CHECKING:
    from countergraph.graphs.dataset import GraphDataset

BlackBox = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file of 'train'; 'published' for the paper's own rule; an http address; or program:COMMAND.",
    ),
]


def open_black_box(model: str, data: GraphDataset, root: Path | None) -> object:
    """Return the black box that a word on the command line means."""
    if model == "published":
        from countergraph.classifiers.published_rules import load_published_rule

        cohort = data.about.get("cohort")
        if cohort is None:
            raise InputError("the paper's rules are published for the cohorts asd and adhd only; train a model instead")
        return load_published_rule(cohort, root)
    if model.startswith(("http://", "https://")):
        from countergraph.oracle.endpoint import Endpoint

        return Endpoint(model)
    if model.startswith("program:"):
        from countergraph.oracle.program import Program

        return Program(shlex.split(model.removeprefix("program:")))
    from countergraph.classifiers.model_files import load_model

    trained = load_model(model)
    trained.check_fits(data)
    return trained


def box_name(model: str) -> str | None:
    """Return by which name a store knows a black box that nobody can look into.

    A program is known by its command and by what is in the files that it names, so that it is another once they change.
    """
    if model.startswith("program:"):
        files = [Path(word) for word in shlex.split(model.removeprefix("program:")) if Path(word).is_file()]
        digest = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:16]
        return f"{model} {digest}"
    return model if model.startswith(("http://", "https://")) else None


def label_of(target: str | None, data: GraphDataset) -> int | str | None:
    """Read a class: its name or, unless a class is called so, its label."""
    return target if target is None or target in data.classes or not target.isdecimal() else int(target)
