"""The arguments of a search, checked and converted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import InputError
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Label, Values, as_value_vectors
from countergraph.oracle.described import DescribedModel
from countergraph.oracle.oracle import Oracle
from countergraph.search.options import Effort, SearchOptions
from countergraph.search.protocol import Reference


def are_counts(networks: ArrayLike, dataset: GraphDataset | None) -> bool:
    """Check whether networks are counts, even if all of them are 0 or 1, because those of the dataset are."""
    is_count = isinstance(dataset, GraphDataset) and dataset.measure == "count"
    return is_count and np.asarray(networks).dtype != np.bool_


def oracle_of(black_box: object) -> Oracle:
    """Return an oracle around a black box. The classes of a `DescribedModel` are identified by name, not by order."""
    if isinstance(black_box, Oracle):
        return black_box
    return Oracle(black_box, classes=black_box.classes if isinstance(black_box, DescribedModel) else None)


def vectors_of(graphs: GraphDataset | ArrayLike, dataset: GraphDataset | None) -> Values:
    """Return the values of networks (networks, pairs)."""
    if isinstance(graphs, GraphDataset):
        return graphs.values
    return as_value_vectors(graphs, weighted=are_counts(graphs, dataset))


def reference_of(dataset: GraphDataset | None) -> Reference | None:
    """Return the labelled graphs; None if all labels are the same."""
    if dataset is None or np.unique(dataset.labels).size < 2:
        return None
    return Reference(dataset.values, dataset.labels)


def check_dataset(
    options: SearchOptions, dataset: GraphDataset | None, values: Values, cohort: GraphDataset | None
) -> None:
    """Raise `InputError` if the labelled networks do not fit the searches, or the networks to explain."""
    if dataset is not None and not isinstance(dataset, GraphDataset):
        raise InputError(f"dataset must be a GraphDataset, not {type(dataset).__name__}")
    needing = [phase.name for phase in options.phases if phase.needs_dataset]
    if needing and reference_of(dataset) is None:
        found = "no dataset was given" if dataset is None else "all graphs of the dataset are in one class"
        verb = "need" if len(needing) > 1 else "needs"
        raise InputError(
            f"{' and '.join(needing)} {verb} labelled graphs of several classes, but {found}: "
            "pass a GraphDataset as dataset="
        )
    if dataset is not None and dataset.values.shape[1] != values.shape[1]:
        raise InputError(
            f"the graphs have {values.shape[1]} pairs, but the dataset has {dataset.values.shape[1]}: the ROIs differ"
        )
    measures = {each.measure for each in (cohort, dataset) if each is not None} - {"unknown"}
    if len(measures) > 1 and "edge" not in measures:
        assert cohort is not None
        assert dataset is not None
        raise InputError(
            f"the networks are of the measure {cohort.measure!r}, but those of the dataset of {dataset.measure!r}: "
            "convert one of them, so that both are as the classifier was trained on"
        )
    if dataset is not None and dataset.weighted != (values.dtype != np.bool_):
        weighted, binary = ("dataset", "graphs to explain")[:: 1 if dataset.weighted else -1]
        raise InputError(
            f"there are other values than 0 and 1 in the {weighted}, but only 0 and 1 in the {binary}: pass both as "
            "the classifier was trained on"
        )


def default_effort(options: SearchOptions, n_searches: int) -> Effort | None:
    """Return the effort: by default that of an explanation for one search, and that of a cohort for several."""
    if options.effort is not None or not options.parsed_method.is_joint:
        return options.effort
    return "thorough" if n_searches == 1 else "standard"


def target_label(target: Label | None, classes: tuple[str, ...] | None) -> Label | None:
    """Return the label of the target class."""
    if target is None or classes is None:
        return target
    if isinstance(target, str) and target in classes:
        return classes.index(target)
    if isinstance(target, int) and 0 <= target < len(classes):
        return target
    raise InputError(f"target must be one of the classes {', '.join(classes)} (or its label), not {target!r}")
