"""``countergraph demo``: the main job on the built-in cohort."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from countergraph.cli.shared import (
    AsJson,
    Quiet,
    print_changes,
    print_json,
    print_summary,
    print_table,
    progress_bar,
    say,
    working,
)
from countergraph.cli.train import print_accuracy
from countergraph.errors import InputError

LOCAL_RUNS = 100


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where to put what it makes.")] = Path("countergraph-demo"),
    seed: Annotated[int, typer.Option(help="Same seed, same cohort and same results.")] = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a cohort, train a model, explain everybody, and write the report. Takes about a minute."""
    show = not (json or quiet)
    with working("loading", show):
        from countergraph.classifiers.model_files import save_model
        from countergraph.classifiers.training import train
        from countergraph.datasets.synthetic import make_cohort
        from countergraph.explain.quality import compare_with_optimum, typical_people, typical_person
        from countergraph.finding.find import find_counterfactuals
        from countergraph.graphs.files import save_dataset
        from countergraph.plots.style import save_picture
        from countergraph.report.report import Report
        from countergraph.results.files import save_results

    mark = folder / ".countergraph-demo"
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise InputError(f"{folder} holds files that are not of a demo; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    mark.touch()
    data = make_cohort(seed=seed)
    if show:
        say("1. A cohort of brain networks with a known difference between the groups", style="bold")
        print_summary(data)
    with working("training", show):
        model = train(data)
    if show:
        say("\n2. A classifier that tells them apart", style="bold")
        print_accuracy(model)
    with progress_bar("explaining everybody", show) as progress:
        results = find_counterfactuals(model, data, "ofs+obs", seed=seed, progress=progress)
    quality = compare_with_optimum(results, model)
    if show:
        say("\n3. The fewest changes that change its answer, for everybody (OFS+OBS)", style="bold")
        print_table(quality)
    paths = {name: folder / name for name in ("cohort.npz", "model.cgm", "results.json", "person.png", "report.html")}
    typical = typical_person(results, data).subject
    names = list(dict.fromkeys([typical, *typical_people(results, data, 2)]))
    with progress_bar(f"explaining {' and '.join(names)} in depth", show) as progress:
        local = {
            name: find_counterfactuals(
                model, data.subset([name]), "ofs+obs", data, seed=seed, runs=LOCAL_RUNS, progress=progress
            )
            for name in names
        }
    report = Report(model, data, results, local).certified()
    person = report.person(typical)
    with working("drawing", show):
        report.save(paths["report.html"])
        save_dataset(data, paths["cohort.npz"])
        save_model(model, paths["model.cgm"])
        save_results(results, paths["results.json"])
        save_picture(person.plot(), paths["person.png"])
    if json:
        print_json({"files": [str(path) for path in paths.values()], "person": person.to_dict()})
        return
    if show:
        say("\n4. One person", style="bold")
    say(person.sentence)
    if show:
        say()
        print_changes(person, data)
        say(f"\nThe report is {paths['report.html']}: open it in a browser, it needs no network.", style="bold")
        say("The picture of this person, the cohort, the model and all results lie beside it.")
        command = f"countergraph explain {paths['cohort.npz']} {paths['model.cgm']} --subject {data.names[0]}"
        say(f"Ask about anybody else:\n  .venv/bin/{command}")
