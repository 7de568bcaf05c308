"""Tests of Qiskit's own answers and their reading as routes."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.transpiler import CouplingMap, Target, generate_preset_pass_manager

from tests.circuits.equivalence import replay
from tests.circuits.strategies import gate_circuits
from tests.routing.replay import find_flaw
from tiger.circuits.params import LayoutParams
from tiger.circuits.solve import begin, find_perfect_layout, map_circuit
from tiger.circuits.transpiler.emission import Emission, emit
from tiger.circuits.transpiler.flow import Blocks, count_cx
from tiger.circuits.transpiler.model import model_of
from tiger.circuits.transpiler.sabre import find_vf2_layout, route_of, run_sabre, run_sabre_routing
from tiger.circuits.transpiler.target import coupling_of
from tiger.routing.coupling import Coupling

LINE = CouplingMap.from_line(6)
RING = QuantumCircuit(5)
for _k in range(5):
    RING.cx(_k, (_k + 1) % 5)
    RING.h(_k)
    RING.cx(_k, (_k + 2) % 5)


def target(size: int) -> Target:
    """Return a line of CX gates."""
    return Target.from_configuration(["cx", "u", "h", "swap"], coupling_map=CouplingMap.from_line(size))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_sabre_mapping_is_that_of_the_presets(level: int) -> None:
    """Layout and routing stages of Qiskit's optimisation level give the same circuit for the same seed."""
    manager = generate_preset_pass_manager(level, target=target(6), seed_transpiler=7)
    expected = manager.routing.run(manager.layout.run(RING))
    assert count_cx(run_sabre(circuit_to_dag(RING), target(6), level, 7).dag) == count_cx(circuit_to_dag(expected))


def test_sabre_reports_where_qubits_start_and_end() -> None:
    """The places fit the circuit, whether laid out by SABRE or given."""
    wide = QuantumCircuit(6)
    wide.compose(RING, range(5), inplace=True)
    for original, routed in (
        (RING, run_sabre(circuit_to_dag(RING), LINE, 2, 1)),
        (wide, run_sabre_routing(_physical(wide), LINE, 2, 1)),
    ):
        count = original.num_qubits
        assert replay(original, dag_to_circuit(routed.dag), routed.start[:count], routed.end[:count]) == ""


def _physical(circuit: QuantumCircuit):
    """Return a circuit on device qubits."""
    dag = circuit_to_dag(circuit)
    dag.make_physical(circuit.num_qubits)
    return dag


@pytest.mark.slow
@given(circuit=gate_circuits(), seed=st.integers(0, 99))
def test_routes_of_sabre_are_valid_and_cost_the_same(circuit: QuantumCircuit, seed: int) -> None:
    """A routed circuit becomes a route with its SWAPs, and written out again it is the original."""
    commute = seed % 2 == 0
    model = model_of(circuit, commute=commute)
    known = run_sabre(model.dag, LINE, 1, seed)
    route = route_of(model, coupling_of(LINE), known)
    assert route is not None
    assert find_flaw(model.gate_dag, coupling_of(LINE), route) == ""
    assert count_cx(model.dag) + route.extra_cx == count_cx(known.dag)
    again = emit(model, route, Blocks(coupling=coupling_of(LINE), commute=commute, router=_never))
    count = circuit.num_qubits
    assert replay(circuit, dag_to_circuit(again.dag), again.start[:count], again.end[:count]) == ""


def _never(*_: object):
    """Stand in for a router that is not needed."""
    raise AssertionError


def test_a_route_over_missing_edges_is_none() -> None:
    """A circuit routed for a better device cannot be used."""
    model = model_of(RING)
    known = run_sabre(model.dag, CouplingMap.from_ring(6), 1, 0)
    assert route_of(model, Coupling.of(6, [(0, 1), (1, 2)]), known) is None


def test_a_route_with_other_gates_is_none() -> None:
    """A circuit that is not the original cannot be followed, nor one that stops early."""
    circuit, other = QuantumCircuit(2), QuantumCircuit(2)
    circuit.cx(0, 1)
    other.cz(0, 1)
    for wrong in (other, QuantumCircuit(2)):
        known = Emission(circuit_to_dag(wrong), [0, 1], [0, 1])
        assert route_of(model_of(circuit), Coupling.of(2, [(0, 1)]), known) is None


def test_a_route_in_another_order_is_none() -> None:
    """A gate that comes before the barrier it has to wait for cannot be followed."""
    circuit, unordered = QuantumCircuit(4), QuantumCircuit(4)
    circuit.cx(2, 3)
    circuit.barrier()
    circuit.cx(0, 1)
    unordered.cx(0, 1)
    unordered.cx(2, 3)
    known = Emission(circuit_to_dag(unordered), [0, 1, 2, 3], [0, 1, 2, 3])
    assert route_of(model_of(circuit), Coupling.of(4, [(0, 1), (1, 2), (2, 3)]), known) is None


def test_perfect_layouts_are_found_whatever_the_gates_are_called() -> None:
    """A path fits a line on a coupling map, on a Target, and where it is inside control flow."""
    path = QuantumCircuit(4)
    for a, b in ((3, 1), (1, 0), (0, 2)):
        path.rxx(0.1, a, b)
    for device in (LINE, target(6)):
        layout = find_vf2_layout(model_of(path), device, 1)
        assert layout is not None
        assert np.abs(np.diff(layout[[3, 1, 0, 2]])).tolist() == [1, 1, 1]


@pytest.mark.parametrize("device", [target(7), CouplingMap.from_line(7)])
def test_bug_qubits_without_gates_stay_where_they_are(device: Target | CouplingMap) -> None:
    """Each call had them elsewhere, so that the same seed gave another layout."""
    circuit = QuantumCircuit(5)
    circuit.cx(2, 4)
    circuit.barrier()
    circuit.cx(4, 1)
    model = model_of(circuit)
    places = [layout.tolist() for _ in range(12) if (layout := find_vf2_layout(model, device, 1)) is not None]
    assert len(set(places[0])) == 5
    assert places == [places[0]] * 12


def beside_a_triangle(side: int) -> CouplingMap:
    """Return a grid, and a triangle for which an odd length alone is no reason to stop."""
    size = side * side
    triangle = [[size, size + 1], [size + 1, size + 2], [size, size + 2]]
    return CouplingMap([*map(list, CouplingMap.from_grid(side, side).get_edges()), *triangle])


def test_bug_a_time_limit_holds_for_perfect_layouts() -> None:
    """A ring of odd length fits no grid, which took VF2 and the search of layouts 15 s each to give up."""
    ring = QuantumCircuit(59)
    for a in range(59):
        ring.cx(a, (a + 1) % 59)
    grid, begun = beside_a_triangle(8), time.process_time()
    assert find_vf2_layout(model_of(ring), grid, 3, 0.2) is None
    params = LayoutParams(level=3, time_limit_s=0.2)
    stages = map_circuit(model_of(ring).gate_dag, coupling_of(grid), params).stages
    assert next(stage for stage in stages if stage.name == "embedding").detail["shortened"] is True
    assert time.process_time() - begun < 3


@pytest.mark.slow
def test_bug_a_time_limit_holds_for_perfect_layouts_on_many_qubits() -> None:
    """A call of either search takes up to fifty times as long on 1,024 qubits as on 64."""
    ring = QuantumCircuit(1019)
    for a in range(1019):
        ring.cx(a, (a + 1) % 1019)
    grid = beside_a_triangle(32)
    model, coupling = model_of(ring), coupling_of(grid)
    begun = time.process_time()
    assert find_vf2_layout(model, grid, 3, 1.0) is None
    find_perfect_layout(*begin(model.gate_dag, coupling, LayoutParams(level=3, time_limit_s=1.0), None))
    assert time.process_time() - begun < 3


def test_bug_a_search_of_all_layouts_is_not_shortened() -> None:
    """No triangle fits a grid, which takes no calls to see, though there is time for few."""
    gate_dag, coupling = model_of(RING).gate_dag, coupling_of(LINE)
    stages = map_circuit(gate_dag, coupling, LayoutParams(level=3, time_limit_s=10.0)).stages
    assert not any("shortened" in stage.detail for stage in stages if stage.name in ("embedding", "bound"))


def test_no_perfect_layout_is_none() -> None:
    """A ring does not fit a line; level 0 does not look, and without gates there is nothing to find."""
    assert find_vf2_layout(model_of(RING), LINE, 3) is None
    assert find_vf2_layout(model_of(RING), CouplingMap.from_full(5), 0) is None
    assert find_vf2_layout(model_of(QuantumCircuit(2)), LINE, 3) is None


def test_bug_qubits_that_meet_no_other_changed_places_from_call_to_call() -> None:
    """Qiskit's order of them on a device with CX one way hangs on the seeds of its hash tables."""
    circuit = QuantumCircuit(4)
    circuit.sx(1)
    circuit.cx(0, 2)
    circuit.sx(3)
    one_way = Target.from_configuration(["u", "cx", "measure"], 4, CouplingMap([[0, 1], [1, 2], [3, 2], [0, 3]]))
    found = {tuple(find_vf2_layout(model_of(circuit), one_way, 1).tolist()) for _ in range(30)}
    assert len(found) == 1


@pytest.mark.long
def test_a_single_trial_has_to_do_in_little_time() -> None:
    """Where all trials would take longer than half of the limit; with time enough nothing changes."""
    circuit, rng = QuantumCircuit(12), np.random.default_rng(0)
    for _ in range(400):
        circuit.cx(*rng.choice(12, 2, replace=False).tolist())
    dag, device = circuit_to_dag(circuit), CouplingMap.from_line(12)
    whole, brief, ample = (run_sabre(dag, device, 3, 1, limit_s) for limit_s in (None, 1e-9, 1e6))
    assert ample.dag.count_ops() == whole.dag.count_ops()
    assert brief.dag.count_ops()["swap"] > whole.dag.count_ops()["swap"]
    assert sorted(brief.start) == list(range(12))
