"""Classifiers that are torch modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from countergraph.errors import AnswerError, InputError
from countergraph.graphs.pairs import Floats, Values, to_adjacency, to_matrix

MIN_OUTPUTS = 20
"""If this many outputs are all between 0 and 1, they are assumed to be probabilities, not logits."""
EPSILON = 1e-9
"""Probabilities are clipped to [EPSILON, 1 - EPSILON], so that their logits are finite."""


class TorchModel:
    """Query a ``torch.nn.Module`` that returns logits.

    Parameters
    ----------
    module
        Called in evaluation mode and without gradients on a float tensor. It returns logits (batch, classes), or one
        logit for each graph, (batch,) or (batch, 1); a positive logit means class 1. If the module ends in a sigmoid,
        pass ``probabilities=True``.
    input
        ``"adjacency"``, tensors (batch, n, n), or ``"edges"``, tensors (batch, pairs).
    prepare
        Function that converts the tensor to a tuple of arguments of the module, for modules with another input, for
        example node features and an edge index as in torch_geometric.
    device
        The torch device of the module.
    probabilities
        Whether a single output for each graph is the probability of class 1 (True) or a logit (False). By default it
        is a logit, and an error is raised if all outputs so far (at least 20) are between 0 and 1.
    diagonal
        The diagonal of the matrices of weighted networks, as in the training of the module: 1 for correlations, for
        example. Required for weighted networks with ``input="adjacency"``.
    """

    def __init__(
        self,
        module: Any,  # noqa: ANN401
        input: Literal["adjacency", "edges"] = "adjacency",  # noqa: A002
        prepare: Callable[[Any], tuple[Any, ...]] | None = None,
        device: str = "cpu",
        probabilities: bool | None = None,
        diagonal: float | None = None,
    ) -> None:
        if not callable(getattr(module, "eval", None)) or not callable(module):
            raise InputError(f"module must be a torch.nn.Module, not {type(module).__name__}")
        if input not in ("adjacency", "edges"):
            raise InputError(f"input must be 'adjacency' or 'edges', not {input!r}")
        self.module = module
        self.input = input
        self.prepare = prepare or (lambda tensor: (tensor,))
        self.device = device
        self.probabilities = probabilities
        self.diagonal = diagonal
        self._min_output, self._max_output, self._n_outputs = np.inf, -np.inf, 0

    def predict(self, edges: Values) -> NDArray[np.int64]:
        """Return the class with the largest logit for each graph (graphs, pairs)."""
        return np.asarray(self._logits(edges).argmax(axis=1), dtype=np.int64)

    def predict_proba(self, edges: Values) -> Floats:
        """Return the softmax of the logits."""
        logits = self._logits(edges)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def _logits(self, edges: Values) -> Floats:
        import torch

        array = self._matrices(edges) if self.input == "adjacency" else edges
        self.module.eval()
        with torch.no_grad():
            tensor = torch.from_numpy(array.astype(np.float32)).to(self.device)
            logits = self.module(*self.prepare(tensor)).cpu().numpy().astype(np.float64)
        if not np.isfinite(logits).all():
            raise AnswerError("the module returned logits that are not finite")
        if logits.ndim == 1 or logits.shape[1:] == (1,):
            logits = np.stack([np.zeros(len(logits)), self._class_1_logits(logits.reshape(-1))], axis=1)
        if logits.shape[0] != len(edges) or logits.ndim != 2:
            raise AnswerError(
                f"the module must return logits ({len(edges)}, classes); it returned shape {logits.shape}"
            )
        return np.asarray(logits)

    def _matrices(self, values: Values) -> Values:
        if values.dtype == np.bool_:
            return to_adjacency(values)
        if self.diagonal is None:
            raise InputError(
                "the networks are weighted: pass the diagonal of the matrices that the module was trained on, "
                "TorchModel(module, diagonal=1.0) for correlation matrices"
            )
        return to_matrix(values, self.diagonal)

    def _class_1_logits(self, outputs: Floats) -> Floats:
        """Return the logits of class 1; raise `AnswerError` if the outputs appear to be undeclared probabilities."""
        if self.probabilities:
            if outputs.size and not 0 <= outputs.min() <= outputs.max() <= 1:
                raise AnswerError(
                    f"the outputs of the module are not probabilities: they range from {outputs.min():g} to "
                    f"{outputs.max():g}"
                )
            return np.asarray(logit(np.clip(outputs, EPSILON, 1 - EPSILON)))
        self._n_outputs += outputs.size
        self._min_output = min(self._min_output, outputs.min(initial=np.inf))
        self._max_output = max(self._max_output, outputs.max(initial=-np.inf))
        many = self._n_outputs >= MIN_OUTPUTS
        if self.probabilities is None and many and 0 <= self._min_output <= self._max_output <= 1:
            raise AnswerError(
                f"all {self._n_outputs} outputs of the module are between 0 and 1, like probabilities. As logits they "
                "would all mean class 1. Pass probabilities=True if the module ends in a sigmoid, otherwise "
                "probabilities=False"
            )
        return outputs
