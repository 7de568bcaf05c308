"""Tests of the mapping of a circuit from its first stage to its last."""

import time
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from tests.circuits.brief import shorten_levels
from tests.routing.replay import find_flaw
from tiger.circuits.optimization_levels import PARAMS_OF_LEVEL, Budget
from tiger.circuits.params import FusingParams, LayoutParams
from tiger.circuits.solve import LIMITED, SEARCH_S, SEARCH_SHARE, begin, map_circuit, search_whole_routes
from tiger.circuits.stopping import STOP, StopParams
from tiger.errors import InputError
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import Build, Operation, gate_dag_of
from tiger.routing.noise.depth import count_singles
from tiger.routing.noise.objectives import DepthObjective
from tiger.routing.route import Route
from tiger.routing.swaps.prices import price_route
from tiger.routing.swaps.search import SearchParams
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.run.deadline import Deadline

GRID = Coupling.of(9, [(k, k + 1) for k in range(8) if k % 3 != 2] + [(k, k + 3) for k in range(6)])


@pytest.fixture(autouse=True)
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search for milliseconds."""
    shorten_levels(monkeypatch, 20_000)


def circuit(qubits: int, gates: int, seed: int = 0) -> tuple[list[Operation], Build]:
    """Return random CX gates."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(qubits, 2, replace=False).tolist() for _ in range(gates)]
    steps = [Operation((a, b), ("z", "x"), pair=True, bridge=True) for a, b in pairs]
    return steps, gate_dag_of(qubits, steps)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_route_is_right_at_every_level(level: int) -> None:
    """Every node once, in order, on edges."""
    dag = circuit(7, 30)[1].gate_dag
    found = map_circuit(dag, GRID, LayoutParams(level=level))
    assert find_flaw(dag, GRID, found.route) == ""


def test_a_bound_that_nobody_reports_is_searched_for_where_it_spares_work() -> None:
    """At level 1 for an exact search alone, and at level 2, where windows may end early."""
    large, small = circuit(9, 64)[1].gate_dag, circuit(5, 12)[1].gate_dag
    told, plain = (map_circuit(large, GRID, each(level=1)) for each in (LayoutParams, FusingParams))
    assert told.lower_bound > plain.lower_bound
    assert (told.route.steps == plain.route.steps).all()
    one, two = PARAMS_OF_LEVEL[1:3]
    assert (one.useful_calls(large, GRID), one.useful_calls(small, GRID)) == (0, one.bound_calls)
    assert two.useful_calls(large, GRID) == two.guiding_calls


def test_what_embeds_costs_nothing() -> None:
    """A ring of four on the grid ends with the first stage."""
    ring = gate_dag_of(4, [Operation((k, (k + 1) % 4), (None, None), pair=True) for k in range(4)]).gate_dag
    found = map_circuit(ring, GRID, LayoutParams())
    assert (found.route.extra_cx, [stage.name for stage in found.stages]) == (0, ["embedding"])


def test_a_route_that_meets_the_bound_ends_the_search() -> None:
    """Three qubits that all meet need one SWAP on a grid, and no stage after the one that finds it."""
    triangle = gate_dag_of(3, [Operation((k, (k + 1) % 3), (None, None), pair=True) for k in range(3)]).gate_dag
    found = map_circuit(triangle, GRID, LayoutParams())
    assert (found.route.extra_cx, found.lower_bound) == (3, 3)
    assert [stage.name for stage in found.stages] == ["embedding", "bound", "segments"]


def test_bug_the_exact_search_lays_out_no_pairs_inside_control_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two qubits that meet inside a block alone stay in one part of the device."""
    monkeypatch.setattr("tiger.circuits.solve.PARAMS_OF_LEVEL", PARAMS_OF_LEVEL)
    steps = [Operation((k, (k + 1) % 3), (None, None), pair=True) for k in range(3)]
    steps.append(Operation((3, 4), (None, None), inner=((3, 4),)))
    halves = Coupling.of(8, [(k, k + 2) for k in range(6)])
    found = map_circuit(gate_dag_of(5, steps).gate_dag, halves, LayoutParams(level=1))
    assert (found.route.extra_cx, found.lower_bound) == (3, 3)
    assert halves.part[found.route.start[3]] == halves.part[found.route.start[4]]


@pytest.mark.slow
def test_another_objective_does_not_end_at_the_bound() -> None:
    """It wants several routes with the fewest SWAPs to choose from."""
    steps = [Operation((k, (k + 1) % 3), (None, None), pair=True) for k in range(3)]
    build = gate_dag_of(3, steps)
    objective = DepthObjective(build.gate_dag, count_singles(3, steps, build, ["cx"] * 3), GRID)
    found = map_circuit(build.gate_dag, GRID, LayoutParams(), objective=objective)
    assert (found.lower_bound, found.stages[-2].name) == (3, "windows")


@pytest.mark.slow
def test_stages_never_cost_more_than_those_before() -> None:
    """The last one's cost is the route's."""
    found = map_circuit(circuit(8, 60)[1].gate_dag, GRID, LayoutParams(effort=STOP.all_work_effort))
    costs = [stage.cost for stage in found.stages]
    assert [stage.name for stage in found.stages] == [
        "embedding",
        "bound",
        "segments",
        "proposals",
        "search",
        "windows",
        "level below",
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == found.route.extra_cx


@pytest.mark.parametrize(("least_gain", "slices"), [(1.1, 1), (0.0, 4)])
def test_a_slice_that_gains_little_is_the_last(monkeypatch: pytest.MonkeyPatch, least_gain: float, slices: int) -> None:
    """The first where all of what is left would be too little, and none where nothing is."""
    monkeypatch.setattr("tiger.circuits.solve.STOP", StopParams(least_gain=least_gain))
    names = [stage.name for stage in map_circuit(circuit(8, 60)[1].gate_dag, GRID, LayoutParams()).stages]
    assert names == ["embedding", "bound", "segments", "proposals", "level below", *(["search", "windows"] * slices)]


@pytest.mark.slow
def test_all_layouts_are_proposed_at_an_effort_or_by_a_sampler_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of gates as tasks come last, and most of the time is theirs."""
    monkeypatch.setattr("tiger.circuits.solve.STOP", StopParams(proposals=1))
    dag = circuit(8, 60)[1].gate_dag
    for effort, solver, figures in ((3, "auto", 1), (4, "auto", 2), (1, "neal", 2)):
        stages = map_circuit(dag, GRID, LayoutParams(level=2, effort=effort, solver=solver)).stages
        details = [stage.detail for stage in stages if stage.name == "proposals"]
        assert [len(detail) for detail in details] == [figures]


def test_bug_a_route_whose_swaps_all_fuse_was_searched_on() -> None:
    """Three qubits that all meet need one SWAP, and none costs less than beside one of their gates."""
    triangle = gate_dag_of(3, [Operation((k, (k + 1) % 3), (None, None), pair=True) for k in range(3)]).gate_dag
    priced = replace(triangle, price=np.array([5, 5, 5, 13], np.int32))
    found = map_circuit(priced, GRID, LayoutParams())
    assert price_route(priced, found.route) == 5
    assert [stage.name for stage in found.stages] == ["embedding", "bound", "segments"]


@pytest.mark.long
def test_known_routes_are_not_exceeded() -> None:
    """The result of another mapper is where the search starts."""
    dag = circuit(8, 60)[1].gate_dag
    good = map_circuit(dag, GRID, LayoutParams()).route
    assert map_circuit(dag, GRID, LayoutParams(level=0), known=(good,)).route.extra_cx == good.extra_cx


def test_a_fixed_layout_is_kept() -> None:
    """Whatever the stages find."""
    dag = circuit(6, 30)[1].gate_dag
    place = np.array([8, 0, 6, 2, 4, 1], np.int32)
    found = map_circuit(dag, GRID, LayoutParams(), fixed=place).route
    assert (found.start[:6] == place).all()
    assert find_flaw(dag, GRID, found) == ""


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 4])
def test_threads_do_not_matter(threads: int) -> None:
    """One thread finds the same route."""
    dag = circuit(8, 50)[1].gate_dag
    one, more = (map_circuit(dag, GRID, LayoutParams(seed=5, threads=count)).route for count in (1, threads))
    assert (one.start == more.start).all()
    assert (one.steps == more.steps).all()


def test_an_objective_has_the_last_word() -> None:
    """A route found by depth is no deeper than the one found by CX gates."""
    steps, build = circuit(7, 30)
    objective = DepthObjective(build.gate_dag, count_singles(7, steps, build, ["cx"] * 30), GRID)
    plain = map_circuit(build.gate_dag, GRID, LayoutParams(level=1)).route
    found = map_circuit(build.gate_dag, GRID, LayoutParams(level=1), objective=objective)
    assert objective.loss(found.route) <= objective.loss(plain)
    assert found.stages[-1].name == "placement"


@pytest.mark.parametrize("level", [1, 3])
def test_bug_another_objective_was_left_no_time(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for few SWAPs took all that a limit left."""
    steps, build = circuit(7, 30)
    objective = DepthObjective(build.gate_dag, count_singles(7, steps, build, ["cx"] * 30), GRID)
    ends = []
    for name in ("search_in_slices", "search_whole_routes"):
        monkeypatch.setattr(f"tiger.circuits.solve.{name}", lambda _, own, *__: ends.append(own.stop.left_s))

    def find_best(routes: list[Route], _: int, stop: Deadline) -> Route:
        ends.append(stop.left_s)
        return routes[0]

    monkeypatch.setattr("tiger.circuits.solve.Placer", lambda *_: mock.Mock(find_best=find_best))
    known = route_shortest_paths(build.gate_dag, GRID, np.arange(GRID.size, dtype=np.int32))
    map_circuit(build.gate_dag, GRID, LayoutParams(level=level, time_limit_s=1e6), known=(known,), objective=objective)
    assert ends == pytest.approx([5e5, 1e6], abs=1e3)


@pytest.mark.slow
def test_time_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far more work than there is time for; the kernels are there already."""
    dag = circuit(8, 200)[1].gate_dag
    map_circuit(dag, GRID, LayoutParams())
    shorten_levels(monkeypatch, 10**10)
    begun = time.perf_counter()
    found = map_circuit(dag, GRID, LayoutParams(time_limit_s=0.3)).route
    assert time.perf_counter() - begun < 20
    assert find_flaw(dag, GRID, found) == ""


@pytest.mark.parametrize("effort", [1, STOP.all_work_effort])
def test_bug_level_three_is_never_above_level_two(monkeypatch: pytest.MonkeyPatch, effort: int) -> None:
    """Not even where it has less work of its own."""
    brief = tuple(
        replace(each, search=Budget(work, 0, work), windows=Budget(work, 0, work), trial=1)
        for each, work in zip(PARAMS_OF_LEVEL, (1, 1, 300_000, 1), strict=True)
    )
    monkeypatch.setattr("tiger.circuits.solve.PARAMS_OF_LEVEL", brief)
    dag = circuit(9, 60)[1].gate_dag
    two, three = (map_circuit(dag, GRID, LayoutParams(level=level, effort=effort)) for level in (2, 3))
    names = [stage.name for stage in three.stages]
    below = names.index("level below")
    assert three.route.extra_cx == two.route.extra_cx < three.stages[below - 1].cost
    assert three.stages[below].cost == two.route.extra_cx


@pytest.mark.long
def test_a_limit_is_for_all_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that plan by their work plan for less, and say so; where there is time for all, nothing changes."""
    dag = circuit(8, 60)[1].gate_dag
    free, loose = (map_circuit(dag, GRID, LayoutParams(level=2, time_limit_s=limit)) for limit in (None, 1e6))
    assert (loose.route.steps == free.route.steps).all()
    assert not any(stage.detail.get("shortened") for stage in loose.stages)
    monkeypatch.setattr("tiger.circuits.solve.WINDOWS_S", 1e6)
    stages = map_circuit(dag, GRID, LayoutParams(level=2, time_limit_s=1e6)).stages
    assert [stage.name for stage in stages if stage.detail.get("shortened")] == ["windows"]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "stage"), [("BOUND_SHARE", "bound"), ("SEGMENTS_SHARE", "segments")])
def test_bug_a_stage_before_the_search_leaves_time_for_it(
    monkeypatch: pytest.MonkeyPatch, share: str, stage: str
) -> None:
    """The bound of 1,770 gates took a whole second, and SABRE's circuit came back."""
    monkeypatch.setattr(f"tiger.circuits.solve.{share}", 0.0)
    stages = map_circuit(circuit(8, 60)[1].gate_dag, GRID, LayoutParams(level=2, time_limit_s=1e6)).stages
    assert [each.name for each in stages if each.detail.get("shortened")] == [stage]


def test_parts_that_do_not_fit_are_refused() -> None:
    """Three qubits that meet, on parts of two."""
    with pytest.raises(InputError, match="connected parts"):
        map_circuit(circuit(3, 9)[1].gate_dag, Coupling.of(4, [(0, 1), (2, 3)]), LayoutParams())


@pytest.mark.slow
def test_routes_from_shortest_paths_are_beaten() -> None:
    """By level 1 already, on the average of ten circuits."""
    circuits = [circuit(8, 40, seed)[1].gate_dag for seed in range(10)]
    start = np.arange(9, dtype=np.int32)
    plain = sum(route_shortest_paths(each, GRID, start).extra_cx for each in circuits)
    assert sum(map_circuit(each, GRID, LayoutParams(level=1)).route.extra_cx for each in circuits) < 0.7 * plain


def test_effort_is_more_work() -> None:
    """It multiplies the budget of a level up to its most."""
    dag = circuit(5, 10)[1].gate_dag
    assert Budget(100, 10, 150).work(dag, 1) == 150
    assert Budget(100, 10, 1_000).work(dag, 3) == 600


def test_large_circuits_are_routed_fewer_times() -> None:
    """As many times as there are gates for, twice at least where a level routes the whole at all."""
    level = replace(PARAMS_OF_LEVEL[1], passages=32, passage_gates=240, halving_qubits=9)
    small, large, huge = (circuit(8, gates)[1].gate_dag for gates in (5, 60, 1_000))
    assert [level.search_passages(dag, GRID, 1) for dag in (small, large, huge)] == [32, 4, 2]
    assert PARAMS_OF_LEVEL[2].search_passages(huge, GRID, 1) == 0


def test_a_limit_that_binds_gives_most_of_its_time_to_wide_beams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search plans for three quarters of what is left, with wider beams; without a limit it plans as ever."""
    dag = circuit(8, 60)[1].gate_dag
    route = route_shortest_paths(dag, GRID, np.arange(9, dtype=np.int32))
    search = mock.Mock(return_value=route)
    monkeypatch.setattr("tiger.circuits.solve.search", search)
    for module in ("tiger.circuits.solve", "tiger.run.deadline"):
        monkeypatch.setattr(f"{module}.time", mock.Mock(monotonic=lambda: 100.0))
    for limit_s in (0.5, None):
        params = LayoutParams(level=3, effort=10**6, time_limit_s=limit_s)
        search_whole_routes(*begin(dag, GRID, params, None))
    limited, free = (call.args[3] for call in search.call_args_list)
    assert (limited.width, limited.phases) == (LIMITED.width, LIMITED.phases)
    assert limited.work == int(SEARCH_SHARE * 0.5 / SEARCH_S) < free.work
    assert (free.width, free.phases) == (SearchParams().width, SearchParams().phases)
