"""Lower bounds on the SWAPs and BRIDGEs of circuits, against the fewest that there are."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.routing.brute_force import TinyProblem, count_fewest, tiny_problems
from tiger.routing.coupling import Coupling
from tiger.routing.embedding import swap_bound
from tiger.routing.embedding.pair_sets import ProofParams
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
RING = Coupling.of(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
TRIANGLE = ((0, 1), (1, 2), (0, 2))


def bound_swaps(
    dag: GateDag,
    device: Coupling,
    params: ProofParams = swap_bound.DEFAULT,
    fixed: np.ndarray | None = None,
    stop: Callable[[], bool] = bool,
) -> int:
    """Return the bound alone."""
    return swap_bound.bound_swaps(dag, device, params, fixed, stop).swaps


def build_dag(qubits: int, *pairs: tuple[int, int], bridge: bool = False) -> GateDag:
    """Return a circuit of gates that keep their order."""
    return gate_dag_of(qubits, [Operation(pair, (None, None), pair=True, bridge=bridge) for pair in pairs]).gate_dag


def test_what_embeds_needs_nothing() -> None:
    """A path on a line."""
    assert bound_swaps(build_dag(4, (3, 1), (1, 0), (0, 2), (3, 1)), LINE) == 0


def test_a_triangle_needs_one_on_a_line() -> None:
    """It has no odd cycle."""
    assert bound_swaps(build_dag(3, *TRIANGLE), LINE) == 1


def test_what_follows_counts_again() -> None:
    """Of two triangles in series each needs one; the gate that ends the first may begin the second where it is none."""
    twice = build_dag(3, *TRIANGLE, *TRIANGLE)
    assert bound_swaps(twice, LINE) == count_fewest(twice, LINE) == 2


def test_one_swap_may_serve_two_parts_of_a_circuit() -> None:
    """Triangles side by side count once, as nothing says which comes first."""
    dag = build_dag(6, *TRIANGLE, (3, 4), (4, 5), (3, 5))
    assert bound_swaps(dag, Coupling.of(6, [(k, k + 1) for k in range(5)])) == 1


def test_many_partners_take_time() -> None:
    """A qubit with seven meets two on a line at first, and one more with every SWAP."""
    line = Coupling.of(8, [(k, k + 1) for k in range(7)])
    assert bound_swaps(build_dag(8, *((0, k) for k in range(1, 8))), line) >= 3


def test_a_given_layout_counts() -> None:
    """Qubits at both ends of a line need two SWAPs, or one and a BRIDGE."""
    ends = np.array([0, 3], np.int32)
    assert [bound_swaps(build_dag(2, (0, 1), bridge=each), LINE, fixed=ends) for each in (False, True)] == [2, 2]
    assert bound_swaps(build_dag(2, (0, 1)), LINE) == 0


def test_without_work_the_bound_is_lower() -> None:
    """What is not decided counts as if it embedded."""
    assert bound_swaps(build_dag(3, *TRIANGLE), RING, ProofParams(work=0)) == 0
    assert bound_swaps(build_dag(3, *TRIANGLE), RING, stop=lambda: True) == 0


def test_a_circuit_without_gates_needs_nothing() -> None:
    """Nor does one with barriers alone."""
    barrier = gate_dag_of(2, [Operation((0, 1), (None, None))]).gate_dag
    assert [bound_swaps(dag, LINE) for dag in (build_dag(2), barrier)] == [0, 0]


@pytest.mark.slow
@cases(quick=25, long=2_000)
@given(tiny_problems())
def test_no_route_has_fewer(problem: TinyProblem) -> None:
    """The bound is at most what a search through all layouts finds, from any layout or from a given one."""
    dag, device, fixed = problem
    fewest = count_fewest(dag, device, fixed)
    assert fewest is None or bound_swaps(dag, device, fixed=fixed) <= fewest


@cases(quick=15, long=2_000)
@given(tiny_problems())
def test_what_comes_after_a_node_is_bounded_too(problem: TinyProblem) -> None:
    """From the begin of the first node on and after none of them, there is at most what there is in all."""
    dag, device, _ = problem
    fewest, bound = count_fewest(dag, device), swap_bound.bound_swaps(dag, device)
    assert (bound.onward >= bound.later).all()
    assert fewest is None or bound.onward.max() <= fewest
