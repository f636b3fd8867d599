"""The oracle: calls a black box with batches of graphs, counts the calls and checks the answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from countergraph.errors import AnswerError, BlackBoxError, InconsistentAnswersWarning, InputError, check_integers
from countergraph.graphs.pairs import Floats, Label, Values, as_value_vectors, digests, looks_like_one_matrix, roi_count
from countergraph.oracle.adapters import ADAPTERS, Batch, Call, Subjects
from countergraph.oracle.answers import Labels, Scored, apply_meanings, read_answers, to_labels

BATCH_BYTES = 256 * 2**20
"""The memory of a batch of adjacency matrices, unless ``batch_size`` is given."""
Cached = TypeVar("Cached")


class Oracle:
    """A black box behind one interface.

    Parameters
    ----------
    black_box
        A callable or an object with ``predict``.
    input
        What it takes: ``"adjacency"``, matrices (batch, n, n); ``"edges"``, vectors (batch, pairs); ``"networkx"``, one
        ``networkx.Graph`` at a time. By default ``"edges"`` for an object with ``predict`` (as in scikit-learn) and
        ``"adjacency"`` for a plain callable. The matrices of graphs are of type uint8, their vectors of type bool;
        both are of type float32 for weighted networks.
    classes
        The names of the classes, by label. With names, an answer must be a label (0, 1, ...) or a name, and becomes a
        label; without, any integer or string is a class. A mapping translates other answers:
        ``{-1: "TD", 1: "ASD"}``.
    remember
        Cache every answer, and never compute the same graph twice. ``asked`` still counts every call. Do not use with
        a non-deterministic classifier: the cached first answer cannot be re-checked.
    check_repeats
        Compute every graph twice, the second time in reverse order, and warn (`InconsistentAnswersWarning`) if an
        answer changes. This doubles the computing time; the second computation does not count in ``asked``.
    batch_size
        The maximum number of graphs per batch; by default as many as fit in a quarter of a gigabyte.
    with_subjects
        Call ``black_box(batch, subjects)``, so that a classifier can use confounds (age, site, motion) or features of
        each subject. ``subjects`` is an array with the name of the subject of each graph, or with the position of the
        graph if it is not part of a `GraphDataset`.
    diagonal
        The diagonal of the matrices of weighted networks (``input="adjacency"``). By default 1 if the networks are
        correlations (``data.measure``), otherwise 0.

    Attributes
    ----------
    asked : int
        The number of calls so far. This is the cost of a search.
    computed : int
        The number of graphs that the black box has received so far.
    inconsistent : int
        The number of graphs with a different second answer (only with ``check_repeats``).
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
        with_subjects: bool = False,
        diagonal: float | None = None,
    ) -> None:
        has_predict = callable(getattr(black_box, "predict", None))
        if not has_predict and any(each.__module__.startswith("torch.nn") for each in type(black_box).__mro__):
            raise InputError(f"{type(black_box).__name__} is a torch module: wrap it in TorchModel(...)")
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
        self.with_subjects = with_subjects
        self.diagonal = diagonal
        self.asked = self.computed = self.inconsistent = 0
        self._predict = ADAPTERS[kind](black_box.predict if has_predict else black_box)  # type: ignore[attr-defined,arg-type]
        self._label_cache: dict[object, Label] | None = {} if remember else None
        self._probability_cache: dict[object, list[float]] = {}
        self._answered: set[Label] = set()

    def __repr__(self) -> str:
        return f"Oracle({type(self.black_box).__name__}, input={self.input!r}, asked={self.asked})"

    def ask(self, edges: Values, classes: Sequence[str] | None = None, subjects: Subjects | None = None) -> Labels:
        """Return the class of each graph (batch, pairs).

        Parameters
        ----------
        edges
            Edge vectors (batch, pairs).
        classes
            The names of the classes in the order in which the caller numbers them; the answers become these labels.
        subjects
            The subject of each graph, for ``with_subjects=True``; by default its position in the batch.
        """
        array = np.asarray(edges)
        if array.ndim != 2:
            raise InputError(f"Oracle.ask takes edge vectors (batch, pairs), not an array of shape {array.shape}")
        if looks_like_one_matrix(array):
            raise InputError(
                f"Oracle.ask takes edge vectors (batch, pairs), but this is one adjacency matrix {array.shape}: "
                "take its upper triangle, matrix[np.triu_indices(n, 1)][None]"
            )
        return self.classify(as_value_vectors(array, "edges"), classes, subjects)

    def classify(
        self,
        edges: Values,
        classes: Sequence[str] | None = None,
        subjects: Subjects | None = None,
        diagonal: float = 0.0,
    ) -> Labels:
        """Do the same as `ask`, for vectors that are known to be a batch.

        ``diagonal`` is that of the matrices of weighted networks, unless the oracle has its own.
        """
        wanted = None if classes is None else tuple(classes)
        if wanted is not None and self.classes is not None and not set(self.classes) <= set(wanted):
            raise InputError(
                f"the classes of the oracle are {', '.join(self.classes)}, but the classes of the data are "
                f"{', '.join(wanted)}"
            )
        self.asked += len(edges)
        answers = self._labels(self._batch(edges, subjects, diagonal))
        self._answered.update(np.unique(answers).tolist())
        if wanted is None and self.classes is None and len({isinstance(each, str) for each in self._answered}) > 1:
            raise AnswerError("the black box returned integers in one batch and strings in another; return one type")
        return to_labels(answers, self.classes, wanted, self._possible)

    def classify_with_scores(
        self,
        edges: Values,
        classes: Sequence[str] | None = None,
        subjects: Subjects | None = None,
        diagonal: float = 0.0,
    ) -> Scored:
        """Return the class of each graph, and the probabilities of all classes; this is one call per graph.

        The class is the answer of ``predict``. ``predict_proba`` receives the same graphs; if the two disagree, the
        class counts. The columns of ``predict_proba`` are the ``classes_`` of the black box if it has any, else the
        labels 0, 1, ...; columns of the same class are added up.
        """
        labels = self.classify(edges, classes, subjects, diagonal)
        probabilities = self._probabilities(self._batch(edges, subjects, diagonal))
        own = getattr(self.black_box, "classes_", range(probabilities.shape[1]))
        if len(own) != probabilities.shape[1]:
            raise AnswerError(
                f"predict_proba returned {probabilities.shape[1]} probabilities per graph for {len(own)} classes_"
            )
        wanted = None if classes is None else tuple(classes)
        columns = to_labels(self._read(own, len(own)), self.classes, wanted, self._possible)
        unexpected = [label for label in labels.tolist() if label not in columns.tolist()]
        if unexpected:
            raise AnswerError(
                f"predict returned {unexpected[0]!r}, but the columns of predict_proba are {columns.tolist()}: set "
                "classes_ of the black box to the classes in the order of its columns"
            )
        first = [columns.tolist().index(label) for label in dict.fromkeys(columns.tolist())]
        return Scored(labels, probabilities @ (columns[:, None] == columns[first]), columns[first])

    @property
    def has_probabilities(self) -> bool:
        """Whether the black box has ``predict_proba``. Searches use it only with ``scores=True``."""
        return callable(getattr(self.black_box, "predict_proba", None))

    def probabilities(self, edges: Values, subjects: Subjects | None = None) -> Floats:
        """Return the probability of each class for each graph (batch, pairs), shape (batch, classes)."""
        self.asked += len(edges)
        return self._probabilities(self._batch(edges, subjects))

    @property
    def _possible(self) -> list[Label]:
        """All possible answers, from ``classes_`` as in scikit-learn; else all answers so far."""
        known = getattr(self.black_box, "classes_", None)
        return sorted(self._answered, key=str) if known is None else list(np.asarray(known).tolist())

    def _batch(self, edges: Values, subjects: Subjects | None, diagonal: float = 0.0) -> Batch:
        diagonal = diagonal if self.diagonal is None else self.diagonal
        if not self.with_subjects:
            return Batch(edges, None, diagonal)
        given = list(range(len(edges))) if subjects is None else list(subjects)
        if len(given) != len(edges):
            raise InputError(f"subjects must have one entry for each of the {len(edges)} graphs, not {len(given)}")
        return Batch(edges, given, diagonal)

    def _labels(self, batch: Batch) -> Labels:
        if self._label_cache is None:
            return self._compute_labels(batch)
        answers = self._cached(batch, self._label_cache, lambda new: self._compute_labels(new).tolist())
        return read_answers(answers, len(batch))

    def _probabilities(self, batch: Batch) -> Floats:
        if not self.has_probabilities:
            raise InputError("this black box returns no probabilities: it has no method predict_proba")
        if self._label_cache is None:
            return self._compute_probabilities(batch)
        rows = self._cached(batch, self._probability_cache, lambda new: self._compute_probabilities(new).tolist())
        return np.array(rows) if rows else np.empty((0, 0))

    def _cached(
        self, batch: Batch, cache: dict[object, Cached], compute: Callable[[Batch], list[Cached]]
    ) -> list[Cached]:
        subjects = [None] * len(batch) if batch.subjects is None else batch.subjects
        keys: list[object] = [(*each, batch.diagonal) for each in zip(digests(batch.values), subjects, strict=True)]
        new = {key: row for row, key in enumerate(keys) if key not in cache}
        if new:
            cache.update(zip(new, compute(batch.part(list(new.values()))), strict=True))
        return [cache[key] for key in keys]

    def _compute_labels(self, batch: Batch) -> Labels:
        parts = [self._checked_labels(part) for part in self._parts(batch)]
        if len(parts) == 1:
            return parts[0]
        return read_answers(np.concatenate(parts) if parts else [], len(batch))

    def _compute_probabilities(self, batch: Batch) -> Floats:
        call = ADAPTERS[self.input](self.black_box.predict_proba)  # type: ignore[attr-defined]
        parts = [np.asarray(self._call(call, part), dtype=np.float64) for part in self._parts(batch)]
        result = np.concatenate(parts) if parts else np.empty((0, 0))
        if result.ndim != 2 or len(result) != len(batch):
            raise AnswerError(
                f"predict_proba must return the probabilities of all classes for each of the {len(batch)} graphs, an "
                f"array of shape ({len(batch)}, classes); it returned shape {result.shape}"
            )
        sums = result.sum(axis=1)
        if not np.allclose(sums, 1, atol=1e-3):
            wrong = sums[np.argmax(~np.isclose(sums, 1, atol=1e-3))]
            raise AnswerError(
                f"predict_proba must return probabilities that sum to 1; for one graph they sum to {wrong:g}"
            )
        return result

    def _parts(self, batch: Batch) -> Iterator[Batch]:
        return batch.parts(self.batch_size or max(1, BATCH_BYTES // (8 * roi_count(batch.values.shape[1]) ** 2)))

    def _checked_labels(self, batch: Batch) -> Labels:
        labels = self._answers(batch)
        if self.check_repeats:
            again = self._answers(batch.part(slice(None, None, -1)))[::-1]
            changed = int((labels != again).sum())
            if changed and not self.inconsistent:
                warnings.warn(
                    "the black box gives different answers to the same graph "
                    f"({changed} of {len(batch)} graphs); its counterfactuals may not be reproducible",
                    InconsistentAnswersWarning,
                    stacklevel=2,
                )
            self.inconsistent += changed
        return labels

    def _answers(self, batch: Batch) -> Labels:
        return self._read(self._call(self._predict, batch), len(batch))

    def _read(self, answers: Any, count: int) -> Labels:  # noqa: ANN401
        labels = read_answers(answers, count)
        return apply_meanings(labels, self.meanings) if self.meanings else labels

    def _call(self, call: Call, batch: Batch) -> Any:  # noqa: ANN401
        self.computed += len(batch)
        try:
            return call(batch)
        except BlackBoxError:
            raise
        except Exception as error:
            given = f"a batch of {len(batch)}, input={self.input!r}"
            given += "" if batch.subjects is None else ", with subjects"
            raise BlackBoxError(f"the black box raised {type(error).__name__} for {given}: {error}") from error
