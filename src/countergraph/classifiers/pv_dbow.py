"""PV-DBOW (Le & Mikolov 2014): vectors of documents, from which their words can be guessed.

The word vectors are trained by gensim; the vector of a document is then inferred exactly.

With the word vectors fixed, the vector d of a document with word shares p maximises the concave function::

    sum_w p_w log sigmoid(v_w d) + negative sum_w q_w log sigmoid(-v_w d) - ridge/2 |d|^2

where q is the distribution of the negative samples, taken in expectation. gensim climbs it by sampled steps from near
zero and stops early. Stopping after steps of total length T acts like a ridge of 1/T, so ``ridge`` is set to just that;
the result is then nearly gensim's own (docs/classifiers.md has the comparison), but needs no chance: it is the same in
any process and any batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from countergraph.errors import InputError, check_integers
from countergraph.graphs.pairs import Floats

NEGATIVE = 5
TOLERANCE = 1e-9
TINY = 1e-300
MOST_STEPS = 200
NEWTON_STEPS = 60


class PvDbow(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What graph2vec and sub2vec share: from counts of words to vectors.

    Attributes
    ----------
    word_vectors_ : array (words, dimensions)
    noise_ : array (words,)
        ``negative * q``.
    kept_ : array (words,)
        The share of each word's occurrences that down-sampling keeps, in expectation.
    ridge_ : float
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
                "learning_rate must be above 0 and down_sampling at least 0, "
                f"not {self.learning_rate} and {self.down_sampling}"
            )
        totals = counts.sum(axis=0).astype(np.float64)
        self.word_vectors_ = self._train(counts)
        share = totals**0.75
        self.noise_ = NEGATIVE * share / share.sum()
        self.kept_ = _kept(totals, self.down_sampling)
        words_seen = self.epochs * float((counts * self.kept_).sum(axis=1).mean())
        self.ridge_ = 1 / (words_seen * self.learning_rate / 2)  # the rate falls linearly to 0: half of it on average
        seen = (counts * self.kept_).sum(axis=0)
        self._whiten(seen / seen.sum())

    def _train(self, counts: NDArray[np.int64]) -> Floats:
        from gensim.models.doc2vec import Doc2Vec, TaggedDocument

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
            workers=1,  # more would make the result depend on chance
            seed=self.random_state,
        )
        order = [model.wv.key_to_index[word] for word in words]
        return np.asarray(model.syn1neg[order], dtype=np.float64)

    def _whiten(self, shares: Floats) -> None:
        """Choose coordinates in which the problem of the average document is round, with its solution as the start."""
        point, hessian = self._newton(shares)
        self.unwhiten_ = np.asarray(np.linalg.inv(np.linalg.cholesky(hessian)), dtype=np.float64)
        self.whitened_ = self.word_vectors_ @ self.unwhiten_.T
        self.penalty_ = self.ridge_ * (self.unwhiten_ @ self.unwhiten_.T)
        self.start_ = self._whitened(point)

    def _whitened(self, point: Floats) -> Floats:
        return np.asarray(np.linalg.solve(self.unwhiten_.T, point), dtype=np.float64)

    def _newton(self, shares: Floats) -> tuple[Floats, Floats]:
        """Solve the problem of one document, slowly but surely; return the solution and the Hessian there."""
        weights = shares + self.noise_
        point = np.zeros(self.dimensions)
        for _ in range(NEWTON_STEPS):
            guesses = expit(self.word_vectors_ @ point)
            slope = (shares - weights * guesses) @ self.word_vectors_ - self.ridge_ * point
            curvature = (self.word_vectors_.T * (weights * guesses * (1 - guesses))) @ self.word_vectors_
            hessian = curvature + self.ridge_ * np.eye(self.dimensions)
            step = np.linalg.solve(hessian, slope)
            point = point + step / max(1.0, float(np.abs(self.word_vectors_ @ step).max()))  # far off, small steps
        return point, hessian

    def _infer(self, counts: Floats) -> Floats:
        """Return the vectors of documents, given as counts (documents, words)."""
        seen = counts * self.kept_
        total = seen.sum(axis=1, keepdims=True)
        shares = np.divide(seen, total, out=np.zeros_like(seen, dtype=np.float64), where=total > 0)
        return np.asarray(self._solve(shares) @ self.unwhiten_)

    def _solve(self, shares: Floats) -> Floats:
        """Climb to the top for each document on its own, by gradient steps of Barzilai and Borwein's length."""
        weights = shares + self.noise_

        def gradient(points: Floats, rows: NDArray[np.intp]) -> Floats:
            guesses = expit(points @ self.whitened_.T)
            return np.asarray((shares[rows] - weights[rows] * guesses) @ self.whitened_ - points @ self.penalty_)

        points = np.repeat(self.start_[None], len(shares), axis=0)
        rows = np.arange(len(shares))  # those not yet at the top
        slope = step = gradient(points, rows)
        for count in range(MOST_STEPS):
            points[rows] += step
            ahead = gradient(points[rows], rows)
            bend = slope - ahead
            along = np.einsum("ij,ij->i", step, bend)
            if count % 2:  # the two lengths that Barzilai and Borwein propose, in turn
                length = np.einsum("ij,ij->i", step, step) / np.maximum(along, TINY)
            else:
                length = along / np.maximum(np.einsum("ij,ij->i", bend, bend), TINY)
            steep = np.abs(ahead).max(axis=1) > TOLERANCE
            rows, slope, length = rows[steep], ahead[steep], length[steep]
            if not rows.size:
                break
            step = np.clip(length, 1e-3, 1e3)[:, None] * slope
        for row in rows:  # those that still climb: unlike anything in the training data
            points[row] = self._whitened(self._newton(shares[row])[0])
        return points

    @property
    def _n_features_out(self) -> int:
        return self.dimensions


def _kept(totals: Floats, down_sampling: float) -> Floats:
    """Return the probability with which word2vec keeps an occurrence of each word."""
    if not down_sampling:
        return np.ones_like(totals)
    threshold = down_sampling * totals.sum()
    return np.asarray(np.minimum(1.0, (np.sqrt(totals / threshold) + 1) * threshold / totals))
