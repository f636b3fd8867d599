"""Figure 10: importance of the ROIs, and the litmus test."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import BOX_TITLES, Exhibit, ExhibitOutput, Results
from countergraph.experiments.experiment import Experiment
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.litmus import litmus, used_rois
from countergraph.plots.rois import plot_roi_strip

EXPERIMENTS = {box: Experiment.of("asd", box) for box in ("published", "autoencoder")}


def show(results: Results) -> ExhibitOutput:
    """Draw the ROI strips, with crosses on the ROIs that the rule uses, and run the litmus test."""
    explanations = {box: GlobalExplanation(results.of(experiment)) for box, experiment in EXPERIMENTS.items()}
    published = explanations["published"]
    marks = used_rois(results.box(EXPERIMENTS["published"]), published.classes)
    test = litmus(published, sorted({roi for row in marks.values() for roi in row}))
    text = (
        f"Litmus test for {BOX_TITLES['published']}: the importance separates the {test.used.sum()} ROIs of the rule "
        f"(red crosses) from the other {(~test.used).sum()} ROIs with an ROC AUC of **{test.roc_auc:.3f}**."
    )
    pictures = {"figure10-published": plot_roi_strip(published, marks=marks)}
    return ExhibitOutput(text, {**pictures, "figure10-autoencoder": plot_roi_strip(explanations["autoencoder"])})


FIGURE10 = Exhibit("figure10", "Figure 10: importance of the ROIs (ASD)", tuple(EXPERIMENTS.values()), show)
