"""HTML representation of explanations in notebooks: caption, figure and table."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO

import pandas as pd
from matplotlib.axes import Axes
from PIL import Image

from countergraph.plots.style import DPI, figure_of
from countergraph.results.plottable import Plottable

MAX_ROWS = 12
"""Maximum number of table rows that are shown."""
N_COLORS = 128
"""Number of colours in the palette of an embedded PNG."""


def to_html(explanation: Plottable) -> str:
    """Return the HTML of an explanation: the caption, the default figure, and the first rows of the table."""
    caption, table = escape(explanation.caption), explanation.listing
    n_hidden = len(table) - MAX_ROWS
    more = f"<p>and {n_hidden} more rows</p>" if n_hidden > 0 else ""
    picture = f'<img src="{data_uri(explanation.plot(), 90)}" alt="{caption}" style="max-width:100%">'
    return f"<p>{caption}</p>{picture}{table_html(table.head(MAX_ROWS))}{more}"


def table_html(table: pd.DataFrame) -> str:
    """Return a table as HTML, with escaped names and rounded numbers."""
    html: str = table.to_html(index=False, border=0, escape=True, float_format="{:.3g}".format)
    return html


def data_uri(axes: Axes, dpi: int = DPI) -> str:
    """Return the figure of ``axes`` as a PNG in a data URI, and close the figure."""
    import matplotlib.pyplot as plt

    figure = figure_of(axes)
    full, reduced = BytesIO(), BytesIO()
    figure.savefig(full, dpi=dpi)
    plt.close(figure)
    # Figures have few colours: with a palette, the file has a third of the size.
    Image.open(full).convert("RGB").quantize(N_COLORS).save(reduced, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(reduced.getvalue()).decode()
