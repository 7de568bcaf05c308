"""Tests of the beam search, as plain Python and compiled."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tests.routing.swaps.settings import router_params
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import beam, beam_options, frontier, fronts, lookahead, prices, router, smallest
from tiger.routing.swaps.beam_arrays import Beam, allocate_beam, build_moves
from tiger.solvers.kernel import kernel

LADDER = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)])
LINE = Coupling.of(6, [(k, k + 1) for k in range(5)])


@kernel
def search_beam(
    arrays: frontier.RoutingArrays,
    state: frontier.RoutingState,
    kept: Beam,
    params: Sequence[frontier.RouterParams],
    limit: int,
) -> int:
    """Call the search from Python, which kernels alone call otherwise."""
    return beam.search_beam(arrays, state, kept, params, limit)


def use_plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for module in (beam, beam_options, frontier, fronts, lookahead, prices, router, smallest):
        for name, compiled in vars(module).copy().items():
            if hasattr(compiled, "py_func"):
                monkeypatch.setattr(module, name, compiled.py_func)
    monkeypatch.setitem(globals(), "search_beam", search_beam.py_func)


def draw(seed: int, gates: int = 30) -> GateDag:
    """Draw a circuit of CX and rotations on five qubits."""
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(gates):
        a, b = rng.permutation(5)[:2].tolist()
        steps.append(Operation((a, b), ("z", "x"), pair=True, bridge=True))
        steps.append(Operation((a,), (None,)))
    return gate_dag_of(5, steps).gate_dag


def route_by_beam(dag: GateDag, coupling: Coupling, width: int, limit: int = 10**6) -> tuple[int, Route]:
    """Route from the identity by a beam."""
    arrays = frontier.build_arrays(dag, coupling)[0]
    state, start = frontier.allocate_state(arrays, 500), np.arange(coupling.size, dtype=np.int32)
    params = router_params(20, 0.7, 1.0, 0.001, 0.0, 0.0, 1.0, 2.0, 0.0, width)
    frontier.begin(arrays, state, start)
    cost = search_beam(arrays, state, allocate_beam(arrays, width, 200, build_moves(arrays)), params, limit)
    return cost, Route(start=start, steps=state.steps[: state.counters[0].steps].copy())


@pytest.mark.parametrize("coupling", [LINE, LADDER], ids=["line", "ladder"])
@pytest.mark.parametrize("seed", range(2))
def test_beams_find_routes(coupling: Coupling, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost is that of the steps; compiled code finds the same."""
    dag = draw(seed)
    compiled = route_by_beam(dag, coupling, 3)
    use_plain_functions(monkeypatch)
    cost, route = route_by_beam(dag, coupling, 3)
    assert find_flaw(dag, coupling, route) == ""
    assert route.extra_cx == 3 * cost
    assert compiled[1].steps.tolist() == route.steps.tolist()


@pytest.mark.slow
def test_wide_beams_are_better() -> None:
    """On twenty random circuits, 32 states save at least a tenth of what 1 state pays."""
    cost = [sum(route_by_beam(draw(seed), LINE, width)[0] for seed in range(20)) for width in (1, 32)]
    assert cost[1] < 0.9 * cost[0]


def test_a_wide_beam_finds_an_optimum() -> None:
    """Three gates in a ring of three qubits need one SWAP or BRIDGE on a line, and no more."""
    ring = [Operation(pair, (None, None), pair=True) for pair in ((0, 1), (1, 2), (0, 2), (0, 1), (1, 2))]
    assert route_by_beam(gate_dag_of(5, ring).gate_dag, LINE, 16)[0] == 2


def test_what_costs_nothing_needs_no_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line on a line."""
    use_plain_functions(monkeypatch)
    chain = gate_dag_of(5, [Operation((k, k + 1), (None, None), pair=True) for k in range(4)]).gate_dag
    assert route_by_beam(chain, LINE, 2)[0] == 0


def test_a_beam_gives_up_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate over four hops needs three SWAPs."""
    use_plain_functions(monkeypatch)
    far = gate_dag_of(5, [Operation((0, 4), (None, None), pair=True)]).gate_dag
    assert route_by_beam(far, LINE, 2, limit=2)[0] == frontier.TOO_MUCH
    assert route_by_beam(far, LINE, 2, limit=3)[0] == 3


@pytest.mark.slow
def test_bug_nodes_that_were_done_out_of_order_were_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a route has done of gates that commute there, a view that keeps their order does not do once more."""
    use_plain_functions(monkeypatch)
    line = Coupling.of(14, [(k, k + 1) for k in range(13)])
    chain = gate_dag_of(13, [Operation((k, 12), (None, None), pair=True) for k in range(10)]).gate_dag
    arrays = frontier.build_arrays(chain, line)[0]
    state, done = frontier.allocate_state(arrays, 500), [1, 2, 4, 5, 6, 8]
    frontier.begin(arrays, state, np.arange(line.size, dtype=np.int32))
    for node in done:
        frontier.carry_out(arrays, state, node, -1)
    frontier.begin_counting(state)
    params = router_params(20, 0.7, 10.0, 0.001, 0.0, 0.0, 1.0, 2.0, 0.0, 8)
    kept = allocate_beam(arrays, 8, 200, build_moves(arrays))
    assert search_beam(arrays, state, kept, params, 10**6) < frontier.TOO_MUCH
    steps = state.steps[: state.counters[0].steps, 0]
    assert sorted(steps[steps >= 0].tolist()) == [node for node in range(10) if node not in done]
