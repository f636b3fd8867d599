"""The workspace: paths of cohorts, trained black boxes and the store, and the units of work of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from countergraph.classifiers.model import Model
from countergraph.classifiers.model_files import save_model
from countergraph.classifiers.training import train
from countergraph.experiments.experiment import Experiment
from countergraph.experiments.unit import PUBLISHED, Source, Unit
from countergraph.graphs.dataset import GraphDataset
from countergraph.results.counterfactual import Counterfactuals
from countergraph.store.setting import Setting
from countergraph.store.store import Store

SIZE = 512
"""The number of searches per unit. Larger batches are faster; smaller units lose less when a process is killed."""


@dataclass(frozen=True)
class Workspace:
    """The cohorts, black boxes and store of one folder of results.

    Parameters
    ----------
    root
        The folder of the real cohorts; None for the environment variable ``COUNTERGRAPH_DATA``.
    folder
        The folder of the store and the trained black boxes.
    """

    root: Path | None
    folder: Path

    @property
    def store(self) -> Path:
        """The path of the store."""
        return self.folder / "store.sqlite"

    def source(self, experiment: Experiment) -> Source:
        """Return the paths of the cohort and the black box of an experiment."""
        box = PUBLISHED if experiment.box == PUBLISHED else str(self._box_file(experiment).resolve())
        return Source(experiment.cohort, None if self.root is None else str(self.root.resolve()), box)

    def data(self, experiment: Experiment) -> GraphDataset:
        """Return the cohort of an experiment."""
        return self.source(experiment).data

    def box(self, experiment: Experiment) -> object:
        """Return the black box of an experiment."""
        return self.source(experiment).black_box

    def train(self, experiment: Experiment, progress: Callable[[int, int], None] | None = None) -> bool:
        """Train the black box of an experiment unless its file exists; return whether it was trained."""
        path = self._box_file(experiment)
        if experiment.box == PUBLISHED or path.exists():
            return False
        if experiment.neighbours is None:
            model = train(self.data(experiment), experiment.box, progress=progress)
        else:
            usual = replace(experiment, neighbours=None)
            self.train(usual, progress)
            model = with_neighbours(self.box(usual), self.data(usual), experiment.neighbours)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():  # another process may have written it
            save_model(model, path)
        return True

    def _box_file(self, experiment: Experiment) -> Path:
        suffix = "" if experiment.neighbours is None else f"-{experiment.neighbours}"
        return self.folder / "boxes" / f"{Path(experiment.cohort).stem}-{experiment.box}{suffix}.cgm"

    def setting(self, experiment: Experiment) -> Setting:
        """Return the setting of the searches of an experiment."""
        source = self.source(experiment)
        cohort, box = source.data.fingerprint, source.box_fingerprint
        return Setting.of(experiment.options, cohort, cohort, box)

    def graphs(self, experiment: Experiment) -> range:
        """Return the positions of the graphs of an experiment: all graphs if the method is joint."""
        data = self.data(experiment)
        if experiment.subject is not None:
            position = data.index(experiment.subject)
            return range(position, position + 1)
        return range(0, len(data), 1 if self.setting(experiment).is_joint else experiment.every)

    def units(self, experiment: Experiment) -> Iterator[Unit]:
        """Split an experiment into units. The split depends only on the experiment."""
        setting, source, graphs = self.setting(experiment), self.source(experiment), self.graphs(experiment)
        runs = range(experiment.runs)
        n_runs = len(runs) if not setting.is_joint else 1
        n_graphs = len(graphs) if setting.is_joint else max(1, SIZE // n_runs)
        for some_runs in _split(runs, min(n_runs, SIZE)):
            for some_graphs in _split(graphs, n_graphs):
                yield Unit(setting, replace(experiment.options, runs=some_runs), source, some_graphs, some_runs)

    def results(self, store: Store, experiment: Experiment) -> Counterfactuals:
        """Return the results, in the order of the graphs."""
        setting, data = self.setting(experiment), self.data(experiment)
        return store.results(setting, data, self.graphs(experiment), range(experiment.runs))


def _split(whole: range, size: int) -> list[range]:
    """Split a range into the fewest parts of at most ``size``, of about equal length."""
    parts = -(-len(whole) // size)
    ends = [len(whole) * part // parts for part in range(parts + 1)]
    return [whole[start:stop] for start, stop in pairwise(ends)]


def with_neighbours(model: object, data: GraphDataset, neighbours: int) -> Model:
    """Return a model with the same embedding and another number of neighbours; only its training accuracy is known."""
    assert isinstance(model, Model)
    embedding = model.estimator[0]
    knn = KNeighborsClassifier(neighbours, algorithm="brute").fit(embedding.transform(data.edges), data.labels)
    pipeline = Pipeline([("embedding", embedding), ("classifier", knn)])
    training = float((pipeline.predict(data.edges) == data.labels).mean())
    unknown = float("nan")
    accuracy = replace(model.accuracy, training=training, cross_validated=unknown, balanced=unknown, auc=None)
    return replace(model, estimator=pipeline, settings={**model.settings, "neighbours": neighbours}, accuracy=accuracy)
