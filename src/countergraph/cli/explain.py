"""``countergraph explain``: why was this person classified so?"""

from __future__ import annotations

import json as json_module
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from countergraph.cli.black_box import BlackBox, box_name, label_of, open_black_box
from countergraph.cli.diverse import check_alone, plain_diverse, print_diverse
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
    print_changes,
    print_json,
    progress_bar,
    root_of,
    say,
)
from countergraph.errors import (
    BlackBoxError,
    InputError,
    Interrupted,
    TooManyCallsError,
    check_integers,
)
from countergraph.results.wording import count

if TYPE_CHECKING:
    from countergraph.graphs.dataset import GraphDataset
    from countergraph.results.counterfactual import Counterfactual, Counterfactuals
    from countergraph.results.plottable import Plottable
    from countergraph.store.store import Store

PICTURES = (".png", ".svg", ".pdf")
STOPPED = {"max_calls": "the budget (--max-calls) is used up", "time_limit": "stopped by --time-limit"}


def explain(
    source: Source,
    model: BlackBox,
    subject: Annotated[str, typer.Option(help="Who: a subject's name ('countergraph data show --json' lists them).")],
    method: Annotated[str, typer.Option(help="How to search ('countergraph methods' lists all).")] = "learned",
    runs: Annotated[int, typer.Option(help="Searches, each with its own chances; the closest result is shown.")] = 1,
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
    k: Annotated[int, typer.Option(help="Connections changed in one step.")] = 5,
    max_calls: Annotated[int, typer.Option(help="Most questions to the model in each phase.")] = 2000,
    target: Annotated[str | None, typer.Option(help="The class to reach, where there are more than two.")] = None,
    diverse: Annotated[int | None, typer.Option(help="Show this many counterfactuals that differ.")] = None,
    certify: Annotated[
        int | None, typer.Option(help="Prove what can be proven; up to this many changes by asking all (0: none).")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best so far is taken.")] = None,
    keep: StoreFile = None,
    files: Annotated[
        list[Path] | None,
        typer.Option("--out", help="Write results (.json) or the picture (.png, .svg, .pdf)."),
    ] = None,
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
    """Find the fewest connections whose change changes the answer, for one person."""
    targets = files or []
    for path in targets:
        if path.suffix not in (".json", *PICTURES):
            raise InputError(f"--out writes .json, {', '.join(PICTURES)}, not {path.suffix or 'a file without ending'}")
        check_free(path, force)
    check_integers(certify=(certify or 0, 0))
    if diverse is not None:
        check_alone(diverse, {"--runs": runs > 1, "--certify": certify, "--time-limit": time_limit, "--store": keep})
    if keep is not None and time_limit is not None:
        raise InputError("--store keeps finished searches only, so a --time-limit cannot go with it")
    data = open_dataset(
        source, root=root_of(source, root), atlas=atlas, binarize=binarize, control=control, labels=labels
    )
    where = (freeze_roi, freeze_pair, freeze_network, within, between)
    asked = constraints_of(data.atlas, only, *where, cost, most, keep_edges, keep_connected)
    person = data.subset([subject])
    black_box = open_black_box(model, data, root)
    options: dict[str, Any] = {"k": k, "max_calls": max_calls, "seed": seed, "target": label_of(target, data)}
    options |= {"constraints": asked, "scores": scores, "confirm": confirm}
    stopped: BlackBoxError | Interrupted | None = None
    with progress_bar(f"explaining {subject}", not (json or quiet)) as progress, opened_store(keep) as store:
        find = _finder(store, model, time_limit, runs, diverse)
        try:
            results = find(black_box, person, method=method, dataset=data, progress=progress, **options)
        except (BlackBoxError, Interrupted) as error:
            results, stopped = error.results, error
    if stopped is not None and not results.found:
        raise stopped
    from countergraph.explain.diverse import Diverse
    from countergraph.explain.plausibility import plain_results
    from countergraph.finding.prove import is_cheap_to_prove

    best = results.closest() or results[0]
    usual = certify is None and diverse is None and method == "learned"
    radius = 0 if usual and is_cheap_to_prove(black_box, best) else certify
    if radius is not None and best.found and stopped is None:
        from countergraph.results.counterfactual import Counterfactuals

        proven, stopped = _proven(black_box, best, radius)
        results = Counterfactuals([proven if each is best else each for each in results])
        best = proven
    differing = None if diverse is None or not best.found else Diverse(results, diverse)
    plain = plain_results(results, data) if diverse is None else plain_diverse(differing, data, best.sentence)
    for path in targets:
        _write(path, results, plain, differing or best)
    if json:
        print_json(plain)
    else:
        if differing is None:
            _print(results, best, data, quiet)
        else:
            print_diverse(differing, quiet)
        for path in targets:
            say(f"written: {path}")
    if isinstance(stopped, Interrupted):
        again = "go on" if keep is not None else "start over"
        again += ", with --force" if targets else ""
        err.print(f"interrupted: this is what was found until then; run the same command to {again}", soft_wrap=True)
        raise typer.Exit(130)
    if stopped is not None:
        raise stopped  # what was found until then is shown and written
    if not best.found:
        raise typer.Exit(1)


def _proven(
    black_box: object, best: Counterfactual, radius: int
) -> tuple[Counterfactual, BlackBoxError | Interrupted | None]:
    """Prove what can be, less if that is too much; what was found is not lost when the proof is interrupted."""
    from countergraph.finding.prove import certify

    try:
        return certify(black_box, best, radius), None
    except TooManyCallsError as error:
        err.print(f"not proven: {error}", highlight=False, soft_wrap=True)
        return _proven(black_box, best, 0)
    except InputError as error:
        err.print(f"nothing is proven: {error}", highlight=False, soft_wrap=True)
        return best, None
    except KeyboardInterrupt:
        return best, Interrupted("interrupted")
    except BlackBoxError as error:
        return best, error


def _finder(
    store: Store | None, model: str, time_limit: float | None, runs: int, diverse: int | None
) -> Callable[..., Counterfactuals]:
    """Return the function that searches: several that differ, anew, or only what a store does not hold yet."""
    if diverse is not None:
        from countergraph.finding.diverse import find_diverse

        return partial(find_diverse, m=diverse)
    if store is None:
        from countergraph.finding.find import find_counterfactuals

        return partial(find_counterfactuals, time_limit=time_limit, runs=runs)
    from countergraph.store.resume import resume_counterfactuals

    return partial(resume_counterfactuals, store, box=box_name(model), runs=runs)


def _write(path: Path, results: Counterfactuals, plain: Any, picture: Plottable) -> None:  # noqa: ANN401
    """Write a picture, what differs, or results that `load_results` reads."""
    from countergraph.graphs.files import write_atomic
    from countergraph.results.files import save_plain_results

    if path.suffix != ".json":
        from countergraph.plots.style import save_picture

        save_picture(picture.plot(), path)
    elif isinstance(plain, list):
        save_plain_results(results, plain, path)
    else:
        write_atomic(path, json_module.dumps(plain).encode())


def _plausible(best: Counterfactual, data: GraphDataset) -> str:
    from countergraph.explain.plausibility import plausibility

    [row] = plausibility(best, data).to_dict("records")
    told = {
        "seen": "{:.0%} of these changes are as in some graph of the class reached.",
        "nearest": "The nearest graph of the cohort differs in {:.0f} connections;",
        "nearest before": "before the changes, in {:.0f}.",
        "density change": "The density changes by {:+.2%},",
        "degree change": "the degree of no region by more than {:.0f}.",
    }
    return " ".join(text.format(row[name]) for name, text in told.items() if not math.isnan(row[name]))


def _print(results: Counterfactuals, best: Counterfactual, data: GraphDataset, quiet: bool) -> None:
    say(best.sentence)
    if quiet:
        return
    if best.found:
        say()
        print_changes(best, data)
        say(f"\n{_plausible(best, data)}")
        if best.cost is not None:
            say(f"Together the changes cost {best.cost:.6g}.")
    asked = {f"in {phase}": calls for phase, calls in best.calls_by_phase.items()}
    if best.certificate.calls:
        asked["to prove it"] = best.certificate.calls
    phases = ", ".join(f"{calls} {what}" for what, calls in asked.items())
    ended = STOPPED.get(best.stopped, best.stopped)
    say(f"\n{count(sum(asked.values()), 'question')} to the model ({phases}); {ended}.")
    if len(results) > 1:
        distances = sorted(result.distance for result in results if result.distance is not None)
        found = f"{len(distances)} of {len(results)} runs found a counterfactual"
        spread = ""
        if distances:
            reach = f"{distances[0]} to " if distances[0] < distances[-1] else ""
            shown = "closest" if best.cost is None else "cheapest"
            spread = f", {reach}{count(distances[-1], 'change')}; the {shown} is shown"
        say(found + spread)
