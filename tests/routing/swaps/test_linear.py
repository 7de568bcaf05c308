"""Tests of routes along a path of the device."""

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.embedding.embedding import EmbeddingParams
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps.linear import place_on_path, route_along_path

GRID = Coupling.of(20, [(k, k + 1) for k in range(19) if k % 5 != 4] + [(k, k + 5) for k in range(15)])
STAR = Coupling.of(6, [(0, k) for k in range(1, 6)])
PARAMS = EmbeddingParams()


def fourier(order: list[int]) -> GateDag:
    """Return the gates of a Fourier transform on qubits in an order, of which those in a row may change places."""
    steps = list[Operation]()
    for number, a in enumerate(order):
        steps += [Operation((a,), (None,)), *(Operation((a, b), ("z", "z"), pair=True) for b in order[number + 1 :])]
    return gate_dag_of(max(order) + 1, steps).gate_dag


def follow_path(dag: GateDag, device: Coupling) -> Route:
    """Return a route on a path of a device that has one."""
    start = place_on_path(dag, device, PARAMS)
    assert start is not None
    return route_along_path(dag, device, start)


def count_layers(dag: GateDag, steps: np.ndarray, start: np.ndarray) -> int:
    """Return the layers of blocks of a route, in which a gate and a SWAP on the same pair in a row are one block."""
    holds, level, last = np.argsort(start).tolist(), [0] * len(start), [-1] * len(start)
    place = start.tolist()
    for what, where in steps.tolist():
        p, q = (place[k] for k in dag.pairs[what].tolist()) if what >= 0 else (-1 - what, where)
        if what >= 0 and dag.pairs[what, 0] < 0:
            continue
        fused = last[p] == q and last[q] == p
        level[p] = level[q] = max(level[p], level[q]) + (not fused)
        last[p], last[q] = q, p
        if what < 0:
            a, b = holds[p], holds[q]
            holds[p], holds[q], place[a], place[b] = b, a, q, p
    return max(level)


@pytest.mark.parametrize("order", [[*range(9)], [4, 7, 0, 8, 2, 5, 1, 3, 6]])
def test_a_fourier_transform_takes_a_block_for_every_pair_in_as_few_layers_as_known(order: list[int]) -> None:
    """Whatever the qubits are called: every pair is one block of a gate and a SWAP, in 2n - 3 layers."""
    dag = fourier(order)
    route = follow_path(dag, GRID)
    assert find_flaw(dag, GRID, route) == ""
    assert route.swaps <= 9 * 8 / 2
    assert count_layers(dag, route.steps, route.start) <= 2 * 9 - 3


def test_nothing_is_off_the_path() -> None:
    """Qubits that meet others take as many places, one edge fewer, and no others."""
    rng = np.random.default_rng(1)
    pairs = [rng.choice(12, 2, replace=False).tolist() for _ in range(60)]
    steps = [Operation((3 + a, 3 + b), ("z", "x"), pair=True, bridge=True) for a, b in pairs]
    dag = gate_dag_of(17, steps).gate_dag
    route = follow_path(dag, GRID)
    assert find_flaw(dag, GRID, route) == ""
    used = {frozenset((-1 - a, b)) for a, b in route.steps.tolist() if a < 0}
    assert len(used) <= 11
    assert max(np.bincount([p for edge in used for p in edge])) <= 2
    assert frozenset.union(*used) <= set(route.start[3:15].tolist())


def test_a_device_without_a_path_has_no_route() -> None:
    """A star has one of three qubits, no longer one."""
    assert place_on_path(fourier([0, 1, 2]), STAR, PARAMS) is not None
    assert place_on_path(fourier([0, 1, 2, 3]), STAR, PARAMS) is None


def test_pairs_inside_control_flow_are_on_the_path() -> None:
    """They have to be in one part of the device with the others; a circuit without pairs needs no path."""
    steps = [Operation((0, 1), (None, None), pair=True), Operation((2, 3), (None, None), inner=((2, 3),))]
    parts = Coupling.of(7, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)])
    found = follow_path(gate_dag_of(4, steps).gate_dag, parts)
    assert set(parts.part[found.start[:4]].tolist()) == {int(parts.part[6])}
    assert follow_path(gate_dag_of(4, []).gate_dag, STAR).swaps == 0
