"""Tests of the search on whole routes, compiled and as plain Python."""

from dataclasses import replace

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.embedding.segments import Anchor
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import (
    attempt_params,
    beam,
    beam_options,
    frontier,
    fronts,
    lookahead,
    prices,
    rerouting,
    router,
    smallest,
)
from tiger.routing.swaps.beam_arrays import build_moves, fits_beams
from tiger.routing.swaps.phases import PhaseParams
from tiger.routing.swaps.prices import price_route
from tiger.routing.swaps.rerouting import NEVER_COST
from tiger.routing.swaps.search import (
    SearchOrigins,
    SearchParams,
    _build_pool,
    _build_searcher,
    _deal_best,
    _view_forward,
    search,
)
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.views import build_views

GRID = Coupling.of(9, [(k, k + 1) for k in range(8) if k % 3 < 2] + [(k, k + 3) for k in range(6)])
PARTS = Coupling.of(7, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)])
SMALL = SearchParams(work=200_000)
RACE = SearchParams(work=3_000_000, width=32, phases=PhaseParams(wide_least=1))


def draw(seed: int, qubits: int = 7, gates: int = 40) -> GateDag:
    """Draw a circuit of CX and rotations."""
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(gates):
        a, b = rng.permutation(qubits)[:2].tolist()
        steps += [Operation((a, b), ("z", "x"), pair=True, bridge=True), Operation((b,), (None,))]
    return gate_dag_of(qubits, steps).gate_dag


def identity(size: int) -> np.ndarray:
    """Return the layout that puts every qubit on its namesake."""
    return np.arange(size, dtype=np.int32)


def use_plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for module in (
        frontier,
        fronts,
        lookahead,
        router,
        beam,
        beam_options,
        rerouting,
        smallest,
        prices,
        attempt_params,
    ):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
    for name, owner in (("advance", rerouting), ("begin", frontier), ("route", router)):
        monkeypatch.setattr(f"tiger.routing.swaps.search.{name}", getattr(owner, name))


@pytest.mark.parametrize("seed", range(3))
def test_the_search_beats_shortest_paths(seed: int) -> None:
    """What it finds is a route, and costs less than half."""
    dag = draw(seed)
    found = search(dag, GRID, SearchOrigins(), SMALL)
    assert find_flaw(dag, GRID, found) == ""
    assert 2 * found.extra_cx < route_shortest_paths(dag, GRID, identity(9)).extra_cx


def test_a_known_route_is_never_exceeded() -> None:
    """Even where there is no work to be done."""
    dag = draw(5)
    known = search(dag, GRID, SearchOrigins(), SearchParams(work=2_000_000))
    assert search(dag, GRID, SearchOrigins(routes=(known,)), SearchParams(work=0)) is known
    assert search(dag, GRID, SearchOrigins(routes=(known,)), SearchParams(work=1000)).extra_cx <= known.extra_cx


@pytest.mark.slow
def test_threads_do_not_change_the_result() -> None:
    """One thread or three find the same route."""
    one, three = (search(draw(2), GRID, SearchOrigins(), SearchParams(work=10**6, threads=t)) for t in (1, 3))
    assert one.steps.tolist() == three.steps.tolist()
    assert one.start.tolist() == three.start.tolist()


def test_another_seed_searches_elsewhere() -> None:
    """Two short searches find two routes."""
    one, other = (search(draw(2), GRID, SearchOrigins(), SearchParams(work=20_000, seed=seed)) for seed in (0, 1))
    assert one.steps.tolist() != other.steps.tolist()


def test_a_fixed_start_stays() -> None:
    """Only what follows the start is searched."""
    dag = draw(4)
    found = search(dag, GRID, SearchOrigins(fixed=identity(9)), SMALL)
    assert found.start.tolist() == list(range(9))
    assert find_flaw(dag, GRID, found) == ""
    assert 2 * found.extra_cx < route_shortest_paths(dag, GRID, identity(9)).extra_cx


def test_an_anchor_is_a_mapping_at_its_time() -> None:
    """The second half of a circuit fits as it is, and so does the first after it is turned around."""
    first, second = [(k, k + 1) for k in range(6)], [(0, 3), (3, 6), (6, 1), (1, 4), (4, 2), (2, 5)]
    pairs = [pair for pair in first for _ in range(3)] + [pair for pair in second for _ in range(3)]
    dag = gate_dag_of(7, [Operation(pair, (None, None), pair=True) for pair in pairs]).gate_dag
    line = Coupling.of(7, [(k, k + 1) for k in range(6)])
    place = np.argsort(np.array([0, 3, 6, 1, 4, 2, 5])).astype(np.int32)
    found = search(dag, line, SearchOrigins(anchors=(Anchor(place=place, done=np.arange(36) < 18),)), SMALL)
    assert find_flaw(dag, line, found) == ""
    assert found.extra_cx > 0


def test_qubits_stay_in_their_part() -> None:
    """A device of two parts is searched from a layout, and refused without one."""
    dag = gate_dag_of(5, [Operation(p, (None, None), pair=True) for p in ((0, 1), (0, 2), (1, 2), (3, 4))]).gate_dag
    found = search(dag, PARTS, SearchOrigins(layouts=(np.array([3, 5, 6, 0, 2, 1, 4], np.int32),)), SMALL)
    assert find_flaw(dag, PARTS, found) == ""
    assert found.extra_cx == 3
    for origins in (SearchOrigins(), SearchOrigins(layouts=(np.array([3, 2, 6, 0, 5, 1, 4], np.int32),))):
        with pytest.raises(ValueError, match=r"expected (a )?layout"):
            search(dag, PARTS, origins, SMALL)


def test_the_search_can_be_stopped() -> None:
    """The best known route is returned at once."""
    dag = draw(1)
    known = search(dag, GRID, SearchOrigins(), SMALL)
    stopped = search(dag, GRID, SearchOrigins(routes=(known,)), SearchParams(), stop=lambda: True)
    assert stopped.extra_cx == known.extra_cx


def test_circuits_without_gates_cost_nothing() -> None:
    """There is nothing to search."""
    assert search(gate_dag_of(3, []).gate_dag, GRID, SearchOrigins()).extra_cx == 0


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [None, identity(9)], ids=["free", "fixed"])
def test_compiled_and_plain_agree(fixed: np.ndarray | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both draw the same random numbers; this runs every kernel as plain Python."""
    dag, params = draw(3, gates=15), SearchParams(work=12_000)
    origins = SearchOrigins(fixed=fixed, layouts=(identity(9),))
    compiled = search(dag, GRID, origins, params)
    use_plain_functions(monkeypatch)
    assert search(dag, GRID, origins, params).steps.tolist() == compiled.steps.tolist()


def test_bug_a_phase_that_ends_before_its_first_route() -> None:
    """So little work leaves a route in the making, whose cost is not known."""
    dag = draw(6, gates=200)
    found = search(dag, GRID, SearchOrigins(), SearchParams(work=9_000))
    assert find_flaw(dag, GRID, found) == ""


def test_bug_both_sides_of_a_cut_are_too_long_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad mapping in the middle makes routes to both sides of it longer than there is room for."""
    pairs = [(0, 9), (9, 1), (1, 8), (8, 2)]
    dag = gate_dag_of(10, [Operation(pair, (None, None), pair=True) for pair in pairs]).gate_dag
    line = Coupling.of(10, [(k, k + 1) for k in range(9)])
    near = np.argsort([0, 9, 1, 8, 2, *range(3, 8)]).astype(np.int32)
    known = Route(start=near, steps=np.array([(-8, 8), *((node, -1) for node in range(4)), (-8, 8)], np.int32))
    use_plain_functions(monkeypatch)
    monkeypatch.setattr("tiger.routing.swaps.search.DETOUR", 0)
    far = Anchor(place=identity(10), done=np.arange(4) < 2)
    found = search(dag, line, SearchOrigins(anchors=(far,), routes=(known,)), SearchParams(work=3_000))
    assert find_flaw(dag, line, found) == ""


@pytest.mark.slow
def test_mappings_that_race_give_routes_as_all_others() -> None:
    """Whole routings of kept routes are valid, and never depend on threads."""
    dag = draw(1)
    found = search(dag, GRID, SearchOrigins(), RACE)
    assert find_flaw(dag, GRID, found) == ""
    threaded = search(dag, GRID, SearchOrigins(), replace(RACE, threads=4))
    assert (threaded.steps == found.steps).all()


@pytest.mark.slow
def test_searchers_that_do_not_go_on_leave_their_work_to_others() -> None:
    """The widest beams run in fewer searchers, with all of the work, and never depend on threads."""
    dag, params = draw(0, gates=200), replace(RACE, width=512, phases=PhaseParams(wide_least=1, enough=512))
    found = search(dag, GRID, SearchOrigins(), params)
    assert find_flaw(dag, GRID, found) == ""
    threaded = search(dag, GRID, SearchOrigins(), replace(params, threads=4))
    assert (threaded.steps == found.steps).all()


@pytest.mark.slow
def test_bug_routes_from_a_given_layout_raced(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them start alike, so that one of them was left for all searchers."""
    monkeypatch.setattr("tiger.routing.swaps.search._deal_best", None)
    found = search(draw(1), GRID, SearchOrigins(fixed=identity(9)), RACE)
    assert found.start.tolist() == list(range(9))


@pytest.mark.slow
def test_bug_what_a_phase_took_too_much_was_not_missing_from_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beams that took all of the work of both last phases were routed in each of them: 1.7 times the work."""
    done: dict[int, int] = {}

    def count(searcher: rerouting.Searcher, plan: rerouting.ReroutePlan) -> None:
        rerouting.advance(searcher, plan)
        done[id(searcher.pool)] = int(searcher.state.counters[0].work)

    monkeypatch.setattr("tiger.routing.swaps.search.advance", count)
    search(draw(0, gates=200), GRID, SearchOrigins(), replace(RACE, work=6_000_000, width=512))
    assert 6_000_000 <= sum(done.values()) < 9_000_000


def test_bug_a_mapping_that_was_never_routed_took_a_place() -> None:
    """It costs more than any route and less than an empty place of the pool, and went on where there were few."""
    dag, size = draw(2), GRID.size
    known = route_shortest_paths(dag, GRID, identity(size))
    views = build_views(dag, GRID)
    pool = _build_pool(GRID, dag, SearchOrigins(routes=(known,), fixed=known.start), (0, 1), PhaseParams())
    # Its beam has room for one step, where the route takes more.
    searcher = _build_searcher(views, pool, build_moves(_view_forward(views)), [0, 0])
    rerouting.advance(searcher, rerouting.ReroutePlan(fresh=100, fixed=1, goal=20_000, width=1, ordered=0))
    assert pool.cost[0] == price_route(dag, known)
    assert (pool.cost[1:-1] == NEVER_COST).all()


@pytest.mark.slow
def test_what_is_dealt_out_is_best_and_starts_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two routes that go on start alike, the cheapest goes on, and searchers hold no more than their share."""
    dealt: list[list[tuple[int, bytes]]] = []

    def note(searchers: list[rerouting.Searcher], kept: int) -> None:
        least = min(int(searcher.pool.cost[:-1].min()) for searcher in searchers)
        _deal_best(searchers, kept)
        pools = [searcher.pool for searcher in searchers]
        some = [(int(p.cost[e]), p.start[e].tobytes()) for p in pools for e in range(kept) if p.cost[e] < NEVER_COST]
        assert min(some)[0] == least
        assert all((p.cost[kept:] == NEVER_COST).all() for p in pools)
        # Every searcher has one to go on with.
        assert all(int(p.cost[0]) < NEVER_COST for p in pools)
        # The cheapest is routed first, from its start.
        assert all(p.attempt[0].turn == 0 for p in pools)
        dealt.append(some)

    monkeypatch.setattr("tiger.routing.swaps.search._deal_best", note)
    params = SearchParams(work=3_000_000, width=64, phases=PhaseParams(wide_least=1))
    search(draw(1), GRID, SearchOrigins(), params)
    assert dealt
    starts = [[start for _, start in some] for some in dealt]
    assert all(len(set(each)) == len(each) or len(set(each)) < 4 for each in starts)


def test_bug_attempts_longer_than_a_chunk_take_no_work_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide beam takes many chunks at once; the phase ends when its work is done, not after as many attempts."""
    done: dict[int, int] = {}

    def count(searcher: rerouting.Searcher, plan: rerouting.ReroutePlan) -> None:
        rerouting.advance(searcher, plan)
        done[id(searcher.pool)] = int(searcher.state.counters[0].work)

    monkeypatch.setattr("tiger.routing.swaps.search.CHUNK", 10_000)
    monkeypatch.setattr("tiger.routing.swaps.search.advance", count)
    search(draw(0), GRID, SearchOrigins(), SearchParams(work=1_200_000))
    assert 1_200_000 <= sum(done.values()) < 1_800_000


def test_bug_a_search_that_is_late_routes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It measured what a routing takes first, 0.8 s with 12,000 gates on 400 qubits."""
    measured: list[int] = []

    def note(*given: object) -> int:
        measured.append(len(given))
        return 1_000

    monkeypatch.setattr("tiger.routing.swaps.search._measure_passage", note)
    dag = draw(2)
    known = route_shortest_paths(dag, GRID, identity(9))
    found = search(dag, GRID, SearchOrigins(routes=(known,)), SMALL, stop=lambda: True)
    assert (found.extra_cx, measured) == (known.extra_cx, [])
    search(dag, GRID, SearchOrigins(routes=(known,)), SMALL)
    assert measured


def test_bug_searchers_in_turn_stop_between_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A searcher may take half a second before it returns: the next does not begin when time is up."""
    calls: list[int] = []
    monkeypatch.setattr("tiger.routing.swaps.search.advance", lambda *_: calls.append(0))
    search(draw(0), GRID, SearchOrigins(), SearchParams(work=1_200_000), lambda: bool(calls))
    assert len(calls) == 1


@pytest.mark.slow
def test_bug_wide_beams_are_for_swaps_that_all_cost_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where some fuse with gates and cost less, ever wider beams find cheaper routes, and no beam is measured."""
    monkeypatch.setattr("tiger.routing.swaps.search._measure_beam", None)
    dag = draw(0)
    price = np.append(np.ones(len(dag.pairs)), 13).astype(np.int32)
    assert (
        find_flaw(dag, GRID, search(replace(dag, price=price), GRID, SearchOrigins(), SearchParams(work=2_000_000)))
        == ""
    )


@pytest.mark.slow
def test_bug_there_are_no_beams_where_moves_find_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """What moves change would take a gigabyte where one qubit is next to a thousand others."""
    star = Coupling.of(1_001, [(0, p) for p in range(1, 1_001)])
    dag = draw(0)
    assert not fits_beams(frontier.build_arrays(dag, star)[0])
    assert fits_beams(frontier.build_arrays(dag, GRID)[0])
    monkeypatch.setattr("tiger.routing.swaps.search.fits_beams", lambda _: False)
    monkeypatch.setattr("tiger.routing.swaps.search.build_moves", None)
    assert find_flaw(dag, GRID, search(dag, GRID, SearchOrigins(), SearchParams(work=300_000))) == ""


def test_passages_alone_find_routes() -> None:
    """Without any other work the result is a route, and no worse than the one it begins with."""
    dag = draw(4)
    plain = search(dag, GRID, SearchOrigins(), SearchParams(work=0))
    found = search(dag, GRID, SearchOrigins(), SearchParams(work=0, passages=20))
    assert find_flaw(dag, GRID, plain) == find_flaw(dag, GRID, found) == ""
    assert found.extra_cx <= plain.extra_cx
