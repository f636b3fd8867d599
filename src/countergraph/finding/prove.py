"""Prove what can be proven about a counterfactual, by asking the black box or, if it is linear, by arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from math import comb

import numpy as np

from countergraph.errors import InputError, TooManyCallsError, check_integers
from countergraph.finding.request import oracle_of
from countergraph.finding.white_box import optimal_counterfactual, white_box
from countergraph.graphs.pairs import Bits, Label
from countergraph.oracle.oracle import Oracle
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.search.conversation import NO_FLIPS, Flips, crosses

BATCH_BYTES = 64 * 2**20
MAX_CALLS = 10_000_000


def certify(black_box: object, result: Counterfactual, radius: int = 0) -> Counterfactual:
    """Return the same counterfactual with a `Certificate` of what is proven about it.

    Parameters
    ----------
    black_box
        The one that was searched.
    result
        A counterfactual.
    radius
        Ask about every graph with this many changes or fewer. That is ``pairs`` questions for 1, half of its square
        for 2, ...; if one of them is a counterfactual closer than ``result``, and is so when asked again, it is
        returned instead.

    Returns
    -------
    Counterfactual
        With ``certificate`` set. It is *optimal* if everything closer was asked, or if the black box is linear in the
        edges, where the exact optimum takes the place of a result that is farther and not made of moves; *1-minimal* if
        every single change was undone in turn and the class changed back each time. What its search proved is not asked
        again.
    """
    check_integers(radius=(radius, 0))
    if not isinstance(result, Counterfactual):
        raise InputError(f"something is proven about one Counterfactual, not about a {type(result).__name__}")
    if result.flips is None:
        raise InputError("there is no counterfactual to prove anything about")
    if result.limited and radius:
        raise TooManyCallsError("a radius is proven for free counterfactuals only, not for one under constraints")
    oracle = oracle_of(black_box)
    before, after = _ask(oracle, result, [NO_FLIPS, result.flips])
    if before != result.original_class or not _is_counterfactual(result, after):
        raise InputError(
            "this black box does not change its answer for this counterfactual: it is another's, or the black box "
            "answers the same question in two ways"
        )
    best, known = result.flips.size, result.certificate
    if known.optimal:
        return replace(result, certificate=replace(known, calls=2))
    optimum = None if result.limited else _optimum(oracle, result)
    if optimum is not None and (optimum[0].size == best or not result.moves):
        return _best(result, optimum, 3)
    closer, reached, calls = _closer(oracle, result, known.radius, min(radius, best - 1))
    if closer is not None:
        return _best(result, closer, 2 + calls)
    optimal = not result.limited and reached == best - 1
    singles = [] if known.minimal or best == 1 else list(combinations(result.flips.tolist(), best - 1))
    minimal = _none_crosses(oracle, result, iter(singles))
    return replace(result, certificate=Certificate(minimal, reached, optimal, 2 + calls + len(singles)))


def is_cheap_to_prove(black_box: object, result: Counterfactual) -> bool:
    """Tell whether arithmetic knows the closest counterfactual: of what is linear, under no constraint."""
    return not result.limited and white_box(oracle_of(black_box)) is not None


def _best(result: Counterfactual, closest: tuple[Flips, Label], calls: int) -> Counterfactual:
    """Return the closest counterfactual with its certificate: ``result`` itself, if it is as close."""
    flips, label = closest
    proven = Certificate(minimal=True, radius=flips.size - 1, optimal=True, calls=calls)
    if flips.size == result.distance:
        return replace(result, certificate=proven)
    return replace(result, flips=flips, counterfactual_class=label, moves=(), certificate=proven)


def _none_crosses(oracle: Oracle, result: Counterfactual, sets: Iterator[tuple[int, ...]]) -> bool:
    """Ask about all of these, and tell whether none is a counterfactual."""
    batches = _batches(sets, result.original.size)
    labels = [label for batch in batches for label in _ask(oracle, result, batch)]
    return not any(_is_counterfactual(result, label) for label in labels)


def _closer(
    oracle: Oracle, result: Counterfactual, known: int, radius: int
) -> tuple[tuple[Flips, Label] | None, int, int]:
    """Ask about all graphs between two radii, nearest first: the first counterfactual, the radius proven, the calls."""
    n_pairs, calls = result.original.size, 0
    if sum(comb(n_pairs, size) for size in range(1, radius + 1)) > MAX_CALLS:
        raise TooManyCallsError(f"a radius of {radius} among {n_pairs} pairs takes more than {MAX_CALLS:,} calls")
    for size in range(known + 1, radius + 1):
        for batch in _batches(combinations(range(n_pairs), size), n_pairs):
            calls += len(batch)
            for flips, label in zip(batch, _ask(oracle, result, batch), strict=True):
                if _is_counterfactual(result, label):
                    if _ask(oracle, result, [flips]) != [label]:
                        raise InputError("the black box answers the same question in two ways, so nothing is proven")
                    return (flips, label), size - 1, calls + 1
    return None, max(known, radius), calls


def _batches(sets: Iterator[tuple[int, ...]], n_pairs: int) -> Iterator[list[Flips]]:
    while batch := [np.array(each, dtype=np.intp) for each in islice(sets, max(1, BATCH_BYTES // (8 * n_pairs)))]:
        yield batch


def _ask(oracle: Oracle, result: Counterfactual, candidates: list[Flips]) -> list[Label]:
    if not candidates:
        return []
    batch: Bits = np.repeat(result.original[None], len(candidates), axis=0)
    for row, flips in zip(batch, candidates, strict=True):
        row[flips] ^= True
    labels: list[Label] = oracle.ask(batch, result.classes).tolist()
    return labels


def _is_counterfactual(result: Counterfactual, label: Label) -> bool:
    assert result.original_class is not None
    return crosses(label, result.original_class, result.parameters.get("target"))


def _optimum(oracle: Oracle, result: Counterfactual) -> tuple[Flips, Label] | None:
    """Return a closest counterfactual where arithmetic tells it and neither black box nor result contradicts it."""
    if white_box(oracle) is None:
        return None
    flips = optimal_counterfactual(oracle, result.original).flips
    if flips is None or result.flips is None or flips.size > result.flips.size:
        return None
    [label] = _ask(oracle, result, [flips])
    return (flips, label) if _is_counterfactual(result, label) else None
