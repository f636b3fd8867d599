"""The methods by name: a way forward, and ways back joined to it by a plus sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from countergraph.errors import InputError, unknown_name
from countergraph.search.backward import data_driven_backward, oblivious_backward
from countergraph.search.bisection import bisection
from countergraph.search.conversation import SearchFunction
from countergraph.search.dataset_search import dataset_search
from countergraph.search.delta_debugging import delta_debugging
from countergraph.search.evolution import evolution
from countergraph.search.forward import data_driven_forward, oblivious_forward
from countergraph.search.learned import learned
from countergraph.search.least_first import least_first_backward
from countergraph.search.whole_moves import whole_moves


@dataclass(frozen=True)
class Phase:
    """One search, with what a method needs to know about it."""

    name: str
    direction: Literal["forward", "backward"]
    search: SearchFunction
    title: str
    summary: str
    needs_dataset: bool = False
    needs_moves: bool = False
    """Whether it speaks in moves of a whole kind."""
    learns: bool = False
    """Whether it listens to what the other searches of the run were answered."""


# fmt: off
PHASES: dict[str, Phase] = {phase.name: phase for phase in (
    Phase("ofs", "forward", oblivious_forward, "Oblivious Forward Search",
          "change k random pairs at a time until the class changes"),
    Phase("dfs", "forward", data_driven_forward, "Data-driven Forward Search",
          "the same, preferring pairs that tell the classes apart", needs_dataset=True),
    Phase("ds", "forward", dataset_search, "Dataset Search",
          "the closest graph of the dataset that is of the other class", needs_dataset=True),
    Phase("bisect", "forward", bisection, "Bisection",
          "growing steps along a random order until the class changes, then bisection"),
    Phase("learned", "forward", learned, "Learned Search",
          "forward, backward and around the boundary, as the answers of the whole run suggest", learns=True),
    Phase("moves", "forward", whole_moves, "Whole moves",
          "change all connections of a kind at once: of a region, between two regions, inside a clique",
          needs_moves=True),
    Phase("obs", "backward", oblivious_backward, "Oblivious Backward Search",
          "undo k random changes at a time, k adapting, while the class stays changed"),
    Phase("dbs", "backward", data_driven_backward, "Data-driven Backward Search",
          "the same, most discriminative changes first, as the paper writes it", needs_dataset=True),
    Phase("lbs", "backward", least_first_backward, "Least-first Backward Search",
          "undo the least discriminative changes first, twice as many after each success", needs_dataset=True),
    Phase("ddmin", "backward", delta_debugging, "Delta Debugging",
          "undo random chunks, larger ones after two successes in a row, smaller ones after a failure"),
    Phase("evolve", "backward", evolution, "Evolution",
          "destroy and repair at random, and trim what is closer"),
)}
# fmt: on

FORWARD = tuple(name for name, phase in PHASES.items() if phase.direction == "forward")
BACKWARD = tuple(name for name, phase in PHASES.items() if phase.direction == "backward")
METHODS: tuple[str, ...] = FORWARD + tuple(f"{ahead}+{back}" for ahead in FORWARD for back in BACKWARD)


def parse_method(method: str) -> tuple[Phase, ...]:
    """Turn a name such as ``"ofs+obs"`` into its phases: one forward, then any number of different backward ones."""
    if not isinstance(method, str):
        raise InputError(f"method must be a name such as 'ofs+obs', not {method!r}")
    names = [name.strip().lower() for name in method.split("+")]
    for name in names:
        if name not in PHASES:
            raise unknown_name("search", name, PHASES)
    phases = tuple(PHASES[name] for name in names)
    if phases[0].direction != "forward" or any(phase.direction != "backward" for phase in phases[1:]):
        raise InputError(
            f"method must start with one of {', '.join(FORWARD)} and go on with {', '.join(BACKWARD)}, not {method!r}"
        )
    if len(set(names)) != len(names):
        raise InputError(f"method must not name a search twice, as {method!r} does")
    return phases
