"""The JSON lines format for classifiers outside Python: one JSON object per line and graph.

Request:  ``{"id": 0, "n_regions": 116, "edges": [[0, 4], [0, 8], ...]}`` (ROIs are numbered from 0);
          for a weighted network ``{"id": 0, "n_regions": 116, "values": [0.31, -0.02, ...]}``:
          the upper triangle, row by row
Answer:   ``{"id": 0, "label": "ASD"}`` (a string or an integer), in any order
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from countergraph.errors import AnswerError
from countergraph.graphs.pairs import Label, Values, pairs_at, roi_count


def encode(values: Values, first: int = 0) -> str:
    """Return a batch of networks (networks, pairs) as JSON lines, numbered from ``first``."""
    n_rois = roi_count(values.shape[1])

    def content(row: Values) -> dict[str, object]:
        if row.dtype == np.bool_:
            return {"edges": pairs_at(np.flatnonzero(row), n_rois)}
        return {"values": [float(str(value)) for value in row]}  # the shortest digits that give the same float32

    lines = [json.dumps({"id": i, "n_regions": n_rois} | content(row)) for i, row in enumerate(values, first)]
    return "".join(f"{line}\n" for line in lines)


def decode(lines: Iterable[str], count: int, source: str, first: int = 0) -> list[Label]:
    """Return the labels of ``count`` graphs, numbered from ``first``; ``source`` names the classifier in errors."""
    labels: dict[int, Label] = {}
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
            number, label = answer["id"], answer["label"]
        except (ValueError, KeyError, TypeError):
            raise AnswerError(
                f'{source} must answer with lines such as {{"id": 0, "label": "ASD"}}, not {line[:200]!r}'
            ) from None
        if not isinstance(number, int) or not first <= number < first + count or number in labels:
            raise AnswerError(f"{source} answered with id {number!r}, which is unknown or was already answered")
        labels[number] = label
    if len(labels) < count:
        raise AnswerError(f"{source} answered only {len(labels)} of {count} graphs")
    return [labels[i] for i in range(first, first + count)]
