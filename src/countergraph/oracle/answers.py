"""What a black box may answer, and how it becomes a class."""

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
"""Numbers of at least so much are not told apart as floats."""


class Scored(NamedTuple):
    """The classes of a batch of graphs, with the probabilities that the black box gives them."""

    labels: Labels
    shares: Floats
    """The probability of each class for each graph (batch, classes)."""
    columns: Labels
    """Which class each column of ``shares`` is."""


def read_answers(answers: Any, count: int) -> Labels:  # noqa: ANN401
    """Check what a black box answered: integers or strings, one for each of ``count`` graphs.

    Raises
    ------
    AnswerError
        If it is anything else.
    """
    try:
        array = np.asarray(answers)
    except ValueError as error:
        raise AnswerError(f"the black box must answer one class for each graph ({error})") from error
    if array.shape != (count,):
        raise AnswerError(
            f"the black box must answer one class for each of the {count} graphs, an array of shape ({count},); "
            f"it answered shape {array.shape}"
        )
    _check_all_alike(answers)
    if array.dtype.kind in "OUS" and all(isinstance(each, str) for each in array.tolist()):
        return array.astype(np.str_)
    if array.dtype.kind == "O":
        array = _unboxed(array)
    if array.dtype.kind in "ib":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind not in "uf":
        raise AnswerError(f"a class must be an integer or a string; the black box answered {array.flat[0]!r}")
    whole = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < LARGEST)
    if not whole.all():
        raise AnswerError(
            f"a class must be an integer or a string; the black box answered {array[~whole][0]}. If it gives "
            "probabilities, choose the class first, for example (p > 0.5).astype(int)"
        )
    return array.astype(np.int64)


def _unboxed(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return an array of objects as one of what they are."""
    try:
        return np.array(array.tolist())
    except ValueError:
        return array


def _check_all_alike(answers: object) -> None:
    """Refuse classes of which some are words and others not: numpy would make words of all."""
    given = answers.tolist() if isinstance(answers, np.ndarray) else answers
    if not isinstance(given, list | tuple):
        return
    words = [isinstance(each, str) for each in given]
    if any(words) and not all(words):
        word, other = given[words.index(True)], given[words.index(False)]
        raise AnswerError(f"classes must be all integers or all strings; the black box answered {word!r} and {other!r}")


def spelled(answers: Labels, meanings: Mapping[Label, str]) -> Labels:
    """Return the names that checked answers stand for."""
    strange = next((answer for answer in answers.tolist() if answer not in meanings), None)
    if strange is not None:
        listed = ", ".join(f"{answer!r} ({name})" for answer, name in meanings.items())
        raise AnswerError(f"the black box answered {strange!r}, which is none of {listed}")
    return np.array([meanings[answer] for answer in answers.tolist()], dtype=np.str_)


def to_labels(answers: Labels, own: Classes | None, wanted: Classes | None, possible: Sequence[Label]) -> Labels:
    """Turn checked answers into labels, indices into ``wanted``.

    Parameters
    ----------
    answers
        Integers or strings.
    own
        The names of the black box's classes, by its integers; None if it was not told any.
    wanted
        The names by which labels are counted; None if there are none, and any integer or string is a class.
    possible
        All that the black box may answer, as far as that is known.
    """
    named = wanted if wanted is not None else own
    if named is None:
        return answers
    if answers.dtype.kind == "U":
        codes = {name: label for label, name in enumerate(named)}
        strange = next((name for name in answers.tolist() if name not in codes), None)
        if strange is not None:
            raise _none_of(named, repr(strange))
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
    """Tell whether integers are names of classes such as "1" and "2", not labels; refuse them where nobody can tell."""
    given = [int(each) for each in possible if not isinstance(each, str)]
    if not any(str(each) in classes and classes.index(str(each)) != each for each in given):
        return False
    labels = all(0 <= each < len(classes) for each in given)
    names = all(str(each) in classes for each in given)
    if labels and names:
        listed = ", ".join(f"{label} is {name!r}" for label, name in enumerate(classes))
        raise AnswerError(
            f"the black box answered {given[0]}: is that the label, or the name of a class ({listed})? Say "
            f"Oracle(..., classes={classes}) for labels, classes={{{given[0]}: {str(given[0])!r}, ...}} for names"
        )
    return names


def _none_of(classes: Classes, answer: str) -> AnswerError:
    listed = ", ".join(f"{label} ({name})" for label, name in enumerate(classes))
    return AnswerError(
        f"the black box answered {answer}, which is none of the classes {listed}; it must answer these numbers or "
        f"names or, if its answers mean these, be asked by Oracle(..., classes={{{answer}: {classes[0]!r}, ...}})"
    )
