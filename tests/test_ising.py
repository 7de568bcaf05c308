"""Tests of the Ising path."""

import dimod
import networkx as nx
import pytest

from tiger import encode
from tiger.feasibility import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.ising import IsingParams, Sampling
from tiger.model.problem import Problem
from tiger.portfolio import ising_of
from tiger.run import Deadline, Run
from tiger.solvers import registry
from tiger.topologies.spec import build

QUICK = {"whole": Sampling(rounds=2, reads=4, sweeps=50)}


def run_of(problem, **fields):
    """Return a run from the launcher's order."""
    return Run(problem=problem, places=launch_order(problem), deadline=Deadline(None), watch=lambda _: None, **fields)


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
    ising_of(registry.sampler("neal"), problem, IsingParams(passes=4)).solve_windows(run, 1, 0)
    costs = [stage.cost for stage in run.stages]
    assert costs == sorted(costs, reverse=True)
    assert run.stages[0].detail["windows"] == 2
    assert sum(stage.detail["accepted"] for stage in run.stages) > 0


def test_the_number_of_windows_can_be_limited():
    """Tests that one window is solved, not all."""
    problem = path_on_ring(32)
    run = run_of(problem)
    ising_of(registry.sampler("neal"), problem, IsingParams(passes=1, windows=1)).solve_windows(run, 1, 0)
    assert [stage.detail["windows"] for stage in run.stages] == [1]


def test_problems_with_too_many_variables_are_partitioned_instead():
    """Tests that the reason is recorded."""
    problem = path_on_ring()
    run = run_of(problem)
    ising_of(registry.sampler("neal"), problem, IsingParams(whole_variables=100)).solve_whole(run, 1, 0)
    assert "144 variables, above 100" in run.stages[0].detail["skipped"]


def test_problems_with_too_many_couplers_are_partitioned_instead(monkeypatch):
    """Tests that the coupler limit is recorded too."""
    monkeypatch.setattr("tiger.ising.COUPLER_LIMIT", 10)
    problem = path_on_ring()
    run = run_of(problem)
    ising_of(registry.sampler("neal"), problem, IsingParams()).solve_whole(run, 1, 0)
    assert "more than 10 couplers" in run.stages[0].detail["skipped"]
    assert encode.COUPLER_LIMIT == 5_000_000


def test_the_whole_problem_is_tuned(random_problem):
    """Tests the figures of the stage."""
    problem = random_problem("capacity", 4, hardware="grid")
    run = run_of(problem)
    ising_of(registry.sampler("neal"), problem, IsingParams(**QUICK)).solve_whole(run, 1, 0)
    detail = run.stages[0].detail
    assert detail["variables"] >= len(problem.free)
    assert len(detail["rounds"]) == 2


def test_levels_are_swept_after_each_pass(random_problem):
    """Tests that exact sweeps follow windows under the levels rule alone."""
    problem = random_problem("levels", 3)
    run = run_of(problem)
    ising_of(registry.sampler("neal"), problem, IsingParams(passes=1)).solve_windows(run, 1, 0)
    assert [stage.name for stage in run.stages] == ["windows", "levels"]


@pytest.mark.parametrize("step", ["solve_whole", "solve_windows"])
def test_nothing_is_sampled_once_the_run_has_ended(step):
    """Tests a proved incumbent."""
    problem = path_on_ring()
    run = run_of(problem, proved=True)
    getattr(ising_of(registry.sampler("neal"), problem, IsingParams()), step)(run, 1, 0)
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
    ising.solve_whole(run, 1, 0)
    again = run_of(problem)
    again.places, again.cost = run.places, run.cost
    ising.solve_whole(again, 1, 0)
    assert any("safe bound" in warning for warning in again.warnings)


def test_a_pass_ends_with_the_run():
    """Tests that no further window is sampled once the incumbent is proved."""
    problem = path_on_ring(32)
    run = run_of(problem)

    class Prover(Ones):
        def sample(self, bqm, **options):
            run.proved = True
            return super().sample(bqm, **options)

    ising_of(Prover(), problem, IsingParams()).solve_windows(run, 1, 0)
    assert [stage.detail["windows"] for stage in run.stages] == [1]
