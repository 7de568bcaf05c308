"""Tests of depth and duration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.noise.operations import list_operations
from tiger.errors import InputError
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import Errors, Gate
from tiger.routing.gate_dag import Operation, gate_dag_of
from tiger.routing.noise import depth as depths
from tiger.routing.noise.depth import (
    ONE,
    PAIR,
    READ,
    SWAP,
    costs_of,
    count_depth,
    count_singles,
    operations_of_gates,
    time_operations,
)
from tiger.routing.route import PLAIN, Route
from tiger.routing.swaps.shortest import route_shortest_paths

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
CX, U, RZ = ("z", "x"), (None,), ("z",)


@pytest.fixture
def plain(monkeypatch):
    """Replace every kernel by its plain Python function."""
    for name, kernel in vars(depths).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(depths, name, kernel.py_func)


def cx(a, b):
    """Return a CX."""
    return Operation((a, b), CX, pair=True, bridge=True), "cx"


def u(a, axis=U):
    """Return a one-qubit gate."""
    return Operation((a,), axis), "u"


def build(qubits, *operations):
    """Return a gate DAG and what its qubits do on their own."""
    steps, names = [step for step, _ in operations], [name for _, name in operations]
    build = gate_dag_of(qubits, steps)
    return build.gate_dag, count_singles(qubits, steps, build, names)


def route_of(start, *steps):
    """Return a route."""
    return Route(start=np.array(start, np.int32), steps=np.array(steps, np.int32).reshape(-1, 2))


def longest_chain(gates):
    """Return the depth by its definition, from (weight, qubits)."""
    level = {}
    for weight, qubits in gates:
        top = max(level.get(q, 0) for q in qubits) + weight
        level.update(dict.fromkeys(qubits, top))
    return max(level.values(), default=0)


def test_a_swap_counts_as_three_layers():
    """Gates on other qubits run beside it."""
    operations = operations_of_gates([("u", (0,)), ("swap", (0, 1)), ("cx", (2, 3)), ("cx", (1, 2))])
    assert count_depth(operations) == 5


def test_an_empty_circuit_has_no_depth():
    """Nothing runs."""
    assert count_depth(operations_of_gates([])) == 0


def test_barriers_and_measurements_take_no_layer():
    """Only gates count."""
    operations = operations_of_gates([("u", (1,)), ("barrier", (0, 1, 2)), ("measure", (1,))])
    assert operations.tolist() == [[ONE, 1, 1], [READ, 1, 1]]
    assert count_depth(operations) == 1


def test_bug_operations_on_no_qubits_are_left_out():
    """As a store or a phase; a circuit may have nothing else."""
    assert operations_of_gates([("store", ()), ("u", (1,)), ("global_phase", ())]).tolist() == [[ONE, 1, 1]]
    assert not len(operations_of_gates([("store", ())]))


def test_gates_on_three_qubits_are_bad_input():
    """The gate is named."""
    with pytest.raises(InputError, match="ccx on 3"):
        operations_of_gates([("ccx", (0, 1, 2))])


def test_a_route_is_unrolled_in_order(plain):
    """Gates of a qubit alone come as soon as what they do not commute with is done."""
    dag, singles = build(3, u(0), cx(0, 1), u(1), u(1), cx(1, 2), u(2))
    found = list_operations(route_of([1, 0, 2, 3], (0, PLAIN), (-1, 1), (1, PLAIN)), dag, singles)
    assert found.tolist() == [
        [ONE, 1, 1],
        [PAIR, 1, 0],
        [ONE, 0, 1],
        [ONE, 0, 1],
        [SWAP, 0, 1],
        [PAIR, 1, 2],
        [ONE, 2, 1],
    ]


def test_a_bridge_is_four_gates_in_a_row(plain):
    """Control to middle and middle to target, twice."""
    dag, singles = build(2, cx(0, 1))
    found = list_operations(route_of([0, 2, 1, 3], (0, 1)), dag, singles)
    assert found.tolist() == [[PAIR, 0, 1], [PAIR, 1, 2]] * 2
    assert count_depth(found) == 4


def test_gates_that_commute_share_a_run(plain):
    """A diagonal gate between two controls does not wait for the first of them."""
    dag, singles = build(3, cx(0, 1), u(0, RZ), cx(0, 2))
    found = list_operations(route_of([1, 0, 2, 3], (1, PLAIN), (0, PLAIN)), dag, singles)
    assert found.tolist() == [[ONE, 1, 1], [PAIR, 1, 2], [PAIR, 1, 0]]


def test_a_measurement_happens_where_the_qubit_is_then(plain):
    """Tests measurements with and without a node of their own, and nodes that are no gates."""
    barrier = Operation((0, 1), (None, None)), "barrier"
    shared = Operation((1, 5), (None, None)), "measure"
    dag, singles = build(2, cx(0, 1), barrier, (Operation((0,), U), "measure"), shared)
    found = list_operations(route_of([0, 1, 2, 3], (0, PLAIN), (1, PLAIN), (-3, 1), (2, PLAIN)), dag, singles)
    assert found.tolist() == [[PAIR, 0, 1], [READ, 0, 0], [SWAP, 2, 1], [READ, 2, 2]]


@given(seed=st.integers(0, 2**32 - 1))
def test_depth_is_the_longest_chain_of_the_gates_in_order(seed):
    """Tests random routes against the definition."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(4, 2, replace=False).tolist() for _ in range(6)]
    dag, singles = build(4, *[step for a, b in pairs for step in (u(a), cx(a, b))])
    operations = list_operations(route_shortest_paths(dag, LINE, rng.permutation(4).astype(np.int32)), dag, singles)
    gates = [(q, [p]) if kind == ONE else (1 + 2 * (kind == SWAP), [p, q]) for kind, p, q in operations.tolist()]
    assert count_depth(operations) == longest_chain(gates)


def test_seconds_add_up_along_the_longest_chain():
    """A SWAP takes its better direction twice, one-qubit gates take theirs."""
    errors = Errors.of([Gate(0, 1, 0.1, 2.0), Gate(1, 0, 0.2, 3.0)], [0, 0], [0, 0], single_s=[1.0, 0.5])
    operations = operations_of_gates([("u", (0,)), ("cx", (0, 1)), ("swap", (0, 1)), ("u", (1,))])
    assert time_operations(operations, np.arange(2, dtype=np.int32), costs_of(errors)).end == 10.5
