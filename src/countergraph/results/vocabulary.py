"""Groups of pairs that change together: all pairs of an ROI, between two networks, or inside a clique."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, islice
from typing import Literal

import numpy as np

from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Bits, Indices, pairs_between, pairs_within, roi_count, to_adjacency
from countergraph.results.wording import between_networks, network_phrase

MAX_CLIQUES = 400
SMALLEST_CLIQUE = 3


@dataclass(frozen=True, eq=False)
class Move:
    """A group of pairs that change together."""

    change: Literal["removed", "added"]
    words: str
    """The group as text: "all connections between the frontal lobe and the insula"."""
    flips: Indices = field(repr=False)
    """The positions of the pairs that change, increasing."""


def vocabulary(graph: Bits, atlas: Atlas | None = None) -> list[Move]:
    """Return the moves of one graph, smallest first: each removes, or adds, all pairs of a group."""
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
        networks = np.array(atlas.networks)
        members = {name: np.flatnonzero(networks == name) for name in dict.fromkeys(atlas.networks)}
        for one, other in combinations_with_replacement(members, 2):
            yield f"all connections {between_networks(one, other)}", pairs_between(members[one], members[other], n)
        for roi, name in enumerate(atlas.names):
            for network, rois in members.items():
                yield f"all connections between {name} and {network_phrase(network)}", pairs_between([roi], rois, n)
    for roi, name in enumerate(atlas.names):
        yield f"all connections of {name}", pairs_between([roi], np.arange(n), n)
    for clique in islice(_cliques(graph), MAX_CLIQUES):
        names = [atlas.names[roi] for roi in clique]
        kind = "triangle" if len(clique) == 3 else "clique"
        yield f"the {kind} of {', '.join(names[:-1])} and {names[-1]}", pairs_within(clique, n)


def _cliques(graph: Bits) -> Iterator[list[int]]:
    """Return the maximal cliques, in an order that depends only on the graph."""
    import networkx as nx  # slow to import

    found = nx.find_cliques(nx.from_numpy_array(to_adjacency(graph)))
    return iter(sorted(sorted(clique) for clique in islice(found, 10 * MAX_CLIQUES) if len(clique) >= SMALLEST_CLIQUE))


def as_moves(flips: Indices, moves: list[Move]) -> list[Move]:
    """Return moves whose union is ``flips``, largest first; an empty list if there are none."""
    left, chosen = set(flips.tolist()), []
    whole = set(left)
    for move in sorted(moves, key=lambda each: -each.flips.size):
        own = set(move.flips.tolist())
        if own <= whole and own & left:
            chosen.append(move)
            left -= own
    return [] if left else chosen
