"""``countergraph train``: train a model and print its accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from countergraph.cli.options import AsJson, DataOptions, Force, Quiet, Source, expand_options
from countergraph.cli.output import check_writable, echo, print_json, step_bar, warn
from countergraph.errors import InputError

if TYPE_CHECKING:
    from countergraph.classifiers.model import Model


@expand_options
def train(
    source: Source,
    data_options: DataOptions,
    model: Annotated[str, typer.Option(help="The kind of model; 'countergraph models' lists them.")] = (
        "contrast-subgraphs"
    ),
    paper: Annotated[bool, typer.Option("--paper", help="Use the classifier and settings of the paper.")] = False,
    classifier: Annotated[
        str | None, typer.Option(help="svm, logistic, knn or forest; by default cross-validated.")
    ] = None,
    dimensions: Annotated[
        int | None, typer.Option(help="The size of the embedding; by default cross-validated.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Another setting, for example --set alpha=0.05.")
    ] = None,
    target: Annotated[Path | None, typer.Option("--out", help="The model file; by default MODEL.cgm.")] = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a model, print its accuracy on training and held-out graphs, and save it.

    The classifier and the embedding size are selected by 5-fold cross-validation, unless --classifier, --dimensions or
    --paper sets them.
    """
    path = target or Path(f"{model}.cgm")
    check_writable(path, force)
    fixed: dict[str, Any] = dict(_setting(each) for each in settings or ())
    if dimensions is not None:
        fixed["dimensions"] = dimensions
    if paper and (classifier is not None or fixed):
        raise InputError("--paper sets the classifier and all settings: leave out --classifier, --dimensions and --set")
    from countergraph.classifiers.model_files import save_model
    from countergraph.classifiers.training import select
    from countergraph.classifiers.training import train as fit

    data = data_options.load(source)
    with step_bar(f"training {model}", not (json or quiet)) as progress:
        if paper:
            trained = fit(data, model, progress=progress)
        elif classifier is not None:
            trained = select(data, model, classifiers=[classifier], progress=progress, **fixed)
        else:
            trained = select(data, model, progress=progress, **fixed)
    save_model(trained, path)
    if len(set(trained.predict(data.edges).tolist())) == 1:
        warn("warning: the model gives every graph the same class, so there is nothing to explain")
    if json:
        print_json({"out": str(path), **trained.describe()})
        return
    if not quiet:
        print_accuracy(trained)
    echo(f"saved to {path}")


def _setting(text: str) -> tuple[str, float | int]:
    name, _, value = text.partition("=")
    try:
        return name, int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        raise InputError(f"--set takes a name and a number, such as alpha=0.05, not {text!r}") from None


def print_accuracy(model: Model) -> None:
    """Print the accuracies."""
    rates = model.accuracy
    best = f", the best of {rates.chosen_from} candidates" if rates.chosen_from > 1 else ""
    size = f", {model.settings['dimensions']} dimensions" if "dimensions" in model.settings else ""
    echo(f"{model.kind}{size}, {model.settings['classifier']}{best}; {' and '.join(model.classes)}")
    for name, value in (
        ("accuracy on the training graphs", rates.training),
        ("accuracy on held-out graphs (5 folds)", rates.cross_validated),
        ("  balanced accuracy", rates.balanced),
        ("  area under the ROC curve", rates.auc),
        ("accuracy of always predicting the larger class", rates.majority),
    ):
        if value is not None:
            echo(f"  {name:<48}{value:.2f}")
    echo("A counterfactual explains this classifier, not the condition itself.", style="dim")
