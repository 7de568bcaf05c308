"""Tests of the transpiler passes in a user's own PassManager."""

import pickle
from collections.abc import Iterator

import pytest
from qiskit import QuantumCircuit, QuantumRegister
from qiskit.transpiler import CouplingMap, Layout, PassManager, TranspilerError
from qiskit.transpiler.passes import (
    ApplyLayout,
    CheckMap,
    EnlargeWithAncilla,
    FullAncillaAllocation,
    SabreSwap,
    SetLayout,
)

from tests.circuits.equivalence import find_difference, find_unitary_difference
from tests.circuits.strategies import quick_search
from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.passes import (
    TigerLayout,
    TigerMapping,
    TigerPathMapping,
    TigerRouting,
    TigerSabreMapping,
)

LINE = CouplingMap.from_line(6)
PARAMS = LayoutParams(level=1)
EMBED = (FullAncillaAllocation(LINE), EnlargeWithAncilla(), ApplyLayout())


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with quick_search():
        yield


def star(width: int = 4) -> QuantumCircuit:
    """Return a circuit in which one qubit meets all others."""
    circuit = QuantumCircuit(width)
    for qubit in range(1, width):
        circuit.cx(0, qubit)
        circuit.h(0)
    return circuit


def run_and_check(circuit: QuantumCircuit, *passes: object) -> QuantumCircuit:
    """Run passes; make sure that the result fits the line and is the original."""
    manager = PassManager([*passes, CheckMap(LINE)])
    routed = manager.run(circuit)
    assert manager.property_set["is_swap_mapped"]
    assert find_difference(circuit, routed) == ""
    assert find_unitary_difference(circuit, routed) == ""
    return routed


@pytest.mark.parametrize("kind", [TigerMapping, TigerPathMapping, TigerSabreMapping])
def test_mapping_does_it_all(kind: type[TigerMapping]) -> None:
    """One pass lays a circuit out and routes it, with ancillas."""
    routed = run_and_check(star(), kind(LINE, LayoutParams(level=2)))
    assert routed.num_qubits == 6
    assert [register.name for register in routed.layout.initial_layout.get_registers() if register.size == 2] == [
        "ancilla"
    ]


def test_a_device_without_a_path_is_refused() -> None:
    """As what other circuits can be mapped along is not there."""
    with pytest.raises(TranspilerError, match="topology: expected a path of as many qubits as meet others"):
        PassManager(TigerPathMapping(CouplingMap([(0, 1), (0, 2), (0, 3)]), PARAMS)).run(star())


def test_layout_and_routing_work_together() -> None:
    """TIGER's layout, Qiskit's embedding, TIGER's routing."""
    run_and_check(star(), TigerLayout(LINE, PARAMS), *EMBED, TigerRouting(LINE, PARAMS))


def test_layout_works_with_sabre() -> None:
    """TIGER's layout and SABRE's routing."""
    run_and_check(star(), TigerLayout(LINE, PARAMS), *EMBED, SabreSwap(LINE, seed=1, trials=1))


def test_routing_keeps_a_given_layout() -> None:
    """Routing starts where the user wants."""
    routed = run_and_check(star(), SetLayout([5, 0, 2, 3]), *EMBED, TigerRouting(LINE, LayoutParams(level=3)))
    assert routed.layout.initial_index_layout(filter_ancillas=True) == [5, 0, 2, 3]


def test_routing_comes_after_an_earlier_routing() -> None:
    """Where the qubits end is told for both together."""
    manager = PassManager([TigerMapping(LINE, PARAMS), TigerRouting(CouplingMap.from_ring(6), PARAMS)])
    assert find_difference(star(), manager.run(star())) == ""
    twice = PassManager(
        [SetLayout([0, 1, 2, 3]), *EMBED, SabreSwap(LINE, seed=3, trials=1), _Shuffle(), TigerRouting(LINE)]
    )
    routed = twice.run(star())
    assert find_difference(star(), routed) == ""


class _Shuffle(TigerRouting):
    """Swap two qubits at the end, as an earlier pass might."""

    def __init__(self) -> None:
        """Take nothing."""
        super().__init__(LINE)

    def run(self, dag):
        """Append a SWAP and tell of it."""
        from qiskit.circuit.library import SwapGate

        dag.apply_operation_back(SwapGate(), (dag.qubits[0], dag.qubits[1]))
        places = [1, 0, *range(2, 6)]
        final = Layout(dict(zip(dag.qubits, places, strict=True)))
        before = self.property_set["final_layout"]
        self.property_set["final_layout"] = final if before is None else before.compose(final, dag.qubits)
        return dag


def test_ancillas_get_a_free_name() -> None:
    """A circuit may call its own register ancilla."""
    circuit = QuantumCircuit(QuantumRegister(2, "ancilla"))
    circuit.cx(0, 1)
    assert "ancilla_" in {
        r.name for r in run_and_check(circuit, TigerMapping(LINE, PARAMS)).layout.initial_layout.get_registers()
    }


@pytest.mark.parametrize("kind", [TigerMapping, TigerSabreMapping, TigerLayout])
def test_three_qubit_gates_are_refused_with_advice(kind: type[TigerMapping]) -> None:
    """A Toffoli gate has to be decomposed first."""
    circuit = QuantumCircuit(3)
    circuit.ccx(0, 1, 2)
    with pytest.raises(TranspilerError, match="decompose it first"):
        PassManager([kind(LINE, PARAMS)]).run(circuit)


def test_too_wide_circuits_are_refused() -> None:
    """Seven qubits do not fit on six."""
    with pytest.raises(TranspilerError, match="at least 7 qubits for this circuit, found 6"):
        PassManager([TigerMapping(LINE, PARAMS)]).run(star(7))


def test_routing_refuses_circuits_that_are_not_laid_out() -> None:
    """Four qubits of the circuit's own are not six of the device."""
    with pytest.raises(TranspilerError, match="expects a circuit on all 6 device qubits, found 4"):
        PassManager([TigerRouting(LINE, PARAMS)]).run(star())


def test_the_default_is_level_three() -> None:
    """Without parameters a pass searches as hard as it does at level 3, with seed 0."""
    assert {kind(LINE).params for kind in (TigerLayout, TigerRouting, TigerMapping, TigerSabreMapping)} == {
        LayoutParams()
    }


@pytest.mark.parametrize("kind", [TigerLayout, TigerRouting, TigerMapping, TigerSabreMapping])
def test_passes_go_to_other_processes(kind: type[TigerMapping]) -> None:
    """Qiskit's parallel transpilation pickles passes."""
    assert pickle.loads(pickle.dumps(kind(LINE, PARAMS))).params == PARAMS


def test_the_empty_circuit_is_mapped() -> None:
    """No qubits need no routing."""
    assert PassManager([TigerMapping(LINE, PARAMS)]).run(QuantumCircuit()).num_qubits == 6
