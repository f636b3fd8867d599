"""The setting of a search: everything that, with the graph and the number of the run, determines its result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from countergraph.finding.request import Request
from countergraph.graphs.pairs import Label
from countergraph.search.methods import parse_method
from countergraph.store.fingerprint import fingerprint
from countergraph.version import __version__

ADDED_LATER = (("confirm", False), ("asked", "{}"))


@dataclass(frozen=True)
class Setting:
    """What searches have in common, as plain values."""

    cohort: str
    """The fingerprint of the graphs that are searched."""
    dataset: str
    """The fingerprint of the labelled graphs that a data-driven search may look at."""
    box: str
    """The fingerprint of the black box."""
    method: str
    k: int = 5
    max_calls: int = 2000
    seed: int = 0
    target: Label | None = None
    version: str = __version__
    """The version of countergraph."""
    confirm: bool = False
    """Whether results are asked about again; the paper's are not."""
    asked: str = "{}"
    """What else was asked for, as JSON: constraints, scores, and the atlas where regions have a say."""

    @classmethod
    def of(cls, request: Request, cohort: str, dataset: str, box: str) -> Setting:
        """Return the setting of a request, given the fingerprints."""
        asked: dict[str, Any] = {
            name: request.parameters[name] for name in ("constraints", "scores") if name in request.parameters
        }
        speaks = any(phase.needs_moves for phase in request.phases)
        if request.atlas is not None and (speaks or request.constraints is not None):
            asked["atlas"] = fingerprint(request.atlas.to_dict())
        plain = (request.method, request.k, request.max_calls, request.seed, request.target)
        setting = cls(cohort, dataset, box, *plain, asked=json.dumps(asked, sort_keys=True))
        return replace(setting, confirm=request.confirm and not setting.shares)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of its searches, as a `Request` tells them."""
        parameters = {name: getattr(self, name) for name in ("k", "max_calls", "seed", "target")}
        parameters |= {name: value for name, value in json.loads(self.asked).items() if name != "atlas"}
        return parameters if self.shares or self.confirm else parameters | {"confirm": False}

    @property
    def key(self) -> str:
        """A digest of all of it; what was added to settings later does not count where it is as it was before."""
        plain = {name: value for name, value in asdict(self).items() if (name, value) not in ADDED_LATER}
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def shares(self) -> bool:
        """Whether the searches learn from each other within one call.

        Company matters to such searches, so a cohort is searched as a whole, one run at a time.
        """
        return any(phase.learns for phase in parse_method(self.method))
