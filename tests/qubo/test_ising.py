"""Tests of the Ising path."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import dimod
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.mapping.sampler_policy import ising_of
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.window import Block
from tiger.objectives.cost import cost_of, violations
from tiger.qubo import encode
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.sweeps import Sweeps
from tiger.qubo.whole_sampling import sample_whole
from tiger.qubo.window_sampling import SearchState, _batches, _follow_tasks, sample_windows
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.search_stage import Round
from tiger.solvers import registry
from tiger.topologies.spec import build

QUICK = {"whole": Sampling(rounds=2, reads=4, sweeps=50)}


def run_of(problem, **fields):
    """Return a run from the launcher's order."""
    return MappingIncumbent(problem=problem, solution=launch_order(problem), stop=Deadline(None), **fields)


def neal(problem, params, executor=None):
    """Return the path with D-Wave's simulated annealing."""
    return ising_of(registry.sampler("neal"), problem, params, executor)


def path_on_ring(size=12):
    """Return a shuffled ring of tasks on a ring of nodes."""
    ring = nx.relabel_nodes(nx.cycle_graph(size), {k: k * 5 % size for k in range(size)})
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(ring.edges)
    return Problem(tasks=task_graph_of(graph), topology=build(f"ring:{size}"), rule="one-to-one")


def test_windows_only_accept_what_is_cheaper():
    """Tests that costs fall from stage to stage and that accepted windows are counted."""
    problem = path_on_ring()
    run = run_of(problem)
    sample_windows(run, neal(problem, IsingParams(passes=4)), Round(0, 1, 0))
    costs = [stage.cost for stage in run.stages]
    assert costs == sorted(costs, reverse=True)
    assert [stage.name for stage in run.stages] == ["start", "windows", "windows", "windows", "windows"]
    assert run.stages[1].detail["windows"] == 1
    assert run.cost < cost_of(problem, launch_order(problem)).total


def test_the_number_of_windows_can_be_limited():
    """Tests that one window is solved, not all."""
    problem = path_on_ring(32)
    run = run_of(problem)
    sample_windows(run, neal(problem, IsingParams(passes=1, windows=1, starts=0)), Round(0, 1, 0))
    assert [stage.detail["windows"] for stage in run.stages] == [1]


def test_problems_with_too_many_variables_are_partitioned_instead():
    """Tests that the reason is recorded."""
    problem = path_on_ring()
    run = run_of(problem)
    sample_whole(run, neal(problem, IsingParams(whole_variables=100)), Round(0, 1, 0))
    assert "144 variables, above 100" in run.stages[0].detail["skipped"]


def test_problems_with_too_many_couplers_are_partitioned_instead(monkeypatch):
    """Tests that the coupler limit is recorded too."""
    monkeypatch.setattr("tiger.qubo.whole_sampling.COUPLER_LIMIT", 10)
    problem = path_on_ring()
    run = run_of(problem)
    sample_whole(run, neal(problem, IsingParams()), Round(0, 1, 0))
    assert "more than 10 couplers" in run.stages[0].detail["skipped"]
    assert encode.COUPLER_LIMIT == 5_000_000


def test_the_whole_problem_is_tuned(random_problem):
    """Tests the figures of the stage."""
    problem = random_problem("capacity", 4, hardware="grid")
    run = run_of(problem)
    sample_whole(run, neal(problem, IsingParams(**QUICK)), Round(0, 1, 0))
    detail = run.stages[0].detail
    assert detail["variables"] >= len(problem.free)
    assert len(detail["rounds"]) == 2


def test_levels_start_forward_and_are_swept(random_problem):
    """Tests the spans of the starts, and that no level can be placed better alone afterwards."""
    problem = random_problem("levels", 3)
    run = run_of(problem)
    ising = neal(problem, IsingParams())
    sample_windows(run, replace(ising, params=IsingParams(passes=1)), Round(0, 1, 0))
    assert [stage.name for stage in run.stages] == ["start", "windows"]
    assert run.stages[0].detail["constructed"] == 3
    assert (Sweeps(problem).improve(run.places, bool) == run.places).all()


@pytest.mark.parametrize("sample", [sample_whole, sample_windows])
def test_nothing_is_sampled_once_the_run_has_ended(sample):
    """Tests a proved incumbent."""
    problem = path_on_ring()
    run = run_of(problem, proved=True)
    sample(run, neal(problem, IsingParams()), Round(0, 1, 0))
    assert run.stages == []


class Ones(dimod.Sampler):
    """Return samples of ones, none of which is ever feasible."""

    @property
    def parameters(self):
        """List the option that makes the tuner bisect."""
        return {"beta_range": []}

    @property
    def properties(self):
        """Have none."""
        return {}

    def sample(self, bqm, **options):
        """Return one sample of ones."""
        return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)


def test_penalties_stuck_at_their_bound_lead_to_advice():
    """Tests the warning, from a start that cannot be improved."""
    problem = path_on_ring(4)
    run = run_of(problem)
    ising = ising_of(Ones(), problem, IsingParams(**QUICK))
    sample_whole(run, ising, Round(0, 1, 0))
    again = run_of(problem)
    again.offer(run.places)
    sample_whole(again, ising, Round(0, 1, 0))
    assert any("safe bound" in warning for warning in again.warnings)


def test_a_pass_ends_with_the_run():
    """Tests that no further window is sampled once the incumbent is proved."""
    problem = path_on_ring(32)
    run = run_of(problem)

    class Prover(Ones):
        def sample(self, bqm, **options):
            run.proved = True
            return super().sample(bqm, **options)

    sample_windows(run, ising_of(Prover(), problem, IsingParams(starts=0)), Round(0, 1, 0))
    assert [stage.detail["windows"] for stage in run.stages] == [1]


def test_windows_that_do_not_touch_are_solved_together():
    """Tests that batches share no node and no traffic, hold all blocks, none too many, those of a path every second."""
    graph = nx.disjoint_union_all([nx.path_graph(4)] * 40)
    problem = Problem(tasks=task_graph_of(graph), topology=build("ring:160"), rule="one-to-one")
    blocks = [Block(tasks=np.arange(4) + 4 * k, nodes=np.arange(4) + 4 * k) for k in range(40)]
    assert [len(batch) for batch in _batches(problem, blocks)] == [32, 8]
    joined = Problem(tasks=task_graph_of(nx.path_graph(160)), topology=build("ring:160"), rule="one-to-one")
    assert list(_batches(joined, blocks)) == [blocks[::2], blocks[1::2]]
    assert [len(batch) for batch in _batches(problem, [blocks[0], blocks[0]])] == [1, 1]


@pytest.mark.long
def test_executors_change_nothing_but_the_time(random_problem):
    """Tests one and two threads, windows and all, on a problem whose windows do not all touch."""
    graph = nx.disjoint_union_all([nx.gnm_random_graph(8, 14, seed=k) for k in range(6)])
    problem = Problem(tasks=task_graph_of(graph), topology=build("torus:6x8"), rule="one-to-one")
    costs, places = [], []
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            run = run_of(problem)
            sample_windows(run, neal(problem, IsingParams(passes=2, starts=1), pool), Round(0, 1, 3))
        costs.append([stage.cost for stage in run.stages])
        places.append(run.places.tolist())
    assert costs[0] == costs[1]
    assert places[0] == places[1]


def test_moved_blocks_keep_their_tasks_nodes_and_the_limit():
    """Tests tasks that were moved outside of a block's nodes meanwhile."""
    block = Block(tasks=np.array([0, 1]), nodes=np.array([3, 4, 5, 6]))
    assert _follow_tasks(block, np.array([9, 4]), 8).nodes.tolist() == [3, 4, 5, 9]
    assert _follow_tasks(block, np.array([9, 4]), 2).nodes.tolist() == [4, 9]


def test_a_sampler_with_a_limit_gets_smaller_windows():
    """Tests that no model has more variables than the sampler takes."""
    sizes = []

    class Small(Ones):
        max_variables = 40

        def sample(self, bqm, **options):
            sizes.append(bqm.num_variables)
            return super().sample(bqm, **options)

    problem = path_on_ring(24)
    run = run_of(problem)
    ising = ising_of(Small(), problem, IsingParams(passes=1))
    sample_whole(run, ising, Round(0, 1, 0))
    sample_windows(run, ising, Round(0, 1, 0))
    assert "partitioned" in run.stages[0].detail["skipped"]
    assert sizes
    assert max(sizes) <= 40


def test_the_walk_takes_what_costs_no_more():
    """Tests the rule of acceptance: down and level always, up at times, counted."""
    state = SearchState(
        places=np.zeros(1, np.int64),
        cost=10.0,
        odds=np.ones(1),
        rng=np.random.default_rng(0),
        sweeps=None,
        strength=1.0,
    )
    state.step(np.ones(1, np.int64), 10.0)
    assert (state.cost, state.places[0], state.accepted) == (10.0, 1, 0)
    state.step(np.ones(1, np.int64), 8.0)
    assert (state.cost, state.accepted) == (8.0, 1)
    ups = 0
    for _ in range(400):
        before = state.cost
        state.step(np.ones(1, np.int64), before + 1.0)
        ups += state.cost > before
    assert 5 < ups < 60
    assert state.rise_count == 400


def test_fixed_penalties_and_temperatures_are_kept():
    """Tests that what the caller sets is what every round used."""
    problem = path_on_ring()
    run = run_of(problem)
    params = IsingParams(**QUICK, penalty_scale=0.4, beta_range=(0.25, 4.0))
    sample_whole(run, neal(problem, params), Round(0, 1, 0))
    rounds = run.stages[0].detail["rounds"]
    assert [row["penalty_scale"] for row in rounds] == [pytest.approx(0.4)] * 2
    assert {row["beta_range"] for row in rounds} == {(0.25, 4.0)}


@pytest.mark.slow
def test_a_true_cost_never_rises_over_windows(random_problem):
    """Tests the cost after every stage on problems of all rules."""
    for seed in range(3):
        problem = random_problem(("one-to-one", "levels", "capacity")[seed % 3], seed, tasks=12, nodes=14, pins=True)
        run = run_of(problem)
        sample_windows(run, neal(problem, IsingParams(passes=1, starts=2)), Round(0, 1, seed))
        costs = [cost_of(problem, launch_order(problem)).total, *(stage.cost for stage in run.stages)]
        assert costs == sorted(costs, reverse=True)
        assert not violations(problem, run.places)
        assert cost_of(problem, run.places).total == run.cost


@pytest.mark.slow
def test_bug_dense_traffic_was_sampled_from_no_start():
    """Tests 300 tasks that all send to each other, the near ones most: bisection halves what their order costs."""
    spots = np.random.default_rng(0).random((300, 2))
    near = np.exp(-np.linalg.norm(spots[:, None] - spots, axis=2) / 0.08) * (1 - np.eye(300))
    tasks = TaskGraph(names=tuple(map(str, range(300))), traffic=sp.csr_array(near))
    problem = Problem(tasks=tasks, topology=build("torus:15x20"), rule="one-to-one")
    start = neal(problem, IsingParams()).construct(0, bool)
    assert cost_of(problem, start).total <= cost_of(problem, np.arange(300)).total / 2
