"""The door: circuits and devices as callers hold them in, a report out."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from qiskit.circuit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import ApplyLayout, EnlargeWithAncilla, FullAncillaAllocation, SetLayout

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.circuits.doors.baseline import preset_extra_cx, swaps
from tiger.circuits.doors.hardware import Device, read_device
from tiger.circuits.doors.outcome import depth_of, extra_cx, qasm_of, success_of
from tiger.circuits.doors.reading import read_circuit
from tiger.circuits.doors.report import CircuitReport
from tiger.circuits.doors.request import Layout, checked, placed
from tiger.circuits.embedding.parts import allotted
from tiger.circuits.ising.movement import DataMovement, movement, resting
from tiger.circuits.ising.movement import routed as visits
from tiger.circuits.ising.proposals import ProposalParams, data_movement
from tiger.circuits.params import CircuitObjective, LayoutParams
from tiger.circuits.route import Route
from tiger.circuits.solve import PROPOSING
from tiger.circuits.transpiler.mapping import Mapping, mapping
from tiger.circuits.transpiler.model import model_of
from tiger.circuits.transpiler.target import coupling_of, has_errors
from tiger.errors import InputError
from tiger.objective import Violation
from tiger.progress import Progress, ignored
from tiger.solvers import registry


def layout(
    circuit: QuantumCircuit | Path | str | bytes,
    coupling: Device | Path | str | Iterable[Sequence[int]] | object,
    *,
    level: int = 3,
    effort: int = 1,
    objective: CircuitObjective = "cx",
    solver: str = "auto",
    seed: int = 0,
    initial_layout: Layout | None = None,
    time_limit_s: float | None = None,
    threads: int = 1,
    commute: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> CircuitReport:
    """Lay a circuit out on a device and route it, and report the routed circuit with what routing added.

    The circuit is a QuantumCircuit, OpenQASM 2 or 3 text, a path, or the bytes of QPY or of text
    (`tiger.circuits.doors.reading`); the device a SPEC such as `heavy-hex:7`, a path, a Target, a coupling map, a
    backend or pairs of qubits (`tiger.circuits.doors.hardware`). `level` 0 to 3 is Qiskit's optimisation level,
    `effort` multiplies its iterations, `objective` is the extra CX gates, the depth, or the probability of success,
    which needs a Target with error rates. `solver` samples the Ising proposals. `initial_layout` gives the device qubit
    of every circuit qubit. Same seed, level and effort, same answer, on any number of `threads`; `time_limit_s` only
    ends a search early. `commute` lets gates change places where that is the same circuit.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a circuit that the
    device cannot hold is a report that is not feasible.
    """
    begun = time.perf_counter()
    params = checked(
        LayoutParams(
            level=level,
            effort=effort,
            objective=objective,
            solver=solver,
            seed=seed,
            time_limit_s=time_limit_s,
            threads=threads,
            commute=commute,
        )
    )
    asked = Asked(read_circuit(circuit), read_device(coupling), params, progress or ignored)
    return replace(answered(asked, initial_layout), seconds=time.perf_counter() - begun)


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold a circuit, a device, how hard to search and whom to tell."""

    circuit: QuantumCircuit
    device: Device
    params: LayoutParams
    watch: Callable[[Progress], None] = ignored


def answered(asked: Asked, initial_layout: Layout | None = None) -> CircuitReport:
    """Report the mapping of a circuit that has been read; raise InputError as `layout` does, but for its arguments."""
    begun = time.perf_counter()
    coupling, params = coupling_of(asked.device), asked.params
    if params.objective == "success" and not has_errors(asked.device):
        raise InputError("objective", "expected a Target with error rates for success, got a device without them")
    report = CircuitReport(
        feasible=False,
        solver=params.solver,
        level=params.level,
        objective=params.objective,
        seed=params.seed,
        seconds=0.0,
    )
    width = asked.circuit.num_qubits
    if width > coupling.size:
        return replace(report, violations=(_too_wide(width, coupling.size),))
    fixed = None if initial_layout is None else placed(initial_layout, width, coupling.size)
    asked.watch(Progress("reading", None, None))
    skeleton = model_of(asked.circuit, commute=params.commute).skeleton
    try:
        allotted(skeleton, coupling, fixed)
    except InputError as error:
        return replace(report, violations=(Violation(kind="disconnected", message=error.reason),))
    asked.watch(Progress("search", None, None))
    report = _mapped(report, asked, fixed)
    seconds = time.perf_counter() - begun
    return replace(report, seconds=seconds, warnings=_remarks(params.time_limit_s, seconds))


def _remarks(limit: float | None, seconds: float) -> tuple[str, ...]:
    """Say so where the time limit may have ended the search."""
    if limit is None or seconds < limit:
        return ()
    return (f"ended by the time limit of {limit:g} s: the same seed may end elsewhere",)


def _mapped(report: CircuitReport, asked: Asked, fixed: IndexArray | None) -> CircuitReport:
    """Return the report with the routed circuit and its figures."""
    dag = circuit_to_dag(_placed(asked, fixed))
    coupling = coupling_of(asked.device)
    found = mapping(
        dag, asked.device, asked.params, None if fixed is None else np.arange(coupling.size, dtype=np.int32)
    )
    circuit = dag_to_circuit(found.emission.dag)
    here = range(asked.circuit.num_qubits) if fixed is None else fixed.tolist()
    added, more = swaps(circuit) - swaps(asked.circuit), extra_cx(circuit, asked.circuit)
    return replace(
        report,
        feasible=True,
        initial_layout={virtual: found.emission.start[k] for virtual, k in enumerate(here)},
        final_layout={virtual: found.emission.end[k] for virtual, k in enumerate(here)},
        circuit=circuit,
        qasm=qasm_of(circuit),
        swaps=added,
        bridges=more // 3 - added,
        extra_cx=more,
        depth=depth_of(circuit),
        baseline_extra_cx=_baseline(asked, found, coupling, fixed),
        success_probability=success_of(circuit, asked.device),
        data_movement=_moved(asked, found.mapped.route, coupling),
        stages=found.mapped.stages,
    )


def _baseline(asked: Asked, found: Mapping, coupling: Coupling, fixed: IndexArray | None) -> int | None:
    """Return what Qiskit's own answer adds, which is known already where the search started from it."""
    if found.sabre is not None:
        return 3 * (swaps(dag_to_circuit(found.sabre.dag)) - swaps(asked.circuit))
    return preset_extra_cx(asked.circuit, coupling, asked.params, None if fixed is None else fixed.tolist())


def _moved(asked: Asked, route: Route, coupling: Coupling) -> DataMovement:
    """Return how far data travels; in the Ising formulations only where they are solved, and not at D-Wave's price."""
    params, skeleton = asked.params, model_of(asked.circuit, commute=asked.params.commute).skeleton
    if params.level >= PROPOSING and params.solver not in registry.DWAVE:
        asked.watch(Progress("data movement", None, None))
        again = ProposalParams(solver=params.solver, seed=params.seed, time_limit_s=params.time_limit_s)
        return data_movement(skeleton, coupling, route, again)
    trivial = np.arange(coupling.size, dtype=np.int32)
    return DataMovement(
        trivial=movement(resting(skeleton, trivial), coupling),
        static_qubo=None,
        levels=None,
        routed=movement(visits(skeleton, route), coupling),
    )


def _placed(asked: Asked, fixed: IndexArray | None) -> QuantumCircuit:
    """Return the circuit, on all device qubits where its layout is given."""
    if fixed is None:
        return asked.circuit
    size = asked.device.size() if isinstance(asked.device, CouplingMap) else asked.device.num_qubits
    spots = CouplingMap.from_full(size)
    embed = [SetLayout(fixed.tolist()), FullAncillaAllocation(spots), EnlargeWithAncilla(), ApplyLayout()]
    return PassManager(embed).run(asked.circuit)


def _too_wide(width: int, size: int) -> Violation:
    """Return what stands against a circuit with more qubits than the device."""
    return Violation(kind="qubits", message=f"the circuit has {width} qubits, the device {size}")
