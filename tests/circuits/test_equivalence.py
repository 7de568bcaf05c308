"""Tests of the check of routed circuits."""

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import SabreLayout

from tests.circuits.equivalence import find_difference, find_unitary_difference, replay


def circuit(width: int, *gates: tuple[str, int, int]) -> QuantumCircuit:
    """Return a circuit of two-qubit gates."""
    made = QuantumCircuit(width)
    for name, a, b in gates:
        getattr(made, name)(a, b)
    return made


def test_a_swap_moves_qubits() -> None:
    """A gate on moved qubits is the gate of the original, and the end has to say where they are."""
    original, routed = circuit(3, ("cx", 0, 2)), circuit(3, ("swap", 0, 1), ("cx", 1, 2))
    assert replay(original, routed, [0, 1, 2], [1, 0, 2]) == ""
    assert replay(original, routed, [0, 1, 2], [0, 1, 2]) == "qubits [0, 1] do not end where the layout says"


def test_a_swap_of_the_original_stays_a_gate() -> None:
    """A SWAP that the circuit asks for moves nothing."""
    swap = circuit(2, ("swap", 0, 1))
    assert replay(swap, swap, [0, 1], [0, 1]) == ""
    assert replay(swap, circuit(2, ("swap", 0, 1), ("swap", 0, 1)), [0, 1], [1, 0]) == ""


def test_four_cx_over_a_qubit_are_one() -> None:
    """A BRIDGE stands for a CX, also where its first CX is one of the original's."""
    pair = [("cx", 0, 1), ("cx", 1, 2)]
    assert replay(circuit(3, ("cx", 0, 2)), circuit(3, *pair, *pair), [0, 1, 2], [0, 1, 2]) == ""
    more = circuit(3, ("cx", 0, 1), ("cx", 0, 2))
    assert replay(more, circuit(3, *pair, *pair, ("cx", 0, 1)), [0, 1, 2], [0, 1, 2]) == ""


def test_a_bridge_may_wait_for_its_far_end() -> None:
    """The first CX of a BRIDGE may be next on its qubits long before the others are, and either pair may come first."""
    original, routed = circuit(4, ("cx", 3, 2), ("cx", 2, 3), ("cx", 0, 2)), circuit(4)
    for name, a, b in (("cx", 0, 1), ("cx", 3, 2), ("cx", 2, 3), ("cx", 1, 2), ("cx", 0, 1), ("cx", 1, 2)):
        getattr(routed, name)(a, b)
    assert replay(original, routed, [0, 1, 2, 3], [0, 1, 2, 3]) == ""
    mirrored = circuit(3, *[("cx", 1, 2), ("cx", 0, 1)] * 2)
    assert replay(circuit(3, ("cx", 0, 2)), mirrored, [0, 1, 2], [0, 1, 2]) == ""


def test_cx_that_only_look_like_a_bridge_are_refused() -> None:
    """Two pairs of CX into one qubit, or back and forth, are no CX between their ends."""
    for pairs in ([("cx", 0, 1), ("cx", 2, 1)], [("cx", 0, 1), ("cx", 1, 0)]):
        assert replay(circuit(3, ("cx", 0, 2)), circuit(3, *pairs, *pairs), [0, 1, 2], [0, 1, 2]) != ""


def test_three_cx_over_a_qubit_are_not_one() -> None:
    """A BRIDGE without its end is refused."""
    routed = circuit(3, ("cx", 0, 1), ("cx", 1, 2), ("cx", 0, 1))
    assert "is not what the original does next" in replay(circuit(3, ("cx", 0, 2)), routed, [0, 1, 2], [0, 1, 2])


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (("cx", 0, 1), ("cx", 0, 2), ""),
        (("cx", 1, 0), ("cx", 2, 0), ""),
        (("cz", 0, 1), ("cx", 1, 2), ""),
        (("cx", 0, 1), ("cx", 1, 2), "cx on device qubits (1, 2) is not what the original does next"),
        (("cx", 0, 1), ("cx", 1, 0), "cx on device qubits (1, 0) is not what the original does next"),
        (("cz", 0, 1), ("cx", 2, 1), "cx on device qubits (2, 1) is not what the original does next"),
    ],
)
def test_only_commuting_gates_may_change_places(
    first: tuple[str, int, int], second: tuple[str, int, int], reason: str
) -> None:
    """Gates that share an axis on the qubit they share may, others not."""
    assert replay(circuit(3, first, second), circuit(3, second, first), [0, 1, 2], [0, 1, 2]) == reason


def test_missing_gates_are_found() -> None:
    """A circuit that stops early is not the original."""
    reason = replay(circuit(2, ("cx", 0, 1)), circuit(2), [0, 1], [0, 1])
    assert reason == "cx on qubits (0, 1) is missing"


def test_parameters_count() -> None:
    """A rotation by another angle is another gate."""
    right, wrong = QuantumCircuit(1), QuantumCircuit(1)
    right.rz(0.1, 0)
    wrong.rz(0.2, 0)
    assert "rz on device qubits (0,)" in replay(right, wrong, [0], [0])


def test_measurements_keep_their_bits() -> None:
    """A measurement into another bit, or before a gate instead of after it, is found."""
    original, other, early = QuantumCircuit(1, 2), QuantumCircuit(1, 2), QuantumCircuit(1, 2)
    original.x(0)
    original.measure(0, 0)
    other.x(0)
    other.measure(0, 1)
    early.measure(0, 0)
    early.x(0)
    assert [replay(original, routed, [0], [0]) == "" for routed in (original, other, early)] == [True, False, False]


def flow(gates: QuantumCircuit, value: int = 1) -> QuantumCircuit:
    """Return a circuit whose only operation runs gates if a bit has a value."""
    made, body = QuantumCircuit(gates.num_qubits, 1), QuantumCircuit(gates.num_qubits, 1)
    body.compose(gates, inplace=True)
    made.if_test((made.clbits[0], value), body, list(range(gates.num_qubits)), [0])
    return made


def test_blocks_have_to_bring_their_qubits_back() -> None:
    """A block may use another device qubit if it is the same afterwards."""
    original = QuantumCircuit(2, 1)
    original.if_test((original.clbits[0], 1), circuit(2, ("cx", 0, 1)), [0, 1], [])
    away, back = circuit(3, ("swap", 0, 1), ("cx", 1, 2)), ("swap", 0, 1)
    home = circuit(3, ("swap", 0, 1), ("cx", 1, 2), back)
    original.clear()
    original.if_test((original.clbits[0], 1), flow(circuit(2, ("cx", 0, 1))).data[0].operation.blocks[0], [0, 1], [0])
    assert replay(original, flow(home), [0, 2], [0, 2]) == ""
    assert replay(original, flow(away), [0, 2], [0, 2]) != ""


def test_conditions_count() -> None:
    """Control flow on another value is another operation, and no gate is control flow."""
    gates = circuit(2, ("cx", 0, 1))
    assert replay(flow(gates), flow(gates, 0), [0, 1], [0, 1]) != ""
    assert replay(flow(gates), gates, [0, 1], [0, 1]) != ""


def test_qiskits_own_circuits_pass() -> None:
    """Both checks accept what SABRE does, from the layouts it reports."""
    original = circuit(4, ("cx", 0, 1), ("cx", 1, 2), ("cx", 2, 3), ("cx", 3, 0), ("cx", 0, 2))
    routed = PassManager([SabreLayout(CouplingMap.from_line(5), seed=1)]).run(original)
    assert find_difference(original, routed) == ""
    assert find_unitary_difference(original, routed) == ""
    routed.x(0)
    assert find_difference(original, routed) != ""
    assert find_unitary_difference(original, routed) == "the unitaries differ"


def test_a_circuit_without_layout_is_refused() -> None:
    """Nothing says where the qubits are."""
    assert find_difference(circuit(2), circuit(2)) == "the routed circuit has no layout"


def test_unitaries_of_many_qubits_are_refused() -> None:
    """Eleven device qubits are too many."""
    with pytest.raises(ValueError, match="at most 10 device qubits, found 11"):
        find_unitary_difference(circuit(2), circuit(11))


def test_bug_gates_that_do_nothing_to_a_qubit_go_anywhere() -> None:
    """An angle of 0 parts no run of operations that commute, on any axis."""
    original, routed = QuantumCircuit(2), QuantumCircuit(2)
    for made, order in ((original, "cix"), (routed, "xic")):
        for gate in order:
            {"c": lambda m: m.cx(0, 1), "i": lambda m: m.crx(0.0, 0, 1), "x": lambda m: m.rx(0.3, 1)}[gate](made)
    assert replay(original, routed, [0, 1], [0, 1]) == ""
    assert replay(original, circuit(2, ("cx", 0, 1)), [0, 1], [0, 1]) == "rx on qubits (1,) is missing"


def test_bug_gates_with_open_parameters_commute() -> None:
    """What is open counts as any number."""
    first, other = Parameter("a"), Parameter("b")
    original, routed, wrong = (QuantumCircuit(2) for _ in range(3))
    for made, order in ((original, "pr"), (routed, "rp"), (wrong, "xp")):
        for gate in order:
            steps = {"p": lambda m: m.cp(first, 0, 1), "r": lambda m: m.rz(first - other, 0)}
            (steps | {"x": lambda m: m.rx(other, 0)})[gate](made)
    assert replay(original, routed, [0, 1], [0, 1]) == ""
    assert replay(original, wrong, [0, 1], [0, 1]) != ""
