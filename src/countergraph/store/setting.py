"""The setting of a search: everything that, with the graph and the run, determines its result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from countergraph.finding.exact import EXACT
from countergraph.finding.request import Request
from countergraph.graphs.pairs import Label
from countergraph.search.methods import parse_method
from countergraph.search.options import ALWAYS_DESCRIBED, SearchOptions
from countergraph.store.fingerprint import fingerprint
from countergraph.version import __version__

ADDED_LATER = (("confirm", False), ("asked", "{}"))
CONTEXT = ("atlas", "subjects")
"""Keys of ``options`` that identify the data, and are not options of the search."""


@dataclass(frozen=True)
class Setting:
    """What the searches of one call have in common, as plain values."""

    cohort: str
    """The fingerprint of the graphs that are searched."""
    dataset: str
    """The fingerprint of the labelled graphs that a search may use."""
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
    """Whether results are classified a second time. False for joint methods, which always are."""
    options: str = "{}"
    """All other options as JSON, and fingerprints of the atlas and the subjects if the results depend on them."""

    @classmethod
    def of(
        cls, options: SearchOptions, cohort: str, dataset: str, box: str, context: dict[str, str] | None = None
    ) -> Setting:
        """Return the setting of some options, given the fingerprints."""
        method, plain = options.parsed_method, options.describe()
        others = {name: value for name, value in plain.items() if name not in (*ALWAYS_DESCRIBED, "confirm")}
        return cls(
            cohort,
            dataset,
            box,
            method.name,
            options.k,
            options.max_calls,
            options.seed,
            options.target,
            confirm=options.confirms and not method.is_joint,
            options=json.dumps({**others, **(context or {})}, sort_keys=True),
        )

    @classmethod
    def of_request(cls, request: Request, cohort: str, dataset: str, box: str) -> Setting:
        """Return the setting of a request, given the fingerprints."""
        context = {}
        if request.atlas is not None and (request.options.constraints or request.units is not None):
            context["atlas"] = fingerprint(request.atlas.to_dict())
        if request.oracle.with_subjects and request.cohort is not None:
            context["subjects"] = fingerprint(list(request.cohort.names))
        return cls.of(request.options, cohort, dataset, box, context)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of its results, as `SearchOptions.describe` returns them."""
        parameters = {name: getattr(self, name) for name in ALWAYS_DESCRIBED}
        parameters |= {name: value for name, value in json.loads(self.options).items() if name not in CONTEXT}
        return parameters if self.is_joint or self.confirm else parameters | {"confirm": False}

    @property
    def key(self) -> str:
        """A digest of all fields. Fields that were added later do not count at their default, as in older stores."""
        plain = asdict(self)
        plain["asked"] = plain.pop("options")  # the name of the field before version 0.10
        counted = {name: value for name, value in plain.items() if (name, value) not in ADDED_LATER}
        return hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def is_joint(self) -> bool:
        """Whether the searches of a run learn from each other; then a cohort is searched as a whole, run by run."""
        return self.method != EXACT and parse_method(self.method).is_joint
