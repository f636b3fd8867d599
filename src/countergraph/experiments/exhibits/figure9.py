"""Figure 9: importance of the networks for three black boxes."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import BOX_TITLES, Exhibit, ExhibitOutput, Results
from countergraph.experiments.experiment import Experiment
from countergraph.explain.compare import Comparison
from countergraph.explain.importance import GlobalExplanation
from countergraph.plots.heatmaps import plot_heatmaps

EXPERIMENTS = {box: Experiment.of("asd", box) for box in ("published", "autoencoder", "graph2vec")}


def show(results: Results) -> ExhibitOutput:
    """Draw the heatmaps, and compute the agreement of the black boxes on the importance of the ROIs."""
    found = {BOX_TITLES[box]: results.of(experiment) for box, experiment in EXPERIMENTS.items()}
    agreement = Comparison(found).agreement()
    names = list(found)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    text = "Rank correlation of the ROI importance between black boxes: " + "; ".join(
        f"{a} and {b} {float(agreement[a][b]):.2f}" for a, b in pairs
    )
    pictures = {f"figure9-{box}": plot_heatmaps(GlobalExplanation(found[BOX_TITLES[box]])) for box in EXPERIMENTS}
    return ExhibitOutput(text + ".", dict(pictures))


FIGURE9 = Exhibit("figure9", "Figure 9: importance by network (ASD)", tuple(EXPERIMENTS.values()), show)
