"""How a label is asked: any black box behind one batch question, with every question counted."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from countergraph.errors import AnswerError, BlackBoxError, InconsistentAnswersWarning, InputError
from countergraph.graphs.pairs import Bits, pairs_at, region_count, to_adjacency

Label = int | str
Labels = NDArray[np.int64] | NDArray[np.str_]
Ask = Callable[[Bits], Any]
BATCH_BYTES = 256 * 2**20


def _ask_adjacency(black_box: Any) -> Ask:  # noqa: ANN401
    return lambda edges: black_box(to_adjacency(edges))


def _ask_edges(black_box: Any) -> Ask:  # noqa: ANN401
    return getattr(black_box, "predict", black_box)  # type: ignore[no-any-return]


def _ask_networkx(black_box: Any) -> Ask:  # noqa: ANN401
    return lambda edges: [black_box(to_networkx(row)) for row in edges]


ADAPTERS: dict[str, Callable[[Any], Ask]] = {
    "adjacency": _ask_adjacency,
    "edges": _ask_edges,
    "networkx": _ask_networkx,
}


class Oracle:
    """Ask a black box for classes.

    Parameters
    ----------
    black_box
        A callable or an object with ``predict``.
    input
        What it takes: ``"adjacency"``, a uint8 array (batch, n, n); ``"edges"``, a bool array (batch, pairs);
        ``"networkx"``, one ``networkx.Graph`` at a time. By default ``"edges"`` for an object with ``predict``
        (scikit-learn's shape) and ``"adjacency"`` for a plain callable.
    classes
        The names of the classes, by label. With them, an answer must be a label (0, 1, ...) or a name, and becomes a
        label; without, any integer or string is a class.
    remember
        Keep every answer, and never compute the same graph twice. ``asked`` still counts every question.
    check_repeats
        Ask every graph twice, the second time in reverse order, and warn (`InconsistentAnswersWarning`) if an answer
        changes. Costs twice the computing, not counted in ``asked``.
    batch_size
        The most graphs that the black box gets at once; by default as many as fit in a quarter of a gigabyte.

    Attributes
    ----------
    asked : int
        Questions so far. This is the cost that searches are measured by.
    computed : int
        Graphs that the black box was given so far.
    inconsistent : int
        Graphs that were answered differently the second time (only with ``check_repeats``).
    """

    def __init__(
        self,
        black_box: object,
        input: Literal["adjacency", "edges", "networkx"] | None = None,  # noqa: A002 - the word users know
        *,
        classes: Sequence[str] | None = None,
        remember: bool = False,
        check_repeats: bool = False,
        batch_size: int | None = None,
    ) -> None:
        has_predict = callable(getattr(black_box, "predict", None))
        if not has_predict and not callable(black_box):
            raise InputError(f"black_box must be callable or have a predict method; {type(black_box).__name__} is not")
        kind = input or ("edges" if has_predict else "adjacency")
        if kind not in ADAPTERS:
            raise InputError(f"input must be one of {', '.join(ADAPTERS)}, not {input!r}")
        if batch_size is not None and batch_size < 1:
            raise InputError(f"batch_size must be at least 1, not {batch_size}")
        self.black_box = black_box
        self.input = kind
        self.classes = None if classes is None else tuple(classes)
        self.check_repeats = check_repeats
        self.batch_size = batch_size
        self.asked = self.computed = self.inconsistent = 0
        target = black_box.predict if has_predict and kind != "edges" else black_box  # type: ignore[attr-defined]
        self._ask = ADAPTERS[kind](target)
        self._answers: dict[bytes, Label] | None = {} if remember else None

    def __repr__(self) -> str:
        return f"Oracle({type(self.black_box).__name__}, input={self.input!r}, asked={self.asked})"

    @classmethod
    def of(cls, black_box: object, classes: Sequence[str] | None = None) -> Oracle:
        """Return ``black_box`` itself if it is an oracle, else one around it. One without classes takes these."""
        oracle = black_box if isinstance(black_box, Oracle) else cls(black_box)
        if oracle.classes is None and classes is not None:
            oracle.classes = tuple(classes)
        return oracle

    def ask(self, edges: Bits) -> Labels:
        """Return the class of each graph (batch, pairs)."""
        self.asked += len(edges)
        if self._answers is None:
            return self._compute(edges)
        known = self._answers
        keys = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in np.packbits(edges, axis=1)]
        fresh = {key: row for row, key in enumerate(keys) if key not in known}
        if fresh:
            labels = self._compute(edges[list(fresh.values())])
            known.update(zip(fresh, labels.tolist(), strict=True))
        return np.array([known[key] for key in keys])

    def _compute(self, edges: Bits) -> Labels:
        step = self.batch_size or max(1, BATCH_BYTES // (8 * region_count(edges.shape[1]) ** 2))
        parts = [self._ask_once(edges[start : start + step]) for start in range(0, len(edges), step)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)  # type: ignore[return-value]

    def _ask_once(self, edges: Bits) -> Labels:
        labels = self._answer(edges)
        if self.check_repeats:
            changed = int((labels != self._answer(edges[::-1])[::-1]).sum())
            if changed and not self.inconsistent:
                warnings.warn(
                    "the black box answers differently when asked the same graph twice "
                    f"({changed} of {len(edges)} graphs); a counterfactual of it may not be one the next time",
                    InconsistentAnswersWarning,
                    stacklevel=2,
                )
            self.inconsistent += changed
        return labels

    def _answer(self, edges: Bits) -> Labels:
        self.computed += len(edges)
        try:
            answers = self._ask(edges)
        except Exception as error:
            raise BlackBoxError(
                f"the black box raised {type(error).__name__} when asked {len(edges)} graphs as {self.input}: {error}"
            ) from error
        return read_answers(answers, len(edges), self.classes)


def to_networkx(edges: Bits) -> nx.Graph:
    """Turn one edge vector into a networkx graph on the vertices 0, 1, ..., n - 1."""
    n_regions = region_count(edges.size)
    graph = nx.Graph()
    graph.add_nodes_from(range(n_regions))
    graph.add_edges_from(pairs_at(np.flatnonzero(edges), n_regions))
    return graph


def read_answers(answers: Any, count: int, classes: tuple[str, ...] | None) -> Labels:  # noqa: ANN401
    """Check what a black box answered, and turn it into integers or strings.

    Raises
    ------
    AnswerError
        If it is not one class for each of ``count`` graphs.
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
    if array.dtype.kind in "OUS" and all(isinstance(each, str) for each in array.tolist()):
        return _labels_of_names(array.astype(np.str_), classes)
    if array.dtype.kind not in "iubf":
        raise AnswerError(f"a class must be an integer or a string; the black box answered {array.flat[0]!r}")
    labels = array.astype(np.int64) if np.isfinite(array).all() else None
    if labels is None or (labels != array).any():
        odd = array[~np.isfinite(array) | (array != np.floor(array))].flat[0]
        raise AnswerError(
            f"a class must be an integer or a string; the black box answered {odd}. If it gives probabilities, "
            "choose the class first, for example (p > 0.5).astype(int)"
        )
    if classes is not None and count and not (labels.min() >= 0 and labels.max() < len(classes)):
        odd = labels[(labels < 0) | (labels >= len(classes))][0]
        raise AnswerError(f"the black box answered {odd}, which is none of the classes {_listed(classes)}")
    return labels


def _labels_of_names(names: NDArray[np.str_], classes: tuple[str, ...] | None) -> Labels:
    if classes is None:
        return names
    codes = {name: label for label, name in enumerate(classes)}
    for name in names:
        if name not in codes:
            raise AnswerError(f"the black box answered {str(name)!r}, which is none of the classes {_listed(classes)}")
    return np.array([codes[name] for name in names], dtype=np.int64)


def _listed(classes: tuple[str, ...]) -> str:
    return ", ".join(f"{label} ({name})" for label, name in enumerate(classes))
