"""What can go wrong, as one tree.

Every error of countergraph is also the Python error that a caller would expect, so ``except ValueError`` works::

    CountergraphError
    ├── InputError (ValueError)            an argument that cannot be used
    │   ├── NoPairAllowedError               constraints under which no pair may change
    │   ├── TooManyCallsError                   a radius beyond what can be proven; less may be
    │   ├── GraphError                     a matrix or vector that is not a simple graph
    │   └── FileError                      a file that cannot be used; the message starts with its path
    ├── NotFoundError (LookupError)        a name that nobody knows: a method, a subject, a dataset
    └── StoppedError (RuntimeError)        something stopped a run; ``results`` holds the partial results
        ├── SearchError                    a search does not follow the protocol
        ├── CallbackError                  a callback raised; ``__cause__`` is what it raised
        └── BlackBoxError                  the black box raised; ``__cause__`` is what it raised
            └── AnswerError (ValueError)   the black box did not return one class per graph

    Interrupted (KeyboardInterrupt)            Ctrl-C during a search; ``except Exception`` does not catch it
    InconsistentAnswersWarning (UserWarning)   the black box answers differently when asked twice

`StoppedError` and `Interrupted` stop a run; their attribute ``results`` holds the partial results.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any


class CountergraphError(Exception):
    """The root of all errors that countergraph raises on purpose."""


class InputError(CountergraphError, ValueError):
    """An argument that cannot be used."""


class NoPairAllowedError(InputError):
    """Constraints under which no pair may change."""


class TooManyCallsError(InputError):
    """A radius beyond what can be proven; less may be."""


class GraphError(InputError):
    """A matrix or vector that is not a simple undirected graph."""


class FileError(InputError):
    """A file that cannot be used; the message starts with its path."""


class NotFoundError(CountergraphError, LookupError):
    """A name that nobody knows."""


class StoppedError(CountergraphError, RuntimeError):
    """Something stopped a run; ``results`` holds the partial results."""

    results: Any = ()


class BlackBoxError(StoppedError):
    """The black box raised; ``__cause__`` is what it raised."""


class CallbackError(StoppedError):
    """A callback raised; ``__cause__`` is what it raised."""


class AnswerError(BlackBoxError, ValueError):
    """The black box answered something that is not one class for each graph."""


class SearchError(StoppedError):
    """A search does not follow the protocol."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search; ``results`` is what was found until then."""

    results: Any = ()


class InconsistentAnswersWarning(UserWarning):
    """The black box answers differently when asked the same graph twice."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> NotFoundError:
    """Make the error for a name that is not in ``known``, with the closest ones as a hint."""
    names = list(known)
    close = get_close_matches(str(name), names, n=3)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    elif len(names) <= 12:
        hint = f"known: {', '.join(names)}."
    else:
        hint = f"there are {len(names)}, for example {', '.join(names[:3])}."
    return NotFoundError(f"no {kind} is called {name!r}; {hint}")


def check_integers(**numbers: tuple[object, int]) -> None:
    """Raise `InputError` unless each number, given as ``name=(value, least)``, is whole and at least its least."""
    for name, (value, least) in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
