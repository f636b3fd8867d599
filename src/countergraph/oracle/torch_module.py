"""A torch network as a black box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from countergraph.errors import AnswerError, InputError
from countergraph.graphs.pairs import Bits, Floats, to_adjacency

MANY = 20
"""So many outputs between 0 and 1 are no logits."""
TINY = 1e-9


class TorchModel:
    """Ask a ``torch.nn.Module`` that gives logits.

    Parameters
    ----------
    module
        Called, in evaluation mode and without gradients, on a float tensor; it gives logits (batch, classes), or one
        logit for each graph (batch,) or (batch, 1), whose positive means class 1. One that ends in a sigmoid gives
        probabilities, which are never negative: say so with ``probabilities``.
    input
        ``"adjacency"``, tensors (batch, n, n), or ``"edges"``, tensors (batch, pairs).
    prepare
        Turns the tensor into the arguments of the module, for networks that take something else: node features and an
        edge index in the way of torch_geometric, for example. Returns a tuple.
    device
        Where the module lives.
    probabilities
        Whether one output for each graph is the probability of class 1 (True) or a logit (False). By default it is
        taken for a logit, unless many in a row lie between 0 and 1.
    """

    def __init__(
        self,
        module: Any,  # noqa: ANN401
        input: Literal["adjacency", "edges"] = "adjacency",  # noqa: A002
        prepare: Callable[[Any], tuple[Any, ...]] | None = None,
        device: str = "cpu",
        probabilities: bool | None = None,
    ) -> None:
        if not callable(getattr(module, "eval", None)) or not callable(module):
            raise InputError(f"module must be a torch.nn.Module; {type(module).__name__} is not")
        if input not in ("adjacency", "edges"):
            raise InputError(f"input must be adjacency or edges, not {input!r}")
        self.module = module
        self.input = input
        self.prepare = prepare or (lambda tensor: (tensor,))
        self.device = device
        self.probabilities = probabilities
        self._lowest, self._highest, self._seen = np.inf, -np.inf, 0

    def predict(self, edges: Bits) -> NDArray[np.int64]:
        """Return the class with the largest logit for each graph (graphs, pairs)."""
        return np.asarray(self._logits(edges).argmax(axis=1), dtype=np.int64)

    def predict_proba(self, edges: Bits) -> Floats:
        """Return the softmax of the logits."""
        logits = self._logits(edges)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def _logits(self, edges: Bits) -> Floats:
        import torch

        array = to_adjacency(edges) if self.input == "adjacency" else edges
        self.module.eval()
        with torch.no_grad():
            tensor = torch.from_numpy(array.astype(np.float32)).to(self.device)
            logits = self.module(*self.prepare(tensor)).cpu().numpy().astype(np.float64)
        if not np.isfinite(logits).all():
            raise AnswerError("the module gave logits that are not finite")
        if logits.ndim == 1 or logits.shape[1:] == (1,):
            logits = np.stack([np.zeros(len(logits)), self._one_sided(logits.reshape(-1))], axis=1)
        if logits.shape[0] != len(edges) or logits.ndim != 2:
            raise AnswerError(f"the module must give logits ({len(edges)}, classes); it gave shape {logits.shape}")
        return np.asarray(logits)

    def _one_sided(self, outputs: Floats) -> Floats:
        """Return the logit of class 1; refuse what looks like its probability, and was not said to be that."""
        if self.probabilities:
            if outputs.size and not 0 <= outputs.min() <= outputs.max() <= 1:
                raise AnswerError(f"the module gave {outputs.min():g} to {outputs.max():g}: these are no probabilities")
            return np.asarray(logit(np.clip(outputs, TINY, 1 - TINY)))
        self._seen += outputs.size
        self._lowest = min(self._lowest, outputs.min(initial=np.inf))
        self._highest = max(self._highest, outputs.max(initial=-np.inf))
        if self.probabilities is None and self._seen >= MANY and 0 <= self._lowest <= self._highest <= 1:
            raise AnswerError(
                f"all of {self._seen} outputs of the module lie between 0 and 1, as probabilities do. As logits they "
                "would put all graphs into class 1. Say probabilities=True if a sigmoid gives them, or False"
            )
        return outputs
