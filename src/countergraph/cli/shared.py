"""What several commands share: their options, the progress bar, tables, and writing files without losing any."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from countergraph.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from countergraph.finding.constraints import Constraints
    from countergraph.graphs.atlas import Atlas
    from countergraph.graphs.dataset import GraphDataset
    from countergraph.graphs.pairs import Floats
    from countergraph.results.counterfactual import Counterfactual
    from countergraph.search.driver import Progress
    from countergraph.store.store import Store

out = Console()
err = Console(stderr=True)

Source = Annotated[
    str, typer.Argument(metavar="DATASET", help="synthetic, asd, adhd, a dataset file (.npz), or a folder.")
]
Root = Annotated[Path | None, typer.Option(help="Where the cohorts asd and adhd lie; or set COUNTERGRAPH_DATA.")]
AtlasName = Annotated[str | None, typer.Option(help="For a folder: aal116, or a table of regions (.tsv, .csv).")]
Binarize = Annotated[str | None, typer.Option(help="For weighted matrices: percentile:90, density:0.1, ...")]
Control = Annotated[str | None, typer.Option(help="For a folder: the class that is the control group.")]
LabelFile = Annotated[
    Path | None, typer.Option(help="For a folder that holds all matrices: a CSV with the columns name and label.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, only the result.")]
Only = Annotated[str | None, typer.Option(help="Changes of one direction: added or removed.")]
FreezeRoi = Annotated[
    list[str] | None, typer.Option(help="A region, by name or number, whose connections stay; may be repeated.")
]
FreezePair = Annotated[
    list[str] | None, typer.Option(help="Two regions whose connection stays as it is: 'A,B'; may be repeated.")
]
FreezeNetwork = Annotated[list[str] | None, typer.Option(help="A coarse region whose connections stay.")]
Within = Annotated[list[str] | None, typer.Option(help="Only connections inside this coarse region may change.")]
Between = Annotated[list[str] | None, typer.Option(help="Only those between two coarse regions: 'A,B'.")]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="COST",
        help="Minimise this instead of the count: length, plausible, or a file with a number for each pair.",
    ),
]
Most = Annotated[int | None, typer.Option(help="The most changes.")]
KeepEdges = Annotated[bool, typer.Option("--keep-edges", help="As many additions as removals.")]
KeepConnected = Annotated[bool, typer.Option("--keep-connected", help="Nothing falls apart that was connected.")]
Scores = Annotated[
    bool, typer.Option("--scores", help="Let the method 'learned' use the model's probabilities, if it has any.")
]
Confirm = Annotated[bool, typer.Option(help="Ask about each result again; 'learned' always does.")]
StoreFile = Annotated[
    Path | None, typer.Option("--store", help="Keep finished searches in this file, and go on where it stopped.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


def open_dataset(source: str, **options: object) -> GraphDataset:
    """Load a dataset with those options that were given."""
    from countergraph.datasets.load import load_dataset

    return load_dataset(source, **{name: value for name, value in options.items() if value is not None})


def root_of(source: str, root: Path | None) -> Path | None:
    """Return ``--root`` for a dataset that has one; to others it only says where the published rules are."""
    from inspect import signature

    from countergraph.datasets.load import DATASETS

    return root if source in DATASETS and "root" in signature(DATASETS[source]).parameters else None


def opened_store(path: Path | None) -> AbstractContextManager[Store | None]:
    """Open the store that was asked for, if one was."""
    if path is None:
        return nullcontext()
    from countergraph.store.store import Store

    return Store(path)


def constraints_of(
    atlas: Atlas,
    only: str | None,
    freeze_roi: list[str] | None,
    freeze_pair: list[str] | None,
    freeze_network: list[str] | None,
    within: list[str] | None,
    between: list[str] | None,
    cost: str | None,
    most: int | None,
    keep_edges: bool,
    keep_connected: bool,
) -> Constraints | None:
    """Return the constraints that the options ask for, None if for none."""
    from countergraph.finding.constraints import Constraints

    frozen = [_two(pair, "--freeze-pair", atlas.names) for pair in freeze_pair or ()]
    asked = Constraints(
        only=only,  # type: ignore[arg-type]
        frozen_pairs=[(_roi(one, atlas), _roi(other, atlas)) for one, other in frozen],
        frozen_rois=[_roi(name, atlas) for name in freeze_roi or ()],
        frozen_networks=freeze_network or (),
        within=within or (),
        between=[_two(pair, "--between", atlas.networks or ()) for pair in between or ()],
        cost=_cost(cost, len(atlas)),
        most=most,
        keep_edges=keep_edges,
        keep_connected=keep_connected,
    )
    return asked if asked.describe() else None


def _cost(cost: str | None, n_rois: int) -> Floats | str | None:
    """Read a cost: the name of one, or a file of numbers."""
    from countergraph.finding.constraints import COSTS, read_costs

    if cost is None or cost in COSTS:
        return cost
    if not Path(cost).is_file():
        raise InputError(f"--cost is {' or '.join(COSTS)}, or a file of numbers; there is no file {cost}")
    return read_costs(Path(cost), n_rois)


def _two(text: str, option: str, known: Sequence[str]) -> tuple[str, str]:
    """Split 'A,B' at the comma with known names on its sides: names may have commas, too."""
    words = text.split(",")
    pairs = [(",".join(words[:at]).strip(), ",".join(words[at:]).strip()) for at in range(1, len(words))]
    if not pairs:
        raise InputError(f"{option} takes two names with a comma between, 'A,B', not {text!r}")
    return max(pairs, key=lambda pair: sum(name in known or name.isdecimal() for name in pair))


def _roi(name: str, atlas: Atlas) -> int | str:
    """Read a region: its name or, unless a region is called so, its number."""
    return name if name in atlas.names or not name.isdecimal() else int(name)


def check_free(path: Path, force: bool) -> None:
    """Refuse to overwrite a file, or to write where no folder is, before any work is done."""
    if path.exists() and not force:
        raise InputError(f"{path} exists; choose another name, or overwrite it with --force")
    if not path.resolve().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent} to write to")


def print_json(value: object) -> None:
    """Print plain values as JSON on standard output."""
    typer.echo(json.dumps(value, indent=1, allow_nan=False, default=str))


def plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Turn a table into rows for JSON; what is not a number becomes null."""
    rows = table.reset_index().to_dict(orient="records")
    return [
        {
            str(key): None
            if isinstance(value, float) and math.isnan(value)
            else getattr(value, "item", lambda v=value: v)()
            for key, value in row.items()
        }
        for row in rows
    ]


def print_table(table: pd.DataFrame, title: str | None = None, index: bool = True) -> None:
    """Print a table; numbers to the right, with two decimals where they have any."""
    if index:
        table = table.reset_index()
    printed = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for name in table:
        printed.add_column(
            Text(str(name)), justify="right" if table[name].dtype.kind in "iuf" else "left", overflow="fold"
        )
    for row in table.itertuples(index=False):
        printed.add_row(*(Text(_cell(value)) for value in row))
    out.print(printed)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.2f}"
    return str(value)


def print_summary(data: GraphDataset) -> None:
    """Print a dataset's summary, as much of it as fits on a line."""
    summary = data.summary()
    print_table(summary[[name for name in summary if name not in ("label", "edges (min)", "edges (max)")]])


def print_changes(result: Counterfactual, data: GraphDataset) -> None:
    """Print which connections change, as much of the table as fits on a line."""
    from countergraph.explain.contrastive import changes

    table = changes(result, data).drop(columns=["hemispheres", "regions"], errors="ignore")
    shares = {f"share of {name}": f"in {name}" for name in data.classes}
    table = table.rename(columns={**shares, "distance_mm": "mm"})
    table = table.assign(**{name: (100 * table[name]).map("{:.0f}%".format) for name in shares.values()})
    if "mm" in table:
        table = table.assign(mm=table["mm"].round().astype(int))
    print_table(table, index=False)


def say(text: str = "", style: str | None = None) -> None:
    """Print a line as it is, never broken, never coloured by accident."""
    out.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(title: str, show: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar on standard error while searches run, if there is a terminal to show it on."""
    if not show or not err.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[calls]:,} calls"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task(title, total=None, calls=0)
        yield lambda state: bar.update(task, total=state.total, completed=state.finished, calls=state.calls)


@contextmanager
def fit_bar(title: str, show: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on standard error while something is done step by step; without a terminal, a line as it begins."""
    if not show or not err.is_terminal:
        if show:
            err.print(f"{title} ...", soft_wrap=True)
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, total=total, completed=done)


@contextmanager
def working(title: str, show: bool) -> Iterator[None]:
    """Show that something of unknown length goes on."""
    if show and err.is_terminal:
        with err.status(title):
            yield
    else:
        yield
