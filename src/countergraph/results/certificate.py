"""What is proven about a counterfactual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from countergraph.results.wording import count

Proof = Literal["nothing", "1-minimal", "none closer", "optimal"]


@dataclass(frozen=True)
class Certificate:
    """What is proven about a counterfactual, and what the proof cost.

    Parameters
    ----------
    minimal
        No single change can be undone.
    radius
        There is no counterfactual with this many changes or fewer.
    optimal
        No counterfactual has fewer changes.
    calls
        The questions that the proof took, beside those of the search; none, where these are the proof.
    """

    minimal: bool = False
    radius: int = 0
    optimal: bool = False
    calls: int = 0

    @property
    def proof(self) -> Proof:
        """The strongest that is proven, in a word."""
        if self.optimal:
            return "optimal"
        if self.radius:
            return "none closer"
        return "1-minimal" if self.minimal else "nothing"

    @property
    def sentence(self) -> str:
        """What is proven, in words; nothing if nothing is."""
        return self.told()

    def told(self, wanted: str | None = None) -> str:
        """Return the sentence; ``wanted`` is the class that was to be reached, where not any other would do."""
        such = "counterfactual" if wanted is None else f"counterfactual that is classified as {wanted}"
        if self.optimal:
            return f"No {such} has fewer changes."
        parts = []
        if self.minimal:
            parts.append("No single change can be left out.")
        if self.radius:
            fewer = "" if self.radius == 1 else " or fewer"
            parts.append(f"There is no {such} with {count(self.radius, 'change')}{fewer}.")
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
        """Make a certificate from what `to_dict` returned."""
        return cls(plain["minimal"], plain["radius"], plain["optimal"], plain["calls"])


NOTHING_PROVEN = Certificate()
