"""Figure 5: number of calls to the black box by method."""

from __future__ import annotations

import numpy as np

from countergraph.experiments.exhibits.exhibit import (
    Exhibit,
    ExhibitOutput,
    Results,
    by_graph,
    format_numbers,
    markdown_table,
    percentiles,
)
from countergraph.experiments.exhibits.figure4 import DFS, DS, OFS, OWN
from countergraph.experiments.experiment import Experiment
from countergraph.plots.experiments import plot_distributions

EXPERIMENTS: tuple[Experiment, ...] = (OFS, DFS, DS, *OWN)


def show(results: Results) -> ExhibitOutput:
    """Draw the distribution of the calls of both phases, and return a table of percentiles and medians by phase."""
    calls = {each.method.upper(): by_graph(results.of(each), lambda result: result.calls) for each in EXPERIMENTS}
    rows = []
    for each in EXPERIMENTS:
        found = results.of(each)
        phases = [
            f"{name} {np.median(by_graph(found, lambda result, name=name: result.calls_by_phase.get(name, 0))):.0f}"  # type: ignore[misc]
            for name in each.method.split("+")
        ]
        rows.append([each.method.upper(), format_numbers(percentiles(calls[each.method.upper()])), ", ".join(phases)])
    table = markdown_table(["method", "calls, percentiles 10 / 25 / 50 / 75 / 90", "median calls by phase"], rows)
    picture = plot_distributions({"": calls}, "calls to the black box")
    return ExhibitOutput(table, {"figure5": picture})


FIGURE5 = Exhibit("figure5", "Figure 5: calls by method (ASD, contrast subgraphs)", EXPERIMENTS, show)
