"""graph2vec (Narayanan et al. 2017): Weisfeiler-Lehman words and PV-DBOW."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from countergraph.classifiers.pv_dbow import PvDbow
from countergraph.classifiers.weisfeiler_lehman import weisfeiler_lehman
from countergraph.errors import InputError, check_integers
from countergraph.graphs.pairs import Bits, Floats, roi_count


class Graph2Vec(PvDbow):
    """Embed a graph by the Weisfeiler-Lehman labels of its ROIs. The defaults are the paper's settings.

    Parameters
    ----------
    dimensions
        The length of the embedding vector.
    rounds
        Number of relabelling rounds; the words of a graph are the labels of all rounds, starting with the degrees.
    min_count
        Words that occur less often in the training graphs are ignored.
    epochs, learning_rate, down_sampling
        Parameters of the training with gensim.
    random_state
        The random seed of the training.

    Attributes
    ----------
    vocabulary_ : array of uint64
        The labels that are used as words, sorted.
    rounds_used_ : int
        The last round with a label in the vocabulary; later rounds are not computed.
    """

    vocabulary_: NDArray[np.uint64]
    rounds_used_: int

    def __init__(
        self,
        dimensions: int = 50,
        rounds: int = 2,
        min_count: int = 5,
        epochs: int = 100,
        learning_rate: float = 0.025,
        down_sampling: float = 1e-4,
        random_state: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.rounds = rounds
        self.min_count = min_count
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.down_sampling = down_sampling
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn words and vectors from edge vectors (graphs, pairs)."""
        edges = _as_edges(validate_data(self, X, dtype="numeric"))
        check_integers(rounds=(self.rounds, 0), min_count=(self.min_count, 1))
        rounds = weisfeiler_lehman(edges, self.rounds)
        kept = [
            labels[counts >= self.min_count] for labels, counts in (np.unique(r, return_counts=True) for r in rounds)
        ]
        self.vocabulary_ = np.sort(np.concatenate(kept))
        if not self.vocabulary_.size:
            raise InputError(f"no Weisfeiler-Lehman label occurs {self.min_count} times; use a smaller min_count")
        self.rounds_used_ = max(round_ for round_, words in enumerate(kept) if words.size)
        self._fit_words(self._count(rounds[: self.rounds_used_ + 1]))
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Embed edge vectors (graphs, pairs). The result is deterministic."""
        check_is_fitted(self)
        edges = _as_edges(validate_data(self, X, reset=False, dtype="numeric"))
        return self._infer(self._count(weisfeiler_lehman(edges, self.rounds_used_)).astype(np.float64))

    def _count(self, rounds: list[NDArray[np.uint64]]) -> NDArray[np.int64]:
        """Count how often each word occurs in each graph, shape (graphs, words)."""
        labels = np.concatenate(rounds, axis=1)
        size = self.vocabulary_.size
        word = np.minimum(np.searchsorted(self.vocabulary_, labels), size - 1)
        known = self.vocabulary_[word] == labels
        cells = (np.arange(len(labels))[:, None] * size + word)[known]
        return np.bincount(cells, minlength=len(labels) * size).reshape(len(labels), size)


def _as_edges(array: NDArray[np.generic]) -> Bits:
    roi_count(array.shape[1])
    return np.asarray(array, dtype=np.bool_)
