"""``countergraph explain``: the counterfactual of one subject."""

from __future__ import annotations

import json as json_module
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from countergraph.cli.black_box import BlackBox, box_name, open_black_box
from countergraph.cli.diverse import check_diverse, plain_diverse, print_diverse
from countergraph.cli.options import AsJson, DataOptions, Force, Quiet, SearchFlags, Source, StoreFile, expand_options
from countergraph.cli.output import check_writable, echo, print_changes, print_json, progress_bar, warn
from countergraph.errors import InputError, Interrupted, StoppedError, TooManyCallsError, check_integers
from countergraph.results.wording import count

if TYPE_CHECKING:
    from countergraph.finding.find import ProgressCallback
    from countergraph.graphs.dataset import GraphDataset
    from countergraph.results.counterfactual import Counterfactual, Counterfactuals
    from countergraph.results.plottable import Plottable
    from countergraph.search.options import SearchKeywords

PICTURES = (".png", ".svg", ".pdf")
EIGENVALUE_TOLERANCE = 1e-4
"""Rounding errors of the eigenvalues of correlations of type float32."""
STOPPED = {
    "max_calls": "the budget (--max-calls) is spent",
    "time_limit": "stopped by --time-limit",
}


@expand_options
def explain(
    source: Source,
    model: BlackBox,
    subject: Annotated[str, typer.Option(help="The name of the subject; 'countergraph data show --json' lists them.")],
    search: SearchFlags,
    data_options: DataOptions,
    diverse: Annotated[int | None, typer.Option(help="Show this many different counterfactuals.")] = None,
    certify: Annotated[
        int | None, typer.Option(help="Prove properties; classify all graphs with up to this many changes (0: none).")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Stop after this many seconds with the best result.")] = None,
    store: StoreFile = None,
    files: Annotated[
        list[Path] | None, typer.Option("--out", help="Write results (.json) or the picture (.png, .svg, .pdf).")
    ] = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the fewest connections whose change changes the predicted class of one subject.

    If the atlas has lobes or networks, a second search finds the fewest of them.
    """
    targets = files or []
    for path in targets:
        if path.suffix not in (".json", *PICTURES):
            raise InputError(f"--out must end in .json, {', '.join(PICTURES)}, not in {path.suffix or 'nothing'}")
        check_writable(path, force)
    check_integers(certify=(certify or 0, 0))
    if diverse is not None:
        others = {"--runs": search.runs > 1, "--certify": certify, "--time-limit": time_limit, "--store": store}
        check_diverse(diverse, others)
    if store is not None and time_limit is not None:
        raise InputError("--store keeps only finished searches, so it cannot be combined with --time-limit")
    data = data_options.load_explained(source)
    keywords, person = search.keywords(data), data.subset([subject])
    black_box = open_black_box(model, data, data_options.root)
    stopped: StoppedError | Interrupted | None = None
    with progress_bar(f"explaining {subject}", not (json or quiet)) as progress:
        try:
            if diverse is not None:
                results = _find_diverse(black_box, person, diverse, search.method, data, progress, keywords)
            elif store is not None:
                results = _resume(store, black_box, person, search.method, data, box_name(model), progress, keywords)
            else:
                keywords["time_limit"] = time_limit
                results = _find(black_box, person, search.method, data, progress, keywords)
        except (StoppedError, Interrupted) as error:
            results, stopped = error.results, error
    if stopped is not None and not (results and results.found):
        raise stopped
    from countergraph.explain.diverse import Diverse
    from countergraph.explain.plausibility import plain_results
    from countergraph.proofs.certify import is_cheap_to_prove

    best = results.closest() or results[0]
    default = certify is None and diverse is None and search.method in ("auto", "learned")
    radius = 0 if default and is_cheap_to_prove(black_box, best) else certify
    if radius is not None and best.found and stopped is None:
        from countergraph.results.counterfactual import Counterfactuals

        proven, stopped = _certified(black_box, best, radius)
        results = Counterfactuals([proven if each is best else each for each in results])
        best = proven
    selected = None if diverse is None or not best.found else Diverse(results, diverse)
    plain = plain_results(results, data) if diverse is None else plain_diverse(selected, data, best.sentence)
    for path in targets:
        _write(path, results, plain, selected or best)
    if json:
        print_json(plain)
    else:
        if selected is None:
            _print(results, best, data, quiet)
        else:
            print_diverse(selected, quiet)
        for path in targets:
            echo(f"written: {path}")
    if best.found and stopped is None and diverse is None and not (json or quiet):
        _print_in_networks(black_box, person, search, data, keywords)
    if isinstance(stopped, Interrupted):
        again = "continue" if store is not None else "start again"
        again += ", with --force" if targets else ""
        warn(f"interrupted: these are the partial results; run the same command to {again}")
        raise typer.Exit(130)
    if stopped is not None:
        raise stopped  # the partial results are printed and written
    if not best.found:
        raise typer.Exit(1)


def _find(
    black_box: object,
    person: GraphDataset,
    method: str,
    data: GraphDataset,
    progress: ProgressCallback | None,
    keywords: SearchKeywords,
) -> Counterfactuals:
    from countergraph.finding.find import find_counterfactuals

    return find_counterfactuals(black_box, person, method, data, progress=progress, **keywords)


def _print_in_networks(
    black_box: object, person: GraphDataset, search: SearchFlags, data: GraphDataset, keywords: SearchKeywords
) -> None:
    """Print the fewest networks, if the ROIs belong to networks; the results before are printed and written already."""
    if search.unit != "pair" or data.atlas.networks is None or search.keep_edges or search.keep_connected:
        return
    options: SearchKeywords = {**keywords, "unit": "network", "runs": 1, "valid": "check", "reference_calls": 0}
    try:
        with progress_bar("the same by networks", show=True) as progress:
            [result] = _find(black_box, person, search.method, data, progress, options)
    except (InputError, StoppedError, Interrupted) as error:
        warn(f"the search by networks did not finish: {error}")
        return
    echo(f"\nIn terms of networks: {result.sentence} ({count(result.calls, 'more call')})")


def _find_diverse(
    black_box: object,
    person: GraphDataset,
    m: int,
    method: str,
    data: GraphDataset,
    progress: ProgressCallback | None,
    keywords: SearchKeywords,
) -> Counterfactuals:
    from countergraph.finding.diverse import find_diverse

    del keywords["runs"]
    return find_diverse(black_box, person, m, method, data, progress=progress, **keywords)


def _resume(
    path: Path,
    black_box: object,
    person: GraphDataset,
    method: str,
    data: GraphDataset,
    box: str | None,
    progress: ProgressCallback | None,
    keywords: SearchKeywords,
) -> Counterfactuals:
    from countergraph.store.resume import resume_counterfactuals
    from countergraph.store.store import Store

    with Store(path) as store:
        return resume_counterfactuals(store, black_box, person, method, data, box=box, progress=progress, **keywords)


def _certified(
    black_box: object, best: Counterfactual, radius: int
) -> tuple[Counterfactual, StoppedError | Interrupted | None]:
    """Prove properties, with radius 0 if the radius takes too many calls; an interruption does not lose the result."""
    from countergraph.proofs.certify import certify

    try:
        return certify(black_box, best, radius), None
    except TooManyCallsError as error:
        warn(f"not proven: {error}")
        return _certified(black_box, best, 0)
    except InputError as error:
        warn(f"nothing is proven: {error}")
        return best, None
    except KeyboardInterrupt:
        return best, Interrupted("interrupted")
    except StoppedError as error:
        return best, error


def _write(path: Path, results: Counterfactuals, plain: Any, picture: Plottable) -> None:  # noqa: ANN401
    """Write a picture, the selected counterfactuals, or results that `load_results` reads."""
    from countergraph.graphs.files import write_atomic
    from countergraph.results.files import save_plain_results

    if path.suffix != ".json":
        from countergraph.plots.style import save_picture

        save_picture(picture.plot(), path)
    elif isinstance(plain, list):
        save_plain_results(results, plain, path)
    else:
        write_atomic(path, json_module.dumps(plain).encode())


def _plausibility(best: Counterfactual, data: GraphDataset) -> str:
    from countergraph.explain.plausibility import plausibility

    [row] = plausibility(best, data).to_dict("records")
    texts = {
        "seen": "{:.0%} of the changed connections are the same in at least one graph of the class reached.",
        "nearest": "The nearest graph of the cohort differs in {:.0f} connections;",
        "nearest before": "before the changes, in {:.0f}.",
        "density change": "The density changes by {:+.2%},",
        "degree change": "the degree of each ROI by at most {:.0f}.",
    }
    if data.weighted:
        texts = {
            "seen": "{:.0%} of the changed values are within the range of the class reached.",
            "total change": "The changes add up to {:.3g}.",
            "nearest": "The nearest network of the cohort has the distance {:.3g};",
            "nearest before": "before the changes, {:.3g}.",
            "smallest eigenvalue": "The smallest eigenvalue of the correlation matrix is {:.3g};",
            "smallest eigenvalue before": "before, {:.3g}.",
        }
        if row["smallest eigenvalue"] < min(0.0, row["smallest eigenvalue before"]) - EIGENVALUE_TOLERANCE:
            texts["smallest eigenvalue"] += " negative: the changed values are not those of a correlation matrix;"
    return " ".join(text.format(row[name]) for name, text in texts.items() if not math.isnan(row[name]))


def _validity(best: Counterfactual) -> str:
    """Return what is known about the projection to the nearest correlation matrix."""
    if best.valid_values is None or best.values is None:
        return "The nearest correlation matrix of the counterfactual does not have its class."
    largest = float(abs(best.valid_values - best.values).max())
    return (
        f"The nearest correlation matrix differs from the counterfactual by at most {largest:.2g}, and is also "
        f"classified as {best.counterfactual_class}."
    )


def _print(results: Counterfactuals, best: Counterfactual, data: GraphDataset, quiet: bool) -> None:
    echo(best.sentence)
    if quiet:
        return
    if best.found:
        echo()
        print_changes(best, data)
        echo(f"\n{_plausibility(best, data)}")
        if best.cost is not None:
            echo(f"The total cost of the changes is {best.cost:.6g}.")
        if best.parameters.get("valid") == "nearest":
            echo(_validity(best))
    calls = {f"in {phase}": number for phase, number in best.calls_by_phase.items()}
    if best.certificate.calls:
        calls["for the certificate"] = best.certificate.calls
    phases = ", ".join(f"{number} {purpose}" for purpose, number in calls.items())
    echo(f"\n{count(sum(calls.values()), 'call')} of the model ({phases}); {STOPPED.get(best.stopped, best.stopped)}.")
    if len(results) > 1:
        distances = sorted(result.distance for result in results if result.distance is not None)
        text = f"{len(distances)} of {len(results)} runs found a counterfactual"
        if distances:
            smallest = f"{distances[0]} to " if distances[0] < distances[-1] else ""
            shown = "closest" if best.cost is None else "cheapest"
            text += f", {smallest}{count(distances[-1], 'change')}; the {shown} is shown"
        echo(f"{text}. All runs together took {count(results.calls, 'call')}.")
