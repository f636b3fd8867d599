"""The language of black boxes outside Python: one JSON object on a line for each graph.

Asked:     ``{"id": 0, "n_regions": 116, "edges": [[0, 4], [0, 8], ...]}`` (regions count from 0)
Answered:  ``{"id": 0, "label": "ASD"}`` (a string or an integer), in any order
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from countergraph.errors import AnswerError
from countergraph.graphs.pairs import Bits, Label, pairs_at, roi_count


def encode(edges: Bits, first: int = 0) -> str:
    """Write a batch of graphs (graphs, pairs), a line for each, numbered from ``first``."""
    n_rois = roi_count(edges.shape[1])
    lines = [
        json.dumps({"id": i, "n_regions": n_rois, "edges": pairs_at(np.flatnonzero(row), n_rois)})
        for i, row in enumerate(edges, first)
    ]
    return "".join(f"{line}\n" for line in lines)


def decode(lines: Iterable[str], count: int, who: str, first: int = 0) -> list[Label]:
    """Read the answers to ``count`` graphs, numbered from ``first``; ``who`` is what an error calls the answerer."""
    labels: dict[int, Label] = {}
    for line in lines:
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
            number, label = answer["id"], answer["label"]
        except (ValueError, KeyError, TypeError):
            raise AnswerError(
                f'{who} must answer lines such as {{"id": 0, "label": "ASD"}}, not {line[:200]!r}'
            ) from None
        if not isinstance(number, int) or not first <= number < first + count or number in labels:
            raise AnswerError(f"{who} answered id {number!r}, which was not asked or is answered already")
        labels[number] = label
    if len(labels) < count:
        raise AnswerError(f"{who} answered {len(labels)} of {count} graphs")
    return [labels[i] for i in range(first, first + count)]
