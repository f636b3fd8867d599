"""``countergraph report``: everything about a classifier and a cohort, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.black_box import BlackBox, box_name, label_of, open_black_box
from countergraph.cli.explain import PICTURES
from countergraph.cli.shared import (
    AsJson,
    AtlasName,
    Between,
    Binarize,
    Confirm,
    Control,
    Cost,
    Force,
    FreezeNetwork,
    FreezePair,
    FreezeRoi,
    KeepConnected,
    KeepEdges,
    LabelFile,
    Most,
    Only,
    Quiet,
    Root,
    Scores,
    Source,
    StoreFile,
    Within,
    check_free,
    constraints_of,
    err,
    open_dataset,
    opened_store,
    print_json,
    progress_bar,
    root_of,
    say,
    working,
)
from countergraph.errors import BlackBoxError, InputError

FORMATS = ("html", "json", "csv")


def report(
    source: Source,
    model: BlackBox,
    path: Annotated[Path, typer.Option("--out", help="The page (.html), the file (.json) or the folder (CSV).")],
    subject: Annotated[
        list[str] | None, typer.Option(help="Whom to show one by one; may be given several times.")
    ] = None,
    subjects: Annotated[int, typer.Option(help="How many people to choose, if none is named.")] = 4,
    runs: Annotated[int, typer.Option(help="Searches for each graph.")] = 5,
    local_runs: Annotated[int, typer.Option(help="Searches for each person shown; the paper has 1000.")] = 200,
    diverse: Annotated[int, typer.Option(help="Counterfactuals that differ for each person shown.")] = 1,
    method: Annotated[str, typer.Option(help="How to search ('countergraph methods' lists all).")] = "ofs+obs",
    target: Annotated[str | None, typer.Option(help="The class to reach, where there are more than two.")] = None,
    k: Annotated[int, typer.Option(help="Connections changed in one step.")] = 5,
    max_calls: Annotated[int, typer.Option(help="Most questions to the model in each phase.")] = 2000,
    seed: Annotated[int, typer.Option(help="Same seed, same report.")] = 0,
    format: Annotated[  # noqa: A002 - the word users know
        str | None, typer.Option(help="html, json or csv (a folder of tables); by default as --out ends.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for every picture at print quality.")] = None,
    figure_format: Annotated[str, typer.Option(help="png, svg or pdf.")] = "png",
    keep: StoreFile = None,
    only: Only = None,
    freeze_roi: FreezeRoi = None,
    freeze_pair: FreezePair = None,
    freeze_network: FreezeNetwork = None,
    within: Within = None,
    between: Between = None,
    cost: Cost = None,
    most: Most = None,
    keep_edges: KeepEdges = False,
    keep_connected: KeepConnected = False,
    scores: Scores = False,
    confirm: Confirm = True,
    root: Root = None,
    atlas: AtlasName = None,
    binarize: Binarize = None,
    control: Control = None,
    labels: LabelFile = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Explain a whole cohort and some of its people, on one page that needs no network."""
    kind = format or path.suffix.removeprefix(".") or "csv"
    if kind not in FORMATS:
        raise InputError(f"a report is written as {', '.join(FORMATS)}, not {kind!r}: choose with --format")
    if f".{figure_format}" not in PICTURES:
        raise InputError(f"--figure-format is one of {', '.join(each[1:] for each in PICTURES)}, not {figure_format!r}")
    check_free(path, force)
    if figures is not None and figures.exists() and not (force and figures.is_dir()):
        raise InputError(f"{figures} exists; choose another folder for the figures, or overwrite them with --force")
    from countergraph.report.make import make_report

    show = not (json or quiet)
    data = open_dataset(
        source, root=root_of(source, root), atlas=atlas, binarize=binarize, control=control, labels=labels
    )
    where = (freeze_roi, freeze_pair, freeze_network, within, between)
    asked = constraints_of(data.atlas, only, *where, cost, most, keep_edges, keep_connected)
    black_box = open_black_box(model, data, root)
    people = subject or subjects
    with progress_bar("explaining everybody", show) as progress, opened_store(keep) as store:
        try:
            made = make_report(
                black_box,
                data,
                method,
                runs=runs,
                subjects=people,
                local_runs=local_runs,
                k=k,
                max_calls=max_calls,
                seed=seed,
                constraints=asked,
                progress=progress,
                store=store,
                box=box_name(model),
                scores=scores,
                confirm=confirm,
                target=label_of(target, data),
                diverse=diverse,
            )
        except (KeyboardInterrupt, BlackBoxError) as error:
            again = "go on" if store is not None else "start over; with --store FILE it would go on"
            err.print(f"nothing is written; run the same command to {again}", highlight=False, soft_wrap=True)
            raise error
    with working("drawing", show):
        made.save(path, kind)
        pictures = []
        if figures is not None:
            from countergraph.report.pictures import save_pictures

            pictures = save_pictures(made, figures, figure_format)
    found = bool(made.results.found)
    if json:
        print_json({"out": str(path), "figures": [str(each) for each in pictures], "headline": made.headline})
    else:
        say(made.headline)
        for caution in made.cautions:
            err.print(f"caution: {caution}", highlight=False, soft_wrap=True)
        say(f"written: {path}" + (f", and {len(pictures)} pictures in {figures}" if figures is not None else ""))
    if not found:
        raise typer.Exit(1)
