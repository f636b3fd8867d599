"""The oracle: one batch question, counted, checked, split and, if wished, remembered."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from countergraph.errors import AnswerError, BlackBoxError, InconsistentAnswersWarning, InputError, check_integers
from countergraph.graphs.pairs import Bits, Floats, Label, digests, roi_count
from countergraph.oracle.adapters import ADAPTERS, Ask
from countergraph.oracle.answers import Labels, Scored, read_answers, spelled, to_labels

BATCH_BYTES = 256 * 2**20
Known = TypeVar("Known")


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
        label; without, any integer or string is a class. For other answers, what they mean: ``{-1: "TD", 1: "ASD"}``.
    remember
        Keep every answer, and never compute the same graph twice. ``asked`` still counts every question. A black box
        that contradicts itself is then taken at its first word, which no search can confirm: not for such a one.
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
        classes: Sequence[str] | Mapping[Label, str] | None = None,
        remember: bool = False,
        check_repeats: bool = False,
        batch_size: int | None = None,
    ) -> None:
        has_predict = callable(getattr(black_box, "predict", None))
        if not has_predict and any(each.__module__.startswith("torch.nn") for each in type(black_box).__mro__):
            raise InputError(f"{type(black_box).__name__} is a network of torch: wrap it in TorchModel(...)")
        if not has_predict and not callable(black_box):
            raise InputError(f"black_box must be callable or have a predict method; {type(black_box).__name__} is not")
        kind = input or ("edges" if has_predict else "adjacency")
        if kind not in ADAPTERS:
            raise InputError(f"input must be one of {', '.join(ADAPTERS)}, not {input!r}")
        if batch_size is not None:
            check_integers(batch_size=(batch_size, 1))
        self.black_box = black_box
        self.input = kind
        self.meanings: dict[Label, str] = dict(classes) if isinstance(classes, Mapping) else {}
        names = dict.fromkeys(self.meanings.values()) if isinstance(classes, Mapping) else classes
        self.classes = None if names is None else tuple(names)
        self.check_repeats = check_repeats
        self.batch_size = batch_size
        self.asked = self.computed = self.inconsistent = 0
        self._ask = ADAPTERS[kind](black_box.predict if has_predict else black_box)  # type: ignore[attr-defined,arg-type]
        self._answers: dict[bytes, Label] | None = {} if remember else None
        self._shares: dict[bytes, list[float]] = {}
        self._answered: set[Label] = set()

    def __repr__(self) -> str:
        return f"Oracle({type(self.black_box).__name__}, input={self.input!r}, asked={self.asked})"

    def ask(self, edges: Bits, classes: Sequence[str] | None = None) -> Labels:
        """Return the class of each graph (batch, pairs).

        ``classes``, the names by which the asker counts labels, turn answers into its labels.
        """
        if getattr(edges, "ndim", None) != 2:
            raise InputError("an oracle is asked about edge vectors, an array of shape (batch, pairs)")
        wanted = None if classes is None else tuple(classes)
        if wanted is not None and self.classes is not None and not set(self.classes) <= set(wanted):
            raise InputError(
                f"the oracle's classes are {', '.join(self.classes)}, but the data's are {', '.join(wanted)}"
            )
        self.asked += len(edges)
        answers = self._labels(edges)
        self._answered.update(np.unique(answers).tolist())
        if wanted is None and self.classes is None and len({isinstance(each, str) for each in self._answered}) > 1:
            raise AnswerError("the black box answered integers before, and strings now, or the contrary")
        return to_labels(answers, self.classes, wanted, self._possible)

    def ask_with_scores(self, edges: Bits, classes: Sequence[str] | None = None) -> Scored:
        """Return the class of each graph with the probabilities of all classes; this counts as one question a graph.

        The class is what ``predict`` says, as in `ask`. ``predict_proba`` gets the same graphs; where the two disagree,
        as they may, the class counts. Its columns are the ``classes_`` of the black box if it has any, else the labels
        0, 1, ...; those that mean the same class are added up.
        """
        labels = self.ask(edges, classes)
        shares = self._probabilities(edges)
        own = getattr(self.black_box, "classes_", range(shares.shape[1]))
        if len(own) != shares.shape[1]:
            raise AnswerError(f"predict_proba gave {shares.shape[1]} probabilities a graph for {len(own)} classes_")
        wanted = None if classes is None else tuple(classes)
        columns = to_labels(self._read(own, len(own)), self.classes, wanted, self._possible)
        strange = [label for label in labels.tolist() if label not in columns.tolist()]
        if strange:
            raise AnswerError(
                f"predict answered {strange[0]!r}, but the columns of predict_proba are {columns.tolist()}: set the "
                "classes_ of the black box to the classes in the order of its columns"
            )
        first = [columns.tolist().index(label) for label in dict.fromkeys(columns.tolist())]
        return Scored(labels, shares @ (columns[:, None] == columns[first]), columns[first])

    @property
    def _possible(self) -> list[Label]:
        """All that the black box may answer, if it says so as those of scikit-learn do, or all that it has answered."""
        known = getattr(self.black_box, "classes_", None)
        return sorted(self._answered, key=str) if known is None else list(np.asarray(known).tolist())

    @property
    def has_probabilities(self) -> bool:
        """Whether the black box has ``predict_proba``. Searches ask for probabilities with ``scores=True`` only."""
        return callable(getattr(self.black_box, "predict_proba", None))

    def probabilities(self, edges: Bits) -> Floats:
        """Return the probability of each class for each graph (batch, pairs), shape (batch, classes)."""
        self.asked += len(edges)
        return self._probabilities(edges)

    def _probabilities(self, edges: Bits) -> Floats:
        if not self.has_probabilities:
            raise InputError("this black box gives no probabilities: it has no method predict_proba")
        if self._answers is None:
            return self._compute_probabilities(edges)
        rows = self._recall(edges, self._shares, lambda fresh: self._compute_probabilities(fresh).tolist())
        return np.array(rows) if rows else np.empty((0, 0))

    def _compute_probabilities(self, edges: Bits) -> Floats:
        ask = ADAPTERS[self.input](self.black_box.predict_proba)  # type: ignore[attr-defined]
        parts = [np.asarray(self._call(ask, part), dtype=np.float64) for part in self._split(edges)]
        shares = np.concatenate(parts) if parts else np.empty((0, 0))
        if shares.ndim != 2 or len(shares) != len(edges) or not np.allclose(shares.sum(axis=1), 1, atol=1e-3):
            raise AnswerError(
                f"predict_proba must give probabilities that add up to 1 for each of the {len(edges)} graphs; "
                f"it gave an array of shape {shares.shape}"
            )
        return shares

    def _labels(self, edges: Bits) -> Labels:
        if self._answers is None:
            return self._compute(edges)
        answers = self._recall(edges, self._answers, lambda fresh: self._compute(fresh).tolist())
        return read_answers(answers, len(edges))

    def _recall(self, edges: Bits, known: dict[bytes, Known], compute: Callable[[Bits], list[Known]]) -> list[Known]:
        keys = digests(edges)
        fresh = {key: row for row, key in enumerate(keys) if key not in known}
        if fresh:
            known.update(zip(fresh, compute(edges[list(fresh.values())]), strict=True))
        return [known[key] for key in keys]

    def _compute(self, edges: Bits) -> Labels:
        parts = [self._ask_once(part) for part in self._split(edges)]
        if len(parts) == 1:
            return parts[0]
        return read_answers(np.concatenate(parts) if parts else [], len(edges))

    def _split(self, edges: Bits) -> list[Bits]:
        step = self.batch_size or max(1, BATCH_BYTES // (8 * roi_count(edges.shape[1]) ** 2))
        return [edges[start : start + step] for start in range(0, len(edges), step)]

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
        return self._read(self._call(self._ask, edges), len(edges))

    def _read(self, answers: Any, count: int) -> Labels:  # noqa: ANN401
        labels = read_answers(answers, count)
        return spelled(labels, self.meanings) if self.meanings else labels

    def _call(self, ask: Ask, edges: Bits) -> Any:  # noqa: ANN401
        self.computed += len(edges)
        try:
            return ask(edges)
        except BlackBoxError:
            raise
        except Exception as error:
            raise BlackBoxError(
                f"the black box raised {type(error).__name__} when asked {len(edges)} graphs as {self.input}: {error}"
            ) from error
