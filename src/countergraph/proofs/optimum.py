"""The closest counterfactual of a classifier that is linear in the edges, by computation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from countergraph.classifiers.linear_form import LinearInEdges, coefficients_of, linear_form
from countergraph.classifiers.model import Model
from countergraph.errors import InputError
from countergraph.finding.alternatives import Alternatives
from countergraph.finding.inputs import are_counts
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Floats, Values, as_value_vector
from countergraph.oracle.oracle import Oracle
from countergraph.results.certificate import NOTHING_PROVEN, Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.search.network import Network
from countergraph.search.optimum import closest_crossing, linear_score
from countergraph.search.protocol import Flips


def white_box(black_box: object) -> LinearInEdges | None:
    """Return the linear function of the edges that a black box computes; None if it is not linear."""
    if isinstance(black_box, Oracle):
        linear = black_box.input == "edges" and not black_box.with_subjects
        return white_box(black_box.black_box) if linear else None
    return linear_form(black_box.estimator if isinstance(black_box, Model) else black_box)


def optimal_flips(rule: object, network: Network) -> Flips | None:
    """Return the fewest flips that change the class of a network, for a classifier that is linear in the values."""
    return closest_crossing(network, *_coefficients(_linear(rule), network.values))


def _linear(rule: object) -> LinearInEdges:
    linear = white_box(rule)
    if linear is None:
        raise InputError(
            f"the optimum is known only for two-class classifiers that are linear in the edges; {rule!r} is not one"
        )
    return linear


def _coefficients(linear: LinearInEdges, values: Values) -> tuple[Floats, float]:
    coefficients, intercept = coefficients_of(linear)
    if coefficients.size != values.size:
        raise InputError(f"the classifier has {coefficients.size} pairs, but the graph has {values.size}")
    return coefficients, intercept


def optimal_counterfactual(
    rule: object,
    graph: ArrayLike,
    dataset: GraphDataset | None = None,
    change: str | ArrayLike | None = None,
) -> Counterfactual:
    """Return a closest counterfactual of a classifier that is linear in the edges: no other has fewer changes.

    Parameters
    ----------
    rule
        A `LinearRule`, a linear scikit-learn classifier on edge vectors, also at the end of a pipeline of affine steps
        (scalers, PCA, feature selection), or `ContrastSubgraphs` with a linear one.
    graph
        A matrix (n, n) or a vector (pairs,) of a graph or of a weighted network.
    dataset, change
        For weighted networks: the reference cohort, and the value that a pair takes if it is changed (see
        `SearchOptions`).
    """
    if isinstance(graph, GraphDataset | str):
        raise InputError("graph must be one network, an array: data.values[data.index(name)]")
    linear, values = _linear(rule), as_value_vector(graph, weighted=are_counts(graph, dataset))
    coefficients, intercept = _coefficients(linear, values)
    positive = linear_score(values, coefficients, intercept) > 0
    oracle = rule if isinstance(rule, Oracle) else None
    inner = rule if oracle is None else oracle.black_box
    low, high = np.asarray(linear.classes_).tolist()
    if oracle is not None and oracle.meanings:
        low, high = oracle.meanings[low], oracle.meanings[high]
    names = None if oracle is None else oracle.classes
    own = high if positive else low
    label = names.index(own) if names is not None and own in names else own
    network = Network(values, Alternatives(change, values[None], dataset, None).of(0, label))
    flips = closest_crossing(network, coefficients, intercept)
    weighted = network.weighted and flips is not None
    return Counterfactual(
        original=values,
        flips=flips,
        changed_values=network.alternatives[flips] if weighted else None,
        alternatives=network.alternatives if network.weighted else None,
        measure="edge" if not network.weighted else "unknown" if dataset is None else dataset.measure,
        original_label=own,
        counterfactual_label=None if flips is None else low if positive else high,
        calls_by_phase={},
        method="optimum",
        parameters={},
        stopped="finished" if flips is not None else "not found",
        why="" if flips is not None else "there is none",
        classes=inner.classes if isinstance(inner, Model) else names,
        atlas=inner.atlas if isinstance(inner, Model) else None,
        certificate=NOTHING_PROVEN if flips is None else Certificate(True, flips.size - 1, True),
    )
