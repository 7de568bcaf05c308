"""Qiskit's own answers, which a search starts from and never falls behind."""

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from qiskit.circuit import QuantumRegister, Qubit
from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import PropertySet
from qiskit.transpiler import CouplingMap, Target
from qiskit.transpiler.passes import SabreLayout, SabreSwap, VF2Layout

from tiger.circuits.transpiler.emission import CX, Emission
from tiger.circuits.transpiler.lone import choose_places, read_uses
from tiger.circuits.transpiler.model import CircuitModel
from tiger.circuits.transpiler.target import has_rates
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.gate_dag import GateDag, build_adjacency
from tiger.routing.route import PLAIN, Route

# Trials, iterations and calls of VF2 with its trials, as Qiskit 2 sets them for its levels 0 to 3.
TRIALS = (5, 5, 20, 20)
ITERATIONS = (1, 2, 2, 4)
VF2_CALLS = (None, (50_000, 1_000), (5_000_000, 10_000), (30_000_000, 100_000))
# The share of a time limit that VF2 gets, the seconds of a call, and the qubits of a device on which they are twice as
# many: rough, as they depend on the machine.
VF2_SHARE, VF2_CALL_S, VF2_QUBITS = 0.2, 0.5e-6, 500


def find_vf2_layout(
    model: CircuitModel, device: Target | CouplingMap, level: int, time_limit_s: float | None = None
) -> IndexArray | None:
    """Return the layout `place[n]` without SWAPs that Qiskit's optimisation level finds; None at level 0.

    A Target that lists gates is asked as it is, with its error rates; else only the pairs that have to meet matter, as
    Qiskit finds nothing where it does not know the names of the gates. With a time limit there are as many calls of VF2
    as fit, for nothing else ends it.
    """
    calls = VF2_CALLS[level]
    if calls is None or not (model.gate_dag.gates or len(model.gate_dag.inner)):
        return None
    named = isinstance(device, Target) and len(device.operation_names) > 0
    dag = model.dag if named else _pairs_only(model)
    target = device if named else _build_target(device)
    if time_limit_s is not None:
        call_s = VF2_CALL_S * (1 + target.num_qubits / VF2_QUBITS)
        fitting = max(int(VF2_SHARE * time_limit_s / call_s), 1)
        calls = min(calls[0], fitting), min(calls[1], fitting)
    search = VF2Layout(target=target, seed=-1, call_limit=calls)
    search.property_set = PropertySet()
    search.run(dag)
    layout = search.property_set["layout"]
    if layout is None:
        return None
    place = np.array([layout[qubit] for qubit in dag.qubits], np.int32)
    # Qiskit places qubits that nothing tells apart differently from call to call: those that meet no other go where
    # they fail least or, without error rates, keep their places in order; those without gates take the first left.
    if isinstance(device, Target) and has_rates(device):
        alone = np.setdiff1d(np.arange(len(place)), _list_ends(model))
        free = np.setdiff1d(np.arange(target.num_qubits), np.delete(place, alone))
        place[alone] = choose_places(read_uses(model.dag).counts[alone], free, device)
        return place
    alone = np.setdiff1d(np.arange(len(place)), np.append(_list_ends(model), _find_idle(model.dag)))
    place[alone] = np.sort(place[alone])
    idle = np.setdiff1d(_find_idle(dag), alone)
    place[idle] = np.setdiff1d(np.arange(target.num_qubits), np.delete(place, idle))[: len(idle)]
    return place


def _find_idle(dag: DAGCircuit) -> IndexArray:
    """Return the qubits without gates."""
    wires = {*dag.idle_wires(ignore=["barrier"])}
    return np.array([k for k, qubit in enumerate(dag.qubits) if qubit in wires], np.int32)


def _build_target(device: Target | CouplingMap) -> Target:
    """Return a Target of CX gates on a coupling map."""
    pairs = device if isinstance(device, CouplingMap) else device.build_coupling_map()
    return Target.from_configuration(["cx", "u"], num_qubits=pairs.size(), coupling_map=pairs)


def _pairs_only(model: CircuitModel) -> DAGCircuit:
    """Return a circuit with a CX for each pair of qubits that has to meet."""
    gate_dag, dag = model.gate_dag, DAGCircuit()
    dag.add_qreg(QuantumRegister(gate_dag.qubits))
    for a, b in np.unique(_list_ends(model), axis=0).tolist():
        dag.apply_operation_back(CX, (dag.qubits[a], dag.qubits[b]), check=False)
    return dag


def _list_ends(model: CircuitModel) -> IndexArray:
    """Return the qubits [k, 2] of all gates on two, also of those in blocks of control flow."""
    gate_dag = model.gate_dag
    return np.concatenate([gate_dag.pairs[gate_dag.pairs[:, 0] >= 0], gate_dag.inner[:, 1:]])


def run_sabre(
    dag: DAGCircuit, device: Target | CouplingMap, level: int, seed: int, limit_s: float | None = None
) -> Emission:
    """Lay a circuit out and route it with SABRE as Qiskit's optimisation level does (arXiv:2409.08368).

    A single trial has to do where all of them would take more than half of `limit_s` seconds.
    """

    def lay_out(trials: int, iterations: int) -> Emission:
        sabre = SabreLayout(device, max_iterations=iterations, seed=seed, swap_trials=trials, layout_trials=trials)
        sabre.property_set = PropertySet()
        routed = sabre.run(dag)
        place = sabre.property_set["layout"]
        index = sabre.property_set["original_qubit_indices"]
        start = [place[qubit] for qubit in sorted(index, key=index.__getitem__)]
        final = sabre.property_set["final_layout"]
        return Emission(routed, start, [final[routed.qubits[p]] for p in start])

    return _run_within(limit_s, lay_out, TRIALS[level], ITERATIONS[level])


def run_sabre_routing(
    dag: DAGCircuit, device: Target | CouplingMap, level: int, seed: int, limit_s: float | None = None
) -> Emission:
    """Route a circuit on device qubits with SABRE as Qiskit's optimisation level does; `limit_s` as above."""

    def route(trials: int, _: int) -> Emission:
        sabre = SabreSwap(device, heuristic="decay" if level else "basic", seed=seed, trials=trials)
        sabre.property_set = PropertySet()
        routed = sabre.run(dag)
        final = sabre.property_set["final_layout"]
        return Emission(routed, list(range(routed.num_qubits())), [final[qubit] for qubit in routed.qubits])

    return _run_within(limit_s, route, TRIALS[level], 1)


def _run_within(limit_s: float | None, run: Callable[[int, int], Emission], trials: int, iterations: int) -> Emission:
    """Return a run of so many trials and iterations, or of one where the others would take too long."""
    if limit_s is None:
        return run(trials, iterations)
    begun = time.perf_counter()
    first = run(1, 1)
    whole_s = trials * iterations * (time.perf_counter() - begun)
    return first if 2 * whole_s > limit_s else run(trials, iterations)


def route_of(model: CircuitModel, coupling: Coupling, routed: Emission) -> Route | None:
    """Read a routed circuit, whose gates keep their order on every qubit, as a route of its model.

    Nodes without a pair come as soon as they can. None where an edge is used that the coupling map does not have, and
    where the gates are not those of the circuit in an order that it allows. O(g log g + SWAPs).
    """
    index = {qubit: k for k, qubit in enumerate(routed.dag.qubits)}
    places = dict[tuple[Qubit, ...], tuple[int, int]]()

    def list_pairs() -> Iterator[tuple[str, int, int]]:
        """Yield the name and the device qubits of every gate on two qubits."""
        for node in routed.dag.topological_op_nodes():
            bits = node.qargs
            if len(bits) == 2 and (node.is_standard_gate() or not (node.is_directive() or node.is_control_flow())):
                here, there = places.get(bits) or places.setdefault(bits, (index[bits[0]], index[bits[1]]))
                yield node.name, here, there

    followed = _follow(model, routed.start, list_pairs())
    if followed is None or any(coupling.hops[pair] != 1 for pair in places.values()):
        return None
    steps = _with_pairless(model.gate_dag, np.array(followed, np.int32).reshape(-1, 2))
    return None if steps is None else Route(start=np.array(routed.start, np.int32), steps=steps)


def _follow(
    model: CircuitModel, start: list[int], gates: Iterable[tuple[str, int, int]]
) -> list[tuple[int, int]] | None:
    """Return the steps that gates by name and device qubits carry out, as in a route, None where one is none.

    Each is the next gate of the circuit on both of its qubits, or a SWAP that routing added.
    """
    steps = list[tuple[int, int]]()
    holds, (first, second) = np.argsort(np.array(start)).tolist(), model.gate_dag.pairs.T.tolist()
    names = {node: model.operations[i].name for i, node in enumerate(model.build.node) if node >= 0}
    # The next node of a qubit is last, and in front of all is one that there is not.
    ahead: list[list[int]] = [[-1] for _ in start]
    for node in range(len(first) - 1, -1, -1):
        if first[node] >= 0:
            ahead[first[node]].append(node)
            ahead[second[node]].append(node)
    for name, here, there in gates:
        a, b = holds[here], holds[there]
        node = ahead[a][-1]
        # A node that is next on both qubits is on these two.
        if node >= 0 and node == ahead[b][-1] and first[node] == a and names[node] == name:
            ahead[a].pop()
            ahead[b].pop()
            steps.append((node, PLAIN))
        elif name == "swap":
            holds[here], holds[there] = b, a
            steps.append((-1 - here, there))
        else:
            return None
    return steps


def _with_pairless(gate_dag: GateDag, steps: IndexArray) -> IndexArray | None:
    """Return the steps with the nodes without a pair among them, None if a node is missing or comes too early."""
    count = len(gate_dag.pairs)
    carried, pairless = np.flatnonzero(steps[:, 0] >= 0), gate_dag.pairs[:, 0] < 0
    when = np.full(count, -1, np.int64)
    when[steps[carried, 0]] = carried
    heads = np.repeat(np.arange(count), np.diff(gate_dag.first))
    first, before = (array.tolist() for array in build_adjacency(gate_dag.after, heads, count))
    lone = np.flatnonzero(pairless)
    for node in lone.tolist():
        when[node] = max((when[v] for v in before[first[node] : first[node + 1]]), default=-1)
    if (when[~pairless] < 0).any() or (when[heads] > when[gate_dag.after]).any():
        return None
    order = np.argsort(np.concatenate([2 * np.arange(len(steps)), 2 * when[lone] + 1]), kind="stable")
    waiting = np.stack([lone, np.full_like(lone, PLAIN)], axis=1)
    return np.concatenate([steps, waiting])[order].astype(np.int32)
