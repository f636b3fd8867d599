"""``countergraph models``: the black boxes by name."""

from __future__ import annotations

from countergraph.cli.shared import AsJson, print_json, say


def models(json: AsJson = False) -> None:
    """List the black boxes that can be trained, their settings and classifiers."""
    from countergraph.classifiers.model import CLASSIFIERS, MODELS

    if json:
        kinds = {
            name: {"title": kind.title, "classifier": kind.classifier, "settings": kind.settings}
            for name, kind in MODELS.items()
        }
        print_json({"models": kinds, "classifiers": list(CLASSIFIERS)})
        return
    for name, kind in MODELS.items():
        say(f"{name}: {kind.title}; classified by {kind.classifier}" if kind.embedding else f"{name}: {kind.title}")
        if kind.settings:
            say("    " + ", ".join(f"{setting}={value}" for setting, value in kind.settings.items()))
    say(f"\nClassifiers: {', '.join(CLASSIFIERS)}")
