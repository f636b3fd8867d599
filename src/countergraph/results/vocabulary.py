"""Words larger than an edge: all connections of a region, between two coarse regions, or inside a clique."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, islice
from typing import Literal

import numpy as np

from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Bits, Indices, pairs_between, pairs_within, roi_count, to_adjacency
from countergraph.results.wording import between_regions, named

MOST_CLIQUES = 400
SMALLEST_CLIQUE = 3


@dataclass(frozen=True, eq=False)
class Move:
    """Changes that are made all at once, or not at all."""

    change: Literal["removed", "added"]
    words: str
    """Which connections: "all connections between the frontal lobe and the insula"."""
    flips: Indices = field(repr=False)
    """The pairs that it changes, increasing."""


def vocabulary(graph: Bits, atlas: Atlas | None = None) -> list[Move]:
    """Return the moves that one graph has, the smallest first: each removes, or adds, all of a kind."""
    moves: dict[bytes, Move] = {}
    for words, pairs in _kinds(graph, atlas or Atlas.numbered(roi_count(graph.size))):
        present = graph[pairs]
        for change, flips in (("removed", pairs[present]), ("added", pairs[~present])):
            if flips.size:
                moves.setdefault(flips.tobytes(), Move(change, words, flips))  # type: ignore[arg-type]
    return sorted(moves.values(), key=lambda move: move.flips.size)


def _kinds(graph: Bits, atlas: Atlas) -> Iterator[tuple[str, Indices]]:
    n = roi_count(graph.size)
    if atlas.networks is not None:
        coarse = np.array(atlas.networks)
        members = {region: np.flatnonzero(coarse == region) for region in dict.fromkeys(atlas.networks)}
        for one, other in combinations_with_replacement(members, 2):
            yield f"all connections {between_regions(one, other)}", pairs_between(members[one], members[other], n)
        for vertex, name in enumerate(atlas.names):
            for region, there in members.items():
                yield f"all connections between {name} and {named(region)}", pairs_between([vertex], there, n)
    for vertex, name in enumerate(atlas.names):
        yield f"all connections of {name}", pairs_between([vertex], np.arange(n), n)
    for clique in islice(_cliques(graph), MOST_CLIQUES):
        names = [atlas.names[vertex] for vertex in clique]
        kind = "triangle" if len(clique) == 3 else "clique"
        yield f"the {kind} of {', '.join(names[:-1])} and {names[-1]}", pairs_within(clique, n)


def _cliques(graph: Bits) -> Iterator[list[int]]:
    """Return the cliques that cannot be made larger, in an order that depends on the graph alone."""
    import networkx as nx  # slow to import

    found = nx.find_cliques(nx.from_numpy_array(to_adjacency(graph)))
    return iter(sorted(sorted(clique) for clique in islice(found, 10 * MOST_CLIQUES) if len(clique) >= SMALLEST_CLIQUE))


def spoken(flips: Indices, moves: list[Move]) -> list[Move]:
    """Return moves that together make up ``flips``, the largest first; none if these cannot be said in moves."""
    left, said = set(flips.tolist()), []
    whole = set(left)
    for move in sorted(moves, key=lambda each: -each.flips.size):
        own = set(move.flips.tolist())
        if own <= whole and own & left:
            said.append(move)
            left -= own
    return [] if left else said
