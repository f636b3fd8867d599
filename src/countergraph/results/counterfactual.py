"""What was found: the graph, the pairs to change, the classes, and what it cost."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, ClassVar, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import (
    Bits,
    Indices,
    Label,
    pair_count,
    pair_position,
    pairs_at,
    roi_count,
    to_adjacency,
)
from countergraph.results.certificate import NOTHING_PROVEN, Certificate
from countergraph.results.plottable import Plottable
from countergraph.results.vocabulary import Move
from countergraph.results.wording import (
    Connection,
    count,
    counterfactual_sentence,
    moves_sentence,
    nothing_found_sentence,
)

FORMAT = "countergraph-counterfactual/2"
SHOWN = 20
"""How many results a notebook shows."""
Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Counterfactual(Plottable):
    """The outcome of one search, whether it found something (``found``) or not.

    A spent budget is an outcome too: ``stopped`` says why the search ended, and the closest counterfactual until then
    is kept.
    """

    _plots: ClassVar = ("counterfactual",)
    original: Bits
    """The graph that was explained, as an edge vector."""
    flips: Indices | None
    """The positions of the changed pairs, increasing; None if nothing was found."""
    original_class: Label | None
    """The class of the graph; None if the search ended before it was asked."""
    counterfactual_class: Label | None
    """The class after the changes; None if nothing was found."""
    calls_by_phase: dict[str, int]
    """How often the black box was asked, by phase. The first phase includes the question for the graph's own class."""
    method: str
    parameters: dict[str, Any]
    """k, max_calls, seed, target: with the graph and the black box they determine the result."""
    stopped: str
    """"finished", "not found", "max_calls", "time_limit", "already in target class" or "interrupted"."""
    trace: tuple[tuple[int, int], ...] = ()
    """(calls, distance) each time a closer counterfactual was found."""
    graph_index: int = 0
    run: int = 0
    subject: str = "The graph"
    atlas: Atlas | None = field(default=None, repr=False)
    classes: tuple[str, ...] | None = None
    """The names of the classes, by label, where the classes are numbers."""
    moves: tuple[Move, ...] = ()
    """The changes in words larger than an edge, where the search spoke in those."""
    cost: float | None = None
    """What the changes cost, where the search minimised that instead of their number."""
    certificate: Certificate = NOTHING_PROVEN
    """What is proven about it."""
    why: str = ""
    """Why nothing was found, where more is known than ``stopped`` tells."""

    @property
    def found(self) -> bool:
        """Whether there is a counterfactual."""
        return self.flips is not None

    def __repr__(self) -> str:
        what = "nothing found" if self.distance is None else count(self.distance, "change")
        return f"<Counterfactual of {self.subject}: {what}, {count(self.calls, 'question')} by {self.method}>"

    @property
    def distance(self) -> int | None:
        """The number of changed pairs; None if nothing was found."""
        return None if self.flips is None else int(self.flips.size)

    @property
    def calls(self) -> int:
        """How often the black box was asked."""
        return sum(self.calls_by_phase.values())

    @property
    def n_rois(self) -> int:
        """The number of regions of the graph."""
        return roi_count(self.original.size)

    @property
    def added(self) -> list[Pair]:
        """The pairs (i, j), i < j, that the counterfactual connects and the graph does not."""
        return self._changed(False)

    @property
    def removed(self) -> list[Pair]:
        """The pairs (i, j), i < j, that the graph connects and the counterfactual does not."""
        return self._changed(True)

    def _changed(self, present: bool) -> list[Pair]:
        if self.flips is None:
            return []
        return pairs_at(self.flips[self.original[self.flips] == present], self.n_rois)

    @cached_property
    def edges(self) -> Bits | None:
        """The counterfactual as an edge vector; None if nothing was found."""
        if self.flips is None:
            return None
        changed = self.original.copy()
        changed[self.flips] ^= True
        return changed

    @property
    def adjacency(self) -> NDArray[np.uint8] | None:
        """The counterfactual as an adjacency matrix (n, n); None if nothing was found."""
        return None if self.edges is None else to_adjacency(self.edges)

    def class_name(self, label: Label | None) -> str | None:
        """Return what a class is called."""
        if isinstance(label, int) and self.classes is not None:
            return self.classes[label]
        return None if label is None else f"class {label}" if isinstance(label, int) else label

    def roi_name(self, vertex: int) -> str:
        """Return what a region is called."""
        return f"region {vertex}" if self.atlas is None else self.atlas.names[vertex]

    @property
    def sentence(self) -> str:
        """The result in words."""
        before, after = self.class_name(self.original_class), self.class_name(self.counterfactual_class)
        if before is None or after is None:
            asked = (self.limited, self.class_name(self.parameters.get("target")))
            return nothing_found_sentence(self.subject, before, self.calls, self.stopped, *asked, self.why)
        proof = self.certificate.told(self.class_name(self.parameters.get("target")))
        proven = f" {proof}" if proof else ""
        if self.moves:
            said = [(move.change, move.words, len(move.flips)) for move in self.moves]
            return moves_sentence(self.subject, before, after, said, self.distance or 0) + proven
        removed, added = ([self._connection(*pair) for pair in pairs] for pairs in (self.removed, self.added))
        return counterfactual_sentence(self.subject, before, after, removed, added) + proven

    @property
    def limited(self) -> bool:
        """Whether the search was under constraints, so that closer counterfactuals may exist that they forbid."""
        return bool(self.parameters.get("constraints"))

    def _connection(self, i: int, j: int) -> Connection:
        regions = None if self.atlas is None else self.atlas.networks
        lobes = ("", "") if regions is None else (regions[i], regions[j])
        return Connection(self.roi_name(i), self.roi_name(j), *lobes)

    @property
    def changes(self) -> pd.DataFrame:
        """The changed connections, removed ones first: regions and, where the atlas knows them, where these are."""
        rows = []
        for change, pairs in (("removed", self.removed), ("added", self.added)):
            for i, j in pairs:
                row: dict[str, object] = {
                    "change": change,
                    "first": self.roi_name(i),
                    "second": self.roi_name(j),
                }
                if self.atlas is not None and self.atlas.hemispheres is not None:
                    row["hemispheres"] = f"{self.atlas.hemispheres[i] or 'M'}-{self.atlas.hemispheres[j] or 'M'}"
                if self.atlas is not None and self.atlas.networks is not None:
                    row["regions"] = f"{self.atlas.networks[i]} - {self.atlas.networks[j]}"
                if self.atlas is not None and self.atlas.coordinates is not None:
                    row["distance_mm"] = round(self.atlas.distance(i, j), 1)
                rows.append(row)
        return pd.DataFrame(rows, columns=None if rows else ["change", "first", "second"])

    @property
    def caption(self) -> str:
        """The result in words."""
        return self.sentence

    @property
    def listing(self) -> pd.DataFrame:
        """The changed connections."""
        return self.changes

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, from which `from_dict` makes an equal result."""
        return {
            "format": FORMAT,
            "subject": self.subject,
            "graph_index": self.graph_index,
            "run": self.run,
            "method": self.method,
            "parameters": dict(self.parameters),
            "found": self.found,
            "stopped": self.stopped,
            "why": self.why,
            "distance": self.distance,
            "original_class": self.original_class,
            "counterfactual_class": self.counterfactual_class,
            "classes": None if self.classes is None else list(self.classes),
            "added": [list(pair) for pair in self.added],
            "removed": [list(pair) for pair in self.removed],
            "connections": [
                {"change": change, "first": self.roi_name(i), "second": self.roi_name(j)}
                for change, pairs in (("added", self.added), ("removed", self.removed))
                for i, j in pairs
            ],
            "calls": self.calls,
            "calls_by_phase": dict(self.calls_by_phase),
            "trace": [list(point) for point in self.trace],
            "moves": [
                {"change": move.change, "words": move.words, "pairs": _ends(move.flips, self.n_rois)}
                for move in self.moves
            ],
            "cost": self.cost,
            "certificate": self.certificate.to_dict(),
            "sentence": self.sentence,
            "n_regions": self.n_rois,
            "original": base64.b64encode(np.packbits(self.original).tobytes()).decode(),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], atlas: Atlas | None = None) -> Counterfactual:
        """Make a result from what `to_dict` returned; the atlas, which is not in it, gives the regions names."""
        if plain.get("format") != FORMAT:
            raise InputError(f"a result of the format {FORMAT!r} is needed, not {plain.get('format')!r}")
        n = plain["n_regions"]
        packed = np.frombuffer(base64.b64decode(plain["original"]), dtype=np.uint8)
        changed = [*plain["added"], *plain["removed"]]
        positions = [int(pair_position(i, j, n)) for i, j in changed]
        return cls(
            original=np.unpackbits(packed, count=pair_count(n)).astype(np.bool_),
            flips=np.array(sorted(positions), dtype=np.intp) if plain["found"] else None,
            original_class=plain["original_class"],
            counterfactual_class=plain["counterfactual_class"],
            calls_by_phase=dict(plain["calls_by_phase"]),
            method=plain["method"],
            parameters=dict(plain["parameters"]),
            stopped=plain["stopped"],
            trace=tuple((calls, distance) for calls, distance in plain["trace"]),
            graph_index=plain["graph_index"],
            run=plain["run"],
            subject=plain["subject"],
            atlas=atlas,
            classes=None if plain["classes"] is None else tuple(plain["classes"]),
            moves=tuple(
                Move(move["change"], move["words"], np.array([int(pair_position(i, j, n)) for i, j in move["pairs"]]))
                for move in plain["moves"]
            ),
            cost=plain["cost"],
            certificate=Certificate.from_dict(plain["certificate"]),
            why=plain.get("why", ""),
        )


def _ends(flips: Indices, n_rois: int) -> list[list[int]]:
    return [list(pair) for pair in pairs_at(flips, n_rois)]


class Counterfactuals(Sequence[Counterfactual]):
    """Results in the order of the graphs, the runs of one graph next to each other."""

    def __init__(self, results: Sequence[Counterfactual]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, index: slice) -> Counterfactuals: ...
    def __getitem__(self, index: int | slice) -> Counterfactual | Counterfactuals:
        if isinstance(index, slice):
            return Counterfactuals(self._results[index])
        return self._results[index]

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self._results)

    def __add__(self, others: Sequence[Counterfactual]) -> Counterfactuals:
        return Counterfactuals([*self, *others])

    def _repr_html_(self) -> str:
        html: str = self.to_frame().head(SHOWN)._repr_html_()  # type: ignore[operator]
        more = f"<p>and {len(self) - SHOWN} more rows: to_frame() has them all</p>" if len(self) > SHOWN else ""
        return f"<p>{escape(repr(self))}</p>{html}{more}"

    def __repr__(self) -> str:
        return f"<{len(self)} results, {sum(result.found for result in self)} of them counterfactuals>"

    @property
    def found(self) -> Counterfactuals:
        """Those that found a counterfactual."""
        return self.where(lambda result: result.found)

    @property
    def calls(self) -> int:
        """How often the black box was asked for all of them."""
        return sum(result.calls for result in self)

    @property
    def amortised_calls(self) -> float:
        """Calls for each result. Searches that learn use each other's answers: this is what one costs in company."""
        return self.calls / max(1, len(self))

    def where(self, condition: Callable[[Counterfactual], bool]) -> Counterfactuals:
        """Return those for which ``condition`` is true."""
        return Counterfactuals([result for result in self if condition(result)])

    def closest(self) -> Counterfactual | None:
        """Return the result that costs least, by default the one with the fewest changes; None if nothing was found.

        Of several, it is the earliest.
        """
        return min(self.found, key=lambda result: (result.cost or 0.0, result.distance or 0), default=None)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each result."""
        return pd.DataFrame(
            [
                {
                    "subject": result.subject,
                    "graph_index": result.graph_index,
                    "run": result.run,
                    "method": result.method,
                    "seed": result.parameters.get("seed"),
                    "found": result.found,
                    "distance": result.distance,
                    "cost": np.nan if result.cost is None else result.cost,
                    "added": len(result.added),
                    "removed": len(result.removed),
                    "original_class": result.class_name(result.original_class),
                    "counterfactual_class": result.class_name(result.counterfactual_class),
                    "calls": result.calls,
                    **{f"calls_{phase}": calls for phase, calls in result.calls_by_phase.items()},
                    "proven": result.certificate.proof,
                    "stopped": result.stopped,
                }
                for result in self
            ]
        )
