"""What is asked for, checked once: it makes the jobs of a run, and a result of each record."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from countergraph.classifiers.model import Model
from countergraph.errors import InputError, check_integers
from countergraph.finding.constraints import Constraints
from countergraph.graphs.atlas import Atlas
from countergraph.graphs.dataset import GraphDataset
from countergraph.graphs.pairs import Bits, Label, as_edge_vectors
from countergraph.oracle.answers import Labels, Scored
from countergraph.oracle.oracle import Oracle
from countergraph.results.certificate import Certificate
from countergraph.results.counterfactual import Counterfactual
from countergraph.results.vocabulary import Move, spoken, vocabulary
from countergraph.results.wording import why_nothing
from countergraph.search.conversation import Reference
from countergraph.search.evidence import Proven
from countergraph.search.job import Job
from countergraph.search.limits import NO_LIMITS, Limits
from countergraph.search.methods import Phase, parse_method
from countergraph.search.record import Record


@dataclass(frozen=True, eq=False)
class Request:
    """Searches of some graphs, some runs each; the parameters are those of `find_counterfactuals`, as plain values."""

    oracle: Oracle
    edges: Bits
    cohort: GraphDataset | None
    """The graphs with their names, if they have any."""
    dataset: GraphDataset | None
    phases: tuple[Phase, ...]
    k: int
    max_calls: int
    seed: int
    target: Label | None
    runs: tuple[int, ...]
    constraints: Constraints | None
    scores: bool
    confirm: bool

    @classmethod
    def of(
        cls,
        black_box: object,
        graphs: GraphDataset | ArrayLike,
        *,
        method: str,
        dataset: GraphDataset | None,
        k: int,
        max_calls: int,
        seed: int,
        target: Label | None,
        runs: int | Sequence[int],
        constraints: Constraints | None,
        scores: bool,
        confirm: bool,
    ) -> Request:
        """Check everything before anything is asked."""
        phases = parse_method(method)
        cohort = graphs if isinstance(graphs, GraphDataset) else None
        edges = cohort.edges if cohort is not None else as_edge_vectors(graphs)  # type: ignore[arg-type]
        dataset = dataset if dataset is not None else cohort
        check_integers(k=(k, 1), max_calls=(max_calls, 1), seed=(seed, 0))
        _check_dataset(phases, dataset, edges)
        if isinstance(black_box, Model) and cohort is not None:
            black_box.check_fits(cohort)
        oracle = oracle_of(black_box)
        if constraints is not None and not isinstance(constraints, Constraints):
            raise InputError(f"constraints must be Constraints(...), not {constraints!r}")
        if scores:
            _check_scores(phases, oracle)
        classes = oracle.classes if dataset is None else dataset.classes
        confirm = confirm or any(phase.learns for phase in phases)
        numbers, target = _run_numbers(runs), _target(target, classes)
        whole = (int(k), int(max_calls), int(seed))
        return cls(oracle, edges, cohort, dataset, phases, *whole, target, numbers, constraints, scores, confirm)

    def part(self, graphs: Sequence[int], runs: Sequence[int]) -> Request:
        """Return the searches of some of the graphs, in some runs."""
        cohort = None if self.cohort is None else self.cohort.subset(graphs)
        return replace(self, edges=self.edges[list(graphs)], cohort=cohort, runs=tuple(runs))

    @property
    def method(self) -> str:
        """The name of the method, as it is listed."""
        return "+".join(phase.name for phase in self.phases)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes, by label, where they have any."""
        return self.oracle.classes if self.dataset is None else self.dataset.classes

    @property
    def atlas(self) -> Atlas | None:
        """What the regions are; where no data say so, by what a model was trained on."""
        known = self.dataset if self.cohort is None else self.cohort
        if known is not None:
            return known.atlas
        return self.oracle.black_box.atlas if isinstance(self.oracle.black_box, Model) else None

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """What, with graph, black box, method and dataset, determines the result; what is usual is left out."""
        parameters: dict[str, Any] = {
            "k": self.k,
            "max_calls": self.max_calls,
            "seed": self.seed,
            "target": self.target,
        }
        if self.constraints is not None:
            parameters["constraints"] = self.constraints.describe()
        if self.scores:
            parameters["scores"] = True
        if not self.confirm:
            parameters["confirm"] = False
        return parameters

    @cached_property
    def _limits(self) -> list[Limits]:
        if self.constraints is None:
            return [NO_LIMITS] * len(self.edges)
        return [self.constraints.limits(graph, self.atlas, self.dataset) for graph in self.edges]

    @cached_property
    def _words(self) -> list[list[Move]]:
        """For each graph, the moves that may be made as a whole, where the method speaks in those."""
        if not any(phase.needs_moves for phase in self.phases):
            return [[] for _ in self.edges]
        return [_moves(graph, self.atlas, limits) for graph, limits in zip(self.edges, self._limits, strict=True)]

    @cached_property
    def jobs(self) -> list[Job]:
        """One for each graph and run, the runs of a graph next to each other."""
        jobs, reference = [], _reference(self.dataset)
        for graph, limits, words in zip(self.edges, self._limits, self._words, strict=True):
            moves = [move.flips for move in words]
            for run in self.runs:
                seed = _seed(graph, self.seed, run)
                budget = (self.k, self.max_calls, seed, self.target)
                jobs.append(Job(graph, self.phases, *budget, reference, limits, moves, self.confirm))
        return jobs

    def ask(self, batch: Bits) -> Labels | Scored:
        """Ask the black box about a batch of graphs."""
        answers = (self.oracle.ask_with_scores if self.scores else self.oracle.ask)(batch, self.classes)
        labels = answers.labels if isinstance(answers, Scored) else answers
        if self.target is not None and len(labels) and isinstance(self.target, str) != (labels.dtype.kind == "U"):
            raise InputError(
                f"the target is {self.target!r}, but the black box answers classes such as {labels.tolist()[0]!r}"
            )
        return answers

    def result(self, number: int, record: Record) -> Counterfactual:
        """Return what came of a job."""
        index, run = divmod(number, len(self.runs))
        limits = self._limits[index]
        result = Counterfactual(
            original=self.edges[index],
            flips=None if record.best is None else np.sort(record.best),
            original_class=record.label,
            counterfactual_class=record.best_label,
            calls_by_phase=record.calls,
            method=self.method,
            parameters=self.parameters,
            stopped=record.stopped or "interrupted",
            trace=tuple(record.trace),
            graph_index=index,
            run=self.runs[run],
            subject=self._subject(index),
            atlas=self.atlas,
            moves=() if record.best is None else tuple(spoken(record.best, self._words[index])),
            cost=None if limits.costs is None or record.best is None else limits.cost(record.best),
            classes=self.classes,
            certificate=self._certificate(record.proven),
        )
        return result if result.found else replace(result, why=self._why(result, record))

    def _subject(self, index: int) -> str:
        if self.cohort is not None:
            return self.cohort.names[index]
        return "The graph" if len(self.edges) == 1 else f"Graph {index}"

    def _certificate(self, proven: Proven) -> Certificate:
        """Return what is proven; under constraints, that nothing can be left out, and no more."""
        free = not self.parameters.get("constraints")
        return Certificate(*proven) if free else Certificate(minimal=proven.minimal)

    def _why(self, result: Counterfactual, record: Record) -> str:
        target, *answered = (str(result.class_name(label)) for label in (self.target, *sorted(record.heard)))
        wanted = None if self.target is None else target
        return why_nothing(record.crossed, record.few_enough, record.limits.most, wanted, answered)


def oracle_of(black_box: object) -> Oracle:
    """Return an oracle around a black box. A `Model` is known by the names of its classes, not by their order."""
    if isinstance(black_box, Oracle):
        return black_box
    return Oracle(black_box, classes=black_box.classes if isinstance(black_box, Model) else None)


def _reference(dataset: GraphDataset | None) -> Reference | None:
    """Return what there is to learn from: nothing, if all labels are the same."""
    if dataset is None or np.unique(dataset.labels).size < 2:
        return None
    return Reference(dataset.edges, dataset.labels)


def _check_dataset(phases: tuple[Phase, ...], dataset: object, edges: Bits) -> None:
    if dataset is not None and not isinstance(dataset, GraphDataset):
        raise InputError(f"dataset must be a GraphDataset, not {type(dataset).__name__}")
    needing = [phase.name for phase in phases if phase.needs_dataset]
    if needing and _reference(dataset) is None:
        learn = "learn" if len(needing) > 1 else "learns"
        which = "labelled graphs" if dataset is None else "graphs of several classes, these are of one"
        raise InputError(f"{' and '.join(needing)} {learn} from {which}: give a GraphDataset as dataset=")
    if dataset is not None and dataset.edges.shape[1] != edges.shape[1]:
        raise InputError(
            f"the graphs have {edges.shape[1]} pairs, the dataset {dataset.edges.shape[1]}: they differ in regions"
        )


def _moves(graph: Bits, atlas: Atlas | None, limits: Limits) -> list[Move]:
    if limits.keep_edges or limits.keep_connected:
        raise InputError("whole moves cannot keep the number of edges, or the graph connected; choose another method")
    moves = vocabulary(graph, atlas)
    return moves if limits.allowed is None else [move for move in moves if limits.allowed[move.flips].all()]


def _check_scores(phases: tuple[Phase, ...], oracle: Oracle) -> None:
    if not any(phase.learns for phase in phases):
        method = "+".join(phase.name for phase in phases)
        raise InputError(f"scores=True is for searches that learn, such as 'learned'; {method!r} uses classes only")
    if not oracle.has_probabilities:
        raise InputError("scores=True needs probabilities, but the black box has no method predict_proba")


def _target(target: Label | None, classes: tuple[str, ...] | None) -> Label | None:
    if target is None or classes is None:
        return int(target) if isinstance(target, np.integer) else target
    if isinstance(target, str) and target in classes:
        return classes.index(target)
    if isinstance(target, int | np.integer) and 0 <= target < len(classes):
        return int(target)
    raise InputError(f"target must be one of the classes {', '.join(classes)} (or its label), not {target!r}")


def _seed(graph: Bits, seed: int, run: int) -> np.random.SeedSequence:
    """Seed a search by what it searches, not by where it stands, so that company never matters."""
    digest = hashlib.blake2b(np.packbits(graph).tobytes(), digest_size=8).digest()
    return np.random.SeedSequence([seed, run, int.from_bytes(digest, "little")])


def _run_numbers(runs: int | Sequence[int]) -> tuple[int, ...]:
    if not isinstance(runs, Sequence | range):
        check_integers(runs=(runs, 1))
        return tuple(range(runs))
    for number in runs:
        check_integers(runs=(number, 0))
    if not runs:
        raise InputError("runs must name at least one run")
    if len(set(runs)) < len(runs):
        raise InputError(f"runs must not name a run twice, as {list(runs)} does")
    return tuple(int(number) for number in runs)
