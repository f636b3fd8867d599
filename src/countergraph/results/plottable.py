"""Objects with plots.

The plotting modules are in a higher layer and slow to import, so they are imported on first use, as pandas does with
its plotting backends.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from countergraph.errors import unknown_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from plotly.graph_objects import Figure


class Plottable:
    """Base of explanations: adds ``plot``, ``view`` and the notebook display."""

    _plots: ClassVar[tuple[str, ...]]
    """The names of its plots in `countergraph.plots.registry`; the first is the default."""

    @property
    def caption(self) -> str:
        """The text above the picture in a notebook."""
        raise NotImplementedError

    @property
    def listing(self) -> pd.DataFrame:
        """The table below the picture in a notebook."""
        raise NotImplementedError

    def plot(self, kind: str | None = None, axes: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot with matplotlib, into ``axes`` or a new figure; ``kind`` selects one of several plots."""
        name = self._plots[0] if kind is None else kind
        if name not in self._plots:
            raise unknown_name("plot", name, self._plots)
        axes = import_module("countergraph.plots.registry").PLOTS[name](self, axes=axes, **options)
        assert axes is not None
        return axes

    def view(self, k: int = 12) -> Figure:
        """Return an interactive 3-D brain (plotly), with at most ``k`` pairs per direction for a global explanation."""
        figure: Figure = import_module("countergraph.plots.interactive").view(self, k)
        return figure

    def _repr_html_(self) -> str:
        html: str = import_module("countergraph.plots.notebook").to_html(self)
        return html
