"""Resuming with a store: stored results are equal, calls are not repeated, and an interruption loses little."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import countergraph as cg
from countergraph.classifiers.linear_rule import LinearRule
from countergraph.errors import BlackBoxError, InputError, Interrupted
from countergraph.finding.run import Progress
from countergraph.store.fingerprint import fingerprint
from countergraph.store.resume import FIRST_CHUNK, resume_counterfactuals
from countergraph.store.store import Store


@pytest.mark.parametrize("method", ["ofs+obs", "dfs+dbs", "ds"])
def test_stored_results_equal_those_of_find_counterfactuals(store, model, cohort, method: str) -> None:
    options = {"k": 3, "max_calls": 80, "seed": 5, "runs": 2}
    stored = resume_counterfactuals(store, model, cohort, method, target="ASD", **options)
    found = cg.find_counterfactuals(model, cohort, method, target="ASD", **options)
    assert [each.to_dict() for each in stored] == [each.to_dict() for each in found]
    assert stored[0].atlas == cohort.atlas
    assert store.count() == len(found)
    assert store.summary()["seconds"].sum() > 0


def test_classes_in_another_order_are_matched_by_name(store, model, cohort) -> None:
    low, high = cohort.classes
    swapped = replace(cohort, labels=1 - cohort.labels, classes=(high, low))
    stored = resume_counterfactuals(store, model, cohort.subset([0, 1, 2]), "ofs+obs", swapped)
    found = cg.find_counterfactuals(model, cohort.subset([0, 1, 2]), "ofs+obs", swapped)
    assert [each.sentence for each in stored] == [each.sentence for each in found]


OPTIONS: dict[str, dict[str, Any]] = {
    "additions": {"constraints": cg.Constraints(only="added")},
    "cost": {"constraints": cg.Constraints(cost="length", frozen_rois=np.arange(3, 5).tolist(), most=9)},
    "too few": {"constraints": cg.Constraints(most=1)},
    "scores": {"scores": True},
    "both": {"constraints": cg.Constraints(cost="plausible"), "scores": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_constrained_and_scored_searches_are_stored(store, cohort, name: str) -> None:
    model = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    options = {"method": "learned", "max_calls": 60, **OPTIONS[name]}
    found = cg.find_counterfactuals(model, cohort, **options)
    unconstrained = resume_counterfactuals(store, model, cohort, max_calls=60)
    for _ in range(2):
        stored = resume_counterfactuals(store, model, cohort, **options)
        assert [each.to_dict() for each in stored] == [each.to_dict() for each in found]
        assert [each.limited for each in stored] == [each.limited for each in found]
        assert [each.sentence for each in stored] == [each.sentence for each in found]
        assert any("more than 1 change" in each.why for each in stored) == (name == "too few")
        assert store.count() == 2 * len(cohort), "stored separately from the unconstrained ones, and not searched twice"
    assert [each.to_dict() for each in resume_counterfactuals(store, model, cohort, max_calls=60)] == [
        each.to_dict() for each in unconstrained
    ]
    assert [json.loads(each.options).get("scores", False) for each in store.settings()] == [
        False,
        "scores" in OPTIONS[name],
    ]


def test_frozen_rois_are_looked_up_in_the_atlas(store, model, cohort) -> None:
    names = list(cohort.atlas.names)
    other = replace(cohort, atlas=cg.Atlas(names[::-1], name="reversed"))
    frozen = cg.Constraints(frozen_rois=names[:5])
    one, two = (
        resume_counterfactuals(
            store, model.estimator, data, "ofs+obs", max_calls=60, constraints=frozen, box="test box"
        )
        for data in (cohort, other)
    )
    assert store.count() == 2 * len(cohort)
    assert [each.to_dict() for each in one] != [each.to_dict() for each in two]
    with pytest.raises(InputError, match="trained on other ROIs, or on the same ROIs in another order: ROI 0 is"):
        cg.find_counterfactuals(model, other)
    without_atlas = replace(cohort, atlas=None)
    mixed = cg.find_counterfactuals(model, cohort, "ofs+obs", without_atlas, max_calls=60, constraints=frozen)
    assert not any(min(pair) < 5 for each in mixed.found for pair in [*each.added, *each.removed])


@pytest.mark.parametrize(("error", "raised"), [(KeyboardInterrupt, Interrupted), (RuntimeError, BlackBoxError)])
def test_exception_contains_stored_and_partial_results(store, cohort, error: type[BaseException], raised: Any) -> None:
    oracle = cg.Oracle(model_that_raises(cohort, error, after=10**9))
    first = resume_counterfactuals(store, oracle, cohort, "ofs+obs", runs=1, box="test box")
    oracle = cg.Oracle(model_that_raises(cohort, error, after=25))
    with pytest.raises(raised) as stopped:
        resume_counterfactuals(store, oracle, cohort, "ofs+obs", runs=2, box="test box")
    results = stopped.value.results
    started = sorted([(graph, 0) for graph in range(len(cohort))] + [(graph, 1) for graph in range(FIRST_CHUNK)])
    assert [(each.graph_index, each.run) for each in results] == started
    assert [each.to_dict() for each in results if each.run == 0] == [each.to_dict() for each in first]
    assert any(each.found for each in results if each.run == 1)
    assert {each.stopped for each in results if each.run == 1} >= {"interrupted"}


def model_that_raises(cohort: cg.GraphDataset, error: type[BaseException], after: int):
    """Return a rule on the number of edges that raises after some batches."""
    limit, batches = np.median(cohort.edges.sum(axis=1)), 0

    def answer(adjacency: np.ndarray) -> np.ndarray:
        nonlocal batches
        batches += 1
        if batches > after:
            raise error
        return (adjacency.sum(axis=(1, 2)) > 2 * limit).astype(int)

    return answer


class LimitedForest:
    """A forest that raises an error once it has classified a number of graphs."""

    def __init__(self, cohort: cg.GraphDataset, limit: float) -> None:
        self.forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
        self.classes_, self.limit = self.forest.classes_, limit
        self.answered = 0

    def predict(self, edges: np.ndarray) -> np.ndarray:
        if self.answered + len(edges) > self.limit:
            raise RuntimeError("limit reached")
        self.answered += len(edges)
        return np.array(self.forest.predict(edges))

    def predict_proba(self, edges: np.ndarray) -> np.ndarray:
        return np.array(self.forest.predict_proba(edges))


@pytest.mark.parametrize("scores", [False, True])
def test_interrupted_joint_run_does_not_repeat_calls(store, cohort, tmp_path, scores: bool) -> None:
    options: dict[str, Any] = {"box": "test box", "max_calls": 60, "scores": scores, "runs": 2}
    with Store(tmp_path / "undisturbed.sqlite") as other:
        unlimited = LimitedForest(cohort, np.inf)
        expected = resume_counterfactuals(other, unlimited, cohort, **options)
    answered = failures = 0
    while True:
        limited = LimitedForest(cohort, 100)
        try:
            results = resume_counterfactuals(store, limited, cohort, **options)
        except BlackBoxError:
            failures += 1
        else:
            break
        finally:
            answered += limited.answered
    assert failures > 2
    assert answered == unlimited.answered, "no call was repeated"
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert store._database.execute("SELECT count(*) FROM answers").fetchone() == (0,), "the answers are deleted"


def test_stored_answers_to_other_graphs_are_ignored(store, cohort) -> None:
    options: dict[str, Any] = {"box": "test box", "max_calls": 60}
    with pytest.raises(BlackBoxError):
        resume_counterfactuals(store, LimitedForest(cohort, 150), cohort, **options)
    [setting] = store.settings()
    answers = store.answers(setting, 0)
    assert len(answers) > 100
    store.add_answers(setting, 0, 30, [(b"another graph", '["wrong class"]')] * (len(answers) - 30))
    unlimited = LimitedForest(cohort, np.inf)
    results = resume_counterfactuals(store, unlimited, cohort, **options)
    expected = cg.find_counterfactuals(LimitedForest(cohort, np.inf), cohort, max_calls=60)
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert unlimited.answered >= results.calls - 30


def test_only_missing_searches_run(store, model, cohort) -> None:
    oracle = cg.Oracle(model)
    first = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=1)
    calls = oracle.asked
    again = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=1)
    assert oracle.asked == calls == sum(each.calls for each in first)
    assert [each.to_dict() for each in again] == [each.to_dict() for each in first]
    more = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=3)
    assert oracle.asked == sum(each.calls for each in more)
    for other in ({"seed": 1}, {"k": 4}, {"max_calls": 61}, {"method": "ofs"}, {"target": 1}):
        calls = oracle.asked
        resume_counterfactuals(store, oracle, cohort, **{"max_calls": 60, **other})
        assert oracle.asked > calls


def test_results_before_an_interruption_are_stored(store, model, cohort) -> None:
    class Interrupting:
        batches = 0

        def predict(self, edges):
            self.batches += 1
            if self.batches == 40:
                raise KeyboardInterrupt
            return model.predict(edges)

    with pytest.raises(Interrupted):
        resume_counterfactuals(store, Interrupting(), cohort, "ofs+obs", max_calls=60, box="test box")
    n_stored = store.count()
    assert 0 < n_stored < len(cohort)
    results = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60, box="test box")
    assert [each.to_dict() for each in results] == [
        each.to_dict() for each in cg.find_counterfactuals(model, cohort, "ofs+obs", max_calls=60)
    ]


def test_interruption_loses_only_one_chunk(store, cohort, monkeypatch) -> None:
    """Searches in lockstep end at about the same time. Without chunks, half of the calls would be lost."""
    monkeypatch.setattr("countergraph.store.resume.FIRST_CHUNK", 4)
    monkeypatch.setattr("countergraph.store.resume.QUICK", 0.0)

    def dense(edges: np.ndarray) -> np.ndarray:
        return (edges.sum(axis=1) > 30).astype(int)

    class Interrupting(cg.Oracle):
        def classify(self, *args: Any, **options: Any) -> Any:
            if self.asked > half:
                raise KeyboardInterrupt
            return super().classify(*args, **options)

    expected = cg.find_counterfactuals(cg.Oracle(dense, input="edges"), cohort, "ofs+obs")
    half = expected.calls // 2
    with pytest.raises(Interrupted):
        resume_counterfactuals(store, Interrupting(dense, input="edges"), cohort, "ofs+obs", box="dense")
    reports: list[Progress] = []
    resumed = cg.Oracle(dense, input="edges")
    results = resume_counterfactuals(store, resumed, cohort, "ofs+obs", box="dense", progress=reports.append)
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert resumed.asked < 0.65 * expected.calls
    assert reports[-1] == (len(cohort), len(cohort), resumed.asked)
    assert {each.total for each in reports} == {len(cohort)}
    assert all(before.finished <= after.finished for before, after in pairwise(reports))


def test_fingerprint_identifies_the_fitted_state(model, cohort, tmp_path: Path) -> None:
    loaded = cg.load_model(model.save(tmp_path / "model.cgm"))
    assert fingerprint(loaded) == fingerprint(model)
    loaded.predict(cohort.edges)
    assert fingerprint(loaded) == fingerprint(model) != fingerprint(cg.Oracle(model))
    boxes = [
        cg.train(cohort, alpha=0.3),
        LinearRule([[0, 1, 2]], [1.0], -1.0, 20),
        LinearRule([[0, 1, 2]], [1.0], -2.0, 20),
        *(RandomForestClassifier(3, random_state=seed).fit(cohort.edges, cohort.labels) for seed in (0, 1)),
    ]
    assert len({fingerprint(box) for box in (model, *boxes)}) == len(boxes) + 1
    with pytest.raises(InputError, match="the state of a function cannot be inspected: pass a name and version"):
        fingerprint(lambda graphs: graphs)

    class CustomForest(RandomForestClassifier):  # type: ignore[misc]
        """A subclass may change the predictions."""

    with pytest.raises(InputError, match="the state of a CustomForest cannot be inspected"):
        fingerprint(CustomForest(3, random_state=0).fit(cohort.edges, cohort.labels))


def test_arrays_raise(store, model, cohort) -> None:
    with pytest.raises(InputError, match="resume_counterfactuals takes a GraphDataset, not a ndarray"):
        resume_counterfactuals(store, model, cohort.edges)


def test_confirmed_and_unconfirmed_searches_are_stored_separately(store, model, cohort) -> None:
    plain = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60, confirm=False)
    confirmed = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60)
    assert store.count() == 2 * len(cohort)
    assert sum(each.calls for each in confirmed) > sum(each.calls for each in plain)
    assert {each.parameters.get("confirm") for each in plain} == {False}
    resume_counterfactuals(store, model, cohort, max_calls=60, confirm=False)
    learned = resume_counterfactuals(store, model, cohort, max_calls=60)
    assert store.count() == 3 * len(cohort), "learned always confirms"
    assert learned[0].parameters == {"k": 5, "max_calls": 60, "seed": 0, "target": None, "effort": "standard"}
