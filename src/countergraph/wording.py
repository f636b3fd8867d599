"""All sentences, in one place."""

from __future__ import annotations

from collections.abc import Sequence

NamedPair = tuple[str, str]
MOST_NAMED = 8


def join(parts: Sequence[str]) -> str:
    """Join words as in a sentence: "a", "a and b", "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _connections(pairs: Sequence[NamedPair], most: int) -> str:
    named = [f"between {a} and {b}" for a, b in pairs[:most]]
    if len(pairs) > most:
        named.append(f"{len(pairs) - most} other{'s' if len(pairs) > most + 1 else ''}")
    return f"the connection{'s' if len(pairs) > 1 else ''} {join(named)}"


def counterfactual_sentence(
    subject: str,
    before: str,
    after: str,
    removed: Sequence[NamedPair],
    added: Sequence[NamedPair],
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
        f"If {' and '.join(conditions)}, {subject} would have been classified as {after}."
    )


def nothing_found_sentence(subject: str, before: str | None, calls: int) -> str:
    """Say that no counterfactual was found."""
    known = f"{subject} is classified as {before}" if before is not None else f"{subject} was not classified"
    return f"{known}. No counterfactual was found within {calls} question{'' if calls == 1 else 's'}."
