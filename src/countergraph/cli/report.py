"""``countergraph report``: explain a classifier and a cohort on one page."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.black_box import BlackBox, box_name, open_black_box
from countergraph.cli.explain import PICTURES
from countergraph.cli.options import AsJson, DataOptions, Force, Quiet, SearchFlags, Source, StoreFile, expand_options
from countergraph.cli.output import check_writable, echo, print_json, progress_bar, spinner, warn
from countergraph.errors import InputError, StoppedError

FORMATS = ("html", "json", "csv")


@dataclass(frozen=True)
class ReportFlags(SearchFlags):
    """The search options of a report."""

    method: Annotated[
        str,
        typer.Option(
            help="The search method; 'countergraph methods' lists all. auto: 'ofs+obs' but, for a cohort of weighted "
            "networks, 'learned' with one run."
        ),
    ] = "auto"
    runs: Annotated[int, typer.Option(help="The number of searches per graph of the cohort.")] = 5


@expand_options
def report(
    source: Source,
    model: BlackBox,
    path: Annotated[Path, typer.Option("--out", help="The file to write: .html, .json, or a folder of CSV tables.")],
    search: ReportFlags,
    data_options: DataOptions,
    subjects: Annotated[int, typer.Option(help="The number of subjects to show one by one.")] = 4,
    subject: Annotated[list[str] | None, typer.Option(help="A subject to show, by name; repeatable.")] = None,
    local_runs: Annotated[
        int, typer.Option(help="The number of searches for each subject shown; 1000 in the paper.")
    ] = 200,
    diverse: Annotated[int, typer.Option(help="Different counterfactuals for each subject shown.")] = 1,
    format: Annotated[  # noqa: A002 - the word users know
        str | None, typer.Option(help="html, json or csv (a folder of tables); by default the ending of --out.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for all pictures in print quality.")] = None,
    figure_format: Annotated[str, typer.Option(help="png, svg or pdf.")] = "png",
    store: StoreFile = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Explain a whole cohort and some of its subjects, on one page that works without a network."""
    kind = format or path.suffix.removeprefix(".") or "csv"
    if kind not in FORMATS:
        raise InputError(f"the format of a report must be {', '.join(FORMATS)}, not {kind!r}: use --format")
    if f".{figure_format}" not in PICTURES:
        known = ", ".join(each.removeprefix(".") for each in PICTURES)
        raise InputError(f"--figure-format must be one of {known}, not {figure_format!r}")
    check_writable(path, force)
    if figures is not None and figures.exists() and not (force and figures.is_dir()):
        raise InputError(f"{figures} exists; choose another folder for the figures, or overwrite them with --force")
    from countergraph.report.make import make_report
    from countergraph.store.store import Store

    show = not (json or quiet)
    data = data_options.load_explained(source)
    keywords = search.keywords(data)
    black_box = open_black_box(model, data, data_options.root)
    with ExitStack() as stack:
        progress = stack.enter_context(progress_bar("explaining the cohort", show))
        opened = None if store is None else stack.enter_context(Store(store))
        try:
            made = make_report(
                black_box,
                data,
                None if search.method == "auto" else search.method,
                subjects=subject or subjects,
                local_runs=local_runs,
                diverse=diverse,
                progress=progress,
                store=opened,
                box=box_name(model),
                **keywords,
            )
        except (KeyboardInterrupt, StoppedError):
            again = "continue" if store is not None else "start again; with --store FILE it would continue"
            warn(f"nothing was written; run the same command to {again}")
            raise
    with spinner("plotting", show):
        made.save(path, kind)
        pictures = []
        if figures is not None:
            from countergraph.report.pictures import save_pictures

            pictures = save_pictures(made, figures, figure_format)
    if json:
        print_json({"out": str(path), "figures": [str(each) for each in pictures], "headline": made.headline})
    else:
        echo(made.headline)
        for caution in made.cautions:
            warn(f"caution: {caution}")
        echo(f"written: {path}" + (f", and {len(pictures)} pictures in {figures}" if figures is not None else ""))
    if not made.results.found:
        raise typer.Exit(1)
