"""The answers of an unfinished run.

Searches that learn from each other are finished together or not at all. A run of them that was stopped is done again
from its first question; but as the same questions come in the same order, it is told what it was told before, and asks
only what it had not asked yet.
"""

from __future__ import annotations

import json

import numpy as np

from countergraph.graphs.pairs import Bits, digests
from countergraph.oracle.answers import Labels, Scored
from countergraph.search.driver import Ask
from countergraph.store.setting import Setting
from countergraph.store.store import Store

StoredAnswer = tuple[bytes, str]
"""A digest of the graph that was asked about, and the answer as JSON."""


class Replay:
    """Ask a black box, but for what the store knows that it answered in this run."""

    def __init__(self, ask: Ask, store: Store, setting: Setting, run: int) -> None:
        self.ask, self.store, self.setting, self.run = ask, store, setting, run
        self.told = store.answers(setting, run)
        self.asked = 0

    def __call__(self, batch: Bits) -> Labels | Scored:
        """Return the answers to a batch of graphs."""
        graphs = digests(batch)
        told = self.told[self.asked : self.asked + len(graphs)]
        if [graph for graph, _ in told] != graphs[: len(told)]:
            told = self.told = []  # it was another run: nothing of it counts from here on
        if len(told) < len(graphs):
            answers = _written(self.ask(batch[len(told) :]))
            fresh = list(zip(graphs[len(told) :], answers, strict=True))
            self.store.tell(self.setting, self.run, self.asked + len(told), fresh)
            told = [*told, *fresh]
        self.asked += len(graphs)
        return _read([answer for _, answer in told])

    def end(self) -> None:
        """Forget the answers, when the run is finished."""
        self.store.forget(self.setting, self.run)


def _written(answers: Labels | Scored) -> list[str]:
    if not isinstance(answers, Scored):
        return [json.dumps([label]) for label in answers.tolist()]
    columns, rows = answers.columns.tolist(), zip(answers.labels.tolist(), answers.shares.tolist(), strict=True)
    return [json.dumps([label, columns, shares]) for label, shares in rows]


def _read(answers: list[str]) -> Labels | Scored:
    labels, *scores = zip(*map(json.loads, answers), strict=True)
    if not scores:
        return np.array(labels)
    columns, shares = scores
    return Scored(np.array(labels), np.array(shares), np.array(columns[0]))
