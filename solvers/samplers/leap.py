"""Leap's hybrid solvers: D-Wave's service that takes models much larger than a QPU holds.

The binary quadratic model comes from outside, so that solver is a sampler; the other two state the problem themselves
and are searches. What comes back is checked here, task by task, and costed again.

What the service returns cannot be repeated: the law that the same seed gives the same mapping ends here. It charges by
run time, and no effort is cheaper than its least run time for the model.
"""

import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import dimod
import numpy as np
from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Figure, Stop
from tiger.model.window import Window, fold, whole
from tiger.solvers.samplers.cloud import await_answer, open_connection, release, translate_errors
from tiger.solvers.samplers.cqm import cqm_of, variables
from tiger.solvers.samplers.nonlinear import Nonlinear, nonlinear_of

if TYPE_CHECKING:
    from dwave.optimization import Model

# Times in microseconds that an answer may state.
TIMES = "run_time", "charge_time", "qpu_access_time"
# Longest run where a service states no limit.
HOURS = 24.0


class LeapService(Protocol):
    """Run models on Leap."""

    @property
    def properties(self) -> Mapping[str, float]:
        """Return the limits of the solver, among others."""
        ...

    def close(self) -> None:
        """Wait for what is under way and let go of the connection."""
        ...


class BqmService(LeapService, Protocol):
    """Run binary quadratic models, as LeapHybridSampler does."""

    def sample(self, bqm: dimod.BinaryQuadraticModel) -> dimod.SampleSet:
        """Return the promise of samples."""
        ...


class CqmService(LeapService, Protocol):
    """Run constrained quadratic models, as LeapHybridCQMSampler does."""

    def min_time_limit(self, cqm: dimod.ConstrainedQuadraticModel) -> float:
        """Return the least run time in seconds."""
        ...

    def sample_cqm(self, cqm: dimod.ConstrainedQuadraticModel, time_limit: float) -> dimod.SampleSet:
        """Return the promise of samples."""
        ...


class Promise(Protocol):
    """Stand for an answer, as a concurrent.futures.Future does."""

    def done(self) -> bool:
        """Return whether it is there."""
        ...

    def result(self) -> object:
        """Return it, or raise what went wrong."""
        ...


class NlService(LeapService, Protocol):
    """Run nonlinear models, as LeapHybridNLSampler does."""

    def estimated_min_time_limit(self, model: "Model") -> float:
        """Return the least run time in seconds."""
        ...

    def sample(self, model: "Model", time_limit: float) -> Promise:
        """Return the promise that the model holds states."""
        ...


class LeapSampler(Sampler):
    """Sample binary quadratic models on Leap's hybrid solver, for its least run time.

    `service` is one that D-Wave's configuration names unless it is given, and is connected to when first needed.
    """

    calls = 1

    def __init__(self, service: BqmService | None = None) -> None:
        self._given = service

    def __reduce__(self) -> "tuple[type[LeapSampler], tuple[BqmService | None]]":
        """Rebuild without the connection, which belongs to one process."""
        return LeapSampler, (self._given,)

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Return no options: the service decides on reads, and takes neither sweeps nor a seed."""
        return {}

    @property
    def properties(self) -> dict[str, object]:
        """Return the service's properties; connects to it."""
        with translate_errors():
            return {"child_properties": dict(self._service.properties)}

    def sample(self, bqm: dimod.BinaryQuadraticModel) -> dimod.SampleSet:
        """Return the service's samples, often one; raises InputError before submission above its most variables."""
        with translate_errors():
            _require(bqm.num_variables, "variables", self._service.properties.get("maximum_number_of_variables"))
            answer = self._service.sample(bqm)
            answer.resolve()
        answer.info["figures"] = _figures(answer.info)
        return answer

    @cached_property
    def _service(self) -> BqmService:
        """Return the service, connected to."""
        if self._given is not None:
            return self._given
        connection = _connect_bqm()
        weakref.finalize(self, release, connection).atexit = False
        return connection


@dataclass(frozen=True, slots=True)
class CqmSearch:
    """Solve a problem as a constrained quadratic model on Leap's hybrid solver.

    `service` is one that D-Wave's configuration names unless it is given.
    """

    service: CqmService | None = None

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest feasible mapping of the answer, or a copy of the feasible `start[n]` if that is cheaper.

        Runs for `effort` times the least time. When stopped, it leaves its submission to finish, and to be charged.
        """
        if not len(problem.free) or stop():
            return Assignment(places=start.copy())
        window = fold(problem, whole(problem), start)
        model = cqm_of(window)
        with translate_errors(), open_connection(self.service, _connect_cqm) as service:
            answer = service.sample_cqm(model, _seconds(service, service.min_time_limit(model), effort))
            ready = await_answer(answer.done, stop)
            if ready:
                answer.resolve()
        return _choose_cheapest(window, start, _read(window, answer) if ready else ())


@dataclass(frozen=True, slots=True)
class NlSearch:
    """Solve a problem as a nonlinear model on Leap's hybrid solver, which starts from the mapping it is given.

    `service` is one that D-Wave's configuration names unless it is given.
    """

    service: NlService | None = None

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest feasible mapping of the answer, or a copy of the feasible `start[n]` if that is cheaper.

        Runs for `effort` times the least time. When stopped, it leaves its submission to finish, and to be charged.
        """
        if not len(problem.free) or stop():
            return Assignment(places=start.copy())
        window = fold(problem, whole(problem), start)
        request = nonlinear_of(window)
        request.start(window.local(start))
        with translate_errors(), open_connection(self.service, _connect_nl) as service:
            promise = _submit(service, request, effort)
            ready = await_answer(promise.done, stop)
            if ready:
                promise.result()
                request.model.states.resolve()
        return _choose_cheapest(window, start, request.local_places() if ready else ())


def keeps_constraints(window: Window, local: IntArray) -> bool:
    """Return whether local places[k] keep every constraint of a window."""
    tasks, nodes = window.shape
    if not ((local >= 0) & (local < nodes)).all() or not window.allowed[np.arange(tasks), local].all():
        return False
    alone = all(len(np.unique(local[group])) == len(group) for group in window.groups)
    return alone and all((np.bincount(local, c.load, nodes) <= c.room).all() for c in window.capacities)


def _choose_cheapest(window: Window, start: IntArray, answers: Iterable[IntArray]) -> Assignment:
    """Return the cheapest of the start and those local places that fit."""
    best, cost = start.copy(), window.cost(window.local(start))
    for local in answers:
        if keeps_constraints(window, local) and window.cost(local) < cost:
            best, cost = window.place(start, local), window.cost(local)
    return Assignment(places=best)


def _read(window: Window, samples: dimod.SampleSet) -> Iterator[IntArray]:
    """Yield the local places of the samples in which every task has one node."""
    index = variables(window)
    order = np.argsort(np.array(samples.variables, np.int64))
    for sample in samples.record.sample[:, order]:
        bits = np.where(index >= 0, sample[index] > 0.5, False)
        if (bits.sum(axis=1) == 1).all():
            yield np.asarray(bits.argmax(axis=1), np.int64)


def _submit(service: NlService, request: Nonlinear, effort: int) -> Promise:
    """Submit a nonlinear model; raises InputError before that where it is larger than the service takes."""
    model, most = request.model, service.properties
    _require(model.num_nodes(), "symbols", most.get("maximum_number_of_nodes"))
    _require(model.state_size(), "bytes of states", most.get("maximum_state_size"))
    _require(model.decision_state_size(), "bytes of decisions", most.get("maximum_decision_state_size"))
    return service.sample(model, _seconds(service, service.estimated_min_time_limit(model), effort))


def _seconds(service: LeapService, least: float, effort: int) -> float:
    """Return the run time of an effort, at most what the service allows."""
    return min(least * effort, 3600 * service.properties.get("maximum_time_limit_hrs", HOURS))


def _require(size: int, what: str, most: float | None) -> None:
    """Raise InputError for a model above a limit of the service."""
    if most is not None and size > most:
        raise InputError("solver", f"expected at most {most:g} {what}, Leap's limit for this solver, got {size}")


def _figures(info: Mapping[str, object]) -> dict[str, Figure]:
    """Return the times in microseconds that an answer states."""
    timing = info.get("timing")
    reported = {**info, **timing} if isinstance(timing, Mapping) else info
    return {f"{name}_us": float(value) for name in TIMES if isinstance(value := reported.get(name), int | float)}


def _connect_bqm() -> BqmService:
    """Connect to the hybrid solver of binary quadratic models."""
    from dwave.system import LeapHybridSampler

    connection: BqmService = LeapHybridSampler()
    return connection


def _connect_cqm() -> CqmService:
    """Connect to the hybrid solver of constrained quadratic models."""
    from dwave.system import LeapHybridCQMSampler

    connection: CqmService = LeapHybridCQMSampler()
    return connection


def _connect_nl() -> NlService:
    """Connect to the hybrid solver of nonlinear models."""
    from dwave.system import LeapHybridNLSampler

    connection: NlService = LeapHybridNLSampler()
    return connection
