"""The pictures of a report, with the words that go with each; the page and the folder of figures share them."""

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
PRESENCE = "In both, the presence of a connection speaks for the class."


@dataclass(frozen=True)
class Picture:
    """A picture that has yet to be drawn."""

    name: str
    title: str
    alt: str
    """What somebody who cannot see it should know."""
    caption: str
    draw: Callable[[], Axes]


def global_pictures(report: Report) -> Iterator[Picture]:
    """Yield the pictures of the whole cohort."""
    whole = report.whole
    if whole is None:
        return
    top = ", ".join(str(name) for name in whole.roi_importance.nlargest(5).index)
    yield Picture(
        "roi-brain",
        "The most important regions",
        f"The brain from above. The largest regions are {top}.",
        "Every region is as large as its connections change often; the lines are those that change most.",
        lambda: whole.plot("roi-brain"),
    )
    yield Picture(
        "roi-bars",
        "Regions, by how often their connections change",
        f"Bars for the most important regions; the longest are {top}.",
        "Red: connections of the region that are removed. Blue: connections that are added.",
        lambda: whole.plot("roi-bars"),
    )
    for normalised in (False, True) if report.data.atlas.networks else (False,):
        yield _heatmaps(whole, normalised)
    yield Picture(
        "chord",
        "Between which parts of the brain",
        f"Ribbons between coarse regions. {_strongest(whole)}",
        "A ribbon for each of the strongest changes between or within coarse regions, as wide as they are many.",
        lambda: whole.plot("chord"),
    )
    marked = " Crosses: the regions that the classifier is known to use." if report.marks else ""
    yield Picture(
        "roi-strip",
        "Every region",
        f"A strip with a column for each of {whole.n_rois} regions. The darkest are {top}.",
        "A row for each class and direction: + connections added to graphs of the class, - connections removed."
        + marked,
        lambda: whole.plot("roi-strip", marks=report.marks),
    )
    test = report.litmus
    if test is not None:
        yield Picture(
            "litmus",
            "The litmus test",
            test.caption,
            "This classifier is known to use certain regions only. An explanation that is right finds them: an ROC AUC "
            "of 1 is perfect, 0.5 is guessing.",
            test.plot,
        )


def _heatmaps(whole: GlobalExplanation, normalised: bool) -> Picture:
    per_pair = ", per pair of regions" if normalised else ""
    why = " Divided by the number of pairs in each cell, because large regions have more of them." if normalised else ""
    return Picture(
        "heatmaps-normalised" if normalised else "heatmaps",
        f"What speaks for each class{per_pair}",
        f"One heatmap of coarse regions for each class{per_pair}. {_strongest(whole, normalised)}",
        "Above the diagonal, blue: connections added to other people, who are of the class then. Below, red: "
        f"connections removed from people of the class. {PRESENCE}{why}",
        lambda: whole.plot("heatmaps", normalised=normalised),
    )


def _strongest(whole: GlobalExplanation, normalised: bool = False) -> str:
    table = whole.by_region(whole.counters.sum(axis=(0, 1)), normalised)
    row, column = divmod(int(table.to_numpy().argmax()), len(table))
    return f"Most changes are between {table.index[row]} and {table.columns[column]}."


def person_pictures(report: Report, name: str) -> Iterator[Picture]:
    """Yield the pictures of one person."""
    result, local = report.person(name), report.people[name]
    yield Picture(
        f"counterfactual-{name}",
        "The closest counterfactual" if result.found else "The graph as it is",
        result.sentence,
        "Red: connections to remove. Blue: connections to add. Grey: connections that stay." if result.found else "",
        result.plot,
    )
    if local is not None:
        yield Picture(
            f"local-{name}",
            f"What matters, over {count(len(local.results.found), 'counterfactual')}",
            local.caption,
            f"How often each connection is removed or added, with 95% intervals.{_stable(local)}",
            local.plot,
        )


def _stable(local: LocalExplanation) -> str:
    if isnan(local.stability):
        return ""
    return (
        " The counterfactuals of one person may share little: between halves of them the order of the connections has "
        f"a rank correlation of {local.stability:.2f}."
    )


def save_pictures(report: Report, folder: Path, ending: str = "png") -> list[Path]:
    """Write every picture of a report at print quality, as "png", "svg" or "pdf", and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = list(global_pictures(report))
    for name in report.people:
        pictures += person_pictures(report, name)
    paths = [folder / f"{name}.{ending}" for name in file_names(picture.name for picture in pictures)]
    for picture, path in zip(pictures, paths, strict=True):
        save_picture(picture.draw(), path, PRINT_DPI)
    return paths
