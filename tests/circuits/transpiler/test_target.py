"""Tests of devices as routing reads them."""

from qiskit.circuit import Measure
from qiskit.circuit.library import CXGate, CZGate, RZGate, SXGate
from qiskit.transpiler import CouplingMap, InstructionProperties, Target

from tiger.circuits.transpiler.target import (
    coupling_of,
    find_faulty_gates,
    has_errors,
    list_couplings,
    restrict_pairs,
)
from tiger.routing.coupling import Coupling


def target(**errors: float) -> Target:
    """Return a line of four qubits whose errors are 0.1, or as given by gate and qubits: `cx12`, `sx0`."""

    def list_properties(name: str, *places: tuple[int, ...]) -> dict[tuple[int, ...], InstructionProperties]:
        return {q: InstructionProperties(error=errors.get(name + "".join(map(str, q)), 0.1)) for q in places}

    device = Target(num_qubits=4)
    device.add_instruction(CXGate(), list_properties("cx", (0, 1), (1, 0), (2, 1), (2, 3)))
    device.add_instruction(SXGate(), list_properties("sx", (0,), (1,), (2,), (3,)))
    device.add_instruction(Measure(), list_properties("measure", (0,), (1,), (2,), (3,)))
    return device


def edges(device: Target | CouplingMap) -> list[list[int]]:
    """Return the edges that routing may use."""
    return coupling_of(device).edges.tolist()


def test_edges_have_no_direction() -> None:
    """A coupling map and a Target give each pair once."""
    assert edges(CouplingMap([[1, 0], [1, 2], [2, 1]])) == [[0, 1], [1, 2]]
    assert edges(target()) == [[0, 1], [1, 2], [2, 3]]


def test_an_edge_is_faulty_when_all_its_gates_are() -> None:
    """One working direction is enough."""
    assert edges(target(cx01=1.0)) == [[0, 1], [1, 2], [2, 3]]
    assert edges(target(cx01=1.0, cx10=1.0, cx23=1.0)) == [[1, 2]]


def test_an_edge_works_with_one_of_two_gates() -> None:
    """A second gate may replace a faulty one."""
    device = target(cx23=1.0)
    device.add_instruction(CZGate(), {(3, 2): InstructionProperties(error=0.2)})
    assert edges(device) == [[0, 1], [1, 2], [2, 3]]


def test_a_faulty_qubit_has_no_edges() -> None:
    """A gate of error 1 excludes its qubit, a readout of error 1 does not."""
    assert edges(target(sx1=1.0, measure3=1.0)) == [[2, 3]]


def test_a_qubit_without_gates_has_no_edges() -> None:
    """Where others have gates of their own, one without is not usable; one gate for all qubits counts for it."""
    device = Target(num_qubits=3)
    device.add_instruction(CXGate(), {(0, 1): None, (1, 2): None})
    device.add_instruction(SXGate(), {(0,): None, (1,): None})
    assert edges(device) == [[0, 1]]
    device.add_instruction(RZGate(0.1), None)
    assert edges(device) == [[0, 1], [1, 2]]


def test_a_target_without_pairs_has_them_all() -> None:
    """A CX that is listed without qubits works everywhere."""
    device = Target(num_qubits=3)
    device.add_instruction(CXGate(), None)
    assert edges(device) == [[0, 1], [0, 2], [1, 2]]


def test_a_target_without_a_size_has_no_qubits() -> None:
    """Nothing fits on it."""
    assert coupling_of(Target()).size == 0


def test_qubits_without_edges_count() -> None:
    """An isolated qubit of a coupling map is a device qubit."""
    device = CouplingMap([[0, 1]])
    device.add_physical_qubit(2)
    assert coupling_of(device).size == 3


def test_errors_are_noticed() -> None:
    """Error rates are known if one is."""
    assert has_errors(target())
    assert not has_errors(Target.from_configuration(["cx", "u"], coupling_map=CouplingMap.from_line(3)))
    assert not has_errors(CouplingMap.from_line(3))


def test_bug_an_unknown_error_made_a_pair_faulty_by_the_order_of_gates() -> None:
    """What is no number says nothing, before an error of 1 and behind it; errors above 1 are as bad as 1."""
    nan = float("nan")
    assert edges(target(cx01=nan, cx10=1.0)) == edges(target(cx01=1.0, cx10=nan)) == [[0, 1], [1, 2], [2, 3]]
    assert edges(target(cx01=1.5, cx10=float("inf"))) == [[1, 2], [2, 3]]


def test_faulty_pairs_come_last() -> None:
    """First what works, off a qubit without readout if the circuit measures, then what joins the parts of it alone."""
    device = target(cx01=1.0, cx10=1.0, measure3=1.0)
    maps = [coupling.edges.tolist() for coupling in list_couplings(device, {"measure"})]
    assert maps == [[[1, 2]], [[1, 2], [2, 3]], [[0, 1], [1, 2], [2, 3]]]
    assert [coupling.edges.tolist() for coupling in list_couplings(device, {"cx"})] == maps[1:]
    assert len(list_couplings(target(), {"measure"})) == 1


def test_gates_of_a_pair_that_works_otherwise_are_lame() -> None:
    """A direction, or one of two gates; not those of a pair of which nothing works."""
    device = target(cx01=1.0, cx23=1.0, cx21=1.0)
    device.add_instruction(CZGate(), {(3, 2): InstructionProperties(error=0.2)})
    assert find_faulty_gates(device) == {("cx", (0, 1)), ("cx", (2, 3))}
    assert find_faulty_gates(CouplingMap.from_line(3)) == set()


def test_a_restricted_target_keeps_what_it_says_of_the_pairs_left() -> None:
    """Directions and errors stay, and so do all gates on one qubit."""
    kept = restrict_pairs(target(cx21=0.2), Coupling.of(4, [(1, 2)]))
    assert [(qubits, known.error) for qubits, known in kept["cx"].items()] == [((2, 1), 0.2)]
    assert set(kept["sx"]) == set(kept["measure"]) == {(0,), (1,), (2,), (3,)}
    assert edges(kept) == [[1, 2]]
