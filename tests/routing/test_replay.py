"""Tests of the check of routes."""

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import Operation, gate_dag_of
from tiger.routing.route import Route

LINE = Coupling.of(3, [(0, 1), (1, 2)])
CX = Operation((0, 2), ("z", "x"), pair=True, bridge=True)
RZZ = Operation((1, 2), (None, None), pair=True)
BARRIER = Operation((0, 1, 2), (None, None, None))
CIRCUIT = gate_dag_of(3, [CX, BARRIER, RZZ]).gate_dag


def check(*steps: tuple[int, int], start: tuple[int, ...] = (0, 1, 2)) -> str:
    """Check steps of the circuit on a line."""
    return find_flaw(
        CIRCUIT, LINE, Route(start=np.array(start, np.int32), steps=np.array(steps, np.int32).reshape(-1, 2))
    )


@pytest.mark.parametrize(
    "steps",
    [
        [(-1, 1), (0, -1), (1, -1), (-1, 1), (2, -1)],
        [(0, 1), (1, -1), (2, -1)],
    ],
)
def test_routes_with_a_swap_or_a_bridge_pass(steps: list[tuple[int, int]]) -> None:
    """Qubits 0 and 2 meet by a SWAP, or over the qubit between them."""
    assert check(*steps) == ""


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([(0, -1)], "step 0: the qubits of node 0 are not adjacent"),
        ([(-1, 2)], "step 0: device qubits 0 and 2 of a SWAP are not adjacent"),
        ([(2, -1)], "step 0: node 2 comes too early"),
        ([(0, 1), (0, 1)], "step 1: node 0 comes again"),
        ([(0, 1)], "node 1 is not carried out"),
        ([(0, 2)], "step 0: the BRIDGE of node 0 has its middle elsewhere"),
        ([(0, 1), (1, 1)], "step 1: node 1 is no gate and cannot be a BRIDGE"),
        ([(0, 1), (1, -1), (2, 0)], "step 2: node 2 may not be a BRIDGE"),
        ([(7, -1)], "step 0: there is no node 7"),
    ],
)
def test_the_first_flaw_is_named(steps: list[tuple[int, int]], reason: str) -> None:
    """Every rule, broken once."""
    assert check(*steps) == reason


def test_the_start_has_to_be_a_permutation() -> None:
    """Two qubits on one device qubit are none."""
    assert check(start=(0, 1, 1)) == "the start is no permutation of the device's qubits"
