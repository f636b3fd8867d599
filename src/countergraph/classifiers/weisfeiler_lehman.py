"""Weisfeiler-Lehman labels of a batch of graphs, computed by integer matrix products.

The initial label of an ROI is its degree. In each round, the new label identifies the old label and the multiset of the
labels of the neighbours (Shervashidze et al., JMLR 2011). Labels are 64-bit hashes, and the hash of a multiset is a
sum, so a round is one matrix product. The probability that two different neighbourhoods get the same label is about
2^-64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from countergraph.graphs.pairs import Bits, to_adjacency

Labels = NDArray[np.uint64]


def weisfeiler_lehman(edges: Bits, rounds: int) -> list[Labels]:
    """Return the labels of every ROI after 0, 1, ..., ``rounds`` rounds, each of shape (graphs, n).

    Labels of different rounds are different.
    """
    matrices = to_adjacency(edges)
    labels = [_mix(matrices.sum(axis=-1, dtype=np.uint64), salt=0)]
    neighbours = matrices.astype(np.float64) if rounds else np.empty(0)
    for round_ in range(1, rounds + 1):
        own, hashed = _mix(labels[-1], 3 * round_), _mix(labels[-1], 3 * round_ + 1)
        # Sums of up to 2^20 32-bit numbers are exact in double precision.
        halves = np.stack([hashed & np.uint64(0xFFFFFFFF), hashed >> np.uint64(32)], axis=-1).astype(np.float64)
        low, high = np.moveaxis((neighbours @ halves).astype(np.uint64), -1, 0)
        labels.append(_mix(own + low + (high << np.uint64(32)), 3 * round_ + 2))
    return labels


def _mix(values: Labels, salt: int) -> Labels:
    """Hash 64-bit numbers with the finaliser of splitmix64; every salt gives another hash function."""
    mixed = values + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
