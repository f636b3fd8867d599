"""The commands, in the order of the help."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from countergraph.cli import data, demo, explain, methods, models, report, reproduce, store, train
from countergraph.cli.output import warn
from countergraph.version import __version__

app = typer.Typer(
    name="countergraph",
    help="Explain classifiers of brain networks: the fewest connections to change so that the predicted class changes.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"countergraph {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    warnings.showwarning = _show_warning


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    warn(f"warning: {message}")


app.command("demo")(demo.demo)
app.add_typer(data.app, name="data")
app.command("train")(train.train)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(store.app, name="store")
app.command("methods")(methods.methods)
app.command("models")(models.models)
