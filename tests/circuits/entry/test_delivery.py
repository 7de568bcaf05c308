"""What is kept of a mapping and Qiskit's own circuit, by what both end as."""

import time
from itertools import combinations

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.library import iSwapGate
from qiskit.converters import circuit_to_dag
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.entry.delivery import choose_delivery
from tiger.circuits.entry.entry import layout
from tiger.circuits.entry.hardware import Device
from tiger.circuits.entry.request import LayoutRequest
from tiger.circuits.incumbent import Mapped
from tiger.circuits.params import CircuitObjective, LayoutParams
from tiger.circuits.transpiler.emission import Emission
from tiger.circuits.transpiler.mapping import Mapping
from tiger.routing.coupling import Coupling
from tiger.routing.route import Route
from tiger.run.deadline import Deadline

LINE = CouplingMap([[0, 1], [1, 2]])
NEVER = Deadline(None)
ISWAPS = Target(num_qubits=3)
ISWAPS.add_instruction(iSwapGate(), {pair: None for edge in LINE.get_edges() for pair in (edge, edge[::-1])})


def make_request(device: Device = LINE, objective: CircuitObjective = "cx", *, commute: bool = True) -> LayoutRequest:
    """Return a request for qubit 0 to meet both others, the second one twice."""
    circuit = QuantumCircuit(3)
    circuit.cx(0, 1)
    circuit.cx(0, 2)
    return LayoutRequest(circuit, device, LayoutParams(level=2, objective=objective, commute=commute))


def add_swap(*pair: int) -> Emission:
    """Return that circuit with a SWAP of a pair before the second gate: of the first one, which fuses, or not."""
    routed, end = QuantumCircuit(3), list(range(3))
    end[pair[0]], end[pair[1]] = pair[1], pair[0]
    routed.cx(0, 1)
    routed.swap(*pair)
    routed.cx(end[0], end[2])
    return Emission(circuit_to_dag(routed), [0, 1, 2], end)


def find_mapping(ours: Emission, theirs: Emission | None) -> Mapping:
    """Return a mapping and Qiskit's, which both add one SWAP."""
    start, steps = np.arange(3, dtype=np.int32), np.array([(0, -1), (-1, 1), (1, -1)], np.int32)
    return Mapping(ours, Mapped(route=Route(start=start, steps=steps)), theirs, Coupling.of(3, [(0, 1), (1, 2)]))


FUSED, APART = add_swap(0, 1), add_swap(1, 2)


def test_qiskits_circuit_is_kept_where_it_ends_with_fewer_gates() -> None:
    """A SWAP beside a CX on its pair is two CX instead of four, and the report says so."""
    kept = choose_delivery(make_request(), find_mapping(APART, FUSED), NEVER)
    (stage,) = kept.mapped.stages
    assert kept.emission is kept.sabre is FUSED
    assert (stage.name, stage.cost) == ("optimization", 3)
    assert stage.detail == {"two_qubit_gates": 5, "qiskit_two_qubit_gates": 3}


@pytest.mark.parametrize(
    ("found", "request_", "deadline"),
    [
        (find_mapping(FUSED, APART), make_request(), NEVER),
        (find_mapping(APART, APART._replace(end=[0, 1, 2])), make_request(), NEVER),
        (find_mapping(APART, None), make_request(), NEVER),
        (find_mapping(APART, FUSED), make_request(objective="depth"), NEVER),
        (find_mapping(APART, FUSED), make_request(commute=False), NEVER),
        (find_mapping(APART, FUSED), make_request(), Deadline(time.monotonic())),
        (find_mapping(APART, FUSED), make_request(ISWAPS), NEVER),
    ],
    ids=[
        "fewer gates",
        "as many gates",
        "nothing of Qiskit's",
        "other objective",
        "gates keep their places",
        "no time",
        "no translation",
    ],
)
def test_else_the_mapping_stays(found: Mapping, request_: LayoutRequest, deadline: Deadline) -> None:
    """Also where it cannot be said what it ends as."""
    assert choose_delivery(request_, found, deadline) is found


@pytest.mark.slow
def test_bug_error_rates_ended_level_3_in_a_traceback():
    """Tests four qubits that all meet on a line with errors, where Qiskit's later stages look for a better layout."""
    circuit = QuantumCircuit(4)
    for one, other in combinations(range(4), 2):
        circuit.cp(0.3, one, other)
    line = [[k, k + 1] for k in range(5)]
    device = GenericBackendV2(6, coupling_map=line + [pair[::-1] for pair in line], seed=1).target
    assert layout(circuit, device, level=3).feasible
