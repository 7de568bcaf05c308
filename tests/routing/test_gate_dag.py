"""Tests of gate DAGs: which nodes a circuit has, and what waits for what."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiger.routing.gate_dag import Axis, Build, GateDag, Operation, gate_dag_of, sort_distinct


def cx(control: int, target: int) -> Operation:
    """Return a CX."""
    return Operation((control, target), ("z", "x"), pair=True, bridge=True)


def lone(wire: int, axis: Axis | None = None) -> Operation:
    """Return an operation on one wire."""
    return Operation((wire,), (axis,))


def order(dag: GateDag) -> set[tuple[int, int]]:
    """Return which node waits for which."""
    heads = np.repeat(np.arange(len(dag.pairs)), np.diff(dag.first)).tolist()
    return set(zip(heads, dag.after.tolist(), strict=True))


def build(*steps: Operation) -> Build:
    """Return the gate DAG of operations on four qubits."""
    return gate_dag_of(4, steps)


def test_gates_that_share_a_control_do_not_wait() -> None:
    """CX with one control may change places."""
    assert order(build(cx(0, 1), cx(0, 2)).gate_dag) == set()


def test_gates_that_share_a_target_do_not_wait() -> None:
    """CX with one target may change places."""
    assert order(build(cx(1, 0), cx(2, 0)).gate_dag) == set()


def test_a_control_waits_for_a_target() -> None:
    """A CX whose control another has as its target keeps behind it."""
    assert order(build(cx(0, 1), cx(1, 2)).gate_dag) == {(0, 1)}


def test_an_operation_on_one_wire_parts_gates() -> None:
    """Gates on either side of an operation that commutes with neither keep their order, and it gets no node."""
    built = build(cx(0, 1), lone(0), cx(0, 2))
    assert built.node == [0, -1, 1]
    assert order(built.gate_dag) == {(0, 1)}


def test_a_diagonal_operation_does_not_part_controls() -> None:
    """A rotation about z leaves controls free."""
    assert order(build(cx(0, 1), lone(0, "z"), cx(0, 2)).gate_dag) == set()


def test_several_gates_wait_for_a_run_through_one_node() -> None:
    """Two gates after a run of two are joined by a node without qubits: four orders, not two times two of them more."""
    dag = build(cx(0, 1), cx(0, 2), lone(0), cx(0, 3), cx(0, 1)).gate_dag
    assert dag.pairs.tolist()[2] == [-1, -1]
    assert {(0, 2), (1, 2), (2, 3), (2, 4)} <= order(dag)
    assert dag.gates == 4


def test_runs_list_their_nodes_wire_by_wire() -> None:
    """Two gates on one control are a run, and each is one on the wire of its target."""
    runs = build(cx(0, 1), cx(0, 2), lone(0), cx(3, 0)).runs
    listed = [runs.nodes[a:b].tolist() for a, b in pairwise(runs.first.tolist())]
    assert listed == [[0, 1], [3], [0], [1], [3]]


def test_a_lone_operation_comes_after_the_last_run_that_it_waits_for() -> None:
    """None before the first gate, nor within its run; then the run of that gate, however many operations later."""
    runs = build(lone(0), cx(0, 1), lone(0, "z"), lone(0), lone(0, "x"), lone(2)).runs
    assert runs.behind.tolist() == [-1, -1, -1, 0, 0, -1]


def test_operations_without_wires_have_no_node() -> None:
    """A global phase takes no part."""
    assert build(Operation((), ()), cx(0, 1)).node == [-1, 0]


def test_inner_pairs_belong_to_their_node() -> None:
    """Pairs inside control flow are listed with its node."""
    flow = Operation((0, 1, 2), (None, None, None), inner=((0, 2), (1, 2)))
    assert build(cx(0, 1), flow).gate_dag.inner.tolist() == [[1, 0, 2], [1, 1, 2]]


def test_the_last_operations_make_no_join() -> None:
    """A run that nothing waits for gets no node of its own."""
    assert len(build(cx(0, 1), cx(0, 2), lone(0)).gate_dag.pairs) == 2


STEPS = st.lists(
    st.one_of(
        st.permutations(range(4)).map(lambda wires: cx(*wires[:2])),
        st.permutations(range(4)).map(lambda wires: Operation(tuple(wires[:3]), (None,) * 3)),
        st.tuples(st.integers(0, 3), st.sampled_from([None, "z", "x"])).map(lambda pair: lone(*pair)),
    ),
    max_size=20,
)


@given(steps=STEPS)
def test_nodes_come_after_what_they_wait_for(steps: list[Operation]) -> None:
    """Node numbers respect the order, and every node knows how many it waits for."""
    dag = gate_dag_of(4, steps).gate_dag
    assert all(before < after for before, after in order(dag))
    assert dag.waits.tolist() == np.bincount(dag.after, minlength=len(dag.pairs)).tolist()


@given(steps=STEPS)
def test_backwards_twice_is_the_gate_dag(steps: list[Operation]) -> None:
    """Reversal turns every order round and is its own inverse."""
    dag = gate_dag_of(4, steps).gate_dag
    count, back = len(dag.pairs), dag.reverse()
    assert order(back) == {(count - 1 - b, count - 1 - a) for a, b in order(dag)}
    assert order(back.reverse()) == order(dag)
    assert (back.reverse().pairs == dag.pairs).all()


@given(steps=STEPS)
def test_operations_that_do_not_commute_keep_their_order(steps: list[Operation]) -> None:
    """Two operations that share a wire without sharing its axis, one on several wires at least, wait for each other."""
    built = gate_dag_of(4, steps)
    reach = np.eye(len(built.gate_dag.pairs), dtype=bool)
    for a, b in sorted(order(built.gate_dag), reverse=True):
        reach[a] |= reach[b]
    for j, later in enumerate(steps):
        for i, earlier in enumerate(steps[:j]):
            nodes = built.node[i], built.node[j]
            if min(nodes) >= 0 and _clash(earlier, later):
                assert reach[nodes]


def _clash(a: Operation, b: Operation) -> bool:
    """Return whether two operations must not change places."""
    axes = dict(zip(a.wires, a.axes, strict=True))
    return any(w in axes and (axis is None or axes[w] != axis) for w, axis in zip(b.wires, b.axes, strict=True))


@given(values=st.lists(st.integers(-5, 5)))
def test_distinct_values_come_once_and_sorted(values: list[int]) -> None:
    """As in a set."""
    assert sort_distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@given(steps=STEPS)
def test_shared_steps_make_no_difference(steps: list[Operation]) -> None:
    """Operations that are alike may be one object."""
    first = dict[Operation, Operation]()
    one, other = gate_dag_of(4, steps), gate_dag_of(4, [first.setdefault(step, step) for step in steps])
    assert one.node == other.node
    assert order(one.gate_dag) == order(other.gate_dag)
    assert one.runs.behind.tolist() == other.runs.behind.tolist()
