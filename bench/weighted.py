"""Weighted networks: ADHD correlations, with six kinds of classifiers, by pairs, ROIs and networks.

``python -m bench.weighted 520 "linear SVM"`` runs more people, and only some of the classifiers.

The linear classifiers have an exact optimum by pairs. Every counterfactual is classified again by the classifier
itself, on its true input. The regions of ADHD (CC200) have no networks: they are grouped into 8 clusters of similar
mean connectivity.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import countergraph as cg
from bench.data import real_data
from countergraph.datasets.cohorts import load_adhd
from countergraph.graphs.pairs import Values, to_matrix
from countergraph.search.options import Effort, Unit

N_PEOPLE, N_CLUSTERS, MAX_CALLS = 24, 8, 2000
BUDGETS = (15, 30, 60, 2000)
METHODS: tuple[tuple[str, Effort | None], ...] = (("learned", "quick"), ("learned", "standard"), ("ofs+obs", None))
UNITS: tuple[Unit, ...] = ("pair", "roi", "network")
LINEAR = ("logistic regression", "linear SVM")


def fisher_z_cohort() -> cg.GraphDataset:
    """Return the ADHD cohort as Fisher z values, with clusters of regions as networks."""
    data = load_adhd(real_data(), binarize=None)
    values = np.arctanh(np.clip(data.values, -0.9999, 0.9999))
    profiles = to_matrix(values.mean(axis=0))
    clusters = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit_predict(profiles)
    atlas = cg.Atlas(data.atlas.names, networks=[f"cluster {1 + each}" for each in clusters])
    return cg.GraphDataset(values, data.labels, classes=data.classes, names=data.names, atlas=atlas, measure="fisher z")


class SmallCNN:
    """A small convolutional network in the manner of BrainNetCNN: edge to node, node to graph."""

    def __init__(self, n_rois: int) -> None:
        import torch

        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.torch, self.module = (
            torch,
            torch.nn.Sequential(
                torch.nn.Conv2d(1, 8, (1, n_rois)),
                torch.nn.LeakyReLU(0.3),
                torch.nn.Conv2d(8, 16, (n_rois, 1)),
                torch.nn.LeakyReLU(0.3),
                torch.nn.Flatten(),
                torch.nn.Linear(16, 2),
            ),
        )

    def fit(self, values: Values, labels: np.typing.NDArray[np.int64]) -> SmallCNN:
        """Train with Adam."""
        torch = self.torch
        matrices = torch.tensor(to_matrix(values), dtype=torch.float32)[:, None]
        targets = torch.tensor(labels)
        optimiser = torch.optim.Adam(self.module.parameters(), lr=1e-3, weight_decay=1e-3)
        for _ in range(60):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.module(matrices), targets)
            loss.backward()
            optimiser.step()
        return self

    def predict(self, values: Values) -> np.typing.NDArray[np.int64]:
        """Return the classes of vectors (networks, pairs)."""
        with self.torch.no_grad():
            matrices = self.torch.tensor(to_matrix(np.asarray(values)), dtype=self.torch.float32)[:, None]
            return np.asarray(self.module(matrices).argmax(dim=1).numpy())


def boxes(data: cg.GraphDataset) -> dict[str, Any]:
    """Return the classifiers, trained on the whole cohort."""
    models: dict[str, Any] = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.001, max_iter=2000)),
        "linear SVM": make_pipeline(StandardScaler(), LinearSVC(C=0.0001, max_iter=5000, random_state=0)),
        "RBF SVM": make_pipeline(StandardScaler(), SVC()),
        "random forest": RandomForestClassifier(200, random_state=0, n_jobs=1),
        "MLP": make_pipeline(StandardScaler(), MLPClassifier((32,), alpha=1, max_iter=100, random_state=0)),
        "small CNN": SmallCNN(data.n_rois),
    }
    return {name: model.fit(data.values, data.labels) for name, model in models.items()}


def main(n_people: int = N_PEOPLE, names: Sequence[str] = ()) -> None:
    """Print two tables: all classifiers and units, and the linear classifiers with small budgets."""
    data = fisher_z_cohort()
    people = data.subset(range(0, len(data), len(data) // n_people)[:n_people])
    chosen = {name: box for name, box in boxes(data).items() if not names or name in names}
    _units(chosen, people, data)
    _budgets({name: box for name, box in chosen.items() if name in LINEAR}, people, data)


def _units(chosen: Mapping[str, Any], people: cg.GraphDataset, data: cg.GraphDataset) -> None:
    print(f"{len(people)} people of ADHD, Fisher z, {data.values.shape[1]} pairs, quantile:0.9, {MAX_CALLS} calls")
    print("| classifier | unit | optimum | method | found | confirmed | units | pairs | calls | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, box in chosen.items():
        for unit in UNITS:
            optimum = _mean(_optimum(box, people, data)) if unit == "pair" and name in LINEAR else ""
            for method, effort in METHODS:
                began = time.perf_counter()
                results = cg.find_counterfactuals(
                    box, people, method, data, unit=unit, max_calls=MAX_CALLS, effort=effort
                )
                search = f"{method}, {effort}" if effort else method
                row = f"| {name} | {unit} | {optimum} | {search}"
                print(f"{row} | {_row(box, results)} | {time.perf_counter() - began:.0f} |", flush=True)


def _budgets(chosen: Mapping[str, Any], people: cg.GraphDataset, data: cg.GraphDataset) -> None:
    """Print the mean distance of the best result after some calls of a search, divided by the optimum."""
    print("\n| classifier | " + " | ".join(f"{budget} calls" for budget in BUDGETS) + " |")
    print("|---" * (1 + len(BUDGETS)) + "|")
    for name, box in chosen.items():
        optimum = np.mean(_optimum(box, people, data))
        results = cg.find_counterfactuals(box, people, "learned", data, max_calls=MAX_CALLS)
        means = [np.mean([_distance_after(each, budget) for each in results]) for budget in BUDGETS]
        print(f"| {name} | " + " | ".join(f"{mean / optimum:.3f}" for mean in means) + " |", flush=True)


def _distance_after(result: cg.Counterfactual, calls: int) -> float:
    return min((distance for asked, distance in result.trace if asked <= calls), default=np.inf)


def _optimum(box: object, people: cg.GraphDataset, data: cg.GraphDataset) -> list[int]:
    exact = cg.find_counterfactuals(box, people, "auto", data)
    if not all(each.certificate.optimal for each in exact):
        raise RuntimeError("the optimum of a linear classifier must be known for all people")
    return [each.distance for each in exact if each.distance is not None]


def _row(box: Any, results: cg.Counterfactuals) -> str:  # noqa: ANN401
    """Return found, confirmed, units, pairs and calls of some results."""
    found, shared = results.found, results.shared_calls / len(results)
    values = np.array([each.values for each in found])
    again = box.predict(values) == [each.counterfactual_label for each in found] if len(found) else np.zeros(0)
    units = _mean([each.distance for each in found])
    pairs = _mean([len(each.added) + len(each.removed) for each in found])
    calls = f"{results.calls / len(results):.0f}{f' + {shared:.0f}' if shared else ''}"
    return f"{len(found)} of {len(results)} | {int(again.sum())} | {units} | {pairs} | {calls}"


def _mean(numbers: list[Any]) -> str:
    return f"{np.mean(numbers):.1f}" if numbers else "-"


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else N_PEOPLE, sys.argv[2:])
