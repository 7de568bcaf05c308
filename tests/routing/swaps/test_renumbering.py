"""Tests of nodes in order of levels."""

import numpy as np

from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.swaps.renumbering import fill_levels, order_by_level, renumber


def cx(*pairs: tuple[int, int]) -> GateDag:
    """Return the gate DAG of CX gates on four qubits."""
    return gate_dag_of(4, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


def test_gates_of_a_qubit_stay_in_order() -> None:
    """Gate 3 is on its own and comes at once; gates 0 and 1 commute, but share a qubit."""
    assert order_by_level(cx((0, 1), (0, 2), (2, 1), (3, 2))).tolist()[:1] == [0]
    assert order_by_level(cx((0, 1), (0, 1), (0, 1), (2, 3))).tolist() == [0, 3, 1, 2]


def test_dependencies_keep_their_gates() -> None:
    """Every edge joins the same two gates under their new numbers."""
    dag = cx((0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 3))
    order = order_by_level(dag)
    after = renumber(dag, order)
    edges = [(int(order[v]), int(order[w])) for v in range(6) for w in after.after[after.first[v] : after.first[v + 1]]]
    before = [(v, int(w)) for v in range(6) for w in dag.after[dag.first[v] : dag.first[v + 1]]]
    assert sorted(edges) == sorted(before)
    assert after.waits.tolist() == dag.waits[order].tolist()


def test_later_nodes_have_higher_numbers() -> None:
    """The new order is one the circuit can be carried out in."""
    rng = np.random.default_rng(1)
    dag = cx(*(tuple(rng.permutation(4)[:2].tolist()) for _ in range(40)))
    after = renumber(dag, order_by_level(dag))
    heads = np.repeat(np.arange(len(after.pairs)), np.diff(after.first))
    assert (heads < after.after).all()


def test_levels_are_the_same_compiled_and_not() -> None:
    """The kernel as plain Python gives a chain of three its levels, and a gate beside its end the same as that."""
    dag = cx((0, 1), (1, 2), (2, 3), (0, 1))
    for run in (fill_levels, fill_levels.py_func):
        level, busy = np.zeros(4, np.int32), np.zeros(dag.qubits, np.int32)
        run(dag.pairs.copy(), dag.first.copy(), dag.after.copy(), level, busy)
        assert level.tolist() == [0, 1, 2, 2]
