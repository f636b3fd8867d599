"""``countergraph train``: train a black box and say how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    err,
    fit_bar,
    open_dataset,
    print_json,
    say,
)
from countergraph.errors import InputError

if TYPE_CHECKING:
    from countergraph.classifiers.model import Model


def train(
    source: Source,
    model: Annotated[str, typer.Option(help="The kind of black box; 'countergraph models' lists them.")] = (
        "contrast-subgraphs"
    ),
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own classifier and settings.")] = False,
    classifier: Annotated[str | None, typer.Option(help="svm, logistic, knn or forest, instead of choosing.")] = None,
    dimensions: Annotated[int | None, typer.Option(help="The size of the embedding, instead of choosing.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting, for example --set alpha=0.05.")
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
    """Train a black box, print its accuracy on seen and unseen graphs, and save it.

    Classifier and embedding size are chosen by 5-fold cross-validation, unless --classifier, --dimensions or --paper
    fixes them.
    """
    path = target or Path(f"{model}.cgm")
    check_free(path, force)
    fixed: dict[str, Any] = dict(_setting(each) for each in settings or ())
    if dimensions is not None:
        fixed["dimensions"] = dimensions
    if paper and (classifier is not None or fixed):
        raise InputError("--paper fixes classifier and settings; leave out --classifier, --dimensions and --set")
    from countergraph.classifiers.model_files import save_model
    from countergraph.classifiers.training import select
    from countergraph.classifiers.training import train as fit

    data = open_dataset(source, root=root, atlas=atlas, binarize=binarize, control=control, labels=labels)
    with fit_bar(f"training {model}", not (json or quiet)) as progress:
        if paper:
            trained = fit(data, model, progress=progress)
        elif classifier is not None:
            trained = select(data, model, classifiers=[classifier], progress=progress, **fixed)
        else:
            trained = select(data, model, progress=progress, **fixed)
    save_model(trained, path)
    if len(set(trained.predict(data.edges).tolist())) == 1:
        err.print("note: it gives every graph the same class, so there will be nothing to explain", soft_wrap=True)
    if json:
        print_json({"out": str(path), **trained.describe()})
        return
    if not quiet:
        print_accuracy(trained)
    say(f"saved to {path}")


def _setting(text: str) -> tuple[str, float | int]:
    name, _, value = text.partition("=")
    try:
        return name, int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        raise InputError(f"--set takes a name and a number such as alpha=0.05, not {text!r}") from None


def print_accuracy(model: Model) -> None:
    """Print the accuracies side by side, and what they do not mean."""
    rates = model.accuracy
    best = f", the best of {rates.chosen_from} candidates" if rates.chosen_from > 1 else ""
    size = f", {model.settings['dimensions']} dimensions" if "dimensions" in model.settings else ""
    say(f"{model.kind}{size}, {model.settings['classifier']}{best}; {' and '.join(model.classes)}")
    for name, value in (
        ("on the graphs it learnt from", rates.training),
        ("on graphs it did not see (5 folds)", rates.cross_validated),
        ("  the same, balanced over the classes", rates.balanced),
        ("  area under the ROC curve", rates.auc),
        ("always answering the larger class", rates.majority),
    ):
        if value is not None:
            say(f"  {name:<42}{value:.2f}")
    say("A counterfactual explains what this classifier does, not the condition itself.", style="dim")
