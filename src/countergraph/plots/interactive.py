"""Interactive 3-D view of a scene: a plotly figure with a transparent brain surface."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull

from countergraph.plots.brain import circle_layout
from countergraph.plots.scene import LINE_WIDTH, Edges, Rings, Scene, background_opacity, scene_of
from countergraph.plots.style import KEPT, TEXT

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from countergraph.graphs.pairs import Floats

N_SURFACE_VERTICES = 2562
"""Number of surface vertices per hemisphere. The first vertices of fsaverage5 are those of the coarser fsaverage4."""
CIRCLE_RADIUS = 80
"""Radius of the circle of ROIs, in millimetres, if the atlas has no coordinates."""


def view(explanation: object, k: int = 12) -> Figure:
    """Return an interactive 3-D figure of a counterfactual or of a local or global explanation.

    Parameters
    ----------
    explanation
        What to show.
    k
        Number of removed and of added pairs that a local or global explanation shows.

    Returns
    -------
    plotly.graph_objects.Figure
        A brain, or a circle of ROIs if the atlas has no coordinates.
    """
    from plotly.graph_objects import Figure

    scene = scene_of(explanation, k)
    traces = scene_traces(scene)
    if scene.atlas.coordinates is not None:
        traces = [*brain_traces(), *traces]
    return Figure({"data": traces, "layout": scene_layout(scene)})


@lru_cache(maxsize=1)
def brain_traces() -> list[dict[str, Any]]:
    """Return the cortical surface of fsaverage, from nilearn, as transparent meshes."""
    from nilearn.datasets import fetch_surf_fsaverage
    from nilearn.surface import load_surf_mesh

    surface = fetch_surf_fsaverage("fsaverage5")  # included in nilearn, no download
    traces = []
    for side in ("left", "right"):
        points, sphere = (
            load_surf_mesh(surface[f"{kind}_{side}"]).coordinates[:N_SURFACE_VERTICES] for kind in ("pial", "sphere")
        )
        # On the sphere, the triangles between the selected vertices are the faces of their convex hull.
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
    """Return the edges and the ROIs of a scene as plotly traces, without the brain surface."""
    atlas = scene.atlas
    points = np.round(CIRCLE_RADIUS * circle_layout(atlas) if atlas.coordinates is None else atlas.coordinates, 1)
    names = [escape(name) for name in atlas.names]
    traces = [trace for layer in scene.layers if layer.pairs for trace in _edge_traces(layer, points, names)]
    traces += [_ring_trace(rings, points, names) for rings in scene.rings if rings.rois]
    important = scene.important_rois
    notes = [f"<b>{names[roi]}</b>" for roi in important]
    if scene.notes:
        notes = [f"{note}<br>{escape(scene.notes[roi])}" for note, roi in zip(notes, important, strict=True)]
    for rois, size, color, text in (
        ([roi for roi in range(len(names)) if scene.importance[roi] == 0], 2.5, KEPT, None),
        (important, np.round(4 + 8 * scene.importance[important], 1).tolist(), TEXT, notes),
    ):
        traces.append(
            {
                "type": "scatter3d",
                "mode": "markers",
                **_coordinates(points[rois]),
                "marker": {"size": size, "color": color, "opacity": 0.9},
                "text": [names[roi] for roi in rois] if text is None else text,
                "hoverinfo": "text",
                "showlegend": False,
            }
        )
    return traces


def _ring_trace(rings: Rings, points: Floats, names: list[str]) -> dict[str, Any]:
    return {
        "type": "scatter3d",
        "mode": "markers",
        **_coordinates(points[list(rings.rois)]),
        "marker": {"size": round(rings.size**0.5, 1), "symbol": "circle-open", "color": rings.color},
        "text": [f"<b>{names[roi]}</b><br>{note}" for roi, note in zip(rings.rois, rings.notes, strict=True)],
        "hoverinfo": "text",
        "showlegend": False,
    }


def _edge_traces(layer: Edges, points: Floats, names: list[str]) -> list[dict[str, Any]]:
    """Return the edges as lines, with a marker in the middle of each for the hover text.

    plotly needs a separate trace for each line width.
    """
    base = {"type": "scatter3d", "mode": "lines", "hoverinfo": "skip", "name": layer.name, "legendgroup": layer.name}
    pairs = np.array(layer.pairs)
    if layer.widths:
        widths, groups = [2 * width for width in layer.widths], [pairs[row : row + 1] for row in range(len(pairs))]
    else:
        widths, groups = [1.0 if layer.background else 2 * LINE_WIDTH], [pairs]
    traces: list[dict[str, Any]] = []
    for number, (width, group) in enumerate(zip(widths, groups, strict=True)):
        ends = np.full((3 * len(group), 3), np.nan)
        ends[0::3], ends[1::3] = points[group[:, 0]], points[group[:, 1]]
        line = {"color": layer.color, "width": round(width, 1)}
        opacity = background_opacity(len(pairs)) if layer.background else 1
        traces.append({**base, **_coordinates(ends), "line": line, "opacity": opacity, "showlegend": number == 0})
    if layer.background:
        return traces
    middle = points[pairs].mean(axis=1)
    notes = layer.notes or [layer.name.split()[-1]] * len(pairs)
    text = [f"<b>{names[i]} – {names[j]}</b><br>{note}" for (i, j), note in zip(layer.pairs, notes, strict=True)]
    marker = {"size": 3, "color": layer.color, "opacity": 0.6}
    markers = {**base, "mode": "markers", "hoverinfo": "text", "text": text, "marker": marker, "showlegend": False}
    return [*traces, {**markers, **_coordinates(middle)}]


def _coordinates(points: Floats) -> dict[str, list[float | None]]:
    return {
        axis: [None if np.isnan(value) else round(float(value), 1) for value in column]
        for axis, column in zip("xyz", np.asarray(points, dtype=np.float64).T, strict=True)
    }


def scene_layout(scene: Scene) -> dict[str, Any]:
    """Return the plotly layout for `scene_traces`: an oblique view from above, without coordinate axes."""
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
