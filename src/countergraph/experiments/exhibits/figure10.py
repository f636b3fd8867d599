"""Figure 10: which regions matter, and the litmus test."""

from __future__ import annotations

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.experiments.exhibits.exhibit import TITLES, Exhibit, Results, Shown
from countergraph.experiments.experiment import Experiment
from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.litmus import litmus
from countergraph.plots.importance import plot_roi_strip

EXPERIMENTS = {box: Experiment("asd", box) for box in ("published", "autoencoder")}


def show(results: Results) -> Shown:
    """Draw the strips, with crosses on the vertices that the rule truly uses, and print how well they are found."""
    found = {box: GlobalExplanation(results.of(experiment)) for box, experiment in EXPERIMENTS.items()}
    rule = results.box(EXPERIMENTS["published"])
    assert isinstance(rule, LinearRule)
    control, condition = rule.vertex_sets
    strip = found["published"]
    marks = {name: control if row < 2 else condition for row, name in enumerate(strip.counter_names)}
    test = litmus(strip, sorted({*control, *condition}))
    text = (
        f"The litmus test on {TITLES['published']}: the {test.n_used} vertices of the rule (red crosses) are told "
        f"from the other {test.n_regions - test.n_used} by their importance with a ROC AUC of **{test.roc_auc:.3f}**."
    )
    pictures = {"figure10-published": plot_roi_strip(strip, marks)}
    return Shown(text, {**pictures, "figure10-autoencoder": plot_roi_strip(found["autoencoder"])})


FIGURE10 = Exhibit("figure10", "Figure 10: importance of regions (ASD)", tuple(EXPERIMENTS.values()), show)
