"""Prove properties of a counterfactual by additional calls or, for a linear classifier, by computation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from math import comb

import numpy as np

from countergraph.errors import InputError, TooManyCallsError, check_integers
from countergraph.finding.inputs import oracle_of
from countergraph.finding.units import changed_units, units_of_result
from countergraph.graphs.correlation import has_correlations, nearest_correlation
from countergraph.graphs.measure import diagonal_of
from countergraph.graphs.pairs import Label, Values
from countergraph.oracle.oracle import Oracle
from countergraph.proofs.optimum import optimal_flips, white_box
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.search.amounts import smaller_amounts
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.network import Change, Network, Problem
from countergraph.search.protocol import Flips, is_counterfactual_class

BATCH_BYTES = 64 * 2**20
MAX_CALLS = 10_000_000
"""The largest number of calls of a proof."""


def certify(black_box: object, result: Counterfactual, radius: int = 0) -> Counterfactual:
    """Return the same counterfactual with a `Certificate` of the properties that are proven.

    Parameters
    ----------
    black_box
        The black box that was searched.
    result
        A counterfactual.
    radius
        Classify every graph with this many changes or fewer. These are as many calls as there are pairs (or larger
        units) for 1, half of its square for 2, and so on. If one of them is a counterfactual, and is confirmed by a
        second call, it is closer than ``result`` and is returned instead.

    Returns
    -------
    Counterfactual
        With ``certificate`` set. It is *optimal* if all closer graphs were classified, or if the black box is linear in
        the edges; in that case the exact optimum replaces a result that is farther. It is *1-minimal* if undoing any
        single change restores the class. Properties that the search has proven take no additional calls.
    """
    check_integers(radius=(radius, 0))
    if not isinstance(result, Counterfactual):
        raise InputError(f"certify takes one Counterfactual, not {type(result).__name__}")
    if result.flips is None:
        raise InputError("certify takes a counterfactual, but this search found none")
    if result.limited and radius:
        raise TooManyCallsError("a radius cannot be proven for a counterfactual under constraints; use radius=0")
    if radius and result.weighted and result.alternatives is None:
        raise InputError(
            "a radius needs the alternative values of all pairs, which Store.results does not return: use "
            "resume_counterfactuals"
        )
    oracle = oracle_of(black_box)
    problem, chosen = _problem(result), _chosen(result)
    before, after = _labels(oracle, result, np.array([result.original, result.values]))
    if before != result.original_label or not _is_counterfactual(result, after):
        raise InputError(
            "this black box does not change its answer for this counterfactual: the result belongs to another "
            "black box, or the black box gives different answers to the same graph"
        )
    best, known = chosen.size, result.certificate
    if known.optimal:
        return replace(result, certificate=replace(known, calls=2))
    optimum = None if result.limited or result.units else _optimum(oracle, result, problem)
    if optimum is not None:
        return _with_optimum(oracle, result, problem, optimum, 3)
    closer, reached, calls = _search_radius(oracle, result, problem, known.radius, min(radius, best - 1))
    if closer is not None:
        return _with_optimum(oracle, result, problem, closer, 2 + calls)
    optimal = not result.limited and reached == best - 1
    subsets = [] if known.minimal or best == 1 else list(combinations(chosen.tolist(), best - 1))
    minimal = _none_is_counterfactual(oracle, result, _with_amounts(result, problem), iter(subsets))
    return replace(result, certificate=Certificate(minimal, reached, optimal, 2 + calls + len(subsets)))


def is_cheap_to_prove(black_box: object, result: Counterfactual) -> bool:
    """Check whether the optimum can be computed: the black box is linear, and there are no constraints."""
    return not result.limited and white_box(oracle_of(black_box)) is not None


def _problem(result: Counterfactual) -> Problem:
    """Return what a candidate of a result can change, and which pairs its units consist of."""
    network = Network(result.original, _alternatives(result))
    units = units_of_result(result)
    if units is None:
        return Problem(network)
    limits = Limits(network.can_change) if network.weighted else NO_LIMITS
    problem = units.problem(network, limits)
    members = list(problem.members)
    for unit in result.units:  # under constraints, the units have fewer pairs
        members[unit.number] = unit.flips
    return problem._replace(members=tuple(members))


def _chosen(result: Counterfactual) -> Flips:
    """Return the changes of a result, as positions of pairs or of larger units."""
    assert result.flips is not None
    return np.array([unit.number for unit in result.units], dtype=np.intp) if result.units else result.flips


def _with_optimum(
    oracle: Oracle, result: Counterfactual, problem: Problem, optimum: tuple[Flips, Label], calls: int
) -> Counterfactual:
    """Return the closest counterfactual with its certificate: ``result`` itself, if it is as close."""
    flips, label = optimum
    proven = Certificate(minimal=True, radius=flips.size - 1, optimal=True, calls=calls)
    if flips.size == result.distance:
        return replace(result, certificate=replace(proven, minimal=not _has_amounts(result)))
    pairs, values = problem.change(flips)
    changed = values if result.weighted else None
    other = replace(result, flips=pairs, changed_values=changed, counterfactual_label=label, certificate=proven)
    units = changed_units(units_of_result(result), flips.tolist(), pairs, other.decreased, result.change_names)
    other = replace(other, units=units, valid_values=None)
    return _finish(oracle, other, problem, flips) if result.weighted else other


def _finish(oracle: Oracle, result: Counterfactual, problem: Problem, flips: Flips) -> Counterfactual:
    """Shrink the changes and project the result, if the search of the original result did."""
    calls, found = 0, result
    if result.parameters.get("amounts"):
        steps = smaller_amounts(problem, flips)
        change: Change | None = next(steps)
        while change is not None:
            smaller = replace(result, changed_values=change.values)
            reached = _labels(oracle, result, np.array([smaller.values])) == [result.counterfactual_label]
            found, calls = smaller if reached else found, calls + 1
            try:
                change = steps.send(reached)
            except StopIteration:
                change = None
    if result.parameters.get("valid") == "nearest" and has_correlations(result.measure):
        assert found.values is not None
        nearest = nearest_correlation(found.values, result.measure)
        valid = _labels(oracle, result, nearest[None]) == [result.counterfactual_label]
        found, calls = replace(found, valid_values=nearest if valid else None), calls + 1
    proven = replace(result.certificate, calls=result.certificate.calls + calls, minimal=not _has_amounts(found))
    return replace(found, certificate=proven)


def _has_amounts(result: Counterfactual) -> bool:
    """Check whether changes of several pairs or units were shrunk: then each of them may have become unnecessary."""
    if result.flips is None or result.alternatives is None or (result.distance or 0) < 2:
        return False
    return not np.array_equal(result.changed_values, result.alternatives[result.flips])  # type: ignore[arg-type]


def _with_amounts(result: Counterfactual, problem: Problem) -> Problem:
    """Return the problem in which the alternatives are the changed values of the result."""
    if not _has_amounts(result):
        return problem
    alternatives = np.array(result.alternatives)
    alternatives[result.flips] = result.changed_values
    network = Network(result.original, alternatives)
    return problem._replace(network=network) if problem.pair_network is None else problem._replace(pair_network=network)


def _none_is_counterfactual(
    oracle: Oracle, result: Counterfactual, problem: Problem, sets: Iterator[tuple[int, ...]]
) -> bool:
    """Classify all sets of flips, and check that none is a counterfactual."""
    batches = _batches(sets, result.original.size)
    labels = [label for batch in batches for label in _classify(oracle, result, problem, batch)]
    return not any(_is_counterfactual(result, label) for label in labels)


def _search_radius(
    oracle: Oracle, result: Counterfactual, problem: Problem, known: int, radius: int
) -> tuple[tuple[Flips, Label] | None, int, int]:
    """Classify all graphs between two radii, nearest first: the first counterfactual, the radius proven, the calls."""
    pool, n_pairs, calls = problem.changeable.tolist(), result.original.size, 0
    if sum(comb(len(pool), size) for size in range(1, radius + 1)) > MAX_CALLS:
        raise TooManyCallsError(
            f"a radius of {radius} among {len(pool)} {result.unit}s takes more than "
            f"{MAX_CALLS:,} calls; use a smaller radius"
        )
    for size in range(known + 1, radius + 1):
        for batch in _batches(combinations(pool, size), n_pairs):
            calls += len(batch)
            for flips, label in zip(batch, _classify(oracle, result, problem, batch), strict=True):
                if _is_counterfactual(result, label):
                    if _classify(oracle, result, problem, [flips]) != [label]:
                        raise InputError("the black box gives different answers to the same graph")
                    return (flips, label), size - 1, calls + 1
    return None, max(known, radius), calls


def _batches(sets: Iterator[tuple[int, ...]], n_pairs: int) -> Iterator[list[Flips]]:
    while batch := [np.array(each, dtype=np.intp) for each in islice(sets, max(1, BATCH_BYTES // (8 * n_pairs)))]:
        yield batch


def _classify(oracle: Oracle, result: Counterfactual, problem: Problem, candidates: list[Flips]) -> list[Label]:
    if not candidates:
        return []
    batch: Values = np.repeat(result.original[None], len(candidates), axis=0)
    for row, flips in zip(batch, candidates, strict=True):
        pairs, values = problem.change(flips)
        row[pairs] = values
    return _labels(oracle, result, batch)


def _labels(oracle: Oracle, result: Counterfactual, batch: Values) -> list[Label]:
    """Classify networks as in the search of the result."""
    subjects = [result.subject_key] * len(batch)
    labels: list[Label] = oracle.classify(batch, result.classes, subjects, diagonal_of(result.measure)).tolist()
    return labels


def _alternatives(result: Counterfactual) -> Values:
    """Return the value of each pair if it is changed; only that of the changed pairs if the others are unknown."""
    if not result.weighted:
        return ~result.original
    if result.alternatives is not None:
        return result.alternatives
    alternatives = result.original.copy()
    alternatives[result.flips] = result.changed_values
    return alternatives


def _is_counterfactual(result: Counterfactual, label: Label) -> bool:
    assert result.original_label is not None
    return is_counterfactual_class(label, result.original_label, result.parameters.get("target"))


def _optimum(oracle: Oracle, result: Counterfactual, problem: Problem) -> tuple[Flips, Label] | None:
    """Return the closest counterfactual of a linear black box, if its answer agrees; None for other black boxes."""
    if white_box(oracle) is None:
        return None
    if result.weighted and result.alternatives is None:
        return None
    flips = optimal_flips(oracle, problem.network)
    if flips is None or result.flips is None or flips.size > result.flips.size:
        return None
    [label] = _classify(oracle, result, problem, [flips])
    return (flips, label) if _is_counterfactual(result, label) else None
