"""A result as a sentence."""

from __future__ import annotations

from countergraph.graphs.pairs import pair_position
from countergraph.results.counterfactual import Counterfactual, Pair
from countergraph.results.unit import Unit
from countergraph.results.wording import (
    GRAPH_VERBS,
    WEIGHTED_VERBS,
    Connection,
    UnitChange,
    counterfactual_sentence,
    nothing_found_sentence,
    units_sentence,
)


def result_sentence(result: Counterfactual) -> str:
    """Describe the changes and their effect, or why no counterfactual was found."""
    before, after = result.class_name(result.original_label), result.class_name(result.counterfactual_label)
    target = result.class_name(result.parameters.get("target"))
    if before is None or after is None:
        return nothing_found_sentence(
            result.subject, before, result.calls, result.stopped, result.limited, target, result.why
        )
    if result.units:
        sentence = units_sentence(result.subject, before, after, [_unit_change(result, unit) for unit in result.units])
    else:
        removed, added = ([_connection(result, pair) for pair in pairs] for pairs in (result.removed, result.added))
        verbs = WEIGHTED_VERBS if result.weighted else GRAPH_VERBS
        sentence = counterfactual_sentence(result.subject, before, after, removed, added, verbs)
    proven = result.certificate.describe(target, result.weighted)
    return f"{sentence} {proven}" if proven else sentence


def _unit_change(result: Counterfactual, unit: Unit) -> UnitChange:
    return UnitChange(unit.change, unit.words, len(unit.flips), result.mean_change(unit))


def _connection(result: Counterfactual, pair: Pair) -> Connection:
    networks = None if result.atlas is None else result.atlas.networks
    first, second = (result.roi_name(roi) for roi in pair)
    first_network, second_network = ("", "") if networks is None else (networks[roi] for roi in pair)
    change = None
    if result.weighted and result.values is not None:
        position = pair_position(*pair, result.n_rois)
        change = float(result.original[position]), float(result.values[position])
    return Connection(first, second, first_network, second_network, change)
