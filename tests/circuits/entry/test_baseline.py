"""What Qiskit's own layout and routing add."""

import pytest
from qiskit import QuantumCircuit

from tiger.circuits.entry.baseline import count_swaps, run_preset
from tiger.circuits.params import LayoutParams
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import Errors, Gate

LINE = Coupling.of(5, [(0, 1), (1, 2), (2, 3), (3, 4)])


@pytest.fixture
def star() -> QuantumCircuit:
    """Return a centre that meets three others, which a line has for no qubit, in blocks as well."""
    circuit = QuantumCircuit(4, 1)
    for other in (1, 2, 3):
        circuit.rzz(0.5, 0, other)
    circuit.measure(0, 0)
    with circuit.if_test((0, 1)):
        circuit.cz(1, 2)
    return circuit


def preset_extra_cx(
    circuit: QuantumCircuit, coupling: Coupling, params: LayoutParams, fixed: list[int] | None = None
) -> int | None:
    """Return the CX gates that Qiskit adds."""
    made = run_preset(circuit, coupling, params, fixed)
    return None if made is None else 3 * (count_swaps(made) - count_swaps(circuit))


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_level_has_an_answer(star: QuantumCircuit, level: int) -> None:
    """At least one SWAP is needed, and the same seed gives the same."""
    found = [preset_extra_cx(star, LINE, LayoutParams(level=level, seed=7)) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] in range(3, 31, 3)


def test_a_layout_without_swaps_is_found() -> None:
    """Qiskit looks for one where it knows the gates."""
    circuit = QuantumCircuit(4)
    for a, b in ((2, 0), (0, 3), (3, 1)):
        circuit.rzz(0.5, a, b)
    assert preset_extra_cx(circuit, LINE, LayoutParams(level=2)) == 0


@pytest.mark.slow
def test_a_layout_may_be_given(star: QuantumCircuit) -> None:
    """Then it is routed from there."""
    assert (preset_extra_cx(star, LINE, LayoutParams(level=1), [0, 4, 1, 2]) or 0) >= 6


def test_swaps_of_the_circuit_are_its_own() -> None:
    """They do not count as added."""
    circuit = QuantumCircuit(2)
    circuit.swap(0, 1)
    assert (count_swaps(circuit), preset_extra_cx(circuit, LINE, LayoutParams(level=1))) == (1, 0)


def test_qiskit_may_have_no_answer(star: QuantumCircuit) -> None:
    """A circuit that does not fit is routed by nobody."""
    assert preset_extra_cx(star, Coupling.of(4, [(0, 1), (2, 3)]), LayoutParams(level=1)) is None


def test_gates_keep_their_order(star: QuantumCircuit) -> None:
    """So that a depth can be read off."""
    star.h(0)
    star.u(0.1, 0.2, 0.3, 2)
    made = run_preset(star, LINE, LayoutParams(level=1))
    assert made is not None
    assert (made.count_ops()["u"], made.count_ops()["cx"], made.count_ops()["measure"]) == (2, 3, 1)


def test_errors_move_the_result_to_better_qubits() -> None:
    """Where Qiskit's level looks for them."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    gates = [Gate(k, k + 1, error) for k, error in enumerate((0.3, 0.2, 0.3, 0.01))]
    made = run_preset(circuit, LINE, LayoutParams(level=3), errors=Errors.of(gates, [0.0] * 5, [0.0] * 5))
    assert made is not None
    assert {made.find_bit(qubit).index for qubit in made.data[0].qubits} == {3, 4}
