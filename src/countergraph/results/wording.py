"""The texts of results, in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

MAX_NAMED = 8
"""The number of connections that a sentence names one by one."""
MAX_GROUPS = 3
"""The number of groups that a sentence names if there are more connections."""


class Connection(NamedTuple):
    """A connection: the names of its two ROIs, and of their lobes or networks ("" if unknown)."""

    first: str
    second: str
    first_network: str = ""
    second_network: str = ""
    change: tuple[float, float] | None = None
    """The values before and after the change, for weighted networks."""


class Verbs(NamedTuple):
    """How a sentence describes connections that are removed or weakened, and added or strengthened."""

    decreased: str
    increased: str


GRAPH_VERBS = Verbs("did not exist", "existed")
WEIGHTED_VERBS = Verbs("were weaker", "were stronger")


# fmt: off
ANATOMICAL_TERMS = frozenset((
    "amygdala", "brainstem", "cerebellum", "cerebrum", "cingulum", "cortex", "diencephalon", "hippocampus",
    "hypothalamus", "insula", "midbrain", "pallidum", "pons", "precuneus", "putamen", "striatum", "thalamus", "vermis",
))
"""Names of one word that need an article in a sentence."""
# fmt: on


def join(parts: Sequence[str]) -> str:
    """Join words as in a sentence: "a", "a and b", "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def between_networks(first: str, second: str) -> str:
    """Return "between A and B", or "within A" if both networks are the same."""
    if first == second:
        return f"within {network_phrase(first)}"
    return f"between {network_phrase(first)} and {network_phrase(second)}"


def network_phrase(network: str) -> str:
    """Return a lobe or network as part of a sentence: "the frontal lobe", "the insula", but "zone 3", "Visual".

    A single word gets an article only if it is an anatomical term, because names of networks have none.
    """
    lower = network.lower() if network[1:].islower() else network
    if network.isdecimal():
        return f"network {network}"
    if any(letter.isdecimal() for letter in network) or lower.startswith("the "):
        return lower
    return f"the {lower}" if " " in lower or lower in ANATOMICAL_TERMS else network


def _connections(pairs: Sequence[Connection], most: int) -> str:
    """Name each connection if there are few; else count them by network."""
    if len(pairs) > most and all(pair.first_network and pair.second_network for pair in pairs):
        return _grouped(pairs)
    names = [f"between {pair.first} and {pair.second}{_values(pair.change)}" for pair in pairs[:most]]
    if len(pairs) > most:
        names.append(f"{len(pairs) - most} other{'s' if len(pairs) > most + 1 else ''}")
    return f"the connection{'s' if len(pairs) > 1 else ''} {join(names)}"


def _values(change: tuple[float, float] | None) -> str:
    """Return the values of a change in brackets: " (0.12 instead of 0.41)"."""
    return "" if change is None else f" ({format_value(change[1])} instead of {format_value(change[0])})"


def format_value(value: float) -> str:
    """Return a value with two digits after the point, or as many as it needs; a large integer without."""
    if value == round(value) and abs(value) >= 2:
        return f"{value:.0f}"
    if 0.005 <= abs(value) < 1000 or value == 0:
        return f"{value:.2f}"
    return f"{value:.1g}" if abs(value) < 0.005 else f"{value:.3g}"


def _grouped(pairs: Sequence[Connection]) -> str:
    groups = Counter(tuple(sorted((pair.first_network, pair.second_network))) for pair in pairs).most_common()
    names = [f"{number} {between_networks(*networks)}" for networks, number in groups[:MAX_GROUPS]]
    elsewhere = sum(number for _, number in groups[MAX_GROUPS:])
    if elsewhere:
        names.append(f"{elsewhere} elsewhere")
    return f"{len(pairs)} connections ({join(names)})"


def counterfactual_sentence(
    subject: str,
    before: str,
    after: str,
    removed: Sequence[Connection],
    added: Sequence[Connection],
    verbs: Verbs = GRAPH_VERBS,
    most: int = MAX_NAMED,
) -> str:
    """Describe a counterfactual, as in Figure 1 of the paper."""
    conditions = [
        _condition(pairs, verb, most) for pairs, verb in zip((removed, added), verbs, strict=True) if len(pairs)
    ]
    return (
        f"{subject} is classified as {before}. "
        f"If {' and '.join(conditions)}, {_mid_sentence(subject)} would have been classified as {after}."
    )


def _condition(pairs: Sequence[Connection], verb: str, most: int) -> str:
    """Describe changes in one direction; the values of a single one stand after the verb."""
    if len(pairs) == 1:
        return f"{_connections([pairs[0]._replace(change=None)], most)} {verb}{_values(pairs[0].change)}"
    return f"{_connections(pairs, most)} {verb}"


def _mid_sentence(subject: str) -> str:
    """Return the subject within a sentence: "the graph" in lower case."""
    return f"the {subject[4:]}" if subject.startswith("The ") else subject


class UnitChange(NamedTuple):
    """A change of a unit: its direction, its words, the number of its pairs, and the mean change of their values."""

    change: str
    words: str
    number: int
    mean: float | None = None
    """None for graphs."""


UNIT_VERBS = {
    "removed": "did not exist",
    "added": "existed",
    "weakened": "were weaker",
    "strengthened": "were stronger",
}


def units_sentence(subject: str, before: str, after: str, changes: Sequence[UnitChange]) -> str:
    """Describe the changes of units."""
    conditions = [_unit_condition(each) for each in changes]
    return (
        f"{subject} is classified as {before}. "
        f"If {join(conditions)}, {_mid_sentence(subject)} would have been classified as {after}."
    )


def _unit_condition(each: UnitChange) -> str:
    """Return a condition: "23 connections of Insula_L were weaker (by 0.08 on average)"."""
    if each.mean is None and each.change == "removed":
        verb, words = "did not exist", f"{each.words} ({each.number})"
    elif each.mean is None:
        verb, words = "existed", f"{each.words} ({each.number} more)"
    else:
        verb = f"{UNIT_VERBS[each.change]} (by {format_value(abs(each.mean))} on average)"
        words = each.words.replace("all connections", count(each.number, "connection"))
    return f"{words} {verb}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 search", "5 searches"."""
    plural = f"{noun}es" if noun.endswith(("ch", "x")) else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


REASONS = {
    "not found": "no candidate that was classified changes the class{to}",
    "max_calls": "the budget of calls is spent",
    "time_limit": "the time limit was reached",
    "interrupted": "the search was interrupted",
    "cancelled": "the search was cancelled",
}
LIMITED_REASONS = {
    "not found": "no candidate that was classified changes the class{to} within the constraints",
    "max_calls": "the budget is spent, by calls or by candidates that violate the constraints",
}


def nothing_found_sentence(
    subject: str,
    before: str | None,
    calls: int,
    stopped: str,
    limited: bool = False,
    target: str | None = None,
    why: str = "",
) -> str:
    """State that no counterfactual was found, and the reason: ``why`` if it is known, else from ``stopped``."""
    if stopped == "already in target class":
        return f"{subject} is already classified as {before}."
    known = f"{subject} is classified as {before}" if before is not None else f"{subject} was not classified"
    within = f" within {count(calls, 'call')}" if calls else ""
    reason = (LIMITED_REASONS if limited else {}).get(stopped) or REASONS.get(stopped, stopped)
    text = why or reason.format(to="" if target is None else f" to {target}")
    return f"{known}. No counterfactual was found{within}: {text}."


def why_nothing(flipped: int, within_most: int, most: int | None, target: str | None, answered: Sequence[str]) -> str:
    """Return why a search found no counterfactual, if more is known than how it stopped; else an empty text.

    ``flipped`` is the number of candidates that changed the class, ``within_most`` the number of those with at most
    ``most`` changes, ``answered`` the classes in the answers of the black box.
    """
    if flipped and not within_most and most is not None:
        return f"all candidates that changed the class have more than {count(most, 'change')}"
    if flipped:
        return "the candidates that changed the class did not do so when they were classified again"
    if target is not None and answered and target not in answered:
        return f"no candidate was classified as {target}, only as {join(answered)}"
    return ""
