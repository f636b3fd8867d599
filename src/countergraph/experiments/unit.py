"""A unit of work: some searches that one process runs in lockstep. It is small and can be sent to any machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from countergraph.classifiers.model_files import load_model
from countergraph.classifiers.published_rules import load_published_rule
from countergraph.datasets.load import DATASETS, load_dataset
from countergraph.errors import InputError
from countergraph.finding.request import Request
from countergraph.graphs.dataset import GraphDataset
from countergraph.oracle.python_object import PREFIX, load_object
from countergraph.search.options import SearchOptions
from countergraph.store.fingerprint import fingerprint
from countergraph.store.resume import Keep, search
from countergraph.store.row import SearchKey
from countergraph.store.setting import Setting
from countergraph.store.store import Store
from countergraph.version import __version__

PUBLISHED = "published"


@dataclass(frozen=True)
class Source:
    """The paths of a cohort and a black box, on every machine that works on them."""

    cohort: str
    """"asd", "adhd", or the path of a dataset file."""
    root: str | None
    """The folder of the real cohorts."""
    box: str
    """"published", the path of a model file, or a Python object, ``python:module:object``."""

    @property
    def data(self) -> GraphDataset:
        """The cohort."""
        return _load_cohort(self.cohort, self.root)

    @property
    def black_box(self) -> object:
        """The black box."""
        return _load_box(self.cohort, self.root, self.box)

    @property
    def box_fingerprint(self) -> str:
        """The fingerprint of the black box."""
        return _box_fingerprint(self)


@dataclass(frozen=True)
class Unit:
    """Searches of some graphs, in some runs, all in one setting."""

    setting: Setting
    options: SearchOptions
    source: Source
    graphs: range
    runs: range

    def search(self, keys: Sequence[SearchKey], keep: Keep, store: Store | None = None) -> None:
        """Run some of its searches, with one thread for linear algebra: parallelism is by processes."""
        data, black_box = self.source.data, self.source.black_box
        here = (data.fingerprint, self.source.box_fingerprint, __version__)
        if here != (self.setting.cohort, self.setting.box, self.setting.version):
            raise InputError(
                f"this unit needs cohort {self.setting.cohort}, black box {self.setting.box} and version "
                f"{self.setting.version}, but this machine has {', '.join(here)}: every machine needs the same files "
                "and the same version of countergraph"
            )
        request = Request.of(black_box, data, data, self.options)
        with threadpool_limits(1):
            search(self.setting, request, keys, keep, store=store)


# A process loads a cohort or a black box only once.
@lru_cache(maxsize=4)
def _load_cohort(cohort: str, root: str | None) -> GraphDataset:
    if cohort not in DATASETS:
        return load_dataset(Path(cohort))
    return load_dataset(cohort) if root is None else load_dataset(cohort, root=root)


@lru_cache(maxsize=8)
def _load_box(cohort: str, root: str | None, box: str) -> object:
    if box.startswith(PREFIX):
        return load_object(box)
    return load_published_rule(cohort, root) if box == PUBLISHED else load_model(box)


@lru_cache(maxsize=8)
def _box_fingerprint(source: Source) -> str:
    return fingerprint(source.black_box)
