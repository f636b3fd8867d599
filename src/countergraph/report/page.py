"""HTML page of a report: one self-contained file with all tables and figures."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from countergraph.plots.interactive import brain_traces, scene_layout, scene_traces
from countergraph.plots.notebook import data_uri
from countergraph.plots.scene import scene_of
from countergraph.report.pictures import Picture, global_pictures, person_pictures
from countergraph.report.report import Report
from countergraph.results.plottable import Plottable

MAX_ROWS = 150
"""Maximum number of rows of a table on the page; the CSV files contain all rows."""
DPI = 130
"""Resolution of the embedded figures."""
N_EDGES = 12
"""Number of removed and of added edges in the 3-D views of summaries."""
TITLES = {
    "cohort": "Cohort by class",
    "model": "Type and accuracy of the classifier",
    "search": "Searches by predicted class, with percentiles of the number of changes",
    "optimum": "Comparison with the exact optimum, which is known for this classifier",
    "rois": "Changes by ROI",
    "networks": "Changes within and between networks",
    "pairs": "Changes by connection",
    "plausibility": "Plausibility of the closest counterfactuals",
}
"""Captions of the tables on the page, by the name in `Report.tables`."""
HEADERS = {
    "first": "first ROI",
    "second": "second ROI",
    "nearest": "nearest network",
    "nearest before": "nearest network before",
    "outlying": "outlier share",
    "seen": "changes seen",
    "proven": "certificate",
    "distance_mm": "length (mm)",
}
"""Column headers on the page, where they differ from the column names of the tables."""


def render(report: Report) -> str:
    """Return the HTML page of a report."""
    environment = Environment(
        loader=PackageLoader("countergraph.report", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["cell"] = _cell
    has_scenes = report.global_explanation is not None
    return environment.get_template("page.html").render(
        report=report,
        subjects=[
            {
                "name": name,
                "result": report.person(name),
                "label": report.data.classes[report.data.labels[report.data.index(name)]],
                "changes": _table(report.tables[f"changes of {name}"], f"Changed connections of {name}"),
                "pictures": [_picture(each) for each in person_pictures(report, name)],
                "others": report.others(name),
                "scene": _scene(report.person(name)) if report.person(name).found else None,
            }
            for name in report.people
        ],
        pictures=[_picture(each) for each in global_pictures(report)],
        scene=_scene(report.global_explanation) if report.global_explanation is not None else None,
        tables={name: _table(table, TITLES[name]) for name, table in report.tables.items() if name in TITLES},
        missing=report.missing,
        in_target=sorted({each.subject for each in report.results if each.stopped == "already in target class"}),
        style=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
        plotly=Markup(_plotly()) if has_scenes else "",
        brain=brain_traces() if has_scenes and report.data.atlas.coordinates is not None else [],
    )


def _asset(name: str) -> str:
    return files("countergraph.report").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script.replace("</script", r"<\/script")


def _picture(picture: Picture) -> dict[str, str]:
    return {
        "title": picture.title,
        "alt": picture.alt,
        "caption": picture.caption,
        "source": data_uri(picture.draw(), DPI),
    }


def _scene(explanation: Plottable) -> dict[str, Any]:
    scene = scene_of(explanation, N_EDGES)
    return {"data": scene_traces(scene), "layout": scene_layout(scene), "brain": scene.atlas.coordinates is not None}


def _table(table: pd.DataFrame, title: str) -> dict[str, Any]:
    """Return a table for the template: the headers, the first rows, and the number of omitted rows."""
    return {
        "title": title,
        "columns": [(HEADERS.get(str(name), str(name)), table[name].dtype.kind in "iuf") for name in table],
        "rows": table.head(MAX_ROWS).to_numpy(dtype=object).tolist(),
        "more": max(0, len(table) - MAX_ROWS),
    }


def _cell(value: object) -> str:
    """Format a value for a table cell; None and NaN give an empty cell."""
    if value is None or value != value:  # NaN != NaN
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) >= 1 else f"{value:.3g}"
    return str(value)
