"""The options of a search, validated once and passed whole from the public functions to the searches.

To add an option: add a field to `SearchOptions` and a key to `SearchKeywords` here, read it in a search as
``task.options.NAME``, and add it to the command line in `countergraph.cli.options`.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import InputError, check_integers
from countergraph.graphs.pairs import Label
from countergraph.search.methods import Method, Phase, parse_method
from countergraph.search.protocol import SearchFunction

Function = TypeVar("Function", bound=Callable[..., Any])
Unit = Literal["pair", "roi", "network"]
AUTO = "auto"
"""The default method: the exact optimum if it is known, else ``"learned"``."""
Validity = Literal["check", "nearest", "off"]
VALIDITIES: tuple[Validity, ...] = ("check", "nearest", "off")
UNITS: tuple[Unit, ...] = ("pair", "roi", "network")
Effort = Literal["quick", "standard", "thorough"]
EFFORTS: tuple[Effort, ...] = ("quick", "standard", "thorough")
REFERENCE_CALLS_PER_GRAPH = 20
"""The default maximum number of shared calls for labelled graphs, per graph of the run."""
ALWAYS_DESCRIBED = ("k", "max_calls", "seed", "target")
ONLY_JOINT = ("effort", "reference_calls")
"""The options that only methods with a shared state use."""


class ConstraintsLike(Protocol):
    """What the options need to know about `countergraph.Constraints`."""

    def describe(self) -> dict[str, Any]:
        """Return the constraints as plain values for JSON; empty if there are none."""


class SearchKeywords(TypedDict, total=False):
    """The keyword arguments of the public functions, which become `SearchOptions`."""

    k: int
    max_calls: int
    seed: int
    target: Label | None
    runs: int | Sequence[int]
    walks: int
    time_limit: float | None
    constraints: ConstraintsLike | None
    scores: bool
    confirm: bool
    effort: Effort | None
    reference_calls: int | None
    change: str | ArrayLike | None
    unit: Unit
    amounts: bool
    valid: Validity


@dataclass(frozen=True)
class SearchOptions:
    """The options of a search.

    Parameters
    ----------
    method
        ``"auto"``: ``"learned"``, but the exact optimum for a linear classifier of scikit-learn, also behind scalers
        and PCA in a pipeline, unless there are constraints or larger units. ``"learned"``, a search of the paper
        (``"ofs+obs"``, ``"dfs+dbs"``, ...; see `countergraph.list_methods`), or a
        search object: a `Phase`, a sum of phases, or a forward search function.
    k
        The number of pairs changed in one step.
    max_calls
        The maximum number of calls of each phase of the method.
    seed
        The same graph, method, options and seed give the same result, in a joint run and one by one; with
        ``"learned"``, in the same joint run.
    target
        The class to reach, by name or label; by default any class other than the graph's own.
    runs
        The number of independent searches per graph, or the numbers of the runs: ``runs=[3]`` is the fourth of
        ``runs=4``, except for ``"learned"``, whose searches learn from each other.
    walks
        The number of random walks of OFS and DFS, while the budget lasts; 1 as in the paper.
    time_limit
        Seconds after which all searches stop with their best results.
    constraints
        `Constraints` on the counterfactuals.
    scores
        Let ``"learned"`` use the probabilities of a black box with ``predict_proba``. A graph is still one call, and
        its class is still the answer of ``predict``.
    confirm
        Classify the result a second time at the end, because a black box may contradict itself: a result that is not
        confirmed is replaced by the previous best. This takes one or two calls, and a few more after a contradiction.
        With ``confirm=False`` the calls are counted as in the paper. ``"learned"`` always confirms. Results that a time
        limit or an interruption leaves are not confirmed.
    effort
        How much of the budget ``"learned"`` spends: ``"quick"`` stops after the first improvements, ``"standard"``
        continues as long as more calls gain much, ``"thorough"`` as long as they gain anything. By default
        ``"thorough"`` for one search and ``"standard"`` for several.
    reference_calls
        The maximum number of labelled graphs (``dataset=``) that ``"learned"`` has classified before it starts, to fit
        its surrogate to the answers instead of the labels. These calls are shared by all searches of the run, and are
        not part of ``max_calls``. By default 20 per graph of the run; 0 uses the labels only. Graphs that are searched
        themselves are not classified again, and in a run of one or two graphs the labels are used.
    change
        The value that a pair takes if it is changed. For graphs ``"toggle"``: an edge is removed, a missing one added.
        For weighted networks, computed from ``dataset=``: ``"quantile:Q"``, an extreme but observed value of the wanted
        class (default, Q = 0.9); ``"target-median"``, its median; ``"donor"``, the value of the nearest network of that
        class; ``"neutral"``, the mean of all networks. Or an array of values.
    unit
        What is changed as one step, and counted as the distance: ``"pair"``; ``"roi"``, all pairs of an ROI that change
        in one direction; or ``"network"``, all pairs within a network, or between two, that change in one direction.
    amounts
        For weighted networks: after the pairs are found, find how much they must change, by bisection: a common factor,
        then each pair separately. This has its own budget of ``max_calls``, as an additional phase.
    valid
        For correlations and Fisher z values, whether the counterfactual is still a correlation matrix: ``"check"``
        computes the smallest eigenvalue (``result.smallest_eigenvalue``); ``"nearest"`` also projects the result to the
        nearest correlation matrix, and has it classified again (``result.valid_matrix``); ``"off"`` does nothing.
    """

    method: str | Phase | Method | SearchFunction = "learned"
    k: int = 5
    max_calls: int = 2000
    seed: int = 0
    target: Label | None = None
    runs: int | Sequence[int] = 1
    walks: int = 8
    time_limit: float | None = None
    constraints: ConstraintsLike | None = None
    scores: bool = False
    confirm: bool = True
    effort: Effort | None = None
    reference_calls: int | None = None
    change: str | ArrayLike | None = None
    unit: Unit = "pair"
    amounts: bool = False
    valid: Validity = "check"

    def __post_init__(self) -> None:
        check_integers(k=(self.k, 1), max_calls=(self.max_calls, 1), seed=(self.seed, 0), walks=(self.walks, 1))
        for name in ("k", "max_calls", "seed", "walks"):
            object.__setattr__(self, name, int(getattr(self, name)))
        if self.target is not None and not isinstance(self.target, str):
            check_integers(target=(self.target, -sys.maxsize))
            object.__setattr__(self, "target", int(self.target))  # numpy's integers, too
        object.__setattr__(self, "runs", _run_numbers(self.runs))
        if self.change is not None and not isinstance(self.change, str):
            object.__setattr__(self, "change", np.asarray(self.change))
        for name in ("scores", "confirm", "amounts"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"{name} must be True or False, not {getattr(self, name)!r}")
            object.__setattr__(self, name, bool(getattr(self, name)))
        if self.constraints is not None and not callable(getattr(self.constraints, "describe", None)):
            raise InputError(f"constraints must be Constraints(...), not {self.constraints!r}")
        limit = self.time_limit
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, int | float | np.number) or not limit > 0
        ):
            raise InputError(f"time_limit must be a positive number of seconds, not {limit!r}")
        if self.effort is not None and self.effort not in EFFORTS:
            raise InputError(f"effort must be one of {', '.join(EFFORTS)}, not {self.effort!r}")
        if self.valid not in VALIDITIES:
            raise InputError(f"valid must be one of {', '.join(VALIDITIES)}, not {self.valid!r}")
        if self.unit not in UNITS:
            raise InputError(f"unit must be one of {', '.join(UNITS)}, not {self.unit!r}")
        if self.reference_calls is not None:
            check_integers(reference_calls=(self.reference_calls, 0))
        method = self.parsed_method
        if self.scores and not method.is_joint:
            raise InputError(
                f"scores=True is for methods that learn, such as 'learned'; {method.name!r} uses classes only"
            )

    @cached_property
    def parsed_method(self) -> Method:
        """The method as an object; ``"auto"`` is resolved when the black box is known."""
        return parse_method("learned" if self.method == AUTO else self.method)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The searches of the method, which run one after the other."""
        return self.parsed_method.phases

    @cached_property
    def run_numbers(self) -> tuple[int, ...]:
        """The numbers of the runs of each graph."""
        assert not isinstance(self.runs, int)
        return tuple(self.runs)

    @cached_property
    def confirms(self) -> bool:
        """Whether results are classified a second time."""
        return bool(self.confirm) or self.parsed_method.is_joint

    def max_reference_calls(self, n_searches: int) -> int:
        """Return the maximum number of labelled graphs to classify for all searches of a run."""
        return REFERENCE_CALLS_PER_GRAPH * n_searches if self.reference_calls is None else self.reference_calls

    def describe(self) -> dict[str, Any]:
        """Return the options that determine a result, as plain values; options at their default are left out."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in ALWAYS_DESCRIBED}
        unused = () if self.parsed_method.is_joint else ONLY_JOINT
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in (*ALWAYS_DESCRIBED, *unused, "method", "runs", "time_limit") or value is each.default:
                continue
            if not isinstance(value, np.ndarray) and value == each.default:
                continue
            plain[each.name] = value.describe() if each.name == "constraints" else _plain(value)
        if self.confirms:
            plain.pop("confirm", None)
        return plain


def make_options(
    method: str | Phase | Method | SearchFunction, keywords: SearchKeywords, **defaults: Unpack[SearchKeywords]
) -> SearchOptions:
    """Return the options of the keyword arguments of a public function; ``defaults`` replace the usual ones."""
    known = [each.name for each in fields(SearchOptions)]
    for name in keywords:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the options are {', '.join(known)}"
            raise TypeError(f"unexpected keyword argument {name!r}; {hint}")
    merged = defaults.copy()
    merged.update(keywords)
    return SearchOptions(method, **merged)


def shows_search_options(function: Function, **defaults: Any) -> Function:  # noqa: ANN401
    """Show the fields of `SearchOptions` in the signature of a function that takes them as ``**options``.

    ``help()``, notebooks and editors then list the options, which are written down in one place only. ``defaults`` are
    the defaults of this function that differ from those of `SearchOptions`.
    """
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    names = {each.name for each in own}
    added = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(each.name, each.default),
            annotation=each.type,
        )
        for each in fields(SearchOptions)
        if each.name not in names
    ]
    function.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    return function


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return an option as a plain value; an array as its fingerprint."""
    if not isinstance(value, np.ndarray):
        return value
    return "array:" + hashlib.blake2b(np.asarray(value, dtype=np.float32).tobytes(), digest_size=8).hexdigest()


def _run_numbers(runs: int | Sequence[int]) -> tuple[int, ...]:
    if not isinstance(runs, Sequence | range):
        check_integers(runs=(runs, 1))
        return tuple(range(runs))
    for number in runs:
        check_integers(runs=(number, 0))
    if not runs:
        raise InputError("runs must contain at least one run")
    if len(set(runs)) < len(runs):
        raise InputError(f"runs must not contain a run twice, as {list(runs)} does")
    return tuple(int(number) for number in runs)
