"""Not in the paper: how much Table 1 depends on the number of neighbours of KNN, which the paper does not tell."""

from __future__ import annotations

from countergraph.classifiers.model import Model
from countergraph.experiments.exhibits.exhibit import (
    TITLES,
    Exhibit,
    ExhibitOutput,
    Results,
    by_graph,
    markdown_table,
    numbers,
    percentiles,
)
from countergraph.experiments.exhibits.table1 import PRINTED
from countergraph.experiments.experiment import Experiment

BOXES = ("graph2vec", "sub2vec", "autoencoder")
VOTES = (1, 3, 9, 15, 25)
EXPERIMENTS = {
    (box, votes): Experiment.of("asd", box, runs=1, every=4, neighbours=votes) for box in BOXES for votes in VOTES
}


def show(results: Results) -> ExhibitOutput:
    """Print distance and accuracy for each number of neighbours."""
    rows = []
    for box in BOXES:
        distance, _, accuracy = PRINTED["asd", box]
        rows.append([TITLES[box], "paper", numbers(distance), f"{accuracy:.2f}"])
        for votes in VOTES:
            experiment = EXPERIMENTS[box, votes]
            black_box = results.box(experiment)
            assert isinstance(black_box, Model)
            found = percentiles(by_graph(results.of(experiment), lambda each: each.distance))
            rows.append(["", str(votes), numbers(found), f"{black_box.accuracy.training:.2f}"])
    text = (
        "The same embeddings with other numbers of neighbours: OFS+OBS, one run, every fourth graph of ASD. Each graph "
        "is among its own neighbours."
    )
    header = ["black box", "neighbours", "distance, 10 / 25 / 50 / 75 / 90%", "training accuracy"]
    return ExhibitOutput(f"{text}\n\n{markdown_table(header, rows)}")


NEIGHBOURS = Exhibit("neighbours", "Beyond the paper: the neighbours of KNN", tuple(EXPERIMENTS.values()), show)
