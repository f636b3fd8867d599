"""Not in the paper: sensitivity of Table 1 to the number of neighbours of KNN, which the paper does not report."""

from __future__ import annotations

from countergraph.classifiers.model import Model
from countergraph.experiments.exhibits.exhibit import (
    BOX_TITLES,
    Exhibit,
    ExhibitOutput,
    Results,
    by_graph,
    format_numbers,
    markdown_table,
    percentiles,
)
from countergraph.experiments.exhibits.table1 import PAPER_VALUES
from countergraph.experiments.experiment import Experiment

BOXES = ("graph2vec", "sub2vec", "autoencoder")
N_NEIGHBOURS = (1, 3, 9, 15, 25)
EXPERIMENTS = {
    (box, k): Experiment.of("asd", box, runs=1, every=4, neighbours=k) for box in BOXES for k in N_NEIGHBOURS
}


def show(results: Results) -> ExhibitOutput:
    """Return a table of distance and accuracy by number of neighbours."""
    rows = []
    for box in BOXES:
        distance, _, accuracy = PAPER_VALUES["asd", box]
        rows.append([BOX_TITLES[box], "paper", format_numbers(distance), f"{accuracy:.2f}"])
        for k in N_NEIGHBOURS:
            experiment = EXPERIMENTS[box, k]
            black_box = results.box(experiment)
            assert isinstance(black_box, Model)
            found = percentiles(by_graph(results.of(experiment), lambda each: each.distance))
            rows.append(["", str(k), format_numbers(found), f"{black_box.accuracy.training:.2f}"])
    text = (
        "The same embeddings with other numbers of neighbours: OFS+OBS, one run, every fourth graph of ASD. A training "
        "graph is one of its own neighbours."
    )
    header = ["black box", "neighbours", "distance, percentiles 10 / 25 / 50 / 75 / 90", "training accuracy"]
    return ExhibitOutput(f"{text}\n\n{markdown_table(header, rows)}")


NEIGHBOURS = Exhibit("neighbours", "Not in the paper: number of neighbours of KNN", tuple(EXPERIMENTS.values()), show)
