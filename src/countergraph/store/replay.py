"""The answers of an unfinished joint run.

Searches that learn from each other are finished together. A joint run that was stopped is repeated from its first call;
because the same calls come in the same order, the answers in the store are used again, and only new graphs are sent to
the black box.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from countergraph.graphs.pairs import Values, digests
from countergraph.oracle.answers import Labels, Scored
from countergraph.search.driver import Classify
from countergraph.store.setting import Setting
from countergraph.store.store import Store


class Replay:
    """Calls a black box, except for graphs whose answers are in the store; call it like ``classify``."""

    def __init__(self, classify: Classify, store: Store, setting: Setting, run: int) -> None:
        self.classify, self.store, self.setting, self.run = classify, store, setting, run
        self.stored = store.answers(setting, run)
        self.calls = 0

    def __call__(self, batch: Values, numbers: Sequence[int]) -> Labels | Scored:
        """Return the answers for a batch of graphs; ``numbers`` are the numbers of their jobs."""
        graphs = digests(batch)
        known = self.stored[self.calls : self.calls + len(graphs)]
        if [graph for graph, _ in known] != graphs[: len(known)]:
            known = self.stored = []  # the stored answers belong to another run
        if len(known) < len(graphs):
            answers = _to_json(self.classify(batch[len(known) :], numbers[len(known) :]))
            new = list(zip(graphs[len(known) :], answers, strict=True))
            self.store.add_answers(self.setting, self.run, self.calls + len(known), new)
            known = [*known, *new]
        self.calls += len(graphs)
        return _from_json([answer for _, answer in known])

    def delete(self) -> None:
        """Delete the stored answers when the run is finished."""
        self.store.delete_answers(self.setting, self.run)


def _to_json(answers: Labels | Scored) -> list[str]:
    if not isinstance(answers, Scored):
        return [json.dumps([label]) for label in answers.tolist()]
    columns, rows = answers.columns.tolist(), zip(answers.labels.tolist(), answers.probabilities.tolist(), strict=True)
    return [json.dumps([label, columns, shares]) for label, shares in rows]


def _from_json(answers: list[str]) -> Labels | Scored:
    labels, *scores = zip(*map(json.loads, answers), strict=True)
    if not scores:
        return np.array(labels)
    columns, shares = scores
    return Scored(np.array(labels), np.array(shares), np.array(columns[0]))
