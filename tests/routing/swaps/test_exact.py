"""Exact routes of small circuits, against a plain search through all layouts."""

import numpy as np
import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.routing.brute_force import TinyProblem, count_fewest, tiny_problems
from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.embedding.embedding import complete_layout
from tiger.routing.embedding.swap_bound import bound_swaps
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.swaps.exact import ExactParams, ExactRoute, find_exact_route, is_small

LINE = Coupling.of(6, [(k, k + 1) for k in range(5)])
MANY = ExactParams(states=20_000)


def draw_circuit(qubits: int, gates: int, seed: int = 0) -> GateDag:
    """Return gates between random qubits that keep their order."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(qubits, 2, replace=False).tolist() for _ in range(gates)]
    return gate_dag_of(qubits, [Operation((a, b), (None, None), pair=True, bridge=True) for a, b in pairs]).gate_dag


def search(dag: GateDag, device: Coupling, params: ExactParams = MANY) -> ExactRoute:
    """Search from any layout."""
    return find_exact_route(dag, device, bound_swaps(dag, device), params)


@pytest.mark.slow
@cases(quick=25, long=2_000)
@given(tiny_problems())
def test_routes_have_the_fewest_swaps(problem: TinyProblem) -> None:
    """As many as a search through all layouts finds, from the layout if one is given."""
    dag, device, fixed = problem
    fewest = count_fewest(dag, device, fixed)
    if fewest is None or not is_small(dag, device):
        return
    start = None if fixed is None else complete_layout(fixed, device.size)
    found = find_exact_route(dag, device, bound_swaps(dag, device, fixed=fixed), MANY, start)
    assert found.route is not None
    assert (found.bound, found.route.extra_cx) == (fewest, 3 * fewest)
    assert find_flaw(dag, device, found.route) == ""
    assert start is None or (found.route.start == start).all()


@pytest.mark.slow
@cases(quick=15, long=2_000)
@given(tiny_problems())
def test_a_search_that_does_not_end_bounds(problem: TinyProblem) -> None:
    """By no more than the fewest there are, however few states it holds."""
    dag, device, _ = problem
    fewest = count_fewest(dag, device)
    if fewest is not None and is_small(dag, device):
        assert all(search(dag, device, ExactParams(states=count)).bound <= fewest for count in (1, 10, 50))


def test_states_run_out() -> None:
    """There is a bound then, above that of the pairs, and no route."""
    dag = draw_circuit(6, 30)
    found = search(dag, LINE, ExactParams(states=1_000))
    assert found.route is None
    assert bound_swaps(dag, LINE).swaps < found.bound


def test_time_ends_a_search() -> None:
    """Before it begins, the bound is what it came with."""
    dag = draw_circuit(6, 30)
    bound = bound_swaps(dag, LINE)
    assert find_exact_route(dag, LINE, bound, MANY, stop=lambda: True) == ExactRoute(bound.swaps, None)


def test_what_is_small_fits_its_numbers() -> None:
    """62 nodes, and 62 bits for the places of qubits that have gates."""
    assert is_small(draw_circuit(6, 60), LINE)
    assert not is_small(draw_circuit(6, 90), LINE)
    assert not is_small(gate_dag_of(2, []).gate_dag, LINE)
    assert not is_small(draw_circuit(13, 40), Coupling.of(31, [(k, k + 1) for k in range(30)]))
