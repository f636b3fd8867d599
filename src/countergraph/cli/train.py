"""``countergraph train``: train a black box and say how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    print_json,
    say,
    working,
)

if TYPE_CHECKING:
    from countergraph.classifiers.model import Model


def train(
    source: Source,
    model: Annotated[str, typer.Option(help="The kind of black box.")] = "contrast-subgraphs",
    alpha: Annotated[
        float | None, typer.Option(help="For contrast-subgraphs: larger gives smaller vertex sets.")
    ] = None,
    target: Annotated[Path | None, typer.Option("--out", help="The model file; by default MODEL.cgm.")] = None,
    root: Root = None,
    atlas: AtlasName = None,
    binarize: Binarize = None,
    control: Control = None,
    labels: LabelFile = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a black box, print its accuracy on seen and unseen graphs, and save it."""
    path = target or Path(f"{model}.cgm")
    check_free(path, force)
    from countergraph.classifiers.model import train as fit
    from countergraph.classifiers.model_files import save_model

    data = open_dataset(source, root=root, atlas=atlas, binarize=binarize, control=control, labels=labels)
    with working("training", not (json or quiet)):
        trained = fit(data, model, **({} if alpha is None else {"alpha": alpha}))
    save_model(trained, path)
    if json:
        print_json({"out": str(path), **trained.describe()})
        return
    if not quiet:
        print_accuracy(trained)
    say(f"saved to {path}")


def print_accuracy(model: Model) -> None:
    """Print the accuracies side by side, and what they do not mean."""
    rates = model.accuracy
    say(f"{model.kind}, trained on {' and '.join(model.classes)}")
    for name, value in (
        ("on the graphs it learnt from", rates.training),
        ("on graphs it did not see (5 folds)", rates.cross_validated),
        ("  the same, balanced over the classes", rates.balanced),
        ("  area under the ROC curve", rates.auc),
        ("always answering the larger class", rates.majority),
    ):
        say(f"  {name:<42}{value:.2f}")
    say("A counterfactual explains what this classifier does, not the condition itself.", style="dim")
