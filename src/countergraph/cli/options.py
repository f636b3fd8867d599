"""The options that several commands share, each written down once.

A command declares a parameter of one of the dataclasses below; `expand_options` replaces it by one command-line option
per field.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer

from countergraph.errors import InputError

if TYPE_CHECKING:
    from countergraph.finding.constraints import Constraints
    from countergraph.graphs.atlas import Atlas
    from countergraph.graphs.dataset import GraphDataset
    from countergraph.graphs.pairs import Floats
    from countergraph.search.options import SearchKeywords

Source = Annotated[
    str, typer.Argument(metavar="DATASET", help="synthetic, asd, adhd, a dataset file (.npz), or a folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result, without a progress bar.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
StoreFile = Annotated[
    Path | None, typer.Option("--store", help="Store finished searches in this file, and continue from it.")
]


@dataclass(frozen=True)
class DataOptions:
    """Options for reading a dataset."""

    root: Annotated[
        Path | None, typer.Option(help="The folder of the cohorts asd and adhd; or set COUNTERGRAPH_DATA.")
    ] = None
    atlas: Annotated[
        str | None, typer.Option(help="For a folder: aal116, or the path of a table of ROIs (.tsv, .csv).")
    ] = None
    binarize: Annotated[str | None, typer.Option(help="For weighted matrices: percentile:90, density:0.1, ...")] = None
    measure: Annotated[
        str | None,
        typer.Option(help="For a folder of weighted matrices: correlation, fisher z, count or unknown; else detected."),
    ] = None
    control: Annotated[str | None, typer.Option(help="For a folder: the name of the control class.")] = None
    labels: Annotated[
        Path | None,
        typer.Option(help="For a folder without one folder per class: a CSV file with name and label."),
    ] = None

    def load(self, source: str) -> GraphDataset:
        """Load a dataset with the options that were given."""
        from countergraph.datasets.load import load_dataset

        given = {each.name: getattr(self, each.name) for each in fields(self)}
        if given.get("classes") is not None:
            given["classes"] = _classes(given["classes"])
        return load_dataset(source, **{name: value for name, value in given.items() if value is not None})

    def load_explained(self, source: str) -> GraphDataset:
        """Do the same for a command with a model: ``--root`` may also be the folder of the published rules."""
        from dataclasses import replace
        from inspect import signature

        from countergraph.datasets.load import DATASETS

        has_root = source in DATASETS and "root" in signature(DATASETS[source]).parameters
        return (self if has_root else replace(self, root=None)).load(source)


@dataclass(frozen=True)
class FileOptions(DataOptions):
    """Options for reading a dataset, and the formats of its files."""

    name_column: Annotated[
        str | None, typer.Option(help="The column of names in the table of --labels; by default a usual one.")
    ] = None
    label_column: Annotated[
        str | None, typer.Option(help="The column of labels in the table of --labels; by default a usual one.")
    ] = None
    classes: Annotated[
        str | None, typer.Option(help="The names of the classes by the entries of that column: 1=ASD,2=TD.")
    ] = None
    format: Annotated[
        str | None,
        typer.Option(help="For a folder: text, numpy, matlab or mrtrix; matrix or timeseries if that is not detected."),
    ] = None
    kind: Annotated[
        str | None,
        typer.Option(help="For time series: correlation (default), partial correlation, tangent or covariance."),
    ] = None


@dataclass(frozen=True)
class SearchFlags:
    """The command-line form of `SearchOptions` and `Constraints`."""

    method: Annotated[
        str,
        typer.Option(
            help="The search method; 'countergraph methods' lists all. By default 'learned', but the exact optimum for "
            "a linear estimator."
        ),
    ] = "auto"
    runs: Annotated[int, typer.Option(help="The number of searches; the closest result is shown.")] = 1
    seed: Annotated[int, typer.Option(help="The seed; the same seed gives the same results.")] = 0
    k: Annotated[int, typer.Option(help="The number of pairs changed in one step.")] = 5
    max_calls: Annotated[int, typer.Option(help="The maximum number of calls of each phase.")] = 2000
    walks: Annotated[int, typer.Option(help="The number of random walks of OFS and DFS; 1 in the paper.")] = 8
    target: Annotated[str | None, typer.Option(help="The class to reach; by default any other class.")] = None
    scores: Annotated[bool, typer.Option("--scores", help="Let 'learned' use the probabilities of the model.")] = False
    confirm: Annotated[bool, typer.Option(help="Classify each result a second time; 'learned' always does.")] = True
    effort: Annotated[
        str | None,
        typer.Option(help="How much of the budget 'learned' spends: quick, standard or thorough (default for one)."),
    ] = None
    reference_calls: Annotated[
        int | None, typer.Option(help="The maximum number of other graphs that 'learned' has classified; 0 for none.")
    ] = None
    change: Annotated[
        str | None,
        typer.Option(
            help="The value that a pair of a weighted network takes if it is changed: quantile:0.9 (default), "
            "target-median, donor, neutral, or a file with one number per pair."
        ),
    ] = None
    unit: Annotated[
        str, typer.Option(help="What is changed as one step: pair, roi (all pairs of an ROI) or network.")
    ] = "pair"
    amounts: Annotated[bool, typer.Option(help="For weighted networks: also find how much each pair must change.")] = (
        True
    )
    valid: Annotated[
        str,
        typer.Option(help="For correlations: check the eigenvalues, also project to the nearest valid matrix, or off."),
    ] = "check"
    only: Annotated[
        str | None,
        typer.Option(help="Only changes in one direction: added or removed (strengthened or weakened)."),
    ] = None
    freeze_roi: Annotated[
        list[str] | None, typer.Option(help="An ROI, by name or number, whose pairs must not change; repeatable.")
    ] = None
    freeze_pair: Annotated[
        list[str] | None, typer.Option(help="A pair of ROIs that must not change: 'A,B'; repeatable.")
    ] = None
    freeze_network: Annotated[
        list[str] | None, typer.Option(help="A lobe or network whose pairs must not change; repeatable.")
    ] = None
    within: Annotated[
        list[str] | None, typer.Option(help="Only pairs inside this lobe or network may change; repeatable.")
    ] = None
    between: Annotated[
        list[str] | None, typer.Option(help="Only pairs between two lobes or networks may change: 'A,B'.")
    ] = None
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="COST",
            help="Minimise a cost instead of the number of changes: length, plausible, or a file with one number per "
            "pair.",
        ),
    ] = None
    most: Annotated[int | None, typer.Option(help="The maximum number of changes.")] = None
    keep_edges: Annotated[bool, typer.Option("--keep-edges", help="Require as many additions as removals.")] = False
    keep_connected: Annotated[bool, typer.Option("--keep-connected", help="Do not split connected components.")] = False

    def keywords(self, data: GraphDataset) -> SearchKeywords:
        """Return the keyword arguments of the search functions."""
        from countergraph.search.options import SearchKeywords

        given = {name: getattr(self, name) for name in SearchKeywords.__annotations__ if name in _names(self)}
        given |= {"target": _label(self.target, data), "constraints": self.constraints(data.atlas)}
        if self.change is not None and Path(self.change).is_file():
            from countergraph.graphs.files import read_numbers

            numbers = read_numbers(Path(self.change))
            given["change"] = numbers.ravel() if 1 in numbers.shape else numbers
        return cast("SearchKeywords", given)

    def constraints(self, atlas: Atlas) -> Constraints | None:
        """Return the constraints; None if there are none."""
        from countergraph.finding.constraints import Constraints

        frozen = [_split_pair(pair, "--freeze-pair", atlas.names) for pair in self.freeze_pair or ()]
        constraints = Constraints(
            only=self.only,  # type: ignore[arg-type]
            frozen_pairs=[(_roi(one, atlas), _roi(other, atlas)) for one, other in frozen],
            frozen_rois=[_roi(name, atlas) for name in self.freeze_roi or ()],
            frozen_networks=self.freeze_network or (),
            within=self.within or (),
            between=[_split_pair(pair, "--between", atlas.networks or ()) for pair in self.between or ()],
            cost=_cost(self.cost, len(atlas)),
            most=self.most,
            keep_edges=self.keep_edges,
            keep_connected=self.keep_connected,
        )
        return constraints if constraints.describe() else None


def _classes(text: str) -> dict[str, str]:
    """Return the mapping of "1=ASD,2=TD"."""
    parts = [part.partition("=") for part in text.split(",")]
    if not all(entry.strip() and name.strip() for entry, _, name in parts):
        raise InputError(f"--classes must be entries and names such as 1=ASD,2=TD, not {text!r}")
    return {entry.strip(): name.strip() for entry, _, name in parts}


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a dataclass type by one command-line option per field."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not (isinstance(kind, type) and is_dataclass(kind)):
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = kind
        types = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=types[each.name]
            )
            for each in fields(kind)
        ]

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:  # noqa: ANN401
        for name, kind in groups.items():
            values[name] = kind(**{each.name: values.pop(each.name) for each in fields(kind)})
        command(**values)

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapper


def _names(options: SearchFlags) -> set[str]:
    return {each.name for each in fields(options)}


def _label(target: str | None, data: GraphDataset) -> int | str | None:
    """Return the target class: a name or, unless it is the name of a class, a label."""
    return target if target is None or target in data.classes or not target.isdecimal() else int(target)


def _cost(cost: str | None, n_rois: int) -> Floats | str | None:
    """Return the name of a cost, or the numbers in a file."""
    from countergraph.finding.constraints import COSTS, read_costs

    if cost is None or cost in COSTS:
        return cost
    if not Path(cost).is_file():
        raise InputError(f"--cost must be {' or '.join(COSTS)}, or a file of numbers; the file {cost} does not exist")
    return read_costs(Path(cost), n_rois)


def _split_pair(text: str, option: str, known: Sequence[str]) -> tuple[str, str]:
    """Split 'A,B' at the comma between two known names; a name may contain commas."""
    words = text.split(",")
    pairs = [(",".join(words[:at]).strip(), ",".join(words[at:]).strip()) for at in range(1, len(words))]
    if not pairs:
        raise InputError(f"{option} takes two names separated by a comma, 'A,B', not {text!r}")
    return max(pairs, key=lambda pair: sum(name in known or name.isdecimal() for name in pair))


def _roi(name: str, atlas: Atlas) -> int | str:
    """Return an ROI: its name or, unless it is the name of an ROI, its number."""
    return name if name in atlas.names or not name.isdecimal() else int(name)
