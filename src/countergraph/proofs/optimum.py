"""The closest counterfactual of a classifier that is linear in the edges, by computation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from countergraph.classifiers.linear_form import LinearInEdges, linear_form
from countergraph.classifiers.model import Model
from countergraph.errors import InputError
from countergraph.graphs.pairs import as_edge_vector, snap_to_zero
from countergraph.oracle.oracle import Oracle
from countergraph.results.certificate import NOTHING_PROVEN, Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.search.optimum import closest_crossing


def white_box(black_box: object) -> LinearInEdges | None:
    """Return the linear function of the edges that a black box computes; None if it is not linear."""
    if isinstance(black_box, Oracle):
        linear = black_box.input == "edges" and not black_box.with_subjects
        return white_box(black_box.black_box) if linear else None
    return linear_form(black_box.estimator if isinstance(black_box, Model) else black_box)


def optimal_counterfactual(rule: object, graph: ArrayLike) -> Counterfactual:
    """Return a closest counterfactual of a classifier that is linear in the edges: no other has fewer changes.

    Parameters
    ----------
    rule
        A `LinearRule`, a linear scikit-learn classifier on edge vectors, or `ContrastSubgraphs` with a linear one.
    graph
        An adjacency matrix (n, n) or an edge vector (pairs,).
    """
    linear = white_box(rule)
    if linear is None:
        raise InputError(
            f"the optimum is known only for two-class classifiers that are linear in the edges; {rule!r} is not one"
        )
    edges = as_edge_vector(graph)
    coefficients, intercept = np.asarray(linear.coef_).ravel(), float(np.asarray(linear.intercept_).ravel()[0])
    if coefficients.size != edges.size:
        raise InputError(f"the classifier has {coefficients.size} pairs, but the graph has {edges.size}")
    flips = closest_crossing(edges, coefficients, intercept)
    positive = snap_to_zero(coefficients[edges].sum() + intercept, coefficients) > 0
    oracle = rule if isinstance(rule, Oracle) else None
    inner = rule if oracle is None else oracle.black_box
    low, high = np.asarray(linear.classes_).tolist()
    if oracle is not None and oracle.meanings:
        low, high = oracle.meanings[low], oracle.meanings[high]
    names = None if oracle is None else oracle.classes
    return Counterfactual(
        original=edges,
        flips=flips,
        original_label=high if positive else low,
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
