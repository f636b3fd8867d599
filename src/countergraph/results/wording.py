"""All sentences, in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

MOST_NAMED = 8
MOST_GROUPS = 3


class Connection(NamedTuple):
    """A connection by the names of its ends, and of the coarse regions they lie in ("" where unknown)."""

    first: str
    second: str
    first_region: str = ""
    second_region: str = ""


# fmt: off
PARTS = frozenset((
    "amygdala", "brainstem", "cerebellum", "cerebrum", "cingulum", "cortex", "diencephalon", "hippocampus",
    "hypothalamus", "insula", "midbrain", "pallidum", "pons", "precuneus", "putamen", "striatum", "thalamus", "vermis",
))
# fmt: on


def join(parts: Sequence[str]) -> str:
    """Join words as in a sentence: "a", "a and b", "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def between_regions(first: str, second: str) -> str:
    """Say where connections are that go from one coarse region to another, or stay in it."""
    return f"within {named(first)}" if first == second else f"between {named(first)} and {named(second)}"


def named(region: str) -> str:
    """Name a coarse region in a sentence: "the frontal lobe", "the Frontal Pole", "the insula", but "zone 3", "Visual".

    A word alone has an article if it is the name of a part of the brain; the name of a network often is none.
    """
    small = region.lower() if region[1:].islower() else region
    if region.isdecimal():
        return f"part {region}"
    if any(letter.isdecimal() for letter in region) or small.startswith("the "):
        return small
    return f"the {small}" if " " in small or small in PARTS else region


def _connections(pairs: Sequence[Connection], most: int) -> str:
    """Name each connection if there are few; else say how many there are in which regions."""
    if len(pairs) > most and all(pair.first_region and pair.second_region for pair in pairs):
        return _grouped(pairs)
    named = [f"between {pair.first} and {pair.second}" for pair in pairs[:most]]
    if len(pairs) > most:
        named.append(f"{len(pairs) - most} other{'s' if len(pairs) > most + 1 else ''}")
    return f"the connection{'s' if len(pairs) > 1 else ''} {join(named)}"


def _grouped(pairs: Sequence[Connection]) -> str:
    groups = Counter(tuple(sorted((pair.first_region, pair.second_region))) for pair in pairs).most_common()
    named = [f"{number} {between_regions(*regions)}" for regions, number in groups[:MOST_GROUPS]]
    elsewhere = sum(number for _, number in groups[MOST_GROUPS:])
    if elsewhere:
        named.append(f"{elsewhere} elsewhere")
    return f"{len(pairs)} connections ({join(named)})"


def counterfactual_sentence(
    subject: str,
    before: str,
    after: str,
    removed: Sequence[Connection],
    added: Sequence[Connection],
    most: int = MOST_NAMED,
) -> str:
    """Say what would have to be different, after the paper's Figure 1."""
    conditions = []
    if removed:
        conditions.append(f"{_connections(removed, most)} did not exist")
    if added:
        conditions.append(f"{_connections(added, most)} existed")
    return (
        f"{subject} is classified as {before}. "
        f"If {' and '.join(conditions)}, {_again(subject)} would have been classified as {after}."
    )


def _again(subject: str) -> str:
    """Name somebody a second time: "The graph" is small within a sentence."""
    return f"the {subject[4:]}" if subject.startswith("The ") else subject


def moves_sentence(subject: str, before: str, after: str, moves: Sequence[tuple[str, str, int]], distance: int) -> str:
    """Say it in whole moves, (change, words, number of edges) each, and how many edges it is where moves overlap."""
    verbs = {"removed": "did not exist", "added": "existed"}
    conditions = [f"{_how_many(change, words, number)} {verbs[change]}" for change, words, number in moves]
    overlap = distance < sum(number for _, _, number in moves)
    return (
        f"{subject} is classified as {before}. "
        f"If {join(conditions)}{f', {distance} connections in all' if overlap else ''}, "
        f"{_again(subject)} would have been classified as {after}."
    )


def _how_many(change: str, words: str, number: int) -> str:
    """Say how many edges a move changes: "all connections of Insula_L (3)", "the only connection of Insula_L"."""
    if number > 1 or not words.startswith("all connections"):
        return f"{words} ({number})"
    only = "the only connection" if change == "removed" else "the only missing connection"
    return only + words.removeprefix("all connections")


def count(number: int, noun: str) -> str:
    """Say how many: "1 search", "5 searches"."""
    plural = f"{noun}es" if noun.endswith(("ch", "x")) else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


REASONS = {
    "not found": "nothing that was tried changes the class{to}",
    "max_calls": "the budget is used up",
    "time_limit": "time was up",
    "interrupted": "the search was interrupted",
}
LIMITED_REASONS = {
    "not found": "nothing that was tried within the constraints changes the class{to}",
    "max_calls": "the budget is used up, by questions or by what the constraints forbid",
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
    """Say that no counterfactual was found, and why: by how the search ``stopped``, unless more is known.

    That the class is the target already is no failure.
    """
    if stopped == "already in target class":
        return f"{subject} is classified as {before} already."
    known = f"{subject} is classified as {before}" if before is not None else f"{subject} was not classified"
    within = f" within {count(calls, 'question')}" if calls else ""
    reason = (LIMITED_REASONS if limited else {}).get(stopped) or REASONS.get(stopped, stopped)
    said = why or reason.format(to="" if target is None else f" to {target}")
    return f"{known}. No counterfactual was found{within}: {said}."


def why_nothing(crossed: int, few: int, most: int | None, target: str | None, heard: Sequence[str]) -> str:
    """Say what is known of a search that found nothing beside how it stopped; nothing if nothing is.

    ``crossed`` is how many candidates changed the class, ``few`` how many of them with at most ``most`` changes,
    ``heard`` the classes that the black box answered to it.
    """
    if crossed and not few and most is not None:
        return f"all that changed the class were more than {count(most, 'change')}"
    if crossed:
        return "what changed the class did not when the classifier was asked again"
    if target is not None and heard and target not in heard:
        return f"nothing that was asked was classified as {target}, only as {join(heard)}"
    return ""
