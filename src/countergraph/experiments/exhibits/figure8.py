"""Figure 8: which connections matter for one person."""

from __future__ import annotations

from countergraph.experiments.exhibits.exhibit import Exhibit, ExhibitOutput, Results
from countergraph.experiments.experiment import Experiment
from countergraph.explain.local import LocalExplanation
from countergraph.plots.local import plot_local

PERSON = Experiment.of("asd", "published", runs=1000, subject="MaxMun_d_0051353")


def show(results: Results) -> ExhibitOutput:
    """Draw the pairs that change most often."""
    explanation = LocalExplanation(results.of(PERSON))
    example = explanation.example
    text = (
        f"{PERSON.subject} is classified as {example.class_name(example.original_label)}; "
        f"{len(explanation.results.found)} counterfactuals, rank correlation between halves of them "
        f"{explanation.stability:.2f}."
    )
    return ExhibitOutput(text, {"figure8": plot_local(explanation)})


FIGURE8 = Exhibit("figure8", "Figure 8: one person, many counterfactuals", (PERSON,), show)
