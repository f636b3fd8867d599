"""A unit that a counterfactual changes: a group of pairs with a direction."""

from __future__ import annotations

from dataclasses import dataclass, field

from countergraph.graphs.pairs import Indices


@dataclass(frozen=True, eq=False)
class Unit:
    """A group of pairs that change together in one direction."""

    number: int
    """The position of the unit in the search."""
    change: str
    """"removed", "added", "weakened" or "strengthened"."""
    words: str
    """The group as text: "all connections between the frontal lobe and the insula"."""
    flips: Indices = field(repr=False)
    """The positions of the pairs that change, increasing."""
