"""What a mapping is compared with: Qiskit's own answer, the trivial layout, and both Ising formulations."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from qiskit.circuit import QuantumCircuit
from qiskit.converters import dag_to_circuit

from tiger.circuits.entry.baseline import count_swaps, run_preset
from tiger.circuits.entry.outcome import depth_of, success_of
from tiger.circuits.entry.request import LayoutRequest
from tiger.circuits.optimization_levels import PARAMS_OF_LEVEL
from tiger.circuits.transpiler.emission import Emission
from tiger.circuits.transpiler.mapping import Mapping
from tiger.circuits.transpiler.model import model_of
from tiger.circuits.transpiler.sabre import ITERATIONS, TRIALS, route_of
from tiger.circuits.transpiler.sabre_passes import estimate_layout_s
from tiger.circuits.transpiler.target import has_errors
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.error_rates import errors_of_target
from tiger.routing.gate_dag import GateDag
from tiger.routing.ising.movement import DataMovement, count_movement, list_route_visits, list_static_visits
from tiger.routing.ising.proposals import ProposalParams, compare_movement
from tiger.routing.route import Route
from tiger.routing.swaps.search import SearchOrigins, SearchParams, search
from tiger.run.deadline import Deadline
from tiger.run.stage import Detail
from tiger.solvers import registry

# Processor seconds of SABRE for a SWAP, in a trial and an iteration: 7 us on 144 qubits of a grid, 10 us on 400.
SWAP_S = 1e-5


class Reference(NamedTuple):
    """Hold the extra CX gates, the depth and the success probability of Qiskit's own answer, None where unknown."""

    extra_cx: int | None = None
    depth: int | None = None
    success: float | None = None


class Placements(NamedTuple):
    """Hold what ways to place the gates come to: how far data moves, and what routing from there adds."""

    moved: DataMovement
    extra_cx: dict[str, int | None]


def measure_reference(
    request: LayoutRequest, mapping: Mapping, fixed: IndexArray | None, deadline: Deadline
) -> Reference:
    """Return what Qiskit's own layout and routing reach, known already where the search started from it.

    Where errors are known Qiskit looks for better qubits afterwards, which adds no gates; what success that comes to is
    unknown where Qiskit would take longer than is left of a time limit.
    """
    known, noisy, made = mapping.sabre, has_errors(request.device), None
    if known is None or (noisy and _is_in_time(request, known, deadline)):
        errors = errors_of_target(request.device) if noisy else None
        given = None if fixed is None else fixed.tolist()
        made = run_preset(request.circuit, mapping.coupling, request.params, given, errors)
    own = made if known is None else dag_to_circuit(known.dag)
    if own is None:
        return Reference()
    added = 3 * (count_swaps(own) - count_swaps(request.circuit))
    return Reference(added, depth_of(own), None if made is None else success_of(made, request.device))


def _is_in_time(request: LayoutRequest, known: Emission, deadline: Deadline) -> bool:
    """Return whether Qiskit's layout and routing, of which a circuit is known, fit into what is left."""
    if deadline.left_s is None:
        return True
    level, swaps = request.params.level, int(known.dag.count_ops().get("swap", 0))
    whole_s = TRIALS[level] * ITERATIONS[level] * swaps * SWAP_S
    return deadline.left_s > whole_s + estimate_layout_s(request.circuit.num_qubits, known.dag.num_qubits())


def measure_placements(
    request: LayoutRequest, placed: QuantumCircuit, mapping: Mapping, deadline: Deadline
) -> Placements:
    """Return what the trivial layout, both Ising formulations and the result come to; `placed` is what was mapped.

    The formulations are solved again from level 2 on, and not at D-Wave's price, nor by a sampler that has failed.
    """
    params, coupling = request.params, mapping.coupling
    gate_dag = model_of(request.circuit, commute=params.commute).gate_dag
    trivial = np.arange(coupling.size, dtype=np.int32)
    moved = DataMovement(
        trivial=count_movement(list_static_visits(gate_dag, trivial), coupling),
        static_qubo=None,
        levels=None,
        routed=None,
    )
    answers = mapping.mapped.answers
    asked = params.solver not in registry.DWAVE and answers.error is None
    if PARAMS_OF_LEVEL[params.level].anchors and asked and not deadline():
        # There is a circuit, whatever the sampler says now.
        answers.needed = False
        again = ProposalParams(solver=params.solver, seed=params.seed, time_limit_s=deadline.left_s, answers=answers)
        found = compare_movement(gate_dag, coupling, mapping.mapped.route, again)
        moved = moved if answers.error else found
    stages = {name: value for stage in mapping.mapped.stages for name, value in stage.detail.items()}
    extra_cx = {
        "trivial": None if moved.trivial is None else _route_trivially(gate_dag, coupling, params.level, deadline),
        "static_qubo": _count(stages.get("static_extra_cx")),
        "levels": _count(stages.get("levels_extra_cx")),
    }
    return Placements(replace(moved, routed=_result_movement(placed, request, mapping)), extra_cx)


def _route_trivially(gate_dag: GateDag, coupling: Coupling, level: int, deadline: Deadline) -> int | None:
    """Return the extra CX gates of a search from the trivial layout, with the work that a proposal's layout gets."""
    own = PARAMS_OF_LEVEL[level]
    if not own.anchors or deadline():
        return None
    place = np.arange(coupling.size, dtype=np.int32)
    origins = SearchOrigins(layouts=(place,), fixed=place)
    return search(gate_dag, coupling, origins, SearchParams(work=own.trial), deadline).extra_cx


def _count(value: Detail) -> int | None:
    """Return a figure of a stage that counts gates."""
    return value if isinstance(value, int) else None


def _result_movement(placed: QuantumCircuit, request: LayoutRequest, mapping: Mapping) -> int | None:
    """Return how far data moves in the result, which may be Qiskit's own circuit."""
    coupling, model = mapping.coupling, model_of(placed, commute=request.params.commute)
    route: Route | None = mapping.mapped.route
    if mapping.emission is mapping.sabre:
        route = route_of(model, coupling, mapping.emission)
    return None if route is None else count_movement(list_route_visits(model.gate_dag, route), coupling)
