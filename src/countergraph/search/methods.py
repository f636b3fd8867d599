"""The registry of searches. A method is one forward search, optionally followed by backward searches ("ofs+obs")."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Literal

from countergraph.errors import InputError, unknown_name
from countergraph.search.backward import data_driven_backward, oblivious_backward
from countergraph.search.bisection import bisection
from countergraph.search.dataset_search import dataset_search
from countergraph.search.delta_debugging import delta_debugging
from countergraph.search.evolution import evolution
from countergraph.search.forward import data_driven_forward, oblivious_forward
from countergraph.search.learned import learned
from countergraph.search.learned.state import LearnedState
from countergraph.search.least_first import least_first_backward
from countergraph.search.network import Layout
from countergraph.search.protocol import Reference, SearchFunction, SharedState

ENTRY_POINTS = "countergraph.searches"
"""The entry point group in which other packages list their `Phase` objects."""


@dataclass(frozen=True)
class Phase:
    """One search, and what the driver needs to know about it.

    Parameters
    ----------
    name
        The name in methods such as ``"ofs+obs"``.
    direction
        ``"forward"`` finds a first counterfactual, ``"backward"`` improves a given one.
    search
        The generator function ``search(task, start)``; see `countergraph.search.protocol`.
    title, summary
        For the list of methods.
    needs_dataset
        Whether it uses the labelled graphs of ``dataset=``.
    only_undoes
        Whether every candidate of a backward search is a subset of its start.
    improves_start
        Whether a forward search can also improve a known counterfactual; other forward searches are skipped when there
        is one.
    shared
        Creates the state that all searches of a run share, from the ends of the pairs and the labelled graphs; None if
        the searches are independent.
    """

    name: str
    direction: Literal["forward", "backward"]
    search: SearchFunction
    title: str = ""
    summary: str = ""
    needs_dataset: bool = False
    only_undoes: bool = False
    improves_start: bool = False
    shared: Callable[[Layout, Reference | None], SharedState] | None = None

    def __post_init__(self) -> None:
        if (
            not isinstance(self.name, str)
            or not self.name
            or set(self.name) & set("+ ,:")
            or self.name != self.name.lower()
        ):
            raise InputError(f"a search needs a name in lower case without '+', ',', ':' and spaces, not {self.name!r}")
        if self.direction not in ("forward", "backward"):
            raise InputError(f"direction must be 'forward' or 'backward', not {self.direction!r}")
        if not callable(self.search):
            raise InputError(f"search must be a generator function of (task, start), not {self.search!r}")

    def __add__(self, other: Phase) -> Method:
        return Method((self,)) + other


@dataclass(frozen=True)
class Method:
    """A forward search, and the backward searches that follow it."""

    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        directions = [phase.direction for phase in self.phases]
        if directions[:1] != ["forward"] or "forward" in directions[1:]:
            raise InputError(
                f"a method must start with a forward search ({', '.join(_names('forward'))}) and continue with "
                f"backward searches ({', '.join(_names('backward'))}), not {self.name!r}"
            )
        if len({phase.name for phase in self.phases}) != len(self.phases):
            raise InputError(f"a method must not contain a search twice, as {self.name!r} does")

    def __add__(self, other: Phase) -> Method:
        return Method((*self.phases, other))

    def __str__(self) -> str:
        return self.name

    @cached_property
    def name(self) -> str:
        """The names of the searches, joined by plus signs."""
        return "+".join(phase.name for phase in self.phases)

    @cached_property
    def is_joint(self) -> bool:
        """Whether the searches of a run learn from each other."""
        return any(phase.shared is not None for phase in self.phases)

    @property
    def is_registered(self) -> bool:
        """Whether its name determines it."""
        return all(PHASES.get(phase.name) == phase for phase in self.phases)


# fmt: off
PHASES: dict[str, Phase] = {phase.name: phase for phase in (
    Phase("ofs", "forward", oblivious_forward, "Oblivious Forward Search",
          "change k random pairs at a time until the class changes"),
    Phase("dfs", "forward", data_driven_forward, "Data-driven Forward Search",
          "the same, preferring pairs whose frequency differs between the classes", needs_dataset=True),
    Phase("ds", "forward", dataset_search, "Dataset Search",
          "the closest graph of the dataset that is in the other class", needs_dataset=True),
    Phase("bisect", "forward", bisection, "Bisection",
          "growing prefixes of a random order until the class changes, then bisection"),
    Phase("learned", "forward", learned, "Learned Search",
          "a surrogate model, learned from all answers of the run, ranks the pairs; forward, backward and local search",
          improves_start=True, shared=LearnedState),
    Phase("obs", "backward", oblivious_backward, "Oblivious Backward Search",
          "undo k random changes at a time, with adaptive k, while the class stays changed", only_undoes=True),
    Phase("dbs", "backward", data_driven_backward, "Data-driven Backward Search",
          "the same, most discriminative changes first, as in the paper", needs_dataset=True, only_undoes=True),
    Phase("lbs", "backward", least_first_backward, "Least-first Backward Search",
          "undo the least discriminative changes first, twice as many after each success", needs_dataset=True,
          only_undoes=True),
    Phase("ddmin", "backward", delta_debugging, "Delta Debugging",
          "undo random chunks, larger after two successes in a row, smaller after a failure", only_undoes=True),
    Phase("evolve", "backward", evolution, "Evolution",
          "replace random changes by fewer random ones, and trim every success"),
)}
# fmt: on


def register_search(phase: Phase) -> Phase:
    """Add a search, so that its name can be used in ``method=`` and on the command line; return it.

    A package can also list its `Phase` objects as entry points of the group ``countergraph.searches``.

    Raises
    ------
    InputError
        If the name belongs to another search.
    """
    if not isinstance(phase, Phase):
        raise InputError(f"register_search takes a Phase(name, direction, search), not {phase!r}")
    if PHASES.setdefault(phase.name, phase) != phase:
        raise InputError(f"there is another search called {phase.name!r}; choose another name")
    return phase


def list_methods() -> tuple[str, ...]:
    """Return all forward searches, and all combinations of a forward and a backward search."""
    _register_entry_points()
    forward, backward = _names("forward"), _names("backward")
    return (*forward, *(f"{first}+{second}" for first in forward for second in backward))


def parse_method(method: str | Phase | Method | SearchFunction) -> Method:
    """Return the method of a name such as ``"ofs+obs"``, a `Phase`, a sum of them, or a forward search function."""
    if isinstance(method, Method):
        return method
    if isinstance(method, Phase):
        return Method((method,))
    if isinstance(method, str):
        return Method(tuple(_phase(name.strip().lower()) for name in method.split("+")))
    if callable(method):
        name = str(getattr(method, "__name__", type(method).__name__)).strip("<>").lower()
        return Method((Phase(name, "forward", method),))
    raise InputError(f"method must be a name such as 'ofs+obs' or a search, not {method!r}")


def _phase(name: str) -> Phase:
    if name not in PHASES:
        _register_entry_points()
    if name not in PHASES:
        raise unknown_name("search", name, PHASES)
    return PHASES[name]


def _register_entry_points() -> None:
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            register_search(entry.load())
        except Exception as error:
            warnings.warn(f"the search {entry.name!r} of another package cannot be used: {error}", stacklevel=3)


def _names(direction: str) -> Sequence[str]:
    return [name for name, phase in PHASES.items() if phase.direction == direction]
