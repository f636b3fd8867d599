"""The workspace: where experiments become units. It knows where the cohorts lie and keeps the trained black boxes."""

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

# Searches in one unit. More make larger, faster batches; fewer lose less to a kill and spread better.
SIZE = 512


@dataclass(frozen=True)
class Workspace:
    """Cohorts, black boxes and the store of one folder of results.

    Parameters
    ----------
    root
        The folder of the real cohorts; None for where ``COUNTERGRAPH_DATA`` points.
    folder
        Where the store and the trained black boxes are kept.
    """

    root: Path | None
    folder: Path

    @property
    def store(self) -> Path:
        """The file of the store."""
        return self.folder / "store.sqlite"

    def source(self, experiment: Experiment) -> Source:
        """Return where the cohort and the black box of an experiment lie."""
        box = PUBLISHED if experiment.box == PUBLISHED else str(self._box_file(experiment).resolve())
        return Source(experiment.cohort, None if self.root is None else str(self.root.resolve()), box)

    def data(self, experiment: Experiment) -> GraphDataset:
        """Return the cohort of an experiment."""
        return self.source(experiment).data

    def box(self, experiment: Experiment) -> object:
        """Return the black box of an experiment."""
        return self.source(experiment).black_box

    def train(self, experiment: Experiment, told: Callable[[int, int], None] | None = None) -> bool:
        """Train the black box of an experiment, unless that was done before; tell whether it was trained now."""
        path = self._box_file(experiment)
        if experiment.box == PUBLISHED or path.exists():
            return False
        if experiment.neighbours is None:
            model = train(self.data(experiment), experiment.box, progress=told)
        else:
            usual = replace(experiment, neighbours=None)
            self.train(usual, told)
            model = with_neighbours(self.box(usual), self.data(usual), experiment.neighbours)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():  # another process may have been faster; what is there is what counts
            save_model(model, path)
        return True

    def _box_file(self, experiment: Experiment) -> Path:
        votes = "" if experiment.neighbours is None else f"-{experiment.neighbours}"
        return self.folder / "boxes" / f"{Path(experiment.cohort).stem}-{experiment.box}{votes}.cgm"

    def setting(self, experiment: Experiment) -> Setting:
        """Return the full identity of the searches of an experiment."""
        source = self.source(experiment)
        cohort, box = source.data.fingerprint, source.box_fingerprint
        return Setting(cohort, cohort, box, experiment.method, experiment.k, experiment.max_calls, experiment.seed)

    def graphs(self, experiment: Experiment) -> range:
        """Return the positions of the graphs of an experiment. Searches that share are of the whole cohort."""
        data = self.data(experiment)
        if experiment.subject is not None:
            position = data.index(experiment.subject)
            return range(position, position + 1)
        return range(0, len(data), 1 if self.setting(experiment).shares else experiment.every)

    def units(self, experiment: Experiment) -> Iterator[Unit]:
        """Cut an experiment into units, the same ones whoever will do them."""
        setting, source, graphs = self.setting(experiment), self.source(experiment), self.graphs(experiment)
        runs = range(experiment.runs)
        wide = len(runs) if not setting.shares else 1
        tall = len(graphs) if setting.shares else max(1, SIZE // wide)
        for some_runs in _cut(runs, min(wide, SIZE)):
            for some_graphs in _cut(graphs, tall):
                yield Unit(setting, source, some_graphs, some_runs)

    def results(self, store: Store, experiment: Experiment) -> Counterfactuals:
        """Return what was found, in the order of the graphs."""
        setting, data = self.setting(experiment), self.data(experiment)
        return store.results(setting, data, self.graphs(experiment), range(experiment.runs))


def _cut(whole: range, size: int) -> list[range]:
    """Cut a range into the fewest parts of at most ``size``, about equally long."""
    parts = -(-len(whole) // size)
    ends = [len(whole) * part // parts for part in range(parts + 1)]
    return [whole[start:stop] for start, stop in pairwise(ends)]


def with_neighbours(model: object, data: GraphDataset, neighbours: int) -> Model:
    """Return the same embedding with another number of neighbours; only its training accuracy is measured."""
    assert isinstance(model, Model)
    embedding = model.estimator[0]
    voters = KNeighborsClassifier(neighbours, algorithm="brute").fit(embedding.transform(data.edges), data.labels)
    pipeline = Pipeline([("embedding", embedding), ("classifier", voters)])
    training = float((pipeline.predict(data.edges) == data.labels).mean())
    unknown = float("nan")
    accuracy = replace(model.accuracy, training=training, cross_validated=unknown, balanced=unknown, auc=None)
    return replace(model, estimator=pipeline, settings={**model.settings, "neighbours": neighbours}, accuracy=accuracy)
