"""The answers of a black box: checks, and the conversion to labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from countergraph.errors import AnswerError
from countergraph.graphs.pairs import Floats, Label

Labels = NDArray[np.int64] | NDArray[np.str_]
Classes = tuple[str, ...]
LARGEST = 2**53
"""From here on, floating-point numbers do not represent all integers."""


class Scored(NamedTuple):
    """The classes of a batch of graphs, and the probabilities of all classes."""

    labels: Labels
    probabilities: Floats
    """The probability of each class for each graph (batch, classes)."""
    columns: Labels
    """The class of each column of ``probabilities``."""


def read_answers(answers: Any, count: int) -> Labels:  # noqa: ANN401
    """Check the answers of a black box: integers or strings, one for each of ``count`` graphs.

    Raises
    ------
    AnswerError
        If they are anything else.
    """
    try:
        array = np.asarray(answers)
    except ValueError as error:
        raise AnswerError(f"the black box must return one class per graph ({error})") from error
    if array.shape != (count,):
        raise AnswerError(
            f"the black box must return one class for each of the {count} graphs, an array of shape ({count},); "
            f"it returned shape {array.shape}"
        )
    _check_one_type(answers)
    if array.dtype.kind in "OUS" and all(isinstance(each, str) for each in array.tolist()):
        return array.astype(np.str_)
    if array.dtype.kind == "O":
        array = _unboxed(array)
    if array.dtype.kind in "ib":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind not in "uf":
        raise AnswerError(f"a class must be an integer or a string; the black box returned {array.flat[0]!r}")
    whole = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < LARGEST)
    if not whole.all():
        raise AnswerError(
            f"a class must be an integer or a string; the black box returned {array[~whole][0]}. If it returns "
            "probabilities, convert them to classes first, for example (p > 0.5).astype(int)"
        )
    return array.astype(np.int64)


def _unboxed(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Convert an array of objects to the type of its elements, if they have a common one."""
    try:
        return np.array(array.tolist())
    except ValueError:
        return array


def _check_one_type(answers: object) -> None:
    """Raise `AnswerError` for a mixture of strings and other types, which numpy would convert to strings."""
    given = answers.tolist() if isinstance(answers, np.ndarray) else answers
    if not isinstance(given, list | tuple):
        return
    strings = [isinstance(each, str) for each in given]
    if any(strings) and not all(strings):
        string, other = given[strings.index(True)], given[strings.index(False)]
        raise AnswerError(
            f"classes must be all integers or all strings; the black box returned {string!r} and {other!r}"
        )


def apply_meanings(answers: Labels, meanings: Mapping[Label, str]) -> Labels:
    """Translate checked answers to the names of classes."""
    unexpected = next((answer for answer in answers.tolist() if answer not in meanings), None)
    if unexpected is not None:
        listed = ", ".join(f"{answer!r} ({name})" for answer, name in meanings.items())
        raise AnswerError(f"the black box returned {unexpected!r}, which is none of {listed}")
    return np.array([meanings[answer] for answer in answers.tolist()], dtype=np.str_)


def to_labels(answers: Labels, own: Classes | None, wanted: Classes | None, possible: Sequence[Label]) -> Labels:
    """Convert checked answers to labels, indices into ``wanted``.

    Parameters
    ----------
    answers
        Integers or strings.
    own
        The names of the classes of the black box, by its integers; None if they are unknown.
    wanted
        The names of the classes in the order of the labels; None if any integer or string is a class.
    possible
        All possible answers, as far as they are known.
    """
    named = wanted if wanted is not None else own
    if named is None:
        return answers
    if answers.dtype.kind == "U":
        codes = {name: label for label, name in enumerate(named)}
        unexpected = next((name for name in answers.tolist() if name not in codes), None)
        if unexpected is not None:
            raise _none_of(named, repr(unexpected))
        return np.array([codes[name] for name in answers.tolist()], dtype=np.int64)
    numbered = own if own is not None else named
    if own is None and _are_names(named, possible):
        return np.array([named.index(str(answer)) for answer in answers.tolist()], dtype=np.int64)
    for extreme in (answers.min(initial=0), answers.max(initial=0)):
        if not 0 <= extreme < len(numbered):
            raise _none_of(numbered, str(extreme))
    if numbered == named:
        return answers
    return np.array([named.index(name) for name in numbered], dtype=np.int64)[answers]


def _are_names(classes: Classes, possible: Sequence[Label]) -> bool:
    """Check whether integers are names of classes such as "1" and "2", not labels; raise `AnswerError` if unclear."""
    given = [int(each) for each in possible if not isinstance(each, str)]
    if not any(str(each) in classes and classes.index(str(each)) != each for each in given):
        return False
    labels = all(0 <= each < len(classes) for each in given)
    names = all(str(each) in classes for each in given)
    if labels and names:
        listed = ", ".join(f"{label} is {name!r}" for label, name in enumerate(classes))
        raise AnswerError(
            f"the black box returned {given[0]}, which may be the label or the name of a class ({listed}): use "
            f"Oracle(..., classes={classes}) for labels, classes={{{given[0]}: {str(given[0])!r}, ...}} for names"
        )
    return names


def _none_of(classes: Classes, answer: str) -> AnswerError:
    listed = ", ".join(f"{label} ({name})" for label, name in enumerate(classes))
    return AnswerError(
        f"the black box returned {answer}, which is none of the classes {listed}; it must return these numbers or "
        f"names; to translate its answers, use Oracle(..., classes={{{answer}: {classes[0]!r}, ...}})"
    )
