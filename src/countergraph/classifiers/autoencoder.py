"""A denoising autoencoder on the edges (Gutiérrez-Gómez & Delvenne 2019).

Only the training needs torch (the extra ``torch``); ``transform`` does not.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from countergraph.errors import InputError, check_integers, missing_extra
from countergraph.graphs.pairs import roi_count

Float32s = NDArray[np.float32]


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Embed a graph as the code of a denoising autoencoder with one layer. The defaults are the paper's settings.

    The code is ``relu(edges @ weights_ + bias_)``. The loss is the cross-entropy of the reconstructed edges. During
    training each pair of the input is flipped with probability ``noise``.

    Parameters
    ----------
    dimensions
        The length of a code. The paper uses 200 (ASD) and 400 (ADHD).
    noise, epochs, batch_size, learning_rate
        Parameters of the training with Adam.
    random_state
        The random seed of the training.
    """

    weights_: Float32s
    bias_: Float32s

    def __init__(
        self,
        dimensions: int = 200,
        noise: float = 0.05,
        epochs: int = 150,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        random_state: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.noise = noise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Train on edge vectors (graphs, pairs)."""
        edges = validate_data(self, X, dtype=np.float32)
        roi_count(edges.shape[1])
        check_integers(
            dimensions=(self.dimensions, 1),
            epochs=(self.epochs, 1),
            batch_size=(self.batch_size, 1),
            random_state=(self.random_state, 0),
        )
        if not 0 <= self.noise < 1 or not self.learning_rate > 0:
            raise InputError(
                f"noise must be between 0 and 1, and learning_rate above 0; got {self.noise} and {self.learning_rate}"
            )
        self.weights_, self.bias_ = self._train(edges)
        return self

    def transform(self, X: ArrayLike) -> Float32s:
        """Encode edge vectors (graphs, pairs)."""
        check_is_fitted(self)
        edges = validate_data(self, X, reset=False, dtype=np.float32)
        code = edges @ self.weights_
        code += self.bias_
        return np.asarray(np.maximum(code, 0, out=code))

    def _train(self, edges: Float32s) -> tuple[Float32s, Float32s]:
        try:
            import torch
        except ImportError as error:
            raise missing_extra("training an autoencoder", "torch", "torch") from error

        with torch.random.fork_rng():
            torch.manual_seed(self.random_state)
            data = torch.from_numpy(np.array(edges))
            encoder = torch.nn.Linear(data.shape[1], self.dimensions)
            decoder = torch.nn.Linear(self.dimensions, data.shape[1])
            optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=self.learning_rate)
            loss = torch.nn.BCEWithLogitsLoss()
            for _ in range(self.epochs):
                for rows in torch.split(torch.randperm(len(data)), self.batch_size):
                    clean = data[rows]
                    noisy = (clean - (torch.rand_like(clean) < self.noise).float()).abs()
                    optimiser.zero_grad()
                    loss(decoder(torch.relu(encoder(noisy))), clean).backward()
                    optimiser.step()
        return encoder.weight.detach().numpy().T.copy(), encoder.bias.detach().numpy().copy()

    @property
    def _n_features_out(self) -> int:
        return self.dimensions

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
