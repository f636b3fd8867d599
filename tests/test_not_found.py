"""The sentence of a search without a result gives the reason."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

import countergraph as cg


def constant(adjacency: np.ndarray) -> np.ndarray:
    return np.zeros(len(adjacency), int)


def test_sentence_gives_the_reason_if_no_counterfactual_was_found() -> None:
    graph = np.zeros((6, 6), int)
    few = cg.find_counterfactual(
        lambda a: (a.sum(axis=(1, 2)) > 8).astype(int), graph, "ofs", constraints=cg.Constraints(most=3)
    )
    assert few.sentence.endswith(": all candidates that changed the class have more than 3 changes.")
    assert not few.found
    answers = iter([0, 1])
    unconfirmed = cg.find_counterfactual(
        lambda a: np.array([next(answers, 0) for _ in a]), graph, "ofs+obs", constraints=cg.Constraints(most=15)
    )
    assert unconfirmed.sentence.endswith(
        ": the candidates that changed the class did not do so when they were classified again."
    )
    spent = cg.find_counterfactual(constant, graph, "ofs", max_calls=3, confirm=False)
    assert spent.sentence.endswith("within 3 calls: the budget of calls is spent.")
    tried = cg.find_counterfactual(constant, graph, "ofs", k=15)
    assert tried.sentence.endswith(": no candidate that was classified changes the class.")
    bound = cg.find_counterfactual(constant, graph, "ofs", k=15, constraints=cg.Constraints(only="added"))
    assert bound.sentence.endswith(": no candidate that was classified changes the class within the constraints.")
    late = cg.find_counterfactual(constant, graph, "ofs", time_limit=1e-9)
    assert late.sentence == "The graph was not classified. No counterfactual was found: the time limit was reached."
    back = cg.Counterfactual.from_dict(json.loads(json.dumps(few.to_dict())))
    assert back.sentence == few.sentence


def test_sentence_names_a_target_that_was_never_predicted() -> None:
    def box(adjacency: np.ndarray) -> np.ndarray:
        return np.where(adjacency.sum(axis=(1, 2)) > 8, "ASD", "TD")

    result = cg.find_counterfactual(box, np.zeros((6, 6), int), "ofs+obs", target="ADS")
    assert result.sentence.endswith(": no candidate was classified as ADS, only as ASD and TD.")
    assert cg.find_counterfactual(box, np.zeros((6, 6), int), "ofs+obs", target="ASD").found
    unexplained = replace(result, why="")
    assert unexplained.sentence.endswith(": no candidate that was classified changes the class to ADS.")
    received: list[cg.Counterfactual] = []
    [returned] = cg.find_counterfactuals(
        box, np.zeros((1, 6, 6), int), "ofs+obs", target="ADS", finished=received.append
    )
    assert [each.sentence for each in received] == [returned.sentence] == [result.sentence]
    numbered = cg.find_counterfactual(lambda a: a[:, 0, 1], np.zeros((6, 6), int), "ofs+obs", target=7)
    assert "no candidate was classified as class 7, only as class 0 and class 1" in numbered.sentence
