"""Tests of levels and of the interaction of qubits."""

import numpy as np
import pytest

from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.interaction import assign_levels, build_timeline, weigh_interactions


def cx(qubits: int, *pairs: tuple[int, int]) -> GateDag:
    """Return the gate DAG of CX gates."""
    return gate_dag_of(qubits, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


def random_circuit(seed: int) -> GateDag:
    """Return the gate DAG of forty random CX gates on six qubits with some gates on one qubit in between."""
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(40):
        a, b = rng.choice(6, 2, replace=False).tolist()
        steps += [Operation((a,), (None,))] if rng.random() < 0.3 else []
        steps.append(Operation((a, b), ("z", "x"), pair=True))
    return gate_dag_of(6, steps).gate_dag


def test_gates_run_as_early_as_they_can() -> None:
    """A gate is one level after those before it on its qubits."""
    assert assign_levels(cx(4, (0, 1), (2, 3), (1, 2), (1, 3))).tolist() == [0, 0, 1, 2]


def test_commuting_gates_take_turns() -> None:
    """CX gates of one control may change places, but not run at once."""
    assert assign_levels(cx(3, (0, 1), (0, 2))).tolist() == [0, 1]


def test_a_commuting_gate_takes_the_first_free_level() -> None:
    """The last gate waits for nothing, and its qubits are free on level 0 before gates that come first in the text."""
    assert assign_levels(cx(4, (2, 1), (0, 1), (0, 3))).tolist() == [0, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_no_level_has_a_qubit_twice(seed: int) -> None:
    """Gates of one level are on different qubits."""
    line = build_timeline(random_circuit(seed))
    for level in range(int(line.level.max()) + 1):
        assert np.bincount(line.pairs[line.level == level].ravel()).max() == 1


@pytest.mark.parametrize("seed", range(5))
def test_levels_respect_the_order(seed: int) -> None:
    """What waits for a gate is on a later level."""
    dag = random_circuit(seed)
    heads = np.repeat(np.arange(len(dag.pairs)), np.diff(dag.first))
    rise = assign_levels(dag)[dag.after] - assign_levels(dag)[heads]
    assert (rise >= (dag.pairs[heads, 0] >= 0)).all()


def test_a_block_with_gates_inside_takes_a_level() -> None:
    """A node without qubits takes a level if it is a block of control flow."""
    plain = gate_dag_of(
        2, [Operation((0, 1), ("z", "x"), pair=True), Operation((0, 1), (None, None)), Operation((0, 1), (None, None))]
    )
    block = GateDag(
        qubits=2,
        pairs=plain.gate_dag.pairs,
        first=plain.gate_dag.first,
        after=plain.gate_dag.after,
        bridge=plain.gate_dag.bridge,
        inner=np.array([[1, 0, 1]], np.int32),
    )
    assert (assign_levels(plain.gate_dag).tolist(), assign_levels(block).tolist()) == ([0, 1, 1], [0, 1, 2])
    assert weigh_interactions(block, half=1.0).toarray()[0, 1] == 1.5


def test_weights_halve_every_so_many_levels() -> None:
    """Gates on levels 0, 1 and 2 of one pair count 1, 1/2 and 1/4 at a half of one level."""
    dag = cx(2, (0, 1), (1, 0), (0, 1))
    assert weigh_interactions(dag, half=1.0).toarray().tolist() == [[0, 1.75], [0, 0]]


def test_weights_fade_both_ways_around_a_level() -> None:
    """Around the middle of three gates both others count half."""
    assert weigh_interactions(cx(2, (0, 1), (1, 0), (0, 1)), half=1.0, around=1).sum() == 2.0


def test_without_a_half_every_gate_counts_one() -> None:
    """The weight of a pair is its number of gates, whatever its direction."""
    assert weigh_interactions(cx(3, (0, 1), (1, 0), (2, 1))).toarray().tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]


def test_a_circuit_without_gates_has_no_levels() -> None:
    """Nothing to do takes no time."""
    line = build_timeline(cx(3))
    assert (len(line.level), weigh_interactions(cx(3)).nnz) == (0, 0)


@pytest.mark.slow
def test_bug_thousands_of_commuting_gates_take_a_level_each() -> None:
    """Looking for a free level does not go through all that are taken one by one."""
    assert assign_levels(cx(2, *[(0, 1)] * 20_000)).tolist() == list(range(20_000))
