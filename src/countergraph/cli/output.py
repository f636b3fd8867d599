"""Printing, progress bars, and checks of output files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from countergraph.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from countergraph.finding.run import Progress
    from countergraph.graphs.dataset import GraphDataset
    from countergraph.results.counterfactual import Counterfactual

MAX_CHANGES = 20
"""The number of changes that are printed."""
out = Console()
err = Console(stderr=True)


def check_writable(path: Path, force: bool) -> None:
    """Raise `InputError` before any work is done if the file exists, or if its folder does not."""
    if path.exists() and not force:
        raise InputError(f"{path} exists; choose another name, or overwrite it with --force")
    if not path.resolve().parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def print_json(value: object) -> None:
    """Print plain values as JSON on standard output."""
    typer.echo(json.dumps(value, indent=1, allow_nan=False, default=str))


def plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert a table to rows for JSON; NaN becomes null."""
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
    """Print a table: numbers right-aligned, fractions with two decimals."""
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
    """Print the columns of a dataset summary that fit on a line."""
    summary = data.summary()
    print_table(summary[[name for name in summary if name not in ("label", "edges (min)", "edges (max)")]])


def print_changes(result: Counterfactual, data: GraphDataset) -> None:
    """Print the columns of the table of changes that fit on a line, and the largest changes if there are many."""
    from countergraph.explain.contrastive import changes

    table = changes(result, data).drop(columns=["hemispheres", "networks"], errors="ignore")
    shares = {} if data.weighted else {f"share of {name}": f"in {name}" for name in data.classes}
    table = table.rename(columns={**shares, "distance_mm": "mm"})
    table = table.assign(**{name: (100 * table[name]).map("{:.0f}%".format) for name in shares.values()})
    if "mm" in table:
        table = table.assign(mm=table["mm"].round().astype(int))
    if data.weighted and len(table) > MAX_CHANGES:
        table = table.loc[(table["after"] - table["before"]).abs().nlargest(len(table)).index]
    print_table(table[:MAX_CHANGES], index=False)
    if len(table) > MAX_CHANGES:
        largest = "the largest changes; " if data.weighted else ""
        echo(f"({largest}{len(table) - MAX_CHANGES} more are in the file of --out NAME.json)")


def echo(text: str = "", style: str | None = None) -> None:
    """Print a line without wrapping, highlighting and markup."""
    out.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print a line on standard error."""
    err.print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(title: str, show: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar on standard error while searches run, if it is a terminal."""
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
def step_bar(title: str, show: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on standard error for a number of steps; if it is not a terminal, print one line at the start."""
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
def spinner(title: str, show: bool) -> Iterator[None]:
    """Show a spinner while something of unknown length runs."""
    if show and err.is_terminal:
        with err.status(title):
            yield
    else:
        yield
