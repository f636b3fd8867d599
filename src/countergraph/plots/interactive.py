"""A scene in space, to turn and to point at: a plotly figure with a see-through brain around it."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull

from countergraph.plots.brain import circle
from countergraph.plots.scene import WIDTH, Edges, Scene, faintness, scene_of
from countergraph.plots.style import INK, KEPT

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from countergraph.graphs.pairs import Floats

COARSE = 2562
"""How many vertices of each hemisphere are drawn: fsaverage5 begins with those of the coarser fsaverage4."""
CIRCLE_MM = 80


def view(explanation: object, k: int = 12) -> Figure:
    """Show a counterfactual, a local or a global explanation in space; a circle where there are no coordinates."""
    from plotly.graph_objects import Figure

    scene = scene_of(explanation, k)
    traces = scene_traces(scene)
    if scene.atlas.coordinates is not None:
        traces = [*brain_traces(), *traces]
    return Figure({"data": traces, "layout": scene_layout(scene)})


@lru_cache(maxsize=1)
def brain_traces() -> list[dict[str, Any]]:
    """Return the cortical surface of fsaverage, from nilearn, as see-through meshes."""
    from nilearn.datasets import fetch_surf_fsaverage
    from nilearn.surface import load_surf_mesh

    surface = fetch_surf_fsaverage("fsaverage5")  # part of nilearn, nothing is downloaded
    traces = []
    for side in ("left", "right"):
        points, sphere = (load_surf_mesh(surface[f"{kind}_{side}"]).coordinates[:COARSE] for kind in ("pial", "sphere"))
        # On the sphere the triangles between the coarse vertices are the faces of their convex hull.
        faces = ConvexHull(sphere.astype(np.float64)).simplices
        traces.append(
            {
                "type": "mesh3d",
                **dict(zip("xyz", np.round(points.T, 1).tolist(), strict=True)),
                **dict(zip("ijk", faces.T.tolist(), strict=True)),
                "color": "#b9b4ac",
                "opacity": 0.12,
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    return traces


def scene_traces(scene: Scene) -> list[dict[str, Any]]:
    """Return the edges and the regions of a scene as plotly traces, without the brain."""
    atlas = scene.atlas
    points = np.round(CIRCLE_MM * circle(atlas) if atlas.coordinates is None else atlas.coordinates, 1)
    names = [escape(name) for name in atlas.names]
    traces = [trace for layer in scene.layers if layer.pairs for trace in _edge_traces(layer, points, names)]
    touched = scene.touched
    notes = [f"<b>{names[region]}</b>" for region in touched]
    if scene.notes:
        notes = [f"{note}<br>{escape(scene.notes[region])}" for note, region in zip(notes, touched, strict=True)]
    for regions, size, color, text in (
        ([r for r in range(len(names)) if scene.sizes[r] == 0], 2.5, KEPT, None),
        (touched, np.round(4 + 8 * scene.sizes[touched], 1).tolist(), INK, notes),
    ):
        traces.append(
            {
                "type": "scatter3d",
                "mode": "markers",
                **_coordinates(points[regions]),
                "marker": {"size": size, "color": color, "opacity": 0.9},
                "text": [names[region] for region in regions] if text is None else text,
                "hoverinfo": "text",
                "showlegend": False,
            }
        )
    return traces


def _edge_traces(layer: Edges, points: Floats, names: list[str]) -> list[dict[str, Any]]:
    """Lines, and on each a point to hover on; lines of different widths need a trace each."""
    look = {"type": "scatter3d", "mode": "lines", "hoverinfo": "skip", "name": layer.name, "legendgroup": layer.name}
    pairs = np.array(layer.pairs)
    if layer.widths:
        widths, groups = [2 * width for width in layer.widths], [pairs[row : row + 1] for row in range(len(pairs))]
    else:
        widths, groups = [1.0 if layer.faint else 2 * WIDTH], [pairs]
    traces: list[dict[str, Any]] = []
    for number, (width, group) in enumerate(zip(widths, groups, strict=True)):
        ends = np.full((3 * len(group), 3), np.nan)
        ends[0::3], ends[1::3] = points[group[:, 0]], points[group[:, 1]]
        line = {"color": layer.color, "width": round(width, 1)}
        opacity = faintness(len(pairs)) if layer.faint else 1
        traces.append({**look, **_coordinates(ends), "line": line, "opacity": opacity, "showlegend": number == 0})
    if layer.faint:
        return traces
    middle = points[pairs].mean(axis=1)
    notes = layer.notes or [layer.name.split()[-1]] * len(pairs)
    text = [f"<b>{names[i]} – {names[j]}</b><br>{note}" for (i, j), note in zip(layer.pairs, notes, strict=True)]
    marker = {"size": 3, "color": layer.color, "opacity": 0.6}
    dots = {**look, "mode": "markers", "hoverinfo": "text", "text": text, "marker": marker, "showlegend": False}
    return [*traces, {**dots, **_coordinates(middle)}]


def _coordinates(points: Floats) -> dict[str, list[float | None]]:
    return {
        axis: [None if np.isnan(value) else round(float(value), 1) for value in column]
        for axis, column in zip("xyz", np.asarray(points, dtype=np.float64).T, strict=True)
    }


def scene_layout(scene: Scene) -> dict[str, Any]:
    """Return the layout that goes with `scene_traces`: seen from above, with no box around it."""
    flat = scene.atlas.coordinates is None
    eye = {"x": 0, "y": 0, "z": 1.5} if flat else {"x": -1.15, "y": 0.85, "z": 0.85}
    hidden = {"visible": False, "showspikes": False}
    return {
        "scene": {
            "xaxis": hidden,
            "yaxis": hidden,
            "zaxis": hidden,
            "aspectmode": "manual" if flat else "data",
            "aspectratio": {"x": 1, "y": 1, "z": 0.1},
            "camera": {"eye": eye, "up": {"x": 0, "y": 1 if flat else 0, "z": 0 if flat else 1}},
        },
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "legend": {"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0, "yanchor": "bottom"},
        "height": 480,
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
    }
