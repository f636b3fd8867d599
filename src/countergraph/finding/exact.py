"""The exact optimum of linear classifiers as a method."""

from __future__ import annotations

from countergraph.graphs.pairs import Values
from countergraph.search.exact import ExactSearch
from countergraph.search.methods import Method, Phase
from countergraph.search.options import AUTO, SearchOptions

EXACT = "exact"
"""The name of the method in results."""


def is_exact(phase: Phase) -> bool:
    """Check whether a search computes the optimum, so that its first candidate is optimal if it is a counterfactual."""
    return isinstance(phase.search, ExactSearch)


def resolve_method(black_box: object, values: Values, options: SearchOptions, has_start: bool) -> str | Method:
    """Return the method of ``"auto"``: exact for a linear estimator of scikit-learn, else learned; others unchanged.

    Several runs are for different counterfactuals of the same network, so they are not exact.
    """
    if options.method != AUTO:
        return options.parsed_method
    free = len(options.run_numbers) == 1 and not (options.constraints is not None and options.constraints.describe())
    if free and options.unit == "pair" and not options.scores and not has_start:
        search = _exact_search(black_box, values.shape[1])
        if search is not None:
            return Method((Phase(EXACT, "forward", search, title="Exact optimum of a linear classifier"),))
    return "learned"


def _exact_search(black_box: object, n_pairs: int) -> ExactSearch | None:
    """Return the search with the coefficients of an estimator; None if it is not linear."""
    if not type(black_box).__module__.startswith("sklearn."):
        return None
    # These imports load scikit-learn, which is loaded already.
    from countergraph.classifiers.linear_form import coefficients_of, linear_form

    linear = linear_form(black_box)
    if linear is None:
        return None
    coefficients, intercept = coefficients_of(linear)
    return ExactSearch(coefficients, intercept) if coefficients.size == n_pairs else None
