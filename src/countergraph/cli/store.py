"""``countergraph store``: show or export a store of finished searches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.options import AsJson, Force, Quiet
from countergraph.cli.output import check_writable, echo, plain, print_json, print_table
from countergraph.errors import FileError
from countergraph.results.wording import count

app = typer.Typer(help="Show a store of finished searches, or export it.", no_args_is_help=True)
DETAILS = ("k", "max_calls", "seed", "target", "confirm", "options", "version")
"""Columns that are shown only if the settings differ in them."""
StoreFile = Annotated[Path, typer.Argument(metavar="STORE", help="The file, for example results/store.sqlite.")]


@app.command("show")
def show(path: StoreFile, json: AsJson = False) -> None:
    """Show the contents of a store."""
    from countergraph.store.store import Store

    _check(path)
    with Store(path) as store:
        table = store.summary()
    if json:
        print_json(plain(table))
        return
    echo(f"{count(int(table['searches'].sum()), 'finished search')}")
    differ = [name for name in DETAILS if table[name].nunique(dropna=False) > 1]
    shown = ["cohort", "box", "method", *differ, "searches", "found", "distance", "calls", "seconds"]
    print_table(table[shown], index=False)


@app.command("export")
def export(
    path: StoreFile,
    target: Annotated[Path, typer.Option("--out", help="The file to write: .csv or .parquet.")],
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write all finished searches to one table."""
    from countergraph.store.export import export as write
    from countergraph.store.store import Store

    _check(path)
    check_writable(target, force)
    with Store(path) as store:
        written = write(store, target)
    if json:
        print_json({"out": str(target), "searches": written})
    elif not quiet:
        echo(f"{count(written, 'search')} -> {target}")


def _check(path: Path) -> None:
    if not path.is_file():
        raise FileError(f"{path}: the file does not exist")
