"""Tests of error rates and of the probability of success."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from qiskit.circuit import Measure, Parameter
from qiskit.circuit.library import CXGate, CZGate, RZGate, SXGate
from qiskit.transpiler import InstructionProperties, QubitProperties, Target

from tests.routing.noise.operations import list_operations
from tests.routing.noise.test_depth import build, cx, route_of, u
from tiger.errors import InputError
from tiger.routing.error_rates import Errors, Gate, errors_of_target
from tiger.routing.gate_dag import Operation
from tiger.routing.noise.depth import operations_of_gates
from tiger.routing.noise.success import compute_log_success
from tiger.routing.route import PLAIN

NONE = [0.0, 0.0, 0.0]
TIMES = [QubitProperties(t1=0.5, t2=0.25), QubitProperties(), QubitProperties(t1=1.0)]


def line(**more):
    """Return a line of three qubits, its gates in both directions."""
    gates = [Gate(0, 1, 0.1), Gate(1, 0, 0.2), Gate(1, 2, 0.3), Gate(2, 1, 0.3)]
    return Errors.of(gates, **{"single": [0.01, 0.02, 0.03], "readout": [0.05, 0.06, 0.07], **more})


def test_the_formula_multiplies_what_goes_well():
    """Two one-qubit gates, a gate, a SWAP with its better direction twice, and a measurement."""
    measured = Operation((1,), (None,)), "measure"
    dag, singles = build(2, u(0), u(0), cx(0, 1), cx(1, 0), measured)
    route = route_of([0, 1, 2], (0, PLAIN), (-1, 1), (1, PLAIN))
    expected = 0.99**2 * 0.9 * (0.9**2 * 0.8) * 0.9 * 0.95
    assert compute_log_success(list_operations(route, dag, singles), line()) == pytest.approx(math.log(expected))


def test_a_bridge_is_four_gates():
    """From the control to the middle and on to the target, twice."""
    dag, singles = build(2, cx(0, 1))
    assert compute_log_success(list_operations(route_of([0, 2, 1], (0, 1)), dag, singles), line()) == pytest.approx(
        2 * math.log(0.9 * 0.7)
    )


def test_waiting_qubits_decay():
    """Qubit 0 waits for two gates of a second on the others; what has not begun, or is measured, loses nothing."""
    gates = [Gate(0, 1, 0.0, 1.0), Gate(1, 2, 0.0, 1.0)]
    errors = Errors.of(gates, NONE, NONE, decay=[0.1, 0.2, 0.4])
    operations = operations_of_gates([("cx", q) for q in ((0, 1), (1, 2), (1, 2), (0, 1))])
    assert compute_log_success(operations, errors) == pytest.approx(-0.2)
    measured = operations_of_gates([("cx", (0, 1)), ("measure", (0,)), ("cx", (1, 2)), ("swap", (0, 1))])
    assert compute_log_success(measured, errors) == 0.0


def test_a_faulty_gate_succeeds_never():
    """Its logarithm is minus infinity."""
    dag, singles = build(2, cx(0, 1))
    errors = Errors.of([Gate(0, 1, 1.0), Gate(1, 2, 0.1)], NONE, NONE)
    assert compute_log_success(list_operations(route_of([0, 1, 2], (0, PLAIN)), dag, singles), errors) == -math.inf


def test_the_missing_direction_needs_four_one_qubit_gates():
    """One before and one behind on either qubit, unless the gate is alike in both directions."""
    errors = Errors.of([Gate(0, 1, 0.1, 2.0), Gate(2, 1, 0.1, alike=True)], [0.5, 0.0, 0.0], NONE, [1.0, 3.0, 0.0])
    assert errors.pair[1, 0] == pytest.approx(1 - 0.9 * 0.25)
    assert errors.pair_s[1, 0] == 8.0
    assert errors.pair[1, 2] == 0.1


def test_the_best_of_several_gates_counts():
    """In any order."""
    gates = [Gate(0, 1, 0.3), Gate(0, 1, 0.1), Gate(0, 1, 0.2)]
    assert Errors.of(gates, [0, 0], [0, 0]).pair[0, 1] == 0.1


def test_faulty_edges_and_qubits_are_off_the_coupling_map():
    """An edge that works one way is on it."""
    gates = [Gate(0, 1, 1.0), Gate(1, 2, 0.1), Gate(2, 1, 1.0), Gate(2, 3, 0.1)]
    errors = Errors.of(gates, [0, 0, 0, 1.5], [0.0] * 4)
    assert (errors.size, errors.coupling().edges.tolist()) == (4, [[1, 2]])


@pytest.mark.parametrize(
    ("gates", "single"), [([Gate(0, 3, 0.1)], NONE), ([Gate(0, 1, -0.1)], NONE), ([], [0.0, -1.0]), ([], [math.nan])]
)
def test_bad_rates_are_bad_input(gates, single):
    """Unknown qubits, negative numbers, NaN."""
    with pytest.raises(InputError):
        Errors.of(gates, single, [0.0] * len(single))


def target():
    """Return a Target of three qubits with gaps in its calibration."""
    made = Target(num_qubits=3, qubit_properties=TIMES)
    made.add_instruction(SXGate(), {(q,): InstructionProperties(error=0.01 * q, duration=1.0) for q in range(3)})
    made.add_instruction(RZGate(Parameter("a")), {(q,): None for q in range(3)})
    made.add_instruction(CXGate(), {(0, 1): InstructionProperties(error=0.1, duration=2.0), (1, 2): None})
    made.add_instruction(CZGate(), {(1, 2): None})
    made.add_instruction(Measure(), {(q,): InstructionProperties(error=0.05) for q in range(2)})
    return made


def test_a_target_is_read_with_its_gaps_filled():
    """A missing error is the mean of the others; operations without any known error give way to those that have one."""
    errors = errors_of_target(target())
    assert errors.pair[1, 2] == pytest.approx(0.1)
    assert errors.single.tolist() == [0.0, 0.01, 0.02]
    assert errors.readout.tolist() == [0.05, 0.05, 0.0]
    assert errors.pair_s[0, 1] == 2.0
    assert np.allclose(errors.decay, [1 / 3 + 4 / 3, 0, 1 / 6])


def test_errors_are_those_of_the_target_as_it_is_now():
    """Read once where nothing changed, and again where a rate did."""
    made = target()
    before = errors_of_target(made)
    assert errors_of_target(target()) is before
    made.update_instruction_properties("cx", (0, 1), InstructionProperties(error=0.2, duration=2.0))
    assert (before.pair[0, 1], errors_of_target(made).pair[0, 1]) == (0.1, 0.2)


def test_a_target_without_errors_is_perfect():
    """Gates without qubits, as of an ideal simulator, work everywhere, and gates on some pairs work there."""
    bare = Target(num_qubits=2)
    bare.add_instruction(SXGate())
    bare.add_instruction(CXGate())
    assert errors_of_target(bare).pair.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    some = Target(num_qubits=3)
    some.add_instruction(CXGate(), {(0, 1): None})
    errors = errors_of_target(some)
    assert np.argwhere(errors.pair == 0).tolist() == [[0, 1], [1, 0]]
    assert errors.single.tolist() == NONE


def test_what_looks_like_a_target_is_enough():
    """Qiskit is not asked for."""

    class Made(dict):
        num_qubits, qubit_properties = 2, None
        operation_names = property(dict.keys)

    made = Made(cz={(1, 0): SimpleNamespace(error=0.25, duration=None)})
    assert errors_of_target(made).pair[0, 1] == 0.25
