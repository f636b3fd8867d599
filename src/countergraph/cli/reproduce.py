"""``countergraph reproduce``: the tables and figures of the paper."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.shared import AsJson, Quiet, err, fit_bar, print_json, say, working
from countergraph.errors import InputError


def reproduce(
    what: Annotated[list[str], typer.Argument(help="all, or some of table1, figure4, figure5, ...")],
    data: Annotated[
        Path | None,
        typer.Option("--data", "--root", help="Where the cohorts asd and adhd lie; or set COUNTERGRAPH_DATA."),
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="Where store, black boxes and page are kept.")] = Path(
        "results"
    ),
    page: Annotated[Path | None, typer.Option(help="The page to write; by default reproduction.md in --out.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of every experiment: minutes, not an hour.")
    ] = False,
    workers: Annotated[int, typer.Option(help="How many processes.")] = 1,
    scheduler: Annotated[str | None, typer.Option(help="The address of a Dask cluster that does the work.")] = None,
    search: Annotated[bool, typer.Option(help="With --no-search, write the page from what the store holds.")] = True,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make tables and figures of the paper, beside the printed numbers. Run it again to go on where it stopped."""
    if workers < 1:
        raise InputError(f"--workers must be at least 1, not {workers}")
    show = not (json or quiet)
    with working("loading", show):
        from countergraph.experiments.reproduction import Reproduction, choose_exhibits
        from countergraph.experiments.workspace import Workspace

    work = Reproduction(Workspace(data, folder), choose_exhibits(what), quick)
    target = page or folder / "reproduction.md"
    work.check_page(target)
    command = shlex.join(["countergraph", *sys.argv[1:]])
    try:
        if search:
            with ExitStack() as bars:
                work.train(lambda name: bars.enter_context(fit_bar(f"training {name}", show)))
            with fit_bar("searching", show) as progress:
                work.run(workers, scheduler, progress)
        with working("writing", show):
            written = work.write(target, command)
    except KeyboardInterrupt:
        err.print(
            f"interrupted: what was found is safe in {work.workspace.store}; run the same command to go on",
            soft_wrap=True,
        )
        raise typer.Exit(130) from None
    if json:
        print_json({"store": str(work.workspace.store), "files": [str(path) for path in written]})
    elif not quiet:
        say(f"written: {target} and {len(written) - 1} pictures in {target.parent / 'figures'}")
