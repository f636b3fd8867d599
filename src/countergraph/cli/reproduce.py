"""``countergraph reproduce``: the tables and figures of the paper."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.options import AsJson, Quiet
from countergraph.cli.output import echo, print_json, spinner, step_bar, warn
from countergraph.errors import InputError


def reproduce(
    what: Annotated[list[str], typer.Argument(help="all, or some of table1, figure4, figure5, ...")],
    data: Annotated[
        Path | None,
        typer.Option("--data", "--root", help="The folder of the cohorts asd and adhd; or set COUNTERGRAPH_DATA."),
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="The folder of the store, the models and the page.")] = Path(
        "results"
    ),
    page: Annotated[Path | None, typer.Option(help="The page to write; by default reproduction.md in --out.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small part of every experiment: minutes instead of an hour.")
    ] = False,
    workers: Annotated[int, typer.Option(help="The number of processes.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="The address of a Dask scheduler; the cluster runs the searches.")
    ] = None,
    search: Annotated[
        bool, typer.Option(help="With --no-search, only write the page, from the searches in the store.")
    ] = True,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce tables and figures of the paper, next to the printed numbers. Run it again to continue."""
    if workers < 1:
        raise InputError(f"--workers must be at least 1, not {workers}")
    show = not (json or quiet)
    with spinner("loading", show):
        from countergraph.experiments.reproduction import Reproduction, choose_exhibits
        from countergraph.experiments.workspace import Workspace

    work = Reproduction(Workspace(data, folder), choose_exhibits(what), quick)
    target = page or folder / "reproduction.md"
    work.check_page(target)
    command = shlex.join(["countergraph", *sys.argv[1:]])
    try:
        if search:
            with ExitStack() as bars:
                work.train(lambda name: bars.enter_context(step_bar(f"training {name}", show)))
            with step_bar("searching", show) as progress:
                work.run(workers, scheduler, progress)
        with spinner("writing", show):
            written = work.write(target, command)
    except KeyboardInterrupt:
        warn(f"interrupted: finished searches are in {work.workspace.store}; run the same command to continue")
        raise typer.Exit(130) from None
    if json:
        print_json({"store": str(work.workspace.store), "files": [str(path) for path in written]})
    elif not quiet:
        echo(f"written: {target} and {len(written) - 1} pictures in {target.parent / 'figures'}")
