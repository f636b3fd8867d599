"""Black boxes that know which data they were trained on."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset


@runtime_checkable
class DescribedModel(Protocol):
    """A black box with the names of its classes and ROIs, such as `countergraph.Model`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, by label."""

    @property
    def atlas(self) -> Atlas | None:
        """The ROIs it was trained on; None if they are unknown."""

    def check_fits(self, data: GraphDataset) -> None:
        """Raise `InputError` unless ``data`` has the ROIs and classes that it was trained on."""
