"""A black box given as text: the name of a Python object, or a call that creates it."""

from __future__ import annotations

import hashlib
import importlib
import sys
from functools import reduce
from pathlib import Path

from countergraph.errors import InputError

PREFIX = "python:"


def load_object(text: str) -> object:
    """Import the object of ``"python:module:object"``, or call the function of ``"python:module:function()"``.

    Modules of the working directory are found, too. The import runs the code of the module.

    Raises
    ------
    InputError
        If the module or the object does not exist, or if one of them raises.
    """
    module_name, name, is_call = _split(text)
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise InputError(f"{text}: the module {module_name!r} cannot be imported ({_describe(error)})") from error
    try:
        found: object = reduce(getattr, name.split("."), module)
    except AttributeError as error:
        raise InputError(f"{text}: {error}") from error
    if isinstance(found, type) and not is_call:
        raise InputError(f"{text}: {name} is a class; write {text}() to create an object of it")
    if not is_call:
        return found
    if not callable(found):
        raise InputError(f"{text}: {name} is a {type(found).__name__}, which cannot be called; remove the brackets")
    try:
        return found()
    except Exception as error:
        raise InputError(f"{text}: {name}() raised {_describe(error)}") from error


def object_name(text: str) -> str:
    """Return the text and a digest of the source of the module, which identify the object in a store."""
    module = importlib.import_module(_split(text)[0])
    path = getattr(module, "__file__", None)
    digest = "" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    return f"{text} {digest}"


def _split(text: str) -> tuple[str, str, bool]:
    """Return the module, the object, and whether it is to be called."""
    module, colon, expression = text.removeprefix(PREFIX).partition(":")
    name, is_call = expression.removesuffix("()"), expression.endswith("()")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
        raise InputError(f"write python:module:object or python:module:function(), not {text!r}")
    return module, name, is_call


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
