"""Figure 10: which regions matter, and the litmus test."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import TITLES, Exhibit, ExhibitOutput, Results
from countergraph.experiments.experiment import Experiment
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.litmus import litmus, used_vertices
from countergraph.plots.rois import plot_roi_strip

EXPERIMENTS = {box: Experiment("asd", box) for box in ("published", "autoencoder")}


def show(results: Results) -> ExhibitOutput:
    """Draw the strips, with crosses on the vertices that the rule truly uses, and print how well they are found."""
    found = {box: GlobalExplanation(results.of(experiment)) for box, experiment in EXPERIMENTS.items()}
    strip = found["published"]
    marks = used_vertices(results.box(EXPERIMENTS["published"]), strip.classes)
    test = litmus(strip, sorted({vertex for row in marks.values() for vertex in row}))
    text = (
        f"The litmus test on {TITLES['published']}: the {test.used.sum()} vertices of the rule (red crosses) are told "
        f"from the other {(~test.used).sum()} by their importance with a ROC AUC of **{test.roc_auc:.3f}**."
    )
    pictures = {"figure10-published": plot_roi_strip(strip, marks=marks)}
    return ExhibitOutput(text, {**pictures, "figure10-autoencoder": plot_roi_strip(found["autoencoder"])})


FIGURE10 = Exhibit("figure10", "Figure 10: importance of regions (ASD)", tuple(EXPERIMENTS.values()), show)
