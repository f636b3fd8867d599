"""Figure 6 and section 5.3: comparison of the search with the optimum of a white box."""

from __future__ import annotations

import numpy as np

from countergraph.classifiers.linear_rule import LinearRule
from countergraph.experiments.exhibits.exhibit import OWN_METHODS, Exhibit, ExhibitOutput, Results, markdown_table
from countergraph.experiments.experiment import Experiment
from countergraph.plots.experiments import plot_white_box
from countergraph.proofs.optimum import optimal_counterfactual

EXPERIMENTS = tuple(
    Experiment.of(cohort, "published", method) for cohort in ("asd", "adhd") for method in ("ofs+obs", *OWN_METHODS)
)
PAPER_DISTANCE = 1.83
"""Mean distance between optimum and counterfactual in the paper (ASD)."""
ZOOMED = ("UM_1_0050366", "Stanford_0051164", "UCLA_1_0051226")
"""The three subjects in the zoomed panel of the paper."""


def show(results: Results) -> ExhibitOutput:
    """Draw the feature plane, and return a table of the distances to the projected optimum and to the exact optimum."""
    rows = [_row(results, each) for each in EXPERIMENTS]
    header = [
        "cohort",
        "method",
        "difference of the distances, projected optimum",
        "distance between the points, projected optimum",
        "changes above the exact optimum",
        "share of exactly optimal counterfactuals",
    ]
    text = (
        "The paper projects the point of each graph onto the decision boundary and reports a mean distance of "
        f"{PAPER_DISTANCE} between this optimum and the counterfactual (ASD). The projected point is not a graph, "
        "therefore this distance has two possible definitions: the mean of |distance of the counterfactual - distance "
        "of the projected point|, or the mean of the distance between the two points. Both count edges (1-norm). The "
        "exact optimum is a graph.\n\n" + markdown_table(header, rows)
    )
    asd = EXPERIMENTS[0]
    found = results.of(asd).found.where(lambda each: each.run == 0)
    rule, data = _rule(results, asd), results.data(asd)
    picture = plot_white_box(rule, found, data, ZOOMED)
    return ExhibitOutput(text, {"figure6": picture})


def _rule(results: Results, experiment: Experiment) -> LinearRule:
    rule = results.box(experiment)
    assert isinstance(rule, LinearRule)
    return rule


def _row(results: Results, experiment: Experiment) -> list[str]:
    found, rule = results.of(experiment).found, _rule(results, experiment)
    before = rule.embed(np.stack([each.original for each in found]))
    after = rule.embed(np.stack([each.edges for each in found if each.edges is not None]))
    projected = rule.project(before)
    distance = np.array([each.distance for each in found], dtype=float)
    optimum = {each.graph_index: optimal_counterfactual(rule, each.original).distance or 0 for each in found}
    above = distance - [optimum[each.graph_index] for each in found]
    return [
        experiment.cohort.upper(),
        experiment.method.upper(),
        f"{np.abs(distance - np.abs(before - projected).sum(axis=1)).mean():.2f}",
        f"{np.abs(after - projected).sum(axis=1).mean():.2f}",
        f"{above.mean():.2f}",
        f"{100 * (above == 0).mean():.0f}%",
    ]


FIGURE6 = Exhibit("figure6", "Figure 6: comparison with a white box", EXPERIMENTS, show)
