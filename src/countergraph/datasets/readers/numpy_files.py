"""Files of numpy: .npy, and .npz with one array."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from countergraph.datasets.readers.content import Content
from countergraph.graphs.pairs import roi_count, to_matrix


def read_numpy(path: Path) -> Content:
    """Read one matrix (n, n), one vector of the upper triangle (pairs,), or a time series (time points, n)."""
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.lib.npyio.NpzFile):
        with loaded:
            if len(loaded.files) != 1:
                raise ValueError(f"it contains the arrays {', '.join(loaded.files) or '(none)'}; one is expected")
            loaded = loaded[loaded.files[0]]
    if loaded.dtype.kind not in "biuf":
        raise ValueError(f"its entries have the type {loaded.dtype}, which is not numeric and real")
    numbers = np.asarray(loaded, dtype=np.float64)
    if numbers.ndim == 1:
        roi_count(numbers.size)
        numbers = to_matrix(numbers)
    if numbers.ndim != 2:
        raise ValueError(
            f"it has the shape {numbers.shape}; one matrix (n, n) or time series (time points, n) is expected. Load a "
            "stack of matrices with GraphDataset(numpy.load(...), labels)"
        )
    return Content("matrix" if len(numbers) == numbers.shape[1] else "time series", numbers)
