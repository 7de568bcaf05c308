"""Tests of the local search on routes."""

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import extraction, layers, prices, tokens, window_router, windows
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.windows import WindowParams, polish

LINE = Coupling.of(5, [(k, k + 1) for k in range(4)])
GRID = Coupling.of(9, [(k, k + 1) for k in range(9) if k % 3 < 2] + [(k, k + 3) for k in range(6)])
PARTS = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5)])


def draw(seed: int, qubits: int = 5, gates: int = 40) -> GateDag:
    """Draw a circuit of CX, rotations, barriers and loops."""
    rng = np.random.default_rng(seed)
    kinds = {
        0: lambda a, b, c: Operation((a,), (None,)),
        1: lambda a, b, c: Operation((a, b, c), (None, None, None)),
        2: lambda a, b, c: Operation((a, b, c), (None, None, None), inner=((a, b),)),
        3: lambda a, b, c: Operation((a, b), (None, None), pair=True),
    }
    cx = kinds[3]
    drawn = [(int(rng.integers(12)), rng.permutation(qubits)[:3].tolist()) for _ in range(gates)]
    kinds |= {kind: lambda a, b, c: Operation((a, b), ("z", "x"), pair=True, bridge=True) for kind in range(4, 12)}
    return gate_dag_of(qubits, [kinds.get(kind, cx)(*abc) for kind, abc in drawn]).gate_dag


def route_plainly(dag: GateDag, coupling: Coupling) -> Route:
    """Route along shortest paths from the identity."""
    return route_shortest_paths(dag, coupling, np.arange(coupling.size, dtype=np.int32))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for module in (tokens, prices, layers, window_router, extraction, windows):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


@pytest.mark.long
@pytest.mark.parametrize("coupling", [LINE, GRID], ids=["line", "grid"])
@pytest.mark.parametrize("seed", range(4))
def test_the_result_is_a_route_that_costs_no_more(coupling: Coupling, seed: int) -> None:
    """Barriers, loops, gates that must not be BRIDGEs, and spare qubits."""
    dag = draw(seed)
    route = route_plainly(dag, coupling)
    better = polish(dag, coupling, route, WindowParams(work=40_000, seed=seed))
    assert find_flaw(dag, coupling, better) == ""
    assert better.extra_cx <= route.extra_cx


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_plain_python_finds_the_same_as_compiled_code(seed: int, request: pytest.FixtureRequest) -> None:
    """The kernels mean the same with and without numba."""
    dag = draw(seed)
    route = route_plainly(dag, LINE)
    compiled = polish(dag, LINE, route, WindowParams(work=3_000, seed=seed))
    request.getfixturevalue("plain")
    interpreted = polish(dag, LINE, route, WindowParams(work=3_000, seed=seed))
    assert compiled.steps.tolist() == interpreted.steps.tolist()
    assert compiled.start.tolist() == interpreted.start.tolist()


@pytest.mark.slow
def test_long_routes_are_searched_in_pieces() -> None:
    """A hundred gates and more need SWAPs enough for a piece for every searcher."""
    dag = draw(3, 9, 400)
    route = route_plainly(dag, GRID)
    assert route.extra_cx >= 3 * WindowParams().searchers * WindowParams().piece
    better = polish(dag, GRID, route, WindowParams(work=400_000))
    assert find_flaw(dag, GRID, better) == ""
    assert better.extra_cx < 0.8 * route.extra_cx


@pytest.mark.parametrize("gates", [40, 400])
def test_the_number_of_threads_changes_nothing(gates: int) -> None:
    """Searches with one thread and with three."""
    dag = draw(4, 9, gates)
    route = route_plainly(dag, GRID)
    one, three = (polish(dag, GRID, route, WindowParams(work=100_000, threads=t)) for t in (1, 3))
    assert one.steps.tolist() == three.steps.tolist()
    assert one.start.tolist() == three.start.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_given_layout_is_kept(seed: int) -> None:
    """The circuit's qubits start where they did, spare ones anywhere."""
    dag = draw(seed)
    route = route_plainly(dag, GRID)
    better = polish(dag, GRID, route, WindowParams(work=40_000, fixed=route.start[:5]))
    assert better.start[:5].tolist() == route.start[:5].tolist()
    assert find_flaw(dag, GRID, better) == ""


def test_a_free_start_is_used() -> None:
    """Two qubits at the ends of a line, with gates between them only, start as neighbours in the end."""
    dag = gate_dag_of(5, [Operation((0, 4), (None, None), pair=True)] * 3).gate_dag
    route = route_plainly(dag, LINE)
    assert polish(dag, LINE, route, WindowParams(work=1_000)).extra_cx == 0
    assert polish(dag, LINE, route, WindowParams(work=1_000, fixed=route.start)).extra_cx == 9


def test_parts_of_a_device_are_searched_as_they_are() -> None:
    """A circuit on two parts that are not connected."""
    steps = [Operation(pair, (None, None), pair=True) for pair in ((0, 2), (3, 5), (0, 1), (4, 5), (0, 2), (3, 5))]
    dag = gate_dag_of(6, steps).gate_dag
    better = polish(dag, PARTS, route_plainly(dag, PARTS), WindowParams(work=10_000))
    assert find_flaw(dag, PARTS, better) == ""
    assert better.extra_cx == 6


def test_nothing_to_gain_is_left_alone() -> None:
    """A route without SWAPs comes back as it is, and so does any when told to stop at once or to do nothing."""
    dag = draw(5)
    route, ready = (
        route_plainly(dag, LINE),
        Route(start=np.arange(5, dtype=np.int32), steps=np.empty((0, 2), np.int32)),
    )
    assert polish(gate_dag_of(5, []).gate_dag, LINE, ready) is ready
    assert polish(dag, LINE, route, stop=lambda: True) is route
    assert polish(dag, LINE, route, WindowParams(work=0)) is route
