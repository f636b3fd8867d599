"""``countergraph data``: look at a dataset, or import one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.shared import (
    AsJson,
    AtlasName,
    Binarize,
    Control,
    Force,
    LabelFile,
    Quiet,
    Root,
    Source,
    check_free,
    open_dataset,
    plain,
    print_json,
    print_summary,
    say,
    working,
)

app = typer.Typer(help="Look at a dataset, or import one into a single file.", no_args_is_help=True)


@app.command("show")
def show(
    source: Source,
    root: Root = None,
    atlas: AtlasName = None,
    binarize: Binarize = None,
    control: Control = None,
    labels: LabelFile = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what a dataset holds."""
    with working("reading", not (json or quiet)):
        data = open_dataset(source, root=root, atlas=atlas, binarize=binarize, control=control, labels=labels)
    if json:
        print_json(
            {
                "graphs": len(data),
                "n_regions": data.n_rois,
                "atlas": data.atlas.name,
                "classes": list(data.classes),
                "summary": plain(data.summary()),
                "names": list(data.names),
                "about": dict(data.about),
                "fingerprint": data.fingerprint,
            }
        )
        return
    say(f"{len(data)} graphs on the {data.n_rois} regions of {data.atlas.name}")
    print_summary(data)
    if not quiet:
        say(f"subjects: {', '.join(data.names[:3])}, ...")
        if Path(source).is_dir():
            say(f"control group: {data.classes[0]}; --control chooses another")


@app.command("import")
def import_(
    source: Source,
    target: Annotated[Path, typer.Option("--out", help="The file to write, for example cohort.npz.")],
    root: Root = None,
    atlas: AtlasName = None,
    binarize: Binarize = None,
    control: Control = None,
    labels: LabelFile = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read a dataset and write it to one file that loads fast."""
    from countergraph.graphs.files import save_dataset

    check_free(target, force)
    with working("reading", not (json or quiet)):
        data = open_dataset(source, root=root, atlas=atlas, binarize=binarize, control=control, labels=labels)
        save_dataset(data, target)
    if json:
        print_json({"out": str(target), "graphs": len(data), "fingerprint": data.fingerprint})
    elif not quiet:
        say(f"{data!r} -> {target}")
