"""The input of a run, checked once: it creates the jobs of the driver, and a result for each record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from countergraph.errors import InputError
from countergraph.finding.alternatives import Alternatives
from countergraph.finding.constraints import Constraints
from countergraph.finding.exact import is_exact, resolve_method
from countergraph.finding.inputs import check_dataset, default_effort, oracle_of, reference_of, target_label, vectors_of
from countergraph.finding.mismatch import Mismatches
from countergraph.finding.start import Start, start_flips
from countergraph.finding.units import changed_units, units_of
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.correlation import has_correlations, nearest_correlation
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.measure import Measure, diagonal_of
from countergraph.graphs.pairs import Label, Values, is_weighted, roi_count
from countergraph.oracle.answers import Labels, Scored
from countergraph.oracle.described import DescribedModel
from countergraph.oracle.oracle import Oracle
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.wording import why_nothing
from countergraph.search.job import Job
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.network import Layout, Network, Problem
from countergraph.search.options import SearchOptions
from countergraph.search.protocol import Flips, Reference
from countergraph.search.record import Record
from countergraph.search.units import Units

NO_CHANGE = "no pair can change: the alternative value of every allowed pair is its present value"


@dataclass(frozen=True, eq=False)
class Request:
    """Searches of some graphs with a black box."""

    oracle: Oracle
    values: Values
    """The networks (networks, pairs)."""
    cohort: GraphDataset | None
    """The graphs as a dataset, if they were given as one."""
    dataset: GraphDataset | None
    """The labelled graphs that a search may use."""
    options: SearchOptions
    """The options; ``target`` is a label."""
    starts: tuple[Flips | None, ...] = ()
    """A known counterfactual of each graph; empty if there is none."""

    @classmethod
    def of(
        cls,
        black_box: object,
        graphs: GraphDataset | ArrayLike,
        dataset: GraphDataset | None,
        options: SearchOptions,
        start: Start | None = None,
    ) -> Request:
        """Check everything before the first call."""
        cohort = graphs if isinstance(graphs, GraphDataset) else None
        values = vectors_of(graphs, dataset)
        dataset = dataset if dataset is not None else cohort
        check_dataset(options, dataset, values, cohort)
        if isinstance(black_box, DescribedModel) and cohort is not None:
            black_box.check_fits(cohort)
        oracle = oracle_of(black_box)
        if options.constraints is not None and not isinstance(options.constraints, Constraints):
            raise InputError(f"constraints must be Constraints(...), not {options.constraints!r}")
        if options.scores and not oracle.has_probabilities:
            raise InputError("scores=True needs probabilities, but the black box has no method predict_proba")
        classes = oracle.classes if dataset is None else dataset.classes
        resolved = replace(
            options,
            target=target_label(options.target, classes),
            effort=default_effort(options, len(values) * len(options.run_numbers)),
            method=resolve_method(black_box, values, options, start is not None),
            amounts=options.amounts and values.dtype != np.bool_,
            valid=options.valid if values.dtype != np.bool_ else "check",
        )
        starts = () if start is None else start_flips(start, values, resolved)
        request = cls(oracle, values, cohort, dataset, resolved, starts)
        request.alternatives.check(request.measure)
        if resolved.valid == "nearest" and not has_correlations(request.measure):
            raise InputError(
                f"valid='nearest' is for correlations and Fisher z values, but the measure of the networks is "
                f"{request.measure!r}: pass GraphDataset(..., measure='correlation'), or remove valid="
            )
        request.check_constraints()
        return request

    def part(self, graphs: Sequence[int], runs: Sequence[int]) -> Request:
        """Return the searches of some of the graphs, in some runs."""
        change = self.options.change if isinstance(self.options.change, str) else self.alternatives.part(graphs)
        return replace(
            self,
            values=self.values[list(graphs)],
            cohort=None if self.cohort is None else self.cohort.subset(graphs),
            options=replace(self.options, runs=tuple(runs), change=change),
            starts=tuple(self.starts[graph] for graph in graphs) if self.starts else (),
        )

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes, by label, if they are known."""
        return self.oracle.classes if self.dataset is None else self.dataset.classes

    @property
    def atlas(self) -> Atlas | None:
        """The ROIs; if the data do not name them, those that the model was trained on."""
        data = self.dataset if self.cohort is None else self.cohort
        if data is not None:
            return data.atlas
        return self.oracle.black_box.atlas if isinstance(self.oracle.black_box, DescribedModel) else None

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The options that, with graph, black box, method and dataset, determine the result."""
        return self.options.describe()

    @property
    def weighted(self) -> bool:
        """Whether the networks have other values than 0 and 1."""
        return self.values.dtype != np.bool_

    @cached_property
    def alternatives(self) -> Alternatives:
        """The value that each pair takes if it is changed."""
        return Alternatives(self.options.change, self.values, self.dataset, self.options.target)

    def problem(self, index: int, label: Label) -> Problem:
        """Return what can be changed in a network of some class, and the constraints."""
        network = Network(self.values[index], self.alternatives.of(index, label))
        limits = self._limits(network)
        return Problem(network, limits) if self.units is None else self.units.problem(network, limits)

    def _limits(self, network: Network) -> Limits:
        constraints = self.options.constraints
        limits = NO_LIMITS
        if isinstance(constraints, Constraints):
            limits = constraints.limits(network, self.atlas, self.dataset)
        if not network.weighted:
            return limits
        changeable = network.can_change
        return replace(limits, allowed=changeable if limits.allowed is None else changeable & limits.allowed)

    def check_constraints(self) -> None:
        """Check what does not depend on the answers of the black box, before the first call."""
        if len(self.values) and not self.weighted:
            for index in range(len(self.values)):
                self._limits(Network.of_graph(self.values[index]))
        elif isinstance(self.options.constraints, Constraints):
            self.options.constraints.check_weighted(self.values.shape[1], self.atlas, self.dataset)
        constraints = self.options.constraints
        if self.units is not None and isinstance(constraints, Constraints):
            for name in ("keep_edges", "keep_connected"):
                if getattr(constraints, name):
                    raise InputError(f"{name} is for single pairs; remove it, or use unit='pair'")
        _ = self.alternatives

    @cached_property
    def units(self) -> Units | None:
        """The groups of pairs that change together; None for single pairs."""
        return units_of(self.options.unit, self.atlas, roi_count(self.values.shape[1]))

    @property
    def measure(self) -> Measure:
        """What the values are."""
        data = self.dataset if self.cohort is None else self.cohort
        if data is not None:
            return data.measure
        return "unknown" if self.weighted else "edge"

    @property
    def _project(self) -> Callable[[Values], Values] | None:
        if self.options.valid != "nearest" or not has_correlations(self.measure):
            return None
        return partial(nearest_correlation, measure=self.measure)

    @cached_property
    def _reference(self) -> Reference | None:
        """The labelled networks in the form that the searches use."""
        reference = reference_of(self.dataset)
        if reference is None or self.units is None:
            return reference
        return Reference(self.units.means(reference.values), reference.labels, reference.values)

    @cached_property
    def jobs(self) -> list[Job]:
        """One job per graph and run; the runs of a graph are consecutive."""
        jobs, reference, options = [], self._reference, self.options
        layout = Layout.of_pairs(self.values.shape[1]) if self.units is None else self.units.layout
        if self.oracle.with_subjects:  # the black box needs a subject of the run for each graph
            options = replace(options, reference_calls=0)
        for index, values in enumerate(self.values):
            problem_of = partial(self.problem, index)
            start = self.starts[index] if self.starts else None
            for run in self.options.run_numbers:
                seed = _seed(values, self.options.seed, run)
                jobs.append(Job(values, problem_of, options, seed, layout, reference, self._project, start))
        return jobs

    def job_position(self, number: int) -> tuple[int, int]:
        """Return the position of the graph, and the number of the run, of a job."""
        index, run = divmod(number, len(self.options.run_numbers))
        return index, self.options.run_numbers[run]

    def classify(self, batch: Values, numbers: Sequence[int]) -> Labels | Scored:
        """Call the black box with a batch of graphs, given the number of the job of each."""
        subjects = None
        if self.oracle.with_subjects:
            subjects = [self._subject_key(self.job_position(number)[0]) for number in numbers]
        classify = self.oracle.classify_with_scores if self.options.scores else self.oracle.classify
        answers = classify(batch, self.classes, subjects, diagonal_of(self.measure))
        labels = answers.labels if isinstance(answers, Scored) else answers
        target = self.options.target
        if target is not None and len(labels) and isinstance(target, str) != (labels.dtype.kind == "U"):
            raise InputError(
                f"the target is {target!r}, but the black box returns classes such as {labels.tolist()[0]!r}"
            )
        return answers

    def classify_reference(self, networks: Values) -> list[Label]:
        """Call the black box with labelled networks, which belong to no job."""
        labels: list[Label] = self.oracle.classify(networks, self.classes, None, diagonal_of(self.measure)).tolist()
        return labels

    def result(self, number: int, record: Record) -> Counterfactual:
        """Return the result of a job."""
        index, run = self.job_position(number)
        limits, (best, label, trace) = record.limits, record.valid_found
        flips = None if best is None else np.sort(record.problem.pairs_of(best))
        alternatives = self._pair_alternatives(record)
        changed = None if flips is None or alternatives is None else alternatives[flips]
        if flips is not None and record.amounts is not None:
            changed = record.amounts.values
        result = Counterfactual(
            original=self.values[index],
            flips=flips,
            changed_values=changed,
            alternatives=alternatives,
            measure=self.measure,
            valid_values=record.projected,
            original_label=record.label,
            counterfactual_label=label,
            calls_by_phase=dict(record.calls),
            method=self.options.parsed_method.name,
            parameters=self.parameters,
            stopped=record.stopped or "interrupted",
            trace=trace,
            graph_index=index,
            run=run,
            subject=self._subject(index),
            named=self.cohort is not None,
            atlas=self.atlas,
            cost=None if limits.costs is None or best is None else limits.cost(best),
            classes=self.classes,
            certificate=self._certificate(record),
        )
        if flips is None or best is None:
            return replace(result, why=self._why(result, record))
        units = changed_units(self.units, np.sort(best).tolist(), flips, result.decreased, result.change_names)
        return replace(result, units=units)

    def with_alternatives(self, results: Iterable[Counterfactual]) -> list[Counterfactual]:
        """Return stored results with the alternative values of all pairs, which a store does not contain."""
        return [
            replace(each, alternatives=self.alternatives.of(each.graph_index, each.original_label))
            if each.weighted and each.original_label is not None
            else each
            for each in results
        ]

    def _pair_alternatives(self, record: Record) -> Values | None:
        """Return the alternative value of each pair of a weighted network."""
        if not self.weighted or record.known_problem is None:
            return None
        network, _, pair_network, _ = record.problem
        return (network if pair_network is None else pair_network).alternatives

    @property
    def mismatches(self) -> Mismatches:
        """Checks whether the classifier and the networks belong together."""
        may_ask = self.options.reference_calls != 0
        return Mismatches(self.oracle, self.values, self.cohort, self.dataset, may_ask)

    def check_subject_is_known(self) -> None:
        """Raise `InputError` for a single graph without a name if the black box needs its subject."""
        if self.oracle.with_subjects and self.cohort is None:
            raise InputError(
                "the black box needs the subject of the graph (with_subjects=True), but an array has no name: use "
                "find_counterfactuals or find_diverse with data.subset([name])"
            )

    def _subject(self, index: int) -> str:
        if self.cohort is not None:
            return self.cohort.names[index]
        return "The graph" if len(self.values) == 1 else f"Graph {index}"

    def _subject_key(self, index: int) -> str | int:
        """Return what a black box with subjects receives: the name of the subject, or the position of the graph."""
        return index if self.cohort is None else self.cohort.names[index]

    def _certificate(self, record: Record) -> Certificate:
        """Return what is proven; under constraints, only 1-minimality. The first candidate of "exact" is optimal."""
        best, proof = record.best, record.proof
        shrunk = record.amounts is not None and best is not None and best.size > 1
        if shrunk:
            proof = proof._replace(minimal=False)  # the sets that were classified have the full changes
        if is_exact(self.options.phases[0]) and best is not None and record.stopped == "finished":
            return Certificate(*proof) if record.refuted else Certificate(not shrunk, best.size - 1, True)
        free = not self.parameters.get("constraints")
        return Certificate(*proof) if free else Certificate(minimal=proof.minimal)

    def _why(self, result: Counterfactual, record: Record) -> str:
        if record.known_problem is not None and not record.problem.changeable.size:
            return NO_CHANGE
        target, *answered = (
            str(result.class_name(label)) for label in (self.options.target, *sorted(record.answered, key=str))
        )
        wanted = None if self.options.target is None else target
        return why_nothing(record.flipped, record.flipped_within_most, record.limits.most, wanted, answered)


def _seed(values: Values, seed: int, run: int) -> np.random.SeedSequence:
    """Seed a search by the content of the network, not by its position, so that other networks do not change it."""
    content = values if is_weighted(values) else np.packbits(values.astype(np.bool_))
    digest = hashlib.blake2b(content.tobytes(), digest_size=8).digest()
    return np.random.SeedSequence([seed, run, int.from_bytes(digest, "little")])
