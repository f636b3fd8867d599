"""The averages of dataset search that section 4.2 of the paper tells."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import (
    Exhibit,
    ExhibitOutput,
    Results,
    by_graph,
    markdown_table,
    numbers,
    percentiles,
)
from countergraph.experiments.experiment import Experiment

PRINTED = {"asd": 1000, "adhd": 2250}
EXPERIMENTS = {cohort: Experiment.of(cohort, "published", "ds", runs=1) for cohort in PRINTED}


def show(results: Results) -> ExhibitOutput:
    """Print how far the closest real counterfactual is."""
    rows = []
    for cohort, experiment in EXPERIMENTS.items():
        distance = by_graph(results.of(experiment), lambda each: each.distance)
        rows.append(
            [cohort.upper(), f"about {PRINTED[cohort]}", f"{distance.mean():.0f}", numbers(percentiles(distance))]
        )
    return ExhibitOutput(markdown_table(["cohort", "mean distance, paper", "ours", "10 / 25 / 50 / 75 / 90%"], rows))


DATASET_SEARCH = Exhibit(
    "dataset-search", "Section 4.2: the closest real counterfactual", tuple(EXPERIMENTS.values()), show
)
