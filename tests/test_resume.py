"""Going on with a store: what comes back, what is not asked again, what a stop loses."""

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
from countergraph.store.resume import FIRST, resume_counterfactuals
from countergraph.store.store import Store


@pytest.mark.parametrize("method", ["ofs+obs", "dfs+dbs", "ds"])
def test_what_comes_back_is_what_was_found(store, model, cohort, method: str) -> None:
    options = {"k": 3, "max_calls": 80, "seed": 5, "runs": 2}
    stored = resume_counterfactuals(store, model, cohort, method, target="ASD", **options)
    found = cg.find_counterfactuals(model, cohort, method, target="ASD", **options)
    assert [each.to_dict() for each in stored] == [each.to_dict() for each in found]
    assert stored[0].atlas == cohort.atlas
    assert store.count() == len(found)
    assert store.summary()["seconds"].sum() > 0


def test_classes_keep_their_names_in_another_order(store, model, cohort) -> None:
    low, high = cohort.classes
    swapped = replace(cohort, labels=1 - cohort.labels, classes=(high, low))
    stored = resume_counterfactuals(store, model, cohort.subset([0, 1, 2]), "ofs+obs", swapped)
    found = cg.find_counterfactuals(model, cohort.subset([0, 1, 2]), "ofs+obs", swapped)
    assert [each.sentence for each in stored] == [each.sentence for each in found]


ASKED: dict[str, dict[str, Any]] = {
    "additions": {"constraints": cg.Constraints(only="added")},
    "dear": {"constraints": cg.Constraints(cost="length", frozen_rois=np.arange(3, 5).tolist(), most=9)},
    "too few": {"constraints": cg.Constraints(most=1)},
    "scores": {"scores": True},
    "both": {"constraints": cg.Constraints(cost="plausible"), "scores": True},
}


@pytest.mark.parametrize("name", ASKED)
def test_constrained_and_scored_searches_come_back_too(store, cohort, name: str) -> None:
    model = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
    options = {"method": "learned", "max_calls": 60, **ASKED[name]}
    found = cg.find_counterfactuals(model, cohort, **options)
    free = resume_counterfactuals(store, model, cohort, max_calls=60)
    for _ in "once", "again":
        stored = resume_counterfactuals(store, model, cohort, **options)
        assert [each.to_dict() for each in stored] == [each.to_dict() for each in found]
        assert [each.limited for each in stored] == [each.limited for each in found]
        assert [each.sentence for each in stored] == [each.sentence for each in found]
        assert any("more than 1 change" in each.why for each in stored) == (name == "too few")
        assert store.count() == 2 * len(cohort), "kept apart from the free ones, and not searched twice"
    assert [each.to_dict() for each in resume_counterfactuals(store, model, cohort, max_calls=60)] == [
        each.to_dict() for each in free
    ]
    assert [json.loads(each.asked).get("scores", False) for each in store.settings()] == [
        False,
        "scores" in ASKED[name],
    ]


def test_names_of_regions_mean_what_the_atlas_says(store, model, cohort) -> None:
    names = list(cohort.atlas.names)
    other = replace(cohort, atlas=cg.Atlas(names[::-1], name="upside down"))
    frozen = cg.Constraints(frozen_rois=names[:5])
    one, two = (
        resume_counterfactuals(store, model.estimator, data, "ofs+obs", max_calls=60, constraints=frozen, box="it")
        for data in (cohort, other)
    )
    assert store.count() == 2 * len(cohort)
    assert [each.to_dict() for each in one] != [each.to_dict() for each in two]
    with pytest.raises(InputError, match="trained on other ROIs, or on the same ROIs in another order: ROI 0 is"):
        cg.find_counterfactuals(model, other)
    bare = replace(cohort, atlas=None)
    mixed = cg.find_counterfactuals(model, cohort, "ofs+obs", bare, max_calls=60, constraints=frozen)
    assert not any(min(pair) < 5 for each in mixed.found for pair in [*each.added, *each.removed])


@pytest.mark.parametrize(("what", "raised"), [(KeyboardInterrupt, Interrupted), (RuntimeError, BlackBoxError)])
def test_whoever_stops_gets_what_the_store_has_and_what_was_found(
    store, cohort, what: type[BaseException], raised: Any
) -> None:
    oracle = cg.Oracle(model_that_stops(cohort, what, after=10**9))
    first = resume_counterfactuals(store, oracle, cohort, "ofs+obs", runs=1, box="it")
    oracle = cg.Oracle(model_that_stops(cohort, what, after=25))
    with pytest.raises(raised) as stopped:
        resume_counterfactuals(store, oracle, cohort, "ofs+obs", runs=2, box="it")
    results = stopped.value.results
    begun = sorted([(graph, 0) for graph in range(len(cohort))] + [(graph, 1) for graph in range(FIRST)])
    assert [(each.graph_index, each.run) for each in results] == begun
    assert [each.to_dict() for each in results if each.run == 0] == [each.to_dict() for each in first]
    assert any(each.found for each in results if each.run == 1)
    assert {each.stopped for each in results if each.run == 1} >= {"interrupted"}


def model_that_stops(cohort: cg.GraphDataset, what: type[BaseException], after: int):
    """Return a rule on the number of edges that raises after some batches."""
    limit, batches = np.median(cohort.edges.sum(axis=1)), 0

    def answer(adjacency: np.ndarray) -> np.ndarray:
        nonlocal batches
        batches += 1
        if batches > after:
            raise what
        return (adjacency.sum(axis=(1, 2)) > 2 * limit).astype(int)

    return answer


class Mortal:
    """A forest that dies after some graphs, and then whenever it is asked."""

    def __init__(self, cohort: cg.GraphDataset, life: float) -> None:
        self.forest = RandomForestClassifier(5, random_state=0).fit(cohort.edges, cohort.labels)
        self.classes_, self.life = self.forest.classes_, life
        self.answered = 0

    def predict(self, edges: np.ndarray) -> np.ndarray:
        if self.answered + len(edges) > self.life:
            raise RuntimeError("dead")
        self.answered += len(edges)
        return np.array(self.forest.predict(edges))

    def predict_proba(self, edges: np.ndarray) -> np.ndarray:
        return np.array(self.forest.predict_proba(edges))


@pytest.mark.parametrize("scores", [False, True])
def test_a_run_that_was_stopped_is_not_asked_again_what_it_knows(store, cohort, tmp_path, scores: bool) -> None:
    options: dict[str, Any] = {"box": "it", "max_calls": 60, "scores": scores, "runs": 2}
    with Store(tmp_path / "undisturbed.sqlite") as other:
        healthy = Mortal(cohort, np.inf)
        expected = resume_counterfactuals(other, healthy, cohort, **options)
    answered = deaths = 0
    while True:
        mortal = Mortal(cohort, 150)
        try:
            results = resume_counterfactuals(store, mortal, cohort, **options)
        except BlackBoxError:
            deaths += 1
        else:
            break
        finally:
            answered += mortal.answered
    assert deaths > 2
    assert answered == healthy.answered, "no answer was asked for twice"
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert store._database.execute("SELECT count(*) FROM answers").fetchone() == (0,), "nothing is left behind"


def test_answers_of_another_run_do_not_count(store, cohort) -> None:
    options: dict[str, Any] = {"box": "it", "max_calls": 60}
    with pytest.raises(BlackBoxError):
        resume_counterfactuals(store, Mortal(cohort, 150), cohort, **options)
    [setting] = store.settings()
    told = store.answers(setting, 0)
    assert len(told) > 100
    store.tell(setting, 0, 30, [(b"something else", '["nonsense"]')] * (len(told) - 30))
    healthy = Mortal(cohort, np.inf)
    results = resume_counterfactuals(store, healthy, cohort, **options)
    expected = cg.find_counterfactuals(Mortal(cohort, np.inf), cohort, max_calls=60)
    assert [each.to_dict() for each in results] == [each.to_dict() for each in expected]
    assert healthy.answered >= results.calls - 30


def test_only_what_is_missing_is_searched(store, model, cohort) -> None:
    oracle = cg.Oracle(model)
    first = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=1)
    asked = oracle.asked
    again = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=1)
    assert oracle.asked == asked == sum(each.calls for each in first)
    assert [each.to_dict() for each in again] == [each.to_dict() for each in first]
    more = resume_counterfactuals(store, oracle, cohort, max_calls=60, runs=3)
    assert oracle.asked == sum(each.calls for each in more)
    for other in ({"seed": 1}, {"k": 4}, {"max_calls": 61}, {"method": "ofs"}, {"target": 1}):
        asked = oracle.asked
        resume_counterfactuals(store, oracle, cohort, **{"max_calls": 60, **other})
        assert oracle.asked > asked


def test_what_was_found_before_an_interruption_is_kept(store, model, cohort) -> None:
    class Impatient:
        asked = 0

        def predict(self, edges):
            self.asked += 1
            if self.asked == 40:
                raise KeyboardInterrupt
            return model.predict(edges)

    with pytest.raises(Interrupted):
        resume_counterfactuals(store, Impatient(), cohort, "ofs+obs", max_calls=60, box="impatient")
    kept = store.count()
    assert 0 < kept < len(cohort)
    results = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60, box="impatient")
    assert [each.to_dict() for each in results] == [
        each.to_dict() for each in cg.find_counterfactuals(model, cohort, "ofs+obs", max_calls=60)
    ]


def test_what_stops_halfway_loses_no_more_than_what_ran_together(store, cohort, monkeypatch) -> None:
    """Searches in lockstep end at about the same time: if all began together, half of the questions would be lost."""
    monkeypatch.setattr("countergraph.store.resume.FIRST", 4)
    monkeypatch.setattr("countergraph.store.resume.QUICK", 0.0)

    def dense(edges: np.ndarray) -> np.ndarray:
        return (edges.sum(axis=1) > 30).astype(int)

    class Breaking(cg.Oracle):
        def ask(self, *args: Any, **options: Any) -> Any:
            if self.asked > half:
                raise KeyboardInterrupt
            return super().ask(*args, **options)

    whole = cg.find_counterfactuals(cg.Oracle(dense, input="edges"), cohort, "ofs+obs")
    half = whole.calls // 2
    with pytest.raises(Interrupted):
        resume_counterfactuals(store, Breaking(dense, input="edges"), cohort, "ofs+obs", box="dense")
    told: list[Progress] = []
    going_on = cg.Oracle(dense, input="edges")
    results = resume_counterfactuals(store, going_on, cohort, "ofs+obs", box="dense", progress=told.append)
    assert [each.to_dict() for each in results] == [each.to_dict() for each in whole]
    assert going_on.asked < 0.65 * whole.calls
    assert told[-1] == (len(cohort), len(cohort), going_on.asked)
    assert {each.total for each in told} == {len(cohort)}
    assert all(before.finished <= after.finished for before, after in pairwise(told))


def test_a_black_box_is_known_by_what_it_has_learnt(model, cohort, tmp_path: Path) -> None:
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
    with pytest.raises(InputError, match="nobody can look into a function"):
        fingerprint(lambda graphs: graphs)

    class Own(RandomForestClassifier):  # type: ignore[misc]
        """What it decides is in its code."""

    with pytest.raises(InputError, match="nobody can look into a Own"):
        fingerprint(Own(3, random_state=0).fit(cohort.edges, cohort.labels))


def test_only_graphs_with_names_are_kept(store, model, cohort) -> None:
    with pytest.raises(InputError, match="searches of the graphs of a GraphDataset, not of a ndarray"):
        resume_counterfactuals(store, model, cohort.edges)


def test_confirmed_and_unconfirmed_searches_are_kept_apart(store, model, cohort) -> None:
    plain = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60, confirm=False)
    confirmed = resume_counterfactuals(store, model, cohort, "ofs+obs", max_calls=60)
    assert store.count() == 2 * len(cohort)
    assert sum(each.calls for each in confirmed) > sum(each.calls for each in plain)
    assert {each.parameters.get("confirm") for each in plain} == {False}
    resume_counterfactuals(store, model, cohort, max_calls=60, confirm=False)
    learned = resume_counterfactuals(store, model, cohort, max_calls=60)
    assert store.count() == 3 * len(cohort), "learned always confirms"
    assert learned[0].parameters == {"k": 5, "max_calls": 60, "seed": 0, "target": None}
