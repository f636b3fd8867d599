"""``countergraph methods``: the searches by name."""

from __future__ import annotations

from countergraph.cli.shared import AsJson, print_json, say


def methods(json: AsJson = False) -> None:
    """List the searches, and how they join."""
    from countergraph.search.methods import METHODS, PHASES

    if json:
        print_json(
            {
                "methods": list(METHODS),
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
        ("backward", "Coming back closer"),
    ):
        say(title, style="bold")
        for phase in PHASES.values():
            if phase.direction == direction:
                say(f"  {phase.name:<{width}}{phase.title}: {phase.summary}")
    say("\nA method is a forward search alone, or with backward ones: " + ", ".join(METHODS))
    say("Any chain of backward ones will do, such as bisect+ddmin+evolve.")
