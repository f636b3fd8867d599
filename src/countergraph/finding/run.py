"""A run that can be stepped, observed and cancelled."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from threading import Event as Flag
from types import TracebackType
from typing import NamedTuple, Self, Unpack

from numpy.typing import ArrayLike

from countergraph.errors import Interrupted, StoppedError
from countergraph.finding.mismatch import warn_of_mismatches
from countergraph.finding.request import Request
from countergraph.finding.start import Start
from countergraph.graphs.dataset import GraphDataset
from countergraph.results.counterfactual import Counterfactual, Counterfactuals
from countergraph.search.driver import Asked, Classify, JobImproved, run
from countergraph.search.methods import Method, Phase
from countergraph.search.options import AUTO, SearchKeywords, make_options, shows_search_options
from countergraph.search.protocol import Flips, SearchFunction
from countergraph.search.record import Record


class Improved(NamedTuple):
    """A search found a better counterfactual. It is not confirmed yet."""

    graph_index: int
    """The position of the graph in the input."""
    distance: int
    """The number of changed pairs, or of larger units."""
    calls: int
    """The number of calls of this search so far."""
    run: int
    """The number of the run of this graph."""
    flips: Flips
    """The positions of the changed pairs."""


class Finished(NamedTuple):
    """A search is finished."""

    graph_index: int
    """The position of the graph in the input."""
    result: Counterfactual


class Progress(NamedTuple):
    """The progress of a run."""

    finished: int
    """The number of searches that are finished, or wait for the others."""
    total: int
    """The number of searches."""
    calls: int
    """The number of calls so far."""


Event = Asked | Improved | Finished


class SearchRun:
    """A run of searches, one event at a time.

    ::

        with cg.SearchRun(model, data) as run:
            for event in run:
                if isinstance(event, cg.Improved):
                    print(event.graph_index, event.distance)
        run.results

    The events are `Asked` (a batch was classified), `Improved` (a search found a better counterfactual) and `Finished`.
    Partial results are available in ``results`` at any time: inside the loop, after ``break``, after `cancel`, and
    after an exception in the loop or in the black box.

    Parameters
    ----------
    black_box
        Any classifier: an object with ``predict`` on edge vectors (batch, pairs), a callable on adjacency matrices
        (batch, n, n), or an `Oracle` around anything else.
    graphs
        A `GraphDataset`, or a stack of matrices (m, n, n) or of edge vectors (m, pairs).
    method
        See `SearchOptions`.
    dataset
        Labelled graphs for the data-driven methods, and prior knowledge for ``"learned"``; by default ``graphs`` if
        that is a `GraphDataset`.
    start
        Known counterfactuals to improve (warm start): results of earlier searches, or the changed graphs. A start is
        one call; a graph whose start is not a counterfactual is searched as if there were none. Forward searches of the
        paper are skipped for graphs with a start.
    **options
        See `SearchOptions`.
    """

    @shows_search_options
    def __init__(
        self,
        black_box: object,
        graphs: GraphDataset | ArrayLike,
        method: str | Phase | Method | SearchFunction = AUTO,
        dataset: GraphDataset | None = None,
        *,
        start: Start | None = None,
        **options: Unpack[SearchKeywords],
    ) -> None:
        request = Request.of(black_box, graphs, dataset, make_options(method, options), start)
        self._prepare(request, request.classify)

    @classmethod
    def of(cls, request: Request, classify: Classify | None = None, warns: bool = True) -> Self:
        """Return the run of a request; ``classify`` replaces the call of the black box.

        ``warns`` is False for a part of a run, whose caller checks the whole for mismatches.
        """
        self = cls.__new__(cls)
        self._prepare(request, classify or request.classify, warns)
        return self

    def _prepare(self, request: Request, classify: Classify, warns: bool = True) -> None:
        self._request = request
        self._records: list[Record] = []
        self._cancelled = Flag()
        self._progress, self._finished, self._shared_calls = Progress(0, len(request.jobs), 0), 0, 0
        limit = request.options.time_limit
        self._steps = run(classify, request.jobs, self._records, time_limit=limit, cancelled=self._cancelled.is_set)
        self._events = self._convert()
        self._cautions, self._warns = list[str](), warns
        if warns:
            self._caution(request.mismatches.of_estimator())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._events.close()

    def __iter__(self) -> Iterator[Event]:
        return self._events

    def __repr__(self) -> str:
        finished, total, calls = self._progress
        return f"<SearchRun: {finished} of {total} searches finished, {calls} calls>"

    def cancel(self) -> None:
        """Stop the run after the current batch, from any thread; the results so far are kept."""
        self._cancelled.set()

    @property
    def progress(self) -> Progress:
        """The number of finished searches and of calls so far."""
        return self._progress

    @property
    def results(self) -> Counterfactuals:
        """The results so far, in the order of the graphs; the runs of one graph are consecutive.

        A search that is not finished has its best result so far; ``stopped`` is then "interrupted", or "cancelled".
        """
        results = [self._result(number) for number in range(len(self._records))]
        return Counterfactuals(results, self._shared_calls, self._cautions)

    def _result(self, number: int) -> Counterfactual:
        return self._request.result(number, self._records[number])

    def _convert(self) -> Generator[Event, None, None]:
        try:
            for step in self._steps:
                if isinstance(step, Asked):
                    self._progress = Progress(step.finished, self._progress.total, step.calls)
                    self._shared_calls = step.shared_calls
                    yield step
                elif isinstance(step, JobImproved):
                    yield self._improved(step.number)
                else:
                    self._finished += 1
                    self._progress = self._progress._replace(finished=max(self._finished, self._progress.finished))
                    yield Finished(self._request.job_position(step.number)[0], self._result(step.number))
            if self._warns and not self._cancelled.is_set():
                self._check_answers()
        except StoppedError as error:
            error.results = self.results
            raise
        except KeyboardInterrupt:
            raise interrupted(self) from None
        finally:
            self._steps.close()

    def _check_answers(self) -> None:
        """Compare the answers on labelled networks with their labels."""
        request = self._request
        answers = {request.job_position(number)[0]: each.label for number, each in enumerate(self._records)}
        self._caution(request.mismatches.of_answers(answers))
        reference = request.mismatches.reference
        if reference is not None and not any(each.stopped == "time_limit" for each in self._records):
            self._caution(request.mismatches.of_reference(request.classify_reference(reference)))
            self._shared_calls += len(reference)

    def _caution(self, found: list[str]) -> None:
        self._cautions += found
        warn_of_mismatches(found)

    def _improved(self, number: int) -> Improved:
        index, run_number = self._request.job_position(number)
        record = self._records[number]
        assert record.best is not None
        pairs = record.problem.pairs_of(record.best)
        return Improved(index, record.best.size, sum(record.calls.values()), run_number, pairs)


def interrupted(run: SearchRun) -> Interrupted:
    """Return the exception for Ctrl-C during a run, with its partial results."""
    error = Interrupted("the search was interrupted; the attribute results holds the partial results")
    error.results = run.results
    return error
