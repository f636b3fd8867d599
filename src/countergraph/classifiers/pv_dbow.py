"""PV-DBOW (Le & Mikolov 2014): document vectors that predict the words of the documents.

gensim trains the word vectors; the vector of a document is then inferred exactly.

With the word vectors fixed, the vector d of a document with word shares p maximises the concave function::

    sum_w p_w log sigmoid(v_w d) + negative sum_w q_w log sigmoid(-v_w d) - ridge/2 |d|^2

where q is the distribution of the negative samples. gensim maximises this function by stochastic gradient ascent from
near zero, and stops early. Early stopping after steps of total length T has a similar effect as a ridge penalty of 1/T,
so ``ridge`` is set to 1/T. The result is close to that of gensim (see docs/classifiers.md), but deterministic:
it is the same in every process and every batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from countergraph.errors import InputError, check_integers, missing_extra
from countergraph.graphs.pairs import Floats

NEGATIVE = 5
"""Negative samples per word, the default of gensim; ``negative`` in the formula above."""
TOLERANCE = 1e-9
"""A document is solved when no entry of its gradient is larger."""
MIN_DENOMINATOR = 1e-300
"""Prevents divisions by zero in the step lengths."""
MAX_STEPS = 200
"""Maximal number of gradient steps before the slower Newton method is used."""
NEWTON_STEPS = 60
"""Number of Newton steps."""


class PvDbow(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of graph2vec and sub2vec: computes vectors from word counts.

    Attributes
    ----------
    word_vectors_ : array (words, dimensions)
        The word vectors v.
    noise_ : array (words,)
        ``negative * q``.
    kept_ : array (words,)
        The expected share of the occurrences of each word that down-sampling keeps.
    ridge_ : float
        The ridge penalty.
    """

    dimensions: int
    epochs: int
    learning_rate: float
    down_sampling: float
    random_state: int
    word_vectors_: Floats
    noise_: Floats
    kept_: Floats
    ridge_: float
    whitened_: Floats
    unwhiten_: Floats
    penalty_: Floats
    start_: Floats

    def _fit_words(self, counts: NDArray[np.int64]) -> None:
        """Learn word vectors from documents, given as counts (documents, words); every word must occur."""
        check_integers(dimensions=(self.dimensions, 1), epochs=(self.epochs, 1), random_state=(self.random_state, 0))
        if not self.learning_rate > 0 or not self.down_sampling >= 0:
            raise InputError(
                "learning_rate must be above 0, and down_sampling at least 0; "
                f"got {self.learning_rate} and {self.down_sampling}"
            )
        totals = counts.sum(axis=0).astype(np.float64)
        self.word_vectors_ = self._train(counts)
        share = totals**0.75
        self.noise_ = NEGATIVE * share / share.sum()
        self.kept_ = _keep_probability(totals, self.down_sampling)
        words_seen = self.epochs * float((counts * self.kept_).sum(axis=1).mean())
        self.ridge_ = 1 / (words_seen * self.learning_rate / 2)  # the rate decreases linearly to 0
        seen = (counts * self.kept_).sum(axis=0)
        self._whiten(seen / seen.sum())

    def _train(self, counts: NDArray[np.int64]) -> Floats:
        try:
            from gensim.models.doc2vec import Doc2Vec, TaggedDocument
        except ImportError as error:
            raise missing_extra("training graph2vec or sub2vec", "gensim", "embeddings") from error

        rng = np.random.default_rng(self.random_state)
        words = np.arange(counts.shape[1]).astype(str)
        documents = [
            TaggedDocument(rng.permutation(np.repeat(words, row)).tolist(), [i]) for i, row in enumerate(counts)
        ]
        model = Doc2Vec(
            documents,
            vector_size=self.dimensions,
            dm=0,
            min_count=1,
            negative=NEGATIVE,
            sample=self.down_sampling,
            alpha=self.learning_rate,
            min_alpha=0.0,
            epochs=self.epochs,
            workers=1,  # with more workers the result is random
            seed=self.random_state,
        )
        order = [model.wv.key_to_index[word] for word in words]
        return np.asarray(model.syn1neg[order], dtype=np.float64)

    def _whiten(self, shares: Floats) -> None:
        """Choose coordinates in which the Hessian of the average document is the identity; start at its solution."""
        point, hessian = self._newton(shares)
        self.unwhiten_ = np.asarray(np.linalg.inv(np.linalg.cholesky(hessian)), dtype=np.float64)
        self.whitened_ = self.word_vectors_ @ self.unwhiten_.T
        self.penalty_ = self.ridge_ * (self.unwhiten_ @ self.unwhiten_.T)
        self.start_ = self._whitened(point)

    def _whitened(self, point: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self.unwhiten_.T, point), dtype=np.float64)

    def _newton(self, shares: Floats) -> tuple[Floats, Floats]:
        """Solve one document by damped Newton steps, slow but robust; return the solution and the Hessian."""
        weights = shares + self.noise_
        point = np.zeros(self.dimensions)
        for _ in range(NEWTON_STEPS):
            probabilities = expit(self.word_vectors_ @ point)
            gradient = (shares - weights * probabilities) @ self.word_vectors_ - self.ridge_ * point
            curvature = (self.word_vectors_.T * (weights * probabilities * (1 - probabilities))) @ self.word_vectors_
            hessian = curvature + self.ridge_ * np.eye(self.dimensions)
            step = np.linalg.solve(hessian, gradient)
            point = point + step / max(1.0, float(np.abs(self.word_vectors_ @ step).max()))  # damped
        return point, hessian

    def _infer(self, counts: Floats) -> Floats:
        """Return the vectors of documents, given as counts (documents, words)."""
        seen = counts * self.kept_
        total = seen.sum(axis=1, keepdims=True)
        shares = np.divide(seen, total, out=np.zeros_like(seen, dtype=np.float64), where=total > 0)
        return np.asarray(self._solve(shares) @ self.unwhiten_)

    def _solve(self, shares: Floats) -> Floats:
        """Maximise the objective of each document independently, by gradient steps with Barzilai-Borwein lengths."""
        weights = shares + self.noise_

        def gradient(points: Floats, rows: NDArray[np.intp]) -> Floats:
            probabilities = expit(points @ self.whitened_.T)
            return np.asarray((shares[rows] - weights[rows] * probabilities) @ self.whitened_ - points @ self.penalty_)

        points = np.repeat(self.start_[None], len(shares), axis=0)
        rows = np.arange(len(shares))  # documents that have not converged
        old = step = gradient(points, rows)
        for iteration in range(MAX_STEPS):
            points[rows] += step
            new = gradient(points[rows], rows)
            change = old - new
            product = np.einsum("ij,ij->i", step, change)
            if iteration % 2:  # alternate between the two Barzilai-Borwein lengths
                length = np.einsum("ij,ij->i", step, step) / np.maximum(product, MIN_DENOMINATOR)
            else:
                length = product / np.maximum(np.einsum("ij,ij->i", change, change), MIN_DENOMINATOR)
            unconverged = np.abs(new).max(axis=1) > TOLERANCE
            rows, old, length = rows[unconverged], new[unconverged], length[unconverged]
            if not rows.size:
                break
            step = np.clip(length, 1e-3, 1e3)[:, None] * old
        for row in rows:  # documents that are very different from the training data
            points[row] = self._whitened(self._newton(shares[row])[0])
        return points

    @property
    def _n_features_out(self) -> int:
        return self.dimensions


def _keep_probability(totals: Floats, down_sampling: float) -> Floats:
    """Return the probability with which word2vec keeps an occurrence of each word."""
    if not down_sampling:
        return np.ones_like(totals)
    threshold = down_sampling * totals.sum()
    return np.asarray(np.minimum(1.0, (np.sqrt(totals / threshold) + 1) * threshold / totals))
