"""Tests of fingerprints: the same for the same problem in any form, another for whatever a model depends on."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tiger.mapping.entry import problem_of
from tiger.model.fingerprint import fingerprint
from tiger.model.metrics import DenseMetric

RING = nx.cycle_graph(4)


def mark(**changes):
    """Return the fingerprint of a ring of four packed tasks on a grid, with other options where they are given."""
    return fingerprint(problem_of(RING, "grid:2x3", pack=True, **changes))


def test_a_fingerprint_is_the_same_on_every_machine():
    """Tests the digits themselves."""
    assert mark() == "7a0b3c36940622cad818df624e20bbf4"


def test_the_form_of_the_hardware_does_not_count():
    """Tests a grid by name and as a graph, links turned round, and lengths whose sums differ in the last digit."""
    grid = nx.grid_2d_graph(2, 3)
    assert mark() == fingerprint(problem_of(RING, grid))
    turned = nx.empty_graph(4)
    turned.add_edges_from((v, u) for u, v in RING.edges)
    assert mark() == fingerprint(problem_of(turned, grid))
    short = [nx.path_graph(4), nx.path_graph(4)]
    nx.set_edge_attributes(short[0], 0.1, "weight")
    nx.set_edge_attributes(short[1], np.nextafter(0.1, 1), "weight")
    first, second = (fingerprint(problem_of(RING, graph)) for graph in short)
    assert first == second


def test_nodes_that_hold_nothing_do_not_count():
    """Tests an allocation against a smaller grid with the same distances and names."""
    assert fingerprint(problem_of(RING, "grid:2x3", allocation=["0,0", "0,1", "1,0", "1,1"])) == fingerprint(
        problem_of(RING, "grid:2x2")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"rule": "capacity"},
        {"slots": 2},
        {"slots": 3},
        {"pinned": {0: (0, 0)}},
        {"pinned": {0: (0, 1)}},
        {"forbidden": [(0, (0, 0))]},
        {"allocation": ["0,0", "0,1", "0,2", "1,0"]},
    ],
    ids=str,
)
def test_what_is_asked_counts(change):
    """Tests the rule, slots, pins, forbidden pairs and the allocation."""
    others = [{}, {"slots": 2}, {"pinned": {0: (0, 0)}}]
    assert mark(**change) not in {mark(**other) for other in others if other != change}


def test_bug_a_turned_grid_is_another_problem():
    """Tests 2 x 5 and 5 x 2, of which samples have the same number of bits."""
    assert fingerprint(problem_of(RING, "grid:2x5")) != fingerprint(problem_of(RING, "grid:5x2"))


@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_every_figure_counts(rule, random_problem):
    """Tests traffic, work, memory, costs of nodes and distances, each changed at one place."""
    problem = random_problem(rule, 3, hardware="links", memory=True)
    tasks, hardware = problem.tasks, problem.topology
    traffic, work, need = tasks.traffic.copy(), tasks.work.copy(), tasks.memory.copy()
    cost, far = hardware.cost.copy(), DenseMetric(hardware.metric.table * 1.01)
    traffic.data[0] *= 1.001
    work[0] += 1
    need[0] += 1
    cost[hardware.hosts[0]] += 1
    changed = [
        replace(problem, tasks=replace(tasks, traffic=traffic)),
        replace(problem, tasks=replace(tasks, work=work)),
        replace(problem, tasks=replace(tasks, memory=need)),
        replace(problem, topology=replace(hardware, cost=cost)),
        replace(problem, topology=replace(hardware, metric=far)),
    ]
    assert len({fingerprint(other) for other in [problem, *changed]}) == 6
