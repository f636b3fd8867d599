"""The exceptions and warnings of countergraph.

Every exception also derives from the corresponding built-in exception, so ``except ValueError`` works::

    CountergraphError
    ├── InputError (ValueError)            invalid argument
    │   ├── NoPairAllowedError             the constraints allow no pair to change
    │   ├── TooManyCallsError              the proof of this radius needs too many calls
    │   ├── GraphError                     a matrix or vector that is not a simple graph
    │   └── FileError                      invalid file; the message starts with its path
    ├── NotFoundError (LookupError)        unknown name of a method, a subject, a dataset, ...
    └── StoppedError (RuntimeError)        something stopped a run; ``results`` holds the partial results
        ├── SearchError                    a search does not follow the protocol
        ├── CallbackError                  a callback raised; ``__cause__`` is what it raised
        └── BlackBoxError                  the black box raised; ``__cause__`` is what it raised
            └── AnswerError (ValueError)   the black box did not return one class per graph

    Interrupted (KeyboardInterrupt)            Ctrl-C during a search; ``except Exception`` does not catch it
    MismatchWarning (UserWarning)              the classifier and the data probably do not belong together
    InconsistentAnswersWarning (UserWarning)   the black box returns different classes for the same graph

`StoppedError` and `Interrupted` stop a run; their attribute ``results`` holds the partial results.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any


class CountergraphError(Exception):
    """Base class of all exceptions that countergraph raises deliberately."""


class InputError(CountergraphError, ValueError):
    """Invalid argument."""


class NoPairAllowedError(InputError):
    """The constraints allow no pair to change."""


class TooManyCallsError(InputError):
    """The proof of this radius needs too many calls; a smaller radius may be possible."""


class GraphError(InputError):
    """A matrix or vector that is not a simple undirected graph."""


class FileError(InputError):
    """Invalid file; the message starts with its path."""


class NotFoundError(CountergraphError, LookupError):
    """Unknown name."""


class StoppedError(CountergraphError, RuntimeError):
    """Something stopped a run; ``results`` holds the partial results."""

    results: Any = ()


class BlackBoxError(StoppedError):
    """The black box raised; ``__cause__`` is what it raised."""


class CallbackError(StoppedError):
    """A callback raised; ``__cause__`` is what it raised."""


class AnswerError(BlackBoxError, ValueError):
    """The black box did not return one class for each graph."""


class SearchError(StoppedError):
    """A search does not follow the protocol."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search; ``results`` holds the results found so far."""

    results: Any = ()


class MismatchWarning(UserWarning):
    """The classifier and the data probably do not belong together, so the explanations may be wrong."""


class InconsistentAnswersWarning(UserWarning):
    """The black box returns different classes for the same graph."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> NotFoundError:
    """Return the error for a name that is not in ``known``, with the closest known names as a hint."""
    names = list(known)
    close_matches = get_close_matches(str(name), names, n=3)
    if close_matches:
        hint = f"did you mean {' or '.join(close_matches)}?"
    elif len(names) <= 12:
        hint = f"known: {', '.join(names)}."
    else:
        hint = f"{len(names)} are known, for example {', '.join(names[:3])}."
    return NotFoundError(f"unknown {kind} {name!r}; {hint}")


def missing_extra(feature: str, package: str, extra: str) -> InputError:
    """Return the error for a feature whose optional dependency is not installed."""
    return InputError(f"{feature} needs {package}, which is not installed: pip install 'countergraph[{extra}]'")


def check_integers(**numbers: tuple[object, int]) -> None:
    """Raise `InputError` unless each number, given as ``name=(value, minimum)``, is an integer >= its minimum."""
    for name, (value, minimum) in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
            raise InputError(f"{name} must be an integer of at least {minimum}, not {value!r}")
