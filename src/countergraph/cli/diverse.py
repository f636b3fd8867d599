"""``countergraph explain --diverse M``: several counterfactuals that differ, and what differing costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from countergraph.cli.shared import plain, print_table, say
from countergraph.errors import InputError, check_integers
from countergraph.results.wording import count

if TYPE_CHECKING:
    from countergraph.explain.diverse import Diverse
    from countergraph.graphs.dataset import GraphDataset


def check_alone(many: int, others: dict[str, object]) -> None:
    """Refuse a number that is none, and options that were given, but do not go with ``--diverse``."""
    check_integers(diverse=(many, 2))
    for option, given in others.items():
        if given is not None and given is not False:
            raise InputError(f"--diverse makes searches of its own, so {option} does not go with it")


def plain_diverse(diverse: Diverse | None, data: GraphDataset, otherwise: str) -> dict[str, Any]:
    """Return those chosen, and what differing costs, as plain values for JSON; if there are none, the sentence why."""
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
    """Print those chosen, the closest first, how much they differ, and with how many changes they could."""
    for number, each in enumerate(diverse.chosen, start=1):
        cost = "" if each.cost is None else f", cost {each.cost:.6g}"
        say(f"{number}. {each.sentence} ({count(each.distance or 0, 'change')}{cost})")
    say(f"\n{diverse.caption}")
    if quiet:
        return
    say("\nWhat differing costs, for every number of changes that may be:")
    print_table(diverse.curve, index=False)
    asked, searches = diverse.results.calls, count(len(diverse.results), "search")
    say(f"\n{count(asked, 'question')} to the model in {searches}.")
