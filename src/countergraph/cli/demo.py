"""``countergraph demo``: the whole workflow on the built-in cohort."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.options import AsJson, Quiet
from countergraph.cli.output import (
    echo,
    print_changes,
    print_json,
    print_summary,
    print_table,
    progress_bar,
    spinner,
)
from countergraph.cli.train import print_accuracy
from countergraph.errors import InputError

LOCAL_RUNS = 100


def demo(
    folder: Annotated[Path, typer.Option("--out", help="The folder for all files.")] = Path("countergraph-demo"),
    seed: Annotated[int, typer.Option(help="The seed; the same seed gives the same cohort and results.")] = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a cohort, train a model, explain all subjects, and write the report. Takes about a minute."""
    show = not (json or quiet)
    with spinner("loading", show):
        from countergraph.classifiers.training import train
        from countergraph.datasets.synthetic import make_cohort
        from countergraph.explain.quality import compare_with_optimum, typical_people, typical_person
        from countergraph.finding.find import find_counterfactuals
        from countergraph.plots.style import save_picture
        from countergraph.report.report import Report

    mark = folder / ".countergraph-demo"
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise InputError(f"{folder} contains files that are not from a demo; choose another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    mark.touch()
    data = make_cohort(seed=seed)
    if show:
        echo("1. A cohort of brain networks with a known difference between the groups", style="bold")
        print_summary(data)
    with spinner("training", show):
        model = train(data)
    if show:
        echo("\n2. A classifier of the two groups", style="bold")
        print_accuracy(model)
    with progress_bar("explaining the cohort", show) as progress:
        results = find_counterfactuals(model, data, "ofs+obs", seed=seed, progress=progress)
    quality = compare_with_optimum(results, model)
    if show:
        echo("\n3. The fewest changes that change its answer, for all subjects (OFS+OBS)", style="bold")
        print_table(quality)
    paths = {name: folder / name for name in ("cohort.npz", "model.cgm", "results.json", "person.png", "report.html")}
    typical = typical_person(results, data).subject
    names = list(dict.fromkeys([typical, *typical_people(results, data, 2)]))
    with progress_bar(f"explaining {' and '.join(names)} in detail", show) as progress:
        local = {
            name: find_counterfactuals(
                model, data.subset([name]), "ofs+obs", data, seed=seed, runs=LOCAL_RUNS, progress=progress
            )
            for name in names
        }
    report = Report(model, data, results, local).certified()
    person = report.person(typical)
    with spinner("plotting", show):
        report.save(paths["report.html"])
        data.save(paths["cohort.npz"])
        model.save(paths["model.cgm"])
        results.save(paths["results.json"])
        save_picture(person.plot(), paths["person.png"])
    if json:
        print_json({"files": [str(path) for path in paths.values()], "person": person.to_dict()})
        return
    if show:
        echo("\n4. One subject", style="bold")
    echo(person.sentence)
    if show:
        echo()
        print_changes(person, data)
        echo(f"\nThe report is {paths['report.html']}: open it in a browser; it works without a network.", style="bold")
        echo("The picture of this subject, the cohort, the model and all results are in the same folder.")
        arguments = f"explain {paths['cohort.npz']} {paths['model.cgm']} --subject {data.names[0]}"
        echo(f"Explain another subject:\n  {_program()} {arguments}")


def _program() -> str:
    """Return the command as the user called it: ``countergraph`` if it is on the path, else its path."""
    called = Path(sys.argv[0])
    if called.name != "countergraph":
        return f"{Path(sys.executable).name} -m countergraph"
    from shutil import which

    found = which("countergraph")
    return "countergraph" if found is not None and Path(found).resolve() == called.resolve() else str(called)
