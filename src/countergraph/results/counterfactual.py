"""The outcome of a search, and of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from countergraph.errors import InputError
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.correlation import has_correlations, smallest_eigenvalue
from countergraph.graphs.measure import Measure, diagonal_of
from countergraph.graphs.pairs import Bits, Indices, Label, Values, pairs_at, roi_count, to_adjacency, to_matrix
from countergraph.results.certificate import NOTHING_PROVEN, Certificate
from countergraph.results.plottable import Plottable
from countergraph.results.unit import Unit
from countergraph.results.wording import count
from countergraph.search.network import Network

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 20
"""The number of results that a notebook shows."""
Pair = tuple[int, int]
NO_PAIRS: Indices = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Counterfactual(Plottable):
    """The outcome of one search, whether it found a counterfactual (``found``) or not.

    A spent budget is an outcome, too: ``stopped`` is the reason why the search ended, and the closest counterfactual up
    to then is kept.
    """

    _plots: ClassVar = ("counterfactual",)
    original: Values
    """The network that was explained: an edge vector, or the values of the pairs of a weighted network."""
    flips: Indices | None
    """The positions of the changed pairs, increasing; None if no counterfactual was found."""
    original_label: Label | None
    """The class of the graph as the search sees it; None if the search ended before the first call."""
    counterfactual_label: Label | None
    """The class of the counterfactual as the search sees it; None if no counterfactual was found."""
    calls_by_phase: dict[str, int]
    """The calls of each phase. The call for the class of the original graph counts for the first phase."""
    method: str
    parameters: dict[str, Any]
    """The options that determine the result, such as k, max_calls, seed and target."""
    stopped: str
    """"finished", "not found", "max_calls", "time_limit", "already in target class", "cancelled" or "interrupted"."""
    trace: tuple[tuple[int, int], ...] = ()
    """(calls, distance) each time a better counterfactual was found."""
    graph_index: int = 0
    run: int = 0
    subject: str = "The graph"
    named: bool = False
    """Whether ``subject`` is a name from the data."""
    atlas: Atlas | None = field(default=None, repr=False)
    classes: tuple[str, ...] | None = None
    """The names of the classes, by label, if they are known."""
    units: tuple[Unit, ...] = ()
    """The changes as groups of pairs, if the search changes larger units than pairs."""
    cost: float | None = None
    """The total cost of the changes, if the search minimised a cost instead of their number."""
    certificate: Certificate = NOTHING_PROVEN
    """The properties that are proven."""
    why: str = ""
    """Why no counterfactual was found, if more is known than ``stopped``."""
    changed_values: Values | None = None
    """The values of the changed pairs in the counterfactual of a weighted network; None for a graph."""
    alternatives: Values | None = field(default=None, repr=False)
    """The value that each pair takes if it is changed, for weighted networks; None if it is not known any more."""
    measure: Measure = "unknown"
    """What the values are, such as "correlation" (see `GraphDataset`)."""
    valid_values: Values | None = None
    """The nearest correlation matrix, as values of the pairs; None unless it was requested and is a counterfactual."""

    @property
    def found(self) -> bool:
        """Whether there is a counterfactual."""
        return self.flips is not None

    @property
    def original_class(self) -> Label | None:
        """The class of the graph: its name if the names are known, else the answer of the black box."""
        return self._name(self.original_label)

    @property
    def counterfactual_class(self) -> Label | None:
        """The class of the counterfactual: its name if the names are known, else the answer of the black box."""
        return self._name(self.counterfactual_label)

    def _name(self, label: Label | None) -> Label | None:
        return self.classes[label] if isinstance(label, int) and self.classes is not None else label

    @property
    def subject_key(self) -> str | int:
        """The subject as a black box with subjects receives it: its name, or the position of an unnamed graph."""
        return self.subject if self.named else self.graph_index

    @property
    def distance(self) -> int | None:
        """The number of changed pairs, or of larger units; None if no counterfactual was found."""
        if self.flips is None:
            return None
        return len(self.units) if self.units else int(self.flips.size)

    @property
    def unit(self) -> str:
        """What the distance counts: "pair", "roi" or "network"."""
        return str(self.parameters.get("unit", "pair"))

    @property
    def calls(self) -> int:
        """The number of calls to the black box."""
        return sum(self.calls_by_phase.values())

    @property
    def limited(self) -> bool:
        """Whether the search was under constraints, so that closer counterfactuals may violate them."""
        return bool(self.parameters.get("constraints"))

    @property
    def n_rois(self) -> int:
        """The number of ROIs of the graph."""
        return roi_count(self.original.size)

    @property
    def weighted(self) -> bool:
        """Whether the network is weighted; otherwise it is a graph."""
        return self.original.dtype != np.bool_

    @property
    def added(self) -> list[Pair]:
        """The pairs (i, j), i < j, that are connected in the counterfactual and not in the graph.

        For a weighted network, the pairs that are stronger in the counterfactual.
        """
        return self._changed(False)

    @property
    def removed(self) -> list[Pair]:
        """The pairs (i, j), i < j, that are connected in the graph and not in the counterfactual.

        For a weighted network, the pairs that are weaker in the counterfactual.
        """
        return self._changed(True)

    strengthened, weakened = added, removed

    def _changed(self, decreased: bool) -> list[Pair]:
        if self.flips is None:
            return []
        return pairs_at(self.flips[self.decreased == decreased], self.n_rois)

    @property
    def decreased(self) -> Bits:
        """Which of the changed pairs are removed or weakened."""
        before = self.original[NO_PAIRS if self.flips is None else self.flips]
        return np.asarray(before if self.changed_values is None else self.changed_values < before, dtype=np.bool_)

    @property
    def decreases(self) -> Bits:
        """Which of all pairs are removed or weakened if they are changed."""
        if not self.weighted:
            return np.asarray(self.original, dtype=np.bool_)
        if self.alternatives is None:
            raise InputError(
                "this needs the alternative values of all pairs, which Store.results does not return for weighted "
                "networks: use resume_counterfactuals"
            )
        return np.asarray(self.alternatives < self.original)

    @property
    def can_change(self) -> Bits:
        """Which of all pairs have an alternative other than their value."""
        if not self.weighted:
            return np.ones(self.original.size, dtype=np.bool_)
        _ = self.decreases  # raises if the alternatives are unknown
        return Network(self.original, np.asarray(self.alternatives)).can_change

    @property
    def change_names(self) -> tuple[str, str]:
        """The words for a decrease and an increase."""
        return ("weakened", "strengthened") if self.weighted else ("removed", "added")

    @cached_property
    def values(self) -> Values | None:
        """The values of the pairs in the counterfactual; None if no counterfactual was found."""
        if self.flips is None:
            return None
        changed = self.original.copy()
        changed[self.flips] = ~changed[self.flips] if self.changed_values is None else self.changed_values
        return changed

    @property
    def edges(self) -> Bits | None:
        """The counterfactual as an edge vector; None if no counterfactual was found; refused if it is weighted."""
        self._check_graph()
        return self.values

    @property
    def adjacency(self) -> NDArray[np.uint8] | None:
        """The counterfactual as an adjacency matrix (n, n); None if no counterfactual was found."""
        return None if self.edges is None else to_adjacency(self.edges)

    @property
    def matrix(self) -> NDArray[np.generic] | None:
        """The counterfactual as a symmetric matrix (n, n); None if no counterfactual was found.

        The diagonal is 1 for correlations, else 0, as in ``GraphDataset.matrices``.
        """
        if self.values is None or not self.weighted:
            return self.adjacency
        return to_matrix(self.values, diagonal_of(self.measure))

    @cached_property
    def smallest_eigenvalue(self) -> float | None:
        """The smallest eigenvalue of the counterfactual; if it is negative, this is no correlation matrix.

        None if no counterfactual was found, if the values are no correlations or Fisher z values, or with
        ``valid="off"``.
        """
        return self._smallest_eigenvalue(self.values)

    @cached_property
    def smallest_eigenvalue_before(self) -> float | None:
        """The same for the original network; it may be negative, too, for example in the mean of several matrices."""
        return self._smallest_eigenvalue(self.original)

    def _smallest_eigenvalue(self, values: Values | None) -> float | None:
        if values is None or not has_correlations(self.measure) or self.parameters.get("valid") == "off":
            return None
        return smallest_eigenvalue(values, self.measure)

    @property
    def valid_matrix(self) -> NDArray[np.generic] | None:
        """The nearest correlation matrix (n, n), in the unit of the data; None if there is none (``valid_values``)."""
        if self.valid_values is None:
            return None
        return to_matrix(self.valid_values, diagonal_of(self.measure))

    @property
    def total_change(self) -> float | None:
        """The sum of the absolute changes, in the unit of the data; None if no counterfactual was found."""
        if self.flips is None:
            return None
        if self.changed_values is None:
            return float(self.flips.size)
        return float(np.abs(self.changed_values - self.original[self.flips]).sum())

    def mean_change(self, unit: Unit) -> float | None:
        """Return the mean change of the values of a unit; None for a graph."""
        if self.values is None or not self.weighted:
            return None
        return float(np.mean(self.values[unit.flips] - self.original[unit.flips]))

    def _check_graph(self) -> None:
        if self.weighted:
            raise InputError("this network is weighted, so it has no edges: use values and matrix")

    def roi_name(self, roi: int) -> str:
        """Return the name of an ROI."""
        return f"ROI {roi}" if self.atlas is None else self.atlas.names[roi]

    def class_name(self, label: Label | None) -> str | None:
        """Return the name of a class for texts: "class 1" if the names are unknown."""
        name = self._name(label)
        return f"class {name}" if isinstance(name, int) else name

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        from countergraph.results.sentences import result_sentence

        return result_sentence(self)

    @property
    def changes(self) -> pd.DataFrame:
        """The changed connections, removed ones first: ROIs, hemispheres, networks and distance if they are known."""
        from countergraph.results.tables import changes_table

        return changes_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, from which `from_dict` makes an equal result."""
        from countergraph.results.serialization import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any], atlas: Atlas | None = None) -> Counterfactual:
        """Make a result from the values that `to_dict` returned; they do not contain the atlas."""
        from countergraph.results.serialization import from_dict

        return from_dict(plain, atlas)

    @property
    def caption(self) -> str:
        """The result as a sentence."""
        return self.sentence

    @property
    def listing(self) -> pd.DataFrame:
        """The changed connections."""
        return self.changes

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        found = "none found" if self.distance is None else count(self.distance, "change")
        return f"<Counterfactual of {self.subject}: {found}, {count(self.calls, 'call')} by {self.method}>"


class Counterfactuals(Sequence[Counterfactual]):
    """Results in the order of the graphs; the runs of one graph are consecutive.

    ``shared_calls`` is the number of calls of the run that belong to no search: graphs of the dataset, classified once
    for all searches. It belongs to the whole run: a part of the results, such as a slice or ``found``, has 0.
    ``cautions`` are signs that the classifier and the networks of the run do not belong together.
    """

    def __init__(self, results: Sequence[Counterfactual], shared_calls: int = 0, cautions: Sequence[str] = ()) -> None:
        self._results, self.shared_calls, self.cautions = tuple(results), shared_calls, tuple(cautions)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Counterfactual: ...
    @overload
    def __getitem__(self, index: slice) -> Counterfactuals: ...
    def __getitem__(self, index: int | slice) -> Counterfactual | Counterfactuals:
        if isinstance(index, slice):
            return Counterfactuals(self._results[index])
        return self._results[index]

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self._results)

    def __add__(self, others: Sequence[Counterfactual]) -> Counterfactuals:
        return Counterfactuals([*self, *others])

    def __repr__(self) -> str:
        return f"<{count(len(self), 'result')}, {count(len(self.found), 'counterfactual')} found>"

    def _repr_html_(self) -> str:
        html: str = self.to_frame().head(MAX_ROWS)._repr_html_()  # type: ignore[operator]
        hidden = len(self) - MAX_ROWS
        more = f"<p>{hidden} more rows are not shown: use to_frame()</p>" if hidden > 0 else ""
        cautions = "".join(f"<p><strong>Caution: {escape(each)}.</strong></p>" for each in self.cautions)
        return f"{cautions}<p>{escape(repr(self))}</p>{html}{more}"

    @property
    def found(self) -> Counterfactuals:
        """The results that are counterfactuals."""
        return self.where(lambda result: result.found)

    @property
    def calls(self) -> int:
        """The number of calls of all searches."""
        return sum(result.calls for result in self)

    @property
    def amortised_calls(self) -> float:
        """Calls per result, including shared calls: the mean cost of one search in a joint run."""
        return (self.calls + self.shared_calls) / max(1, len(self))

    def where(self, condition: Callable[[Counterfactual], bool]) -> Counterfactuals:
        """Return the results for which ``condition`` is true."""
        return Counterfactuals([result for result in self if condition(result)])

    def closest(self) -> Counterfactual | None:
        """Return the first result with the lowest cost, by default with the fewest changes; None if none was found."""
        return min(self.found, key=lambda result: (result.cost or 0.0, result.distance or 0), default=None)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per result."""
        from countergraph.results.tables import results_table

        return results_table(self)

    def save(self, path: str | Path) -> Path:
        """Write the results and their atlas to a JSON file, which `countergraph.load_results` reads back equal."""
        from countergraph.results.files import save_results

        return save_results(self, path)
