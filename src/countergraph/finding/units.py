"""The units of an atlas: all pairs of each ROI, or of each network and each two networks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.pairs import Bits, Indices, pair_count, pairs_between
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.unit import Unit
from countergraph.results.wording import between_networks
from countergraph.search.units import Units


def units_of(unit: str, atlas: Atlas | None, n_rois: int) -> Units | None:
    """Return the units of an atlas; None for ``"pair"``."""
    if unit == "pair":
        return None
    if unit == "roi":
        atlas = Atlas.numbered(n_rois) if atlas is None else atlas
        everywhere = np.arange(n_rois)
        groups = tuple(pairs_between([roi], everywhere, n_rois) for roi in everywhere)
        words = tuple(f"all connections of {name}" for name in atlas.names)
        return Units(groups, words, (everywhere, everywhere), pair_count(n_rois))
    if atlas is None or atlas.networks is None:
        raise InputError(
            "unit='network' needs an atlas with lobes or networks: pass data with such an atlas, or use unit='roi'"
        )
    names = list(dict.fromkeys(atlas.networks))
    members = [np.flatnonzero(np.array(atlas.networks) == name) for name in names]
    ends, groups_found, words_found = list[tuple[int, int]](), list[Indices](), list[str]()
    for one, other in combinations_with_replacement(range(len(names)), 2):
        pairs = pairs_between(members[one], members[other], n_rois)
        if pairs.size:
            ends.append((one, other))
            groups_found.append(pairs)
            words_found.append(f"all connections {between_networks(names[one], names[other])}")
    first, second = np.array(ends, dtype=np.intp).T
    return Units(tuple(groups_found), tuple(words_found), (first, second), pair_count(n_rois))


def changed_units(
    units: Units | None, numbers: Sequence[int], flips: Indices, decreased: Bits, names: tuple[str, str]
) -> tuple[Unit, ...]:
    """Return the units of a counterfactual, given their numbers and the changed pairs.

    ``names`` are the words for a decrease and an increase.
    """
    if units is None:
        return ()
    found = []
    for number in numbers:
        weakens = number >= units.n_groups
        group = number % units.n_groups
        chosen = flips[decreased == weakens]
        found.append(
            Unit(
                int(number), names[0 if weakens else 1], units.words[group], np.intersect1d(units.groups[group], chosen)
            )
        )
    return tuple(found)


def units_of_result(result: Counterfactual) -> Units | None:
    """Return the units that the search of a result changed."""
    return units_of(str(result.parameters.get("unit", "pair")), result.atlas, result.n_rois)
