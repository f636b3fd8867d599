"""Mean distance of dataset search, as reported in section 5.2 of the paper."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import (
    Exhibit,
    ExhibitOutput,
    Results,
    by_graph,
    format_numbers,
    markdown_table,
    percentiles,
)
from countergraph.experiments.experiment import Experiment

PAPER_DISTANCES = {"asd": 1000, "adhd": 2250}
"""Mean distances in the paper (approximate)."""
EXPERIMENTS = {cohort: Experiment.of(cohort, "published", "ds", runs=1) for cohort in PAPER_DISTANCES}


def show(results: Results) -> ExhibitOutput:
    """Return a table of the distances to the closest counterfactual in the dataset."""
    rows = []
    for cohort, experiment in EXPERIMENTS.items():
        distance = by_graph(results.of(experiment), lambda each: each.distance)
        ours = [f"{distance.mean():.0f}", format_numbers(percentiles(distance))]
        rows.append([cohort.upper(), f"about {PAPER_DISTANCES[cohort]}", *ours])
    header = ["cohort", "mean distance (paper)", "mean distance (ours)", "percentiles 10 / 25 / 50 / 75 / 90 (ours)"]
    return ExhibitOutput(markdown_table(header, rows))


DATASET_SEARCH = Exhibit(
    "dataset-search", "Section 5.2: closest counterfactual in the dataset", tuple(EXPERIMENTS.values()), show
)
