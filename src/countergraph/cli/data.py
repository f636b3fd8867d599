"""``countergraph data``: show or import a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.options import AsJson, FileOptions, Force, Quiet, Source, expand_options
from countergraph.cli.output import check_writable, echo, plain, print_json, print_summary, spinner

app = typer.Typer(help="Show a dataset, or import it into a single file.", no_args_is_help=True)


@app.command("show")
@expand_options
def show(
    source: Source,
    data_options: FileOptions,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show the contents of a dataset."""
    with spinner("reading", not (json or quiet)):
        data = data_options.load(source)
    if json:
        print_json(
            {
                "graphs": len(data),
                "n_regions": data.n_rois,
                "atlas": data.atlas.name,
                "measure": data.measure,
                "classes": list(data.classes),
                "summary": plain(data.summary()),
                "names": list(data.names),
                "about": dict(data.about),
                "fingerprint": data.fingerprint,
            }
        )
        return
    kind = f"weighted networks ({data.measure})" if data.weighted else "graphs"
    echo(f"{len(data)} {kind} with {data.n_rois} ROIs (atlas: {data.atlas.name})")
    print_summary(data)
    if not quiet:
        echo(f"subjects: {', '.join(data.names[:3])}, ...")
        if Path(source).is_dir():
            echo(f"control class: {data.classes[0]}; --control selects another")


@app.command("import")
@expand_options
def import_(
    source: Source,
    target: Annotated[Path, typer.Option("--out", help="The file to write, for example cohort.npz.")],
    data_options: FileOptions,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read a dataset and write it to one file."""
    from countergraph.graphs.files import save_dataset

    check_writable(target, force)
    with spinner("reading", not (json or quiet)):
        data = data_options.load(source)
        save_dataset(data, target)
    if json:
        print_json({"out": str(target), "graphs": len(data), "fingerprint": data.fingerprint})
    elif not quiet:
        echo(f"{data!r} -> {target}")
