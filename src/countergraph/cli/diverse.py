"""``countergraph explain --diverse M``: several different counterfactuals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from countergraph.cli.output import echo, plain, print_table
from countergraph.errors import InputError, check_integers
from countergraph.results.wording import count

if TYPE_CHECKING:
    from countergraph.explain.diverse import Diverse
    from countergraph.graphs.dataset import GraphDataset


def check_diverse(number: int, others: Mapping[str, object]) -> None:
    """Check the number, and that no option was given that cannot be combined with ``--diverse``."""
    check_integers(diverse=(number, 2))
    for option, value in others.items():
        if value is not None and value is not False:
            raise InputError(f"--diverse runs its own searches, so it cannot be combined with {option}")


def plain_diverse(diverse: Diverse | None, data: GraphDataset, otherwise: str) -> dict[str, Any]:
    """Return the selected counterfactuals as plain values for JSON; if there are none, the sentence ``otherwise``."""
    from countergraph.explain.plausibility import plain_results

    if diverse is None:
        return {"sentence": otherwise, "diversity": None, "curve": [], "counterfactuals": []}
    return {
        "sentence": diverse.caption,
        "diversity": diverse.diversity if len(diverse.chosen) > 1 else None,
        "curve": plain(diverse.curve.set_index("at most")),
        "counterfactuals": plain_results(diverse.chosen, data),
    }


def print_diverse(diverse: Diverse, quiet: bool) -> None:
    """Print the selected counterfactuals, closest first, their diversity, and the diversity by number of changes."""
    for number, each in enumerate(diverse.chosen, start=1):
        cost = "" if each.cost is None else f", cost {each.cost:.6g}"
        echo(f"{number}. {each.sentence} ({count(each.distance or 0, 'change')}{cost})")
    echo(f"\n{diverse.caption}")
    if quiet:
        return
    echo("\nDiversity vs. number of changes:")
    print_table(diverse.curve, index=False)
    searches = count(len(diverse.results), "search")
    echo(f"\n{count(diverse.results.calls, 'call')} of the model in {searches}.")
