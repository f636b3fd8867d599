"""sub2vec (Adhikari et al. 2018), "neighbourhood" variant: PV-DBOW on the ROIs that a long random walk visits.

In a walk of 100 000 steps the number of visits of an ROI is close to its expectation, which is known: within the
connected component where the walk starts, it is proportional to the degree. Therefore no walk is simulated.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted, validate_data

from countergraph.classifiers.pv_dbow import PvDbow
from countergraph.errors import check_integers
from countergraph.graphs.pairs import Bits, Floats, pair_ends, roi_count


class Sub2Vec(PvDbow):
    """Embed a graph by the expected visits of a random walk. The defaults are the paper's settings.

    Parameters
    ----------
    dimensions
        The length of the embedding vector.
    walk_length
        The number of steps of the walk.
    sample_length
        Number of words of each graph in one epoch of training. gensim uses at most 10 000 words of a document. The
        order of the words carries no information, so a tenth of that gives the same vectors in a tenth of the time.
    epochs, learning_rate, down_sampling
        Parameters of the training with gensim.
    random_state
        The random seed of the training.
    """

    def __init__(
        self,
        dimensions: int = 50,
        walk_length: int = 100_000,
        sample_length: int = 1000,
        epochs: int = 50,
        learning_rate: float = 0.025,
        down_sampling: float = 1e-3,
        random_state: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.walk_length = walk_length
        self.sample_length = sample_length
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.down_sampling = down_sampling
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn vectors from edge vectors (graphs, pairs)."""
        edges = np.asarray(validate_data(self, X, dtype="numeric"), dtype=np.bool_)
        check_integers(walk_length=(self.walk_length, 1), sample_length=(self.sample_length, 1))
        visits = expected_visits(edges)
        # Rounding the cumulative sum gives all documents the same length. The extra visits make every ROI a word.
        ends = np.rint(np.cumsum(visits, axis=1) * min(self.sample_length, self.walk_length))
        counts = np.diff(ends, axis=1, prepend=0).astype(np.int64)
        counts[0] += counts.sum(axis=0) == 0
        self._fit_words(counts)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Embed edge vectors (graphs, pairs). The result is deterministic."""
        check_is_fitted(self)
        edges = np.asarray(validate_data(self, X, reset=False, dtype="numeric"), dtype=np.bool_)
        return self._infer(expected_visits(edges) * self.walk_length)


def expected_visits(edges: Bits) -> Floats:
    """Return the expected share of the steps of a long random walk at each ROI, shape (graphs, n).

    The walk starts at a random ROI and stays in its connected component; at an ROI without edges it does not move.
    """
    n, m = roi_count(edges.shape[1]), len(edges)
    first, second = pair_ends(n)
    graph, pair = np.nonzero(edges)
    a, b = graph * n + first[pair], graph * n + second[pair]
    degrees = np.bincount(a, minlength=m * n) + np.bincount(b, minlength=m * n)
    union = coo_matrix((np.ones(a.size, dtype=np.int8), (a, b)), shape=(m * n, m * n)).tocsr()
    _, component = connected_components(union, directed=False)
    size = np.bincount(component)[component]
    volume = np.bincount(component, weights=degrees)[component]
    share = np.where(degrees > 0, degrees / np.maximum(volume, 1), 1.0)
    return np.asarray((share * size / n).reshape(m, n))
