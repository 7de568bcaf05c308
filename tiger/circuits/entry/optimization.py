"""Circuits that are written anew before they are mapped, where that ends better."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from qiskit.circuit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.passmanager import PropertySet
from qiskit.transpiler import PassManager, StagedPassManager, TranspilerError

from tiger.circuits.entry.delivery import build_preset, choose_delivery, measure_delivery
from tiger.circuits.entry.placing import name_qubits, place_qubits
from tiger.circuits.entry.request import LayoutRequest
from tiger.circuits.params import CircuitObjective
from tiger.circuits.transpiler.delivery import NEVER, CircuitQuality, DeliveryObjective, rank
from tiger.circuits.transpiler.emission import Emission
from tiger.circuits.transpiler.faults import list_faults
from tiger.circuits.transpiler.mapping import SHORT_S, Mapping, find_mapping
from tiger.circuits.transpiler.resynthesis import try_variants
from tiger.circuits.transpiler.source import Source
from tiger.circuits.transpiler.target import has_errors
from tiger.errors import InputError
from tiger.routing.coupling import IndexArray
from tiger.routing.error_rates import Errors, errors_of_target
from tiger.run.deadline import Deadline
from tiger.run.stage import Stage

# The level of quick mappings.
QUICK_LEVEL = 1
OBJECTIVES: dict[CircuitObjective, DeliveryObjective] = {"cx": "auto", "depth": "depth", "success": "success"}


class MappedCircuit(NamedTuple):
    """Hold the request of the circuit that is mapped, that circuit as it was placed, and its mapping.

    Where it was written anew, `optimized` is the circuit with SWAPs at its end, and `ends[n]` the qubit that it has
    qubit n of the given one on instead, without them.
    """

    request: LayoutRequest
    placed: QuantumCircuit
    mapping: Mapping
    ends: Sequence[int]
    optimized: QuantumCircuit | None = None

    def emit(self, fixed: IndexArray | None) -> Emission:
        """Return the routed circuit, and where the qubits of the given circuit start and end."""
        emission = self.mapping.emission if fixed is None else name_qubits(self.mapping.emission, fixed)
        spare = emission.end[len(self.ends) :]
        return emission._replace(end=[*(emission.end[k] for k in self.ends), *spare])


class Judge(NamedTuple):
    """Tell which of two mapped circuits is better, by what they end as."""

    request: LayoutRequest
    preset: StagedPassManager
    errors: Errors | None

    @classmethod
    def of(cls, request: LayoutRequest) -> "Judge":
        """Return the judge of a request: Qiskit's later stages of its level, and its objective."""
        errors = errors_of_target(request.device) if has_errors(request.device) else None
        return cls(request, build_preset(request), errors)

    def measure(self, mapping: Mapping) -> CircuitQuality:
        """Return what a mapping ends as."""
        return measure_delivery(self.preset, mapping.emission.dag, self.errors)

    def rank(self, quality: CircuitQuality) -> tuple[float, ...]:
        """Return what circuits are compared by."""
        return rank(quality, OBJECTIVES[self.request.params.objective])

    def loss(self, mapped: MappedCircuit) -> tuple[float, ...]:
        """Return what mappings are compared by: faulty pairs and qubits before anything else."""
        faults = list_faults(mapped.mapping.emission.dag, self.request.device)
        return len(faults), *self.rank(self.measure(mapped.mapping))


def map_as_given(request: LayoutRequest, fixed: IndexArray | None, deadline: Deadline) -> MappedCircuit:
    """Return the mapping of a circuit as it is; InputError for one that cannot be mapped."""
    placed = place_qubits(request, fixed)
    here = None if fixed is None else np.arange(placed.num_qubits, dtype=np.int32)
    found = find_mapping(circuit_to_dag(placed), request.device, request.params, here)
    mapping = choose_delivery(request, found, deadline)
    return MappedCircuit(request, placed, mapping, range(request.circuit.num_qubits))


def map_best(request: LayoutRequest, fixed: IndexArray | None, deadline: Deadline) -> MappedCircuit:
    """Return the mapping of a circuit as it is, or of the best way to write it anew where that ends better.

    Ways to write it are mapped quickly, and the best in full, as the circuit is where it is not far behind (`Trials`).
    A time limit ends these searches one after the other. InputError as `map_as_given`.
    """
    began, limit = time.monotonic(), request.params.time_limit_s
    search = Deadline(None if limit is None else began + limit)
    judge = Judge.of(request)

    def try_quickly(source: Source) -> CircuitQuality:
        """Return what a circuit ends as after a quick mapping, infinitely bad where there is none in time."""
        if search():
            return NEVER
        params = replace(request.params, level=min(QUICK_LEVEL, request.params.level), solver="auto", islands=1)
        quick = replace(_shorten(replace(request, params=params), search), circuit=dag_to_circuit(source.dag))
        try:
            return judge.measure(map_as_given(quick, fixed, deadline).mapping)
        except (InputError, TranspilerError):
            return NEVER

    source, objective = Source(circuit_to_dag(request.circuit), PropertySet()), OBJECTIVES[request.params.objective]
    trials = try_variants(source, PassManager(), try_quickly, objective)
    best = min(trials.variants, key=lambda trial: judge.rank(trial.quality), default=None)
    if best is None or judge.rank(best.quality) >= judge.rank(trials.known.quality):
        return map_as_given(_shorten(request, search), fixed, deadline)
    found = _map_variant(best.source, _shorten(request, search), fixed, deadline)
    if found is None or judge.measure(found.mapping) == NEVER:
        return map_as_given(_shorten(request, search), fixed, deadline)
    given = trials.known.quality.gates
    if not trials.are_far_apart and not search():
        known = map_as_given(_shorten(request, search), fixed, deadline)
        if judge.loss(known) <= judge.loss(found):
            return known
        given = judge.measure(known.mapping).gates
    return _add_stage(found, given, judge, time.monotonic() - began)


def _map_variant(
    source: Source, request: LayoutRequest, fixed: IndexArray | None, deadline: Deadline
) -> MappedCircuit | None:
    """Return the mapping of a circuit that is written anew, whose permutation was taken out of it, None without one."""
    circuit = dag_to_circuit(source.dag)
    permutation = source.properties["virtual_permutation_layout"]
    ends = list(range(circuit.num_qubits))
    if permutation is not None:
        for qubit, end in permutation.get_virtual_bits().items():
            ends[end] = circuit.find_bit(qubit).index
    try:
        found = map_as_given(replace(request, circuit=circuit), fixed, deadline)
    except (InputError, TranspilerError):
        return None
    return found._replace(ends=ends, optimized=_restore_swaps(circuit, ends))


def _restore_swaps(circuit: QuantumCircuit, ends: Sequence[int]) -> QuantumCircuit:
    """Return a circuit with SWAPs at its end that bring what belongs on qubit n from `ends[n]` there."""
    whole, at = circuit.copy(), list(ends)
    for n in range(len(at)):
        if at[n] != n:
            other = at[n]
            whole.swap(n, other)
            at[at.index(n)] = other
            at[n] = n
    return whole


def _shorten(request: LayoutRequest, search: Deadline) -> LayoutRequest:
    """Return a request with what is left of a time limit."""
    left_s = search.left_s
    if left_s is None:
        return request
    return replace(request, params=replace(request.params, time_limit_s=max(left_s, SHORT_S)))


def _add_stage(found: MappedCircuit, given: float, judge: Judge, seconds: float) -> MappedCircuit:
    """Return a mapping with a stage that says how many two-qubit gates it and that of the given circuit end with.

    None where that is not known of the given one.
    """
    gates = judge.measure(found.mapping).gates
    mapped = found.mapping.mapped
    detail = {"two_qubit_gates": gates, "given_two_qubit_gates": given if np.isfinite(given) else None}
    stage = Stage(name="synthesis", cost=mapped.stages[-1].cost, seconds=seconds, detail=detail)
    return found._replace(mapping=found.mapping._replace(mapped=replace(mapped, stages=(*mapped.stages, stage))))
