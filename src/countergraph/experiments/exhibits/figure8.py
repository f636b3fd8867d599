"""Figure 8: local explanation of one subject."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import Exhibit, ExhibitOutput, Results
from countergraph.experiments.experiment import Experiment
from countergraph.explain.local import LocalExplanation
from countergraph.plots.local import plot_local

EXPERIMENT = Experiment.of("asd", "published", runs=1000, subject="MaxMun_d_0051353")


def show(results: Results) -> ExhibitOutput:
    """Draw the pairs that change most often."""
    explanation = LocalExplanation(results.of(EXPERIMENT))
    example = explanation.example
    text = (
        f"{EXPERIMENT.subject} is classified as {example.class_name(example.original_label)}. Number of "
        f"counterfactuals: {len(explanation.results.found)}. Stability (rank correlation of the shares between random "
        f"halves of the counterfactuals): {explanation.stability:.2f}."
    )
    return ExhibitOutput(text, {"figure8": plot_local(explanation)})


FIGURE8 = Exhibit("figure8", "Figure 8: local explanation of one subject", (EXPERIMENT,), show)
