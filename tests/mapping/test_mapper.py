"""Tests of a whole solve, by every solver."""

import concurrent.futures
import itertools
import json
import multiprocessing
import time
from typing import ClassVar

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import tiger
from tiger.errors import InputError
from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.formats.patterns.spec import build as build_pattern
from tiger.mapping import rounds
from tiger.mapping.bounding import raise_spread_bound
from tiger.mapping.mapper import solve
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.objectives.multipath import load_links
from tiger.qubo.params import IsingParams, Sampling
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.progress import ignore
from tiger.run.search_stage import Round
from tiger.solvers import registry
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")
NAMES = tuple(info.name for info in registry.list_solvers() if info.name not in registry.DWAVE)
BRIEF = IsingParams(
    whole=Sampling(rounds=4, reads=24, sweeps=200), window=Sampling(rounds=1, reads=4, sweeps=50), passes=1
)

TINY = IsingParams(
    whole=Sampling(rounds=2, reads=8, sweeps=50), window=Sampling(rounds=1, reads=4, sweeps=50), passes=1
)


def places_of(problem, report):
    """Return the node indices of a report's mapping."""
    index = {name: k for k, name in enumerate(problem.topology.names)}
    return np.array([index[report.mapping[task]] for task in problem.tasks.names])


def drop_seconds(report):
    """Return a report as plain values without its seconds."""
    plain = report.to_dict()
    del plain["seconds"]
    plain["stages"] = [{key: value for key, value in stage.items() if key != "seconds"} for stage in plain["stages"]]
    return plain


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", NAMES)
def test_a_report_tells_the_truth(name, rule, random_problem, brute_force):
    """Tests feasibility, the recomputed cost, and bound <= optimum <= cost <= baseline, by every solver."""
    problem = random_problem(rule, 1, tasks=5, nodes=6, pins=True, forbidden=True, memory=True)
    report = solve(problem, solver=name, seed=1, ising=TINY)
    places, optimum = places_of(problem, report), brute_force(problem)[0]
    assert not violations(problem, places)
    assert report.cost == cost_of(problem, places).total == report.compute_cost + report.communication_cost
    assert report.lower_bound - 1e-9 <= optimum <= report.cost + 1e-9 <= report.baseline_cost + 2e-9
    assert not report.optimal or report.cost == pytest.approx(optimum)
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_auto_proves_tiny_problems(rule, random_problem, brute_force):
    """Tests that six tasks are solved to a proven optimum."""
    for seed in range(3):
        problem = random_problem(rule, seed)
        report = solve(problem)
        assert report.optimal
        assert report.gap == 0
        assert report.cost == pytest.approx(brute_force(problem)[0])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["neal", pytest.param("tabu", marks=pytest.mark.long)])
def test_the_ising_path_finds_the_optimum_of_small_problems(name, rule, random_problem, brute_force):
    """Tests that six tasks come out optimal without any native search but polish."""
    for seed in range(2):
        problem = random_problem(rule, seed)
        assert solve(problem, solver=name, seed=seed, ising=BRIEF).cost == pytest.approx(brute_force(problem)[0])


def stencil(rows=4):
    """Return a stencil of rows of 4 on a torus of its size."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, 4))
    graph = nx.DiGraph((u, v) for u, v in graph.edges)
    return Problem(tasks=task_graph_of(graph), topology=build(f"torus:{rows}x4"), rule="one-to-one")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_and_effort_give_the_same_report(name):
    """Tests every solver on no thread and on two."""
    # An exact search of sixteen tasks takes as long as all others together.
    problem = stencil(rows=3 if name == "exact" else 4)
    alone = solve(problem, solver=name, seed=5, effort=2, ising=TINY)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert drop_seconds(solve(problem, solver=name, seed=5, effort=2, ising=TINY, executor=pool)) == drop_seconds(
            alone
        )


def dense(tasks, solver="auto", **options):
    """Return the report of random traffic between tasks on a torus of as many nodes, whose mapping is hard to find."""
    rng = np.random.default_rng(3)
    graph = nx.from_numpy_array(rng.integers(1, 100, (tasks, tasks)) * (rng.random((tasks, tasks)) < 0.6))
    problem = Problem(tasks=task_graph_of(graph), topology=build(f"torus:{tasks // 6}x6"), rule="one-to-one")
    return solve(problem, solver=solver, seed=2, **options)


@pytest.mark.long
def test_islands_find_the_same_on_any_executor():
    """Tests islands on no executor and on fewer and more threads; how many islands there are plays a part."""
    alone = dense(24, effort=2, islands=3)
    for threads in (2, 5):
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            assert drop_seconds(dense(24, effort=2, islands=3, executor=pool)) == drop_seconds(alone)
    assert alone.islands == 3
    assert {stage.detail.get("islands") for stage in alone.stages if stage.name == "dense"} == {3}
    fewer = dense(24, effort=2, islands=1)
    assert alone.mapping != fewer.mapping
    assert drop_seconds(fewer) == drop_seconds(dense(24, effort=2))


@pytest.mark.long
def test_processes_give_the_same_report():
    """Tests islands and parts of a search in another process that starts afresh."""
    context = multiprocessing.get_context("spawn")
    ways = ({"effort": 2, "islands": 3}, {"solver": "search", "effort": 4})
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        found = [dense(24, executor=pool, **way) for way in ways]
    assert [drop_seconds(report) for report in found] == [drop_seconds(dense(24, **way)) for way in ways]


def test_islands_of_another_objective_spend_the_effort_each():
    """Tests that annealing for the largest load of a link has islands too, whose answer no thread changes."""
    reports = [dense(12, objective="max-link-load", islands=2)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        reports.append(dense(12, objective="max-link-load", islands=2, executor=pool))
    assert drop_seconds(reports[0]) == drop_seconds(reports[1])
    assert reports[0].stages[-1].detail["islands"] == 2


def test_islands_of_no_consequence_are_told_of():
    """Tests a problem whose mapping is found and proved before a search with a seed begins."""
    assert any("islands were of no consequence" in warning for warning in solve(stencil(), islands=2).warnings)
    assert not any("islands" in warning for warning in solve(stencil()).warnings)


def test_auto_maps_a_stencil_without_loss():
    """Tests that 24 neighbours end up 24 neighbours, which is proved by the bound."""
    report = solve(stencil())
    assert (report.cost, report.optimal, report.metrics["dilation"]) == (24, True, 1)


def test_any_ocean_sampler_object_is_accepted(path_problem):
    """Tests dimod's exact solver as the sampler of the QUBO path."""
    report = solve(path_problem, solver=dimod.ExactSolver())
    assert (report.cost, report.solver) == (7, "ExactSolver")


@pytest.mark.slow
def test_stages_record_what_each_reached(random_problem):
    """Tests names, falling costs, and the rounds of the tuner."""
    report = solve(random_problem("levels", 3), solver="neal", ising=BRIEF)
    assert [stage.name for stage in report.stages][:3] == ["baseline", "bound", "qubo"]
    assert all(a.cost >= b.cost for a, b in itertools.pairwise(report.stages))
    rounds = report.stages[2].detail["rounds"]
    figures = {"penalty", "penalty_scale", "centred", "feasible_share", "beta_range"}
    assert figures | {"best_raw", "best_repaired", "best_polished"} == set(rounds[0])


@pytest.mark.slow
def test_a_time_limit_ends_a_search_without_end():
    """Tests that search goes on until the limit, stops near it and says so, unlike one that ends by itself."""
    problem = Problem(
        tasks=task_graph_of(nx.gnm_random_graph(64, 400, seed=1)), topology=build("torus:8x8"), rule="one-to-one"
    )
    begun = time.process_time()
    report = solve(problem, time_limit_s=0.3)
    assert report.seconds > 0.25
    assert time.process_time() - begun < 10
    assert any("time limit of 0.3 s" in warning for warning in report.warnings)
    assert not solve(problem, solver="greedy").warnings


@pytest.mark.slow
def test_an_endless_effort_obeys_the_time_limit():
    """Tests the largest effort there is."""
    problem = Problem(
        tasks=task_graph_of(nx.gnm_random_graph(64, 400, seed=1)), topology=build("torus:8x8"), rule="one-to-one"
    )
    for name in ("auto", "neal", "random"):
        assert solve(problem, solver=name, effort=2**63 - 1, time_limit_s=0.1).seconds < 2.5


@pytest.mark.slow
def test_bug_a_launch_order_that_fits_was_bisected_anew_and_never_refined():
    """Tests a conjugate gradient on a dragonfly, of which no bisection is as cheap as the launch order."""
    tasks, hardware = build_pattern("cg:32x32"), build("dragonfly:8,2,16")
    hardware = hardware.with_slots(np.where(hardware.slots > 0, 4, 0))
    report = solve(Problem(tasks=tasks, topology=hardware, rule="capacity"))
    assert report.cost < report.baseline_cost
    assert "multilevel" not in {stage.name for stage in report.stages}


@pytest.mark.parametrize("name", ["identity", "greedy"])
def test_bug_solvers_without_effort_filled_the_report(name, path_problem):
    """Tests that a time limit does not repeat what more effort cannot change."""
    report = solve(path_problem, solver=name, time_limit_s=5)
    assert len(report.stages) <= 3


def test_bug_small_units_were_optimal_at_once():
    """Tests that traffic in units of 1e-12 is mapped as well as traffic in units of 1."""
    for unit in (1.0, 1e-12):
        graph = nx.relabel_nodes(nx.cycle_graph(9), {k: k * 2 % 9 for k in range(9)})
        tasks = nx.Graph()
        tasks.add_nodes_from(range(9))
        tasks.add_edges_from(graph.edges, weight=unit)
        report = solve(Problem(tasks=task_graph_of(tasks), topology=build("ring:9"), rule="one-to-one"))
        assert report.cost == pytest.approx(9 * unit)
        assert report.baseline_cost == pytest.approx(18 * unit)


def test_a_report_says_that_nothing_was_gained():
    """Tests a search that cannot beat the launcher's order, without proof that nothing can."""
    problem = Problem(tasks=task_graph_of(nx.cycle_graph(5)), topology=build("torus:3x3"), rule="one-to-one")
    report = solve(problem, solver="random", time_limit_s=1e-6)
    assert any("nothing beat the block order" in warning for warning in report.warnings)


def test_bug_proofs_beside_a_large_constant_were_false():
    """Tests that work that costs 1e11 wherever it goes does not hide what placement costs."""
    graph = nx.gnm_random_graph(6, 12, seed=3)
    nx.set_node_attributes(graph, 1e11, "work")
    hardware = nx.cycle_graph(6)
    nx.set_node_attributes(hardware, 1.0, "cost")
    report = tiger.assign(graph, hardware)
    light = tiger.assign(nx.gnm_random_graph(6, 12, seed=3), nx.cycle_graph(6))
    assert report.optimal
    assert report.communication_cost == light.communication_cost


@pytest.mark.slow
def test_bug_a_proved_cost_was_above_that_of_another_objective():
    """Tests that costs within rounding of each other leave the bound at the lower one."""
    far = 1 + 1e-13
    metric = DenseMetric(np.array([[0, far, far], [far, 0, 1], [far, 1, 0]]))
    topology = Topology(names=("a", "b", "c"), metric=metric, slots=np.array([2, 2, 2]))
    report = solve(
        Problem(tasks=task_graph_of(nx.cycle_graph(4)), topology=topology, rule="capacity"), objective="ring"
    )
    assert report.lower_bound <= report.cost


def test_bug_bounds_in_bytes_were_not_whole():
    """Tests that a stencil in units of 1e9 is proved optimal as one in units of 1 is."""
    graph = nx.grid_2d_graph(4, 4)
    nx.set_edge_attributes(graph, 10**9, "weight")
    assert tiger.assign(graph, "torus:4x4").optimal


class CountingSampler(SimulatedAnnealingSampler):
    """Note how many reads were asked for and drawn."""

    def __init__(self):
        super().__init__()
        self.reads = []

    def sample(self, bqm, **options):
        """Draw as asked."""
        found = super().sample(bqm, **options)
        self.reads.append((options["num_reads"], len(found)))
        return found


@pytest.mark.long
def test_sampling_stops_between_reads():
    """Tests that neal hears a time limit while it samples, by the reads under the first limit that lets it begin."""
    problem = Problem(
        tasks=task_graph_of(nx.gnm_random_graph(36, 300, seed=1)), topology=build("torus:6x6"), rule="one-to-one"
    )
    sampler, limit_s = CountingSampler(), 0.05
    while not sampler.reads:
        solve(problem, solver=sampler, time_limit_s=limit_s)
        limit_s *= 2
    assert all(drawn < asked for asked, drawn in sampler.reads)


def test_an_unsatisfiable_problem_is_a_report():
    """Tests that more tasks than nodes give no mapping, no cost, and a reason."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(5)), topology=build("ring:4"), rule="one-to-one")
    report = solve(problem)
    assert (report.feasible, report.cost, report.gap, dict(report.mapping)) == (False, None, None, {})
    assert report.violations[0].kind == "slots"


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{}, {"pinned": {"0": "0", "1": "1", "2": "2"}}])
def test_problems_without_a_choice_are_solved(limits):
    """Tests a task alone, and a problem where every task is pinned, by every solver."""
    size = 3 if limits else 1
    problem = Problem(tasks=task_graph_of(nx.path_graph(size)), topology=build("ring:3"), rule="one-to-one", **limits)
    for name in NAMES:
        report = solve(problem, solver=name)
        assert report.feasible
        assert report.cost == size - 1


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("seed", {"seed": -1}),
        ("seed", {"seed": 2**63}),
        ("seed", {"seed": 10**5000}),
        ("effort", {"effort": 0}),
        ("effort", {"effort": 2**63}),
        ("time_limit_s", {"time_limit_s": 0.0}),
        ("time_limit_s", {"time_limit_s": float("nan")}),
        ("time_limit_s", {"time_limit_s": float("inf")}),
        ("time_limit_s", {"time_limit_s": 10**400}),
        ("solver", {"solver": "quantum"}),
    ],
)
def test_bad_requests_name_their_field(field, bad, path_problem):
    """Tests every checked value."""
    with pytest.raises(InputError) as error:
        solve(path_problem, **bad)
    assert error.value.field == field


def test_a_solver_that_is_no_sampler_is_a_type_error(path_problem):
    """Tests an object without a sample method."""
    with pytest.raises(TypeError, match="sampler"):
        solve(path_problem, solver=object())


def test_a_time_limit_that_is_no_number_is_a_type_error(path_problem):
    """Tests text."""
    with pytest.raises(TypeError, match="time_limit_s"):
        solve(path_problem, time_limit_s="5")


def test_penalties_stuck_at_their_bound_are_reported():
    """Tests that a sampler whose reads are never feasible leads to advice."""

    class Noise(dimod.Sampler):
        """Return all ones, which is never feasible."""

        parameters: ClassVar[dict[str, list[str]]] = {"beta_range": []}
        properties: ClassVar[dict[str, object]] = {}

        def sample(self, bqm, **options):
            """Return one sample of ones."""
            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)

    problem = Problem(tasks=task_graph_of(nx.path_graph(4)), topology=build("ring:4"), rule="one-to-one")
    report = solve(problem, solver=Noise())
    assert any("penalties stand at their safe bound" in warning for warning in report.warnings) or report.optimal


def test_progress_is_called_as_stages_begin(path_problem):
    """Tests that stages are announced in order, with the best cost and, once there is one, the bound."""
    seen = []
    report = solve(path_problem, solver="search", progress=seen.append)
    assert (seen[0].stage, seen[0].cost, seen[0].bound) == ("bound", report.baseline_cost, None)
    assert len(seen) == 1 or seen[1].bound <= report.lower_bound <= seen[1].cost


def test_the_public_names_resolve():
    """Tests that everything in `tiger.__all__` can be imported, and nothing else can."""
    assert all(getattr(tiger, name) is not None for name in tiger.__all__)
    assert set(tiger.__all__) < set(dir(tiger))
    with pytest.raises(AttributeError, match="nothing"):
        tiger.nothing  # noqa: B018


@pytest.mark.slow
def test_options_that_had_no_effect_are_named(random_problem):
    """Tests that a solver which samples no QUBO says so, and only where something was set."""
    problem = random_problem("one-to-one", 3, tasks=30, nodes=32)
    sampling = Sampling(rounds=1, reads=1, sweeps=10)
    few = IsingParams(whole=sampling, window=sampling, passes=1, windows=1, starts=0, penalty_scale=0.5)
    for solver, ising, told in (("greedy", few, True), ("greedy", None, False), ("neal", few, False)):
        warnings = solve(problem, solver=solver, ising=ising).warnings
        assert any("no QUBO was sampled" in warning for warning in warnings) is told


def test_effort_sharpens_the_bound():
    """Tests that from effort 8 on the bound is raised once, by ascents, and stays at most the cost."""
    graph = nx.gnm_random_graph(12, 34, seed=5)
    problem = Problem(tasks=task_graph_of(graph), topology=build("grid:3x4"), rule="one-to-one")
    report = solve(problem, solver="random", effort=8)
    bounds = [stage.detail["lower_bound"] for stage in report.stages if stage.name == "bound"]
    assert len(bounds) == 2
    assert bounds[0] < bounds[1] == report.lower_bound <= report.cost


@pytest.mark.slow
def test_bug_the_bound_is_sharpened_once():
    """Tests an effort whose last two rounds are of the same size."""
    problem = Problem(
        tasks=task_graph_of(nx.gnm_random_graph(12, 34, seed=5)), topology=build("grid:3x4"), rule="one-to-one"
    )
    stages = [stage.name for stage in solve(problem, solver="random", effort=12).stages]
    assert stages.count("bound") == 2


@pytest.mark.slow
def test_the_bound_of_shared_nodes_waits_for_a_mapping_and_grows_with_effort():
    """Tests that it comes after the first round, more of it before that of effort 4, and none where time is short."""
    hardware = build("tree:4x8@1,10").with_slots([8] * 32)
    problem = Problem(tasks=task_graph_of(nx.grid_2d_graph(16, 16)), topology=hardware, rule="capacity")
    stages = solve(problem, solver="search", effort=8).stages
    places = [k for k, stage in enumerate(stages) if stage.name == "bound"]
    bounds = [stages[k].detail["lower_bound"] for k in places]
    assert places[0] == 1 < places[1] < places[2]
    assert 0 == bounds[0] < bounds[1] < bounds[2]
    hurried = MappingIncumbent(
        problem=problem, solution=launch_order(problem), stop=Deadline(time.monotonic() + 5), watch=ignore
    )
    hurried.record("search", 11.0, {})
    raise_spread_bound(hurried)
    assert [stage.name for stage in hurried.stages] == ["search"]


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["cost", "max-link-load"])
def test_bug_the_seconds_of_a_solve_held_those_of_loading(objective, monkeypatch):
    """Tests that neither the report nor the time limit counts what putting a solver together takes."""
    made, clocks, waited_s = rounds.portfolio_of, (time.perf_counter, time.monotonic), 0.0

    def load_slowly(*asked):
        nonlocal waited_s
        waited_s += 1000
        return made(*asked)

    tiger.assign(nx.cycle_graph(9), "grid:3x3", objective=objective)
    monkeypatch.setattr(rounds, "portfolio_of", load_slowly)
    # The clocks jump ahead, since a busy machine takes any number of real seconds.
    for clock in clocks:
        monkeypatch.setattr(time, clock.__name__, lambda clock=clock: clock() + waited_s)
    report = tiger.assign(nx.cycle_graph(9), "grid:3x3", objective=objective, time_limit_s=1)
    assert waited_s
    assert report.seconds < 500
    assert {"greedy", "geometry", "dense"} & {stage.name for stage in report.stages}


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["cost", "max-link-load"])
@pytest.mark.parametrize("solver", ["greedy", "random"])
def test_nothing_is_worse_than_the_cyclic_order(solver, objective):
    """Ranks that talk to those half-way across are best dealt out in turns, whatever a poor search finds."""
    traffic = nx.DiGraph()
    traffic.add_nodes_from(range(16))
    traffic.add_edges_from((k, (k + 8) % 16) for k in range(16))
    report = tiger.assign(traffic, "ring:8", slots=2, solver=solver, objective=objective)
    assert report.cost == report.baselines.cyclic == 0 < report.baselines.block


def test_loads_of_links_follow_the_routing():
    """Corner to corner of a square: one path carries 8, two of equal length 4 each."""
    tasks = task_graph_of(nx.DiGraph([("a", "d", {"weight": 8})]))
    problem = Problem(tasks=tasks, topology=build("grid:2x2"), rule="one-to-one", pinned={"a": "0,0", "d": "1,1"})
    loads = [solve(problem, routing=name).metrics["max_link_load"] for name in ("single", "equal", "weighted")]
    assert loads == [8, 4, pytest.approx(4)]
    report = solve(problem, routing="equal")
    assert ([link.load for link in report.links], report.baseline_max_link_load) == ([4] * 4, 4)


@pytest.mark.slow
@pytest.mark.parametrize("routing", ["single", "equal", "weighted"])
def test_links_know_their_loads_in_the_block_order(routing):
    """There each task talks to its opposite on the ring, and neighbours do in the mapping."""
    tasks = task_graph_of(nx.DiGraph([("a", "c", {"weight": 8}), ("b", "d", {"weight": 2})]))
    problem = Problem(tasks=tasks, topology=build("ring:4"), rule="one-to-one")
    start = launch_order(problem)
    before = load_links(problem, start, routing)
    names = problem.topology.link_ends
    stated = {(link.a, link.b): link.load for link in before.list_busiest(names, 4)}
    links = solve(problem, routing=routing).links
    assert [link.before for link in links] == [pytest.approx(stated.get((link.a, link.b), 0.0)) for link in links]
    assert max(link.before for link in links) > 0


@pytest.mark.parametrize(
    ("topology", "routing", "reason"),
    [
        ("dense", "equal", "expected hardware with links for 'equal', got distances alone"),
        ("grid:6x6", "weighted", "expected at most 1024 pairs of nodes with traffic for 'weighted', got up to 1260"),
        ("grid:6x6", "random", "routing: expected one of single, equal, weighted, got 'random'"),
    ],
)
def test_routings_that_do_not_fit_are_refused(topology, routing, reason):
    """Before anything is solved."""
    tasks = task_graph_of(nx.complete_graph(36, nx.DiGraph))
    names = tuple(f"n{k}" for k in range(36))
    table = Topology(names=names, metric=DenseMetric(1.0 - np.eye(36)))
    problem = Problem(tasks=tasks, topology=table if topology == "dense" else build(topology), rule="one-to-one")
    with pytest.raises(InputError, match=reason):
        solve(problem, routing=routing)


@pytest.mark.slow
def test_bug_rounds_planned_by_time_skipped_bounds(monkeypatch):
    """A last round of five units ran without the bounds that were due at four."""
    tasks = task_graph_of(nx.random_regular_graph(4, 12, seed=1))
    hardware = build("torus:2x3")
    problem = Problem(tasks=tasks, topology=hardware.with_slots([2] * hardware.size), rule="capacity")
    names = []
    for efforts in ((1, 4), (1, 5)):
        planned = [Round(number, effort, number) for number, effort in enumerate(efforts)]
        monkeypatch.setattr(rounds, "rounds", lambda *_, planned=planned: planned)
        report = solve(problem, solver="search")
        assert not report.optimal
        names.append([stage.name for stage in report.stages])
    assert names[0] == names[1]
    assert names[0].count("bound") > 1
