"""Circuits with variables, stores, phases and blocks on no qubit."""

from collections.abc import Callable

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Barrier
from qiskit.circuit.classical import expr, types
from qiskit.circuit.library import GlobalPhaseGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap

import tiger
from tests.circuits.brief import shorten_levels
from tests.fuzz.outcomes import outcomes

LINE = CouplingMap.from_line(4)
LINE.make_symmetric()
NOISY = GenericBackendV2(4, coupling_map=LINE, seed=1, control_flow=True)


def triangle() -> QuantumCircuit:
    """Return a circuit that needs a SWAP on a line."""
    circuit = QuantumCircuit(3, 1)
    circuit.h(0)
    for pair in ((0, 1), (1, 2), (0, 2)):
        circuit.cx(*pair)
        circuit.ry(0.3, pair)
    circuit.measure(0, 0)
    return circuit


def stored() -> QuantumCircuit:
    """Return one with a variable that is written once."""
    circuit = triangle()
    flag = circuit.add_var("flag", expr.lift(False))
    circuit.store(flag, circuit.clbits[0])
    return circuit


def stored_inside() -> QuantumCircuit:
    """Return one with a store in a block, a block of a store alone, and a variable of a block's own."""
    circuit = triangle()
    number = circuit.add_var("number", expr.lift(1, types.Uint(3)))
    with circuit.if_test((circuit.clbits[0], 1)):
        own = circuit.add_var("own", number)
        circuit.store(number, expr.add(own, number))
        circuit.cx(0, 2)
    with circuit.switch(number) as case, case(2):
        circuit.store(number, expr.lift(5, types.Uint(3)))
    return circuit


def phased() -> QuantumCircuit:
    """Return one with phases and a barrier on nothing, outside and inside of a block."""
    circuit = triangle()
    circuit.append(GlobalPhaseGate(0.5), [])
    circuit.append(Barrier(0), [])
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.append(GlobalPhaseGate(0.3), [])
        circuit.x(1)
    return circuit


@pytest.mark.slow
@pytest.mark.parametrize("make", [stored, stored_inside, phased])
@pytest.mark.parametrize("device", [NOISY, LINE])
def test_bug_layouts_take_what_acts_on_no_qubit(
    make: Callable[[], QuantumCircuit], device: GenericBackendV2 | CouplingMap
) -> None:
    """All that bits and variables read stays as likely, and there is a text."""
    report = tiger.layout(make(), device, level=1)
    assert outcomes(report.circuit) == pytest.approx(outcomes(make()))
    assert report.qasm is not None


@pytest.mark.parametrize("level", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_bug_the_plugin_takes_variables_on_devices_with_error_rates(
    monkeypatch: pytest.MonkeyPatch, level: int
) -> None:
    """A store is an operation on no qubit."""
    shorten_levels(monkeypatch, 1000)
    routed = transpile(stored_inside(), NOISY, optimization_level=level, seed_transpiler=1, layout_method="tiger",
                       routing_method="tiger")  # fmt: skip
    assert outcomes(routed) == pytest.approx(outcomes(stored_inside()))


def test_circuits_of_no_operation_on_a_qubit_have_a_success() -> None:
    """A declaration is all there is."""
    circuit = QuantumCircuit(2)
    circuit.add_var("flag", expr.lift(True))
    assert tiger.layout(circuit, NOISY, level=0).success_probability == 1
