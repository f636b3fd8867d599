"""The figures of a report with titles, captions and alternative texts; used by the page and by `save_pictures`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from matplotlib.axes import Axes

from countergraph.explain.importance import GlobalExplanation
from countergraph.explain.local import LocalExplanation
from countergraph.plots.style import save_picture
from countergraph.report.files import file_names
from countergraph.report.report import Report
from countergraph.results.wording import count

PRINT_DPI = 300
"""Resolution of saved figures."""


@dataclass(frozen=True)
class Picture:
    """A figure with its texts; ``draw`` creates it on demand."""

    name: str
    title: str
    alt: str
    """Alternative text for readers who cannot see the figure."""
    caption: str
    draw: Callable[[], Axes]


def global_pictures(report: Report) -> Iterator[Picture]:
    """Yield the figures of the global explanation."""
    explanation = report.global_explanation
    if explanation is None:
        return
    top = ", ".join(str(name) for name in explanation.roi_importance.nlargest(5).index)
    fewer, more = explanation.change_names
    yield Picture(
        "roi-brain",
        "Most important ROIs",
        f"The brain from above. The ROIs with the largest markers are {top}.",
        "The size of a marker shows how often the connections of the ROI change. "
        "The lines are the connections that change most often.",
        lambda: explanation.plot("roi-brain"),
    )
    yield Picture(
        "roi-bars",
        "Number of changes by ROI",
        f"Bars for the most important ROIs; the longest are {top}.",
        f"Red: {fewer} connections of the ROI. Blue: {more} connections of the ROI.",
        lambda: explanation.plot("roi-bars"),
    )
    for normalised in (False, True) if report.data.atlas.networks else (False,):
        yield _heatmaps(explanation, normalised)
    yield Picture(
        "chord",
        f"Changes within and between {_groups(explanation)}",
        f"Chord diagram of the {_groups(explanation)}. {_strongest(explanation)}",
        f"One ribbon for each of the largest numbers of changes within or between {_groups(explanation)}. "
        "The width of a ribbon is the number of changes.",
        lambda: explanation.plot("chord"),
    )
    marked = " Crosses: the ROIs that the classifier is known to use." if report.marks else ""
    yield Picture(
        "roi-strip",
        "Number of changes at every ROI",
        f"A strip with one column for each of the {explanation.n_rois} ROIs. The darkest are {top}.",
        f"One row for each class and change: + connections {more} in networks of the class, - connections {fewer}."
        + marked,
        lambda: explanation.plot("roi-strip", marks=report.marks),
    )
    test = report.litmus
    if test is not None:
        yield Picture(
            "litmus",
            "Litmus test",
            test.caption,
            "This classifier is known to use only certain ROIs. The litmus test measures how well the explanation "
            "identifies them: an ROC AUC of 1 is perfect, 0.5 is chance level. The ticks below the axis "
            "mark the used ROIs.",
            test.plot,
        )


def _groups(explanation: GlobalExplanation) -> str:
    return "ROIs" if explanation.atlas.networks is None else "networks"


def _heatmaps(explanation: GlobalExplanation, normalised: bool) -> Picture:
    groups, (fewer, more) = _groups(explanation), explanation.change_names
    what = "a high value" if explanation.results[0].weighted else "the presence"
    per_pair = ", per pair of ROIs" if normalised else ""
    reason = (
        " The number of changes is divided by the number of pairs, because large networks have more pairs."
        if normalised
        else ""
    )
    return Picture(
        "heatmaps-normalised" if normalised else "heatmaps",
        f"Connections associated with each class{per_pair}",
        f"One heatmap of the {groups} for each class{per_pair}. {_strongest(explanation, normalised)}",
        f"Above the diagonal, blue: connections {more} in networks of other classes, which are then classified as this "
        f"class. Below the diagonal, red: connections {fewer} in networks of this class. In both cases {what} of "
        f"the connection is associated with the class.{reason}",
        lambda: explanation.plot("heatmaps", normalised=normalised),
    )


def _strongest(explanation: GlobalExplanation, normalised: bool = False) -> str:
    table = explanation.by_network(explanation.counters.sum(axis=(0, 1)), normalised)
    row, column = divmod(int(table.to_numpy().argmax()), len(table))
    if row == column:
        return f"Most changes are within {table.index[row]}."
    return f"Most changes are between {table.index[row]} and {table.columns[column]}."


def person_pictures(report: Report, name: str) -> Iterator[Picture]:
    """Yield the figures of one subject."""
    result, local = report.person(name), report.people[name]
    fewer, more = result.change_names
    legend = f"Red: {fewer} connections. Blue: {more} connections."
    legend += "" if result.weighted else " Grey: kept connections."
    yield Picture(
        f"counterfactual-{name}",
        "Closest counterfactual" if result.found else "Original graph",
        result.sentence,
        legend if result.found else "",
        result.plot,
    )
    if local is not None:
        yield Picture(
            f"local-{name}",
            f"Most frequent changes in {count(len(local.results.found), 'counterfactual')}",
            local.caption,
            f"Share of the counterfactuals in which each connection is {fewer} or {more}, with 95% confidence "
            f"intervals.{_stability(local)}",
            local.plot,
        )


def _stability(local: LocalExplanation) -> str:
    if isnan(local.stability):
        return ""
    return (
        f" Stability: {local.stability:.2f} (rank correlation of the shares between random halves of the "
        "counterfactuals; with a low value, more counterfactuals would change the order of the connections)."
    )


def save_pictures(report: Report, folder: Path, ending: str = "png") -> list[Path]:
    """Write all figures of a report at print quality.

    Parameters
    ----------
    report
        The report.
    folder
        The folder to write into; it is created if necessary.
    ending
        File format: "png", "svg" or "pdf".

    Returns
    -------
    list of Path
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = list(global_pictures(report))
    for name in report.people:
        pictures += person_pictures(report, name)
    paths = [folder / f"{name}.{ending}" for name in file_names(picture.name for picture in pictures)]
    for picture, path in zip(pictures, paths, strict=True):
        save_picture(picture.draw(), path, PRINT_DPI)
    return paths
