"""The properties of a counterfactual that are proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from countergraph.results.wording import count

Strength = Literal["nothing", "1-minimal", "none closer", "optimal"]


@dataclass(frozen=True)
class Certificate:
    """The properties of a counterfactual that are proven, and the cost of the proof.

    Parameters
    ----------
    minimal
        No single change can be undone.
    radius
        There is no counterfactual with this many changes or fewer.
    optimal
        No counterfactual has fewer changes.
    calls
        The calls of the proof in addition to those of the search.
    """

    minimal: bool = False
    radius: int = 0
    optimal: bool = False
    calls: int = 0

    @property
    def proof(self) -> Strength:
        """The strongest property that is proven."""
        if self.optimal:
            return "optimal"
        if self.radius:
            return "none closer"
        return "1-minimal" if self.minimal else "nothing"

    @property
    def sentence(self) -> str:
        """The proven properties as sentences; empty if nothing is proven."""
        return self.describe()

    def describe(self, target: str | None = None, weighted: bool = False) -> str:
        """Return the sentences.

        ``target`` is the class to reach, if not any other class counts. Proofs for weighted networks hold for the
        alternative values of the search.
        """
        noun = "counterfactual" if target is None else f"counterfactual that is classified as {target}"
        noun += " with these alternative values" if weighted else ""
        if self.optimal:
            return f"No {noun} has fewer changes."
        parts = []
        if self.minimal:
            parts.append("No single change can be left out.")
        if self.radius:
            fewer = "" if self.radius == 1 else " or fewer"
            parts.append(f"There is no {noun} with {count(self.radius, 'change')}{fewer}.")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "proof": self.proof,
            "minimal": self.minimal,
            "radius": self.radius,
            "optimal": self.optimal,
            "calls": self.calls,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Certificate:
        """Make a certificate from the values that `to_dict` returned."""
        return cls(plain["minimal"], plain["radius"], plain["optimal"], plain["calls"])


NOTHING_PROVEN = Certificate()
