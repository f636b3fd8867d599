"""Table 1: distance and calls of OFS+OBS, four black boxes, two cohorts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from countergraph.classifiers.model import Model
from countergraph.experiments.exhibits.exhibit import (
    OURS,
    TITLES,
    Exhibit,
    ExhibitOutput,
    Results,
    by_graph,
    markdown_table,
    numbers,
    percentiles,
)
from countergraph.experiments.experiment import Experiment

# As printed: distance and calls at the 10th, 25th, 50th, 75th and 90th percentile, and the accuracy (appendix).
PRINTED: dict[tuple[str, str], tuple[list[float], list[float], float]] = {
    ("asd", "published"): ([2, 5.4, 9, 15.2, 19.8], [100, 119.2, 157.4, 214.6, 276.2], 0.77),
    ("asd", "sub2vec"): ([4, 47.5, 134, 285, 476], [110.5, 175.5, 299.5, 492, 617.5], 0.65),
    ("asd", "graph2vec"): ([1.5, 6.8, 33.5, 119, 207.4], [112.2, 131, 181.6, 346.3, 445], 0.66),
    ("asd", "autoencoder"): ([1.6, 2.4, 3.8, 6, 9.2], [82.2, 101, 141, 209.4, 275.4], 0.68),
    ("adhd", "published"): ([9, 20.6, 43.8, 70, 100.2], [173.2, 249.2, 406, 578.2, 764.7], 0.69),
    ("adhd", "sub2vec"): ([8.8, 56.2, 185.3, 367.2, 742.8], [283.88, 474.5, 780.56, 1807.1, 2000], 0.64),
    ("adhd", "graph2vec"): ([1, 2.2, 49.3, 166, 411.6], [135, 156.6, 324.4, 547, 1293.2], 0.62),
    ("adhd", "autoencoder"): ([1, 1.8, 5, 15.4, 25.1], [129, 137.8, 172.5, 273.8, 367.5], 0.63),
}
# How the published notebook made the rows of contrast subgraphs: from a graph of the dataset, not from OFS.
NOTEBOOK = {
    "asd": Experiment.of("asd", "published", "ds+obs"),
    "adhd": Experiment.of("adhd", "published", "ds+obs", runs=1),
}
WHY = """### Where we differ, and why

- **Contrast subgraphs.** The published notebook made the ADHD row from a graph of the dataset, not from OFS, and
  counted the calls of phase 2 only. The ASD row looks alike: DS+OBS, phase 2 only, is the closest to it (even the
  easiest tenth of it cost 100 calls for 2 changes, as a start far away does). On ADHD the distances agree, but
  the calls of phase 2 are higher than printed; we do not know why. We count both phases.
- **graph2vec, sub2vec and the autoencoder** are other black boxes than the paper's: neither its trained models nor the
  number of neighbours of its KNN is published. Ours have the paper's settings, and answer the same graph alike always
  (exact inference instead of sampling). The number of neighbours alone, from 1 to 25, moves the median of the
  autoencoder and of sub2vec by a factor of more than ten (next table).
- **The order of the black boxes could not be reproduced.** In the paper contrast subgraphs and the autoencoder have
  much shorter counterfactuals than graph2vec and sub2vec. Here contrast subgraphs are short, too, but graph2vec is as
  short and the autoencoder longer, with every number of neighbours that we tried. With the paper's minimum count of 5,
  the only words of graph2vec on ASD are 31 degrees ([classifiers.md](classifiers.md)), so a few changed edges move the
  vector of a graph, and KNN, which is no better than chance there on unseen graphs, changes its vote.
- **Accuracy.** The printed accuracies are reached on the training graphs only."""
METHODS = ("ofs+obs", *OURS)


def experiments() -> tuple[Experiment, ...]:
    """Return the cells of the table: every black box, cohort and method."""
    return (*(Experiment.of(*cell, method) for cell in PRINTED for method in METHODS), *NOTEBOOK.values())


def show(results: Results) -> ExhibitOutput:
    """Print for each cell the paper's numbers, ours, and how far they are apart."""
    header = ["", "", "distance", "calls", "calls, phase 2 only", "found", "clock", "worker time"]
    text = [
        "Percentiles 10 / 25 / 50 / 75 / 90 over the graphs of the mean over the runs, as in the paper: of "
        "those runs that found a counterfactual; inf for a graph of which none did. *Clock* is how "
        "long at least one of the processes, of one core each, was at work on the cell, *worker time* what they spent "
        "all together. Where both are equal, the cell was one piece of work, or the other process had the next cell. "
        "(The machine had two cores, and other work.)"
    ]
    for cohort in ("asd", "adhd"):
        rows: list[Sequence[str]] = []
        for box, title in TITLES.items():
            distance, calls, _ = PRINTED[cohort, box]
            rows.append([title, "paper", numbers(distance), numbers(calls), "", "", "", ""])
            rows += [_row(results, Experiment.of(cohort, box, method), distance) for method in METHODS]
            if box == NOTEBOOK[cohort].box:
                rows.append(_row(results, NOTEBOOK[cohort], distance))
        text += [f"### {cohort.upper()}", markdown_table(header, rows)]
    return ExhibitOutput("\n\n".join([*text, WHY, _accuracies(results)]))


def _finished(results: Results, experiment: Experiment) -> Experiment | None:
    """Return as many whole runs of an experiment as are in the store, or its quick part; None if not even that is."""
    whole = results.done(experiment)
    parts = [*(whole.with_runs(runs) for runs in range(whole.runs, 0, -1)), experiment.quick]
    return next((part for part in parts if results.is_complete(part)), None)


def _row(results: Results, experiment: Experiment, printed: list[float]) -> list[str]:
    name = experiment.method.upper() if "+" in experiment.method else experiment.method
    part = _finished(results, experiment)
    if part is None:
        return ["", name, "", "", "", "not finished", "", ""]
    if part.every > results.done(experiment).every:
        name += f", not finished: every {part.every}th graph, one run"
    elif part.runs < results.done(experiment).runs:
        name += f", not finished: {part.runs} of {experiment.runs} runs"
    experiment = part
    found = results.of(experiment)
    distance = percentiles(by_graph(found, lambda each: each.distance))
    off = ", ".join(_off(ours, theirs) for ours, theirs in zip(distance, printed, strict=False))
    back = experiment.method.rpartition("+")[2]
    spent = results.spent(experiment)
    return [
        "",
        name,
        f"{numbers(distance)} ({off})",
        numbers(percentiles(by_graph(found, lambda each: each.calls))),
        numbers(percentiles(by_graph(found, lambda each: each.calls_by_phase.get(back))))
        if "+" in experiment.method
        else "",
        f"{len(found.found)} of {len(found)}",
        f"{spent.clock:.0f} s",
        f"{spent.worker:.0f} s",
    ]


def _off(ours: float, theirs: float) -> str:
    return f"{100 * (ours / theirs - 1):+.0f}%" if math.isfinite(ours) else "none"


def _accuracies(results: Results) -> str:
    rows = []
    for (cohort, box), (_, _, printed) in PRINTED.items():
        experiment = Experiment.of(cohort, box)
        black_box, data = results.box(experiment), results.data(experiment)
        trained = isinstance(black_box, Model)
        answers = black_box.predict(data.edges)  # type: ignore[attr-defined]
        unseen = (
            f"{black_box.accuracy.cross_validated:.2f}" if isinstance(black_box, Model) else "fitted by the authors"
        )
        rows.append(
            [
                cohort.upper(),
                TITLES[box],
                f"{printed:.2f}",
                f"{(answers == data.labels).mean():.2f}",
                unseen,
                f"{data.class_sizes.max() / len(data):.2f}",
                "KNN, 5 neighbours" if trained else "linear SVM",
            ]
        )
    header = [
        "cohort",
        "black box",
        "accuracy, paper",
        "training graphs",
        "unseen, 5 folds",
        "larger class",
        "classifier",
    ]
    return "### The black boxes\n\n" + markdown_table(header, rows)


TABLE1 = Exhibit("table1", "Table 1: four black boxes, two cohorts", experiments(), show, allows_missing=True)
