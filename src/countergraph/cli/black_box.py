"""The black box of a command: a model file, a published rule, a Python object, a web service or a program."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from countergraph.errors import InputError
from countergraph.oracle.python_object import PREFIX, load_object, object_name

if TYPE_CHECKING:
    from countergraph.graphs.dataset import GraphDataset

BlackBox = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file of 'train'; 'published' for the rule of the paper; python:module:object for your own "
        "estimator or function, python:module:function() for one that a function creates; an http address; or "
        "program:COMMAND.",
    ),
]


def open_black_box(model: str, data: GraphDataset, root: Path | None) -> object:
    """Return the black box of the command-line argument MODEL."""
    if model == "published":
        from countergraph.classifiers.published_rules import load_published_rule

        cohort = data.about.get("cohort")
        if cohort is None:
            raise InputError("the published rules are only for the cohorts asd and adhd; train a model instead")
        return load_published_rule(cohort, root)
    if model.startswith(("http://", "https://")):
        from countergraph.oracle.endpoint import Endpoint

        return Endpoint(model)
    if model.startswith("program:"):
        from countergraph.oracle.program import Program

        return Program(shlex.split(model.removeprefix("program:")))
    if model.startswith(PREFIX):
        return load_object(model)
    from countergraph.classifiers.model_files import load_model

    trained = load_model(model)
    trained.check_fits(data)
    return trained


def box_name(model: str) -> str | None:
    """Return the name of a black box in a store, if its state cannot be inspected.

    The name of a program contains a digest of the files in its command, so that it changes with them.
    """
    if model.startswith("program:"):
        files = [Path(word) for word in shlex.split(model.removeprefix("program:")) if Path(word).is_file()]
        digest = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:16]
        return f"{model} {digest}"
    if model.startswith(PREFIX):
        from countergraph.store.fingerprint import can_be_inspected

        return None if can_be_inspected(load_object(model)) else object_name(model)
    return model if model.startswith(("http://", "https://")) else None
