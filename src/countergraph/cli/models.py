"""``countergraph models``: list the models that can be trained."""

from __future__ import annotations

from countergraph.cli.options import AsJson
from countergraph.cli.output import echo, print_json


def models(json: AsJson = False) -> None:
    """List the models that can be trained, their settings and classifiers."""
    from countergraph.classifiers.model import CLASSIFIERS, MODELS

    if json:
        kinds = {
            name: {"title": kind.title, "classifier": kind.classifier, "settings": kind.settings}
            for name, kind in MODELS.items()
        }
        print_json({"models": kinds, "classifiers": list(CLASSIFIERS)})
        return
    for name, kind in MODELS.items():
        echo(f"{name}: {kind.title}; classifier {kind.classifier}" if kind.embedding else f"{name}: {kind.title}")
        if kind.settings:
            echo("    " + ", ".join(f"{setting}={value}" for setting, value in kind.settings.items()))
    echo(f"\nClassifiers: {', '.join(CLASSIFIERS)}")
