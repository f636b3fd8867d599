"""``countergraph methods``: list the search methods."""

from __future__ import annotations

from countergraph.cli.options import AsJson
from countergraph.cli.output import echo, print_json


def methods(json: AsJson = False) -> None:
    """List the search methods."""
    from countergraph.search.methods import PHASES, list_methods

    names = list_methods()

    if json:
        print_json(
            {
                "methods": list(names),
                "phases": [
                    {
                        "name": phase.name,
                        "direction": phase.direction,
                        "needs_dataset": phase.needs_dataset,
                        "title": phase.title,
                        "summary": phase.summary,
                    }
                    for phase in PHASES.values()
                ],
            }
        )
        return
    width = 2 + max(len(name) for name in PHASES)
    for direction, title in (
        ("forward", "Finding a first counterfactual"),
        ("backward", "Improving it"),
    ):
        echo(title, style="bold")
        for phase in PHASES.values():
            if phase.direction == direction:
                echo(f"  {phase.name:<{width}}{phase.title}: {phase.summary}")
    echo("\nA method is a forward search, optionally followed by a backward search: " + ", ".join(names))
    echo("Several backward searches are possible, such as bisect+ddmin+evolve.")
