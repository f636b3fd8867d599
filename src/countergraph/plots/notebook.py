"""How explanations show themselves in a notebook: words, the picture, the table."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO

import pandas as pd
from matplotlib.axes import Axes
from PIL import Image

from countergraph.plots.style import DPI, figure_of
from countergraph.results.plottable import Plottable

MOST_ROWS = 12
COLOURS = 128


def to_html(shown: Plottable) -> str:
    """Return what a notebook shows: a sentence, the first plot, and the head of the table."""
    head, rest = shown.listing.head(MOST_ROWS), len(shown.listing) - MOST_ROWS
    more = f"<p>and {rest} more rows</p>" if rest > 0 else ""
    picture = f'<img src="{data_uri(shown.plot(), 90)}" alt="{escape(shown.caption)}" style="max-width:100%">'
    return f"<p>{escape(shown.caption)}</p>{picture}{table_html(head)}{more}"


def table_html(table: pd.DataFrame) -> str:
    """Return a table as HTML with every name escaped, and numbers short."""
    html: str = table.to_html(index=False, border=0, escape=True, float_format="{:.3g}".format)
    return html


def data_uri(axes: Axes, dpi: int = DPI) -> str:
    """Return the figure of ``axes`` as a small PNG inside an address, and close it."""
    import matplotlib.pyplot as plt

    figure = figure_of(axes)
    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, dpi=dpi)
    plt.close(figure)
    # A plot has few colours; a palette of them takes a third of the room.
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(small, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
