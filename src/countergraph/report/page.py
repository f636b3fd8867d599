"""The page: one HTML file that needs nothing else, made of a report's tables and pictures."""

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

MOST_ROWS = 150
DPI = 130
TITLES = {
    "cohort": "The cohort, by class",
    "model": "The classifier",
    "search": "How the search went",
    "optimum": "TestResult the exact optimum, which is known for this classifier",
    "regions": "Regions",
    "cells": "Between coarse regions",
    "pairs": "Connections",
    "plausibility": "Could there be such brains?",
}


def render(report: Report) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("countergraph.report", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["cell"] = _cell
    has_space = report.whole is not None
    return environment.get_template("page.html").render(
        report=report,
        people=[
            {
                "name": name,
                "result": report.person(name),
                "actual": report.data.classes[report.data.labels[report.data.index(name)]],
                "changes": _table(_short(report.tables[f"changes of {name}"]), f"Changes for {name}"),
                "pictures": [_picture(each) for each in person_pictures(report, name)],
                "others": report.others(name),
                "scene": _scene(report.person(name)) if report.person(name).found else None,
            }
            for name in report.people
        ],
        pictures=[_picture(each) for each in global_pictures(report)],
        scene=_scene(report.whole) if report.whole is not None else None,
        tables={name: _table(table, TITLES[name]) for name, table in report.tables.items() if name in TITLES},
        missing=report.missing,
        there=sorted({each.subject for each in report.results if each.stopped == "already in target class"}),
        style=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
        plotly=Markup(_plotly()) if has_space else "",
        brain=brain_traces() if has_space and report.data.atlas.coordinates is not None else [],
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
    scene = scene_of(explanation, 12)
    return {"data": scene_traces(scene), "layout": scene_layout(scene), "brain": scene.atlas.coordinates is not None}


def _short(changes: pd.DataFrame) -> pd.DataFrame:
    """Give the columns of a table of changes names that fit beside each other."""
    return changes.rename(columns=lambda name: str(name).replace("share of", "in").replace("distance_mm", "mm"))


def _table(table: pd.DataFrame, title: str) -> dict[str, Any]:
    """Return what the template needs of a table: as many rows as are readable, and how many more there are."""
    return {
        "title": title,
        "columns": [(str(name), table[name].dtype.kind in "iuf") for name in table],
        "rows": table.head(MOST_ROWS).to_numpy(dtype=object).tolist(),
        "more": max(0, len(table) - MOST_ROWS),
    }


def _cell(value: object) -> str:
    """Write a value as a person would."""
    if value is None or value != value:  # NaN is not itself
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) >= 1 else f"{value:.3g}"
    return str(value)
