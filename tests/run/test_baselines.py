"""Tests of the simple orders: worked by hand, against a naive dealer, and feasible under every rule."""

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.mapping.entry import problem_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.run import baselines as module
from tiger.run.baselines import Orders, _deal, _random_orders, baselines, cyclic_order
from tiger.run.report import Baselines

RULES = ("one-to-one", "levels", "capacity")


def line(tasks, nodes, **options):
    """Return a path of tasks on a path of nodes."""
    return problem_of(nx.path_graph(tasks), f"grid:{nodes}", **options)


def test_tasks_are_dealt_out_in_turns():
    """Tests six tasks in a row on two nodes of three slots: one edge is cut in blocks, all five in turns."""
    problem = line(6, 2, slots=3)
    assert cyclic_order(problem).tolist() == [0, 1, 0, 1, 0, 1]
    found = baselines(problem, Orders(launch_order(problem), cyclic_order(problem)))
    assert (found.block, found.cyclic) == (1, 5)
    assert 1 < found.random < 5


def test_full_nodes_are_passed_over():
    """Tests slots of 1 and 3: once the first node is full, the second takes the rest."""
    graph = nx.Graph([("x", "y")])
    nx.set_node_attributes(graph, {"x": {"slots": 1}, "y": {"slots": 3}})
    assert cyclic_order(problem_of(nx.path_graph(4), graph, rule="capacity")).tolist() == [0, 1, 1, 1]


def test_slots_of_pinned_tasks_are_taken():
    """Tests that the first free task goes to the second node where a pin fills the first."""
    problem = line(4, 2, slots=2, pinned={1: 0, 2: 0})
    assert cyclic_order(problem).tolist() == [1, 0, 0, 1]


def test_one_slot_a_node_makes_both_orders_the_same(random_problem):
    """Tests that under one-to-one the cyclic order is the one in blocks, to the last digit of its cost."""
    for seed in range(8):
        problem = random_problem("one-to-one", seed, hardware="links")
        found = baselines(problem, Orders(launch_order(problem), cyclic_order(problem)))
        assert found.cyclic == found.block == cost_of(problem, launch_order(problem)).total


@pytest.mark.parametrize(("slots", "places"), [(None, [0, 2, 1, 3]), (2, [0, 2, 1, 3, 0, 2])])
def test_units_of_a_machine_take_turns_together(slots, places):
    """Two machines of two units: a launcher deals to machines, not to their units."""
    problem = problem_of(nx.path_graph(len(places)), "tree:2@9", node_topology="tree:2@1", slots=slots)
    assert cyclic_order(problem).tolist() == places


def test_machines_take_turns_in_the_order_of_the_allocation():
    """The second machine is filled first, and its units follow it."""
    problem = problem_of(nx.path_graph(4), "tree:2@9", node_topology="tree:2@1", allocation="1 0")
    assert launch_order(problem).tolist() == [2, 3, 0, 1]
    assert cyclic_order(problem).tolist() == [2, 0, 3, 1]


def test_levels_go_on_where_the_one_before_ended():
    """Tests two levels of two tasks on three nodes."""
    problem = problem_of(nx.DiGraph([("a", "c"), ("b", "d")]), "grid:3", rule="levels")
    assert dict(zip(problem.tasks.names, cyclic_order(problem).tolist(), strict=True)) == {
        "a": 0,
        "b": 1,
        "c": 2,
        "d": 0,
    }


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_what_counts_is_feasible(rule, random_problem):
    """Tests pins, forbidden pairs and memory: an order is either feasible or costs None, and most are feasible."""
    counted = 0
    for seed in range(24):
        problem = random_problem(rule, seed, pins=seed % 2 == 0, forbidden=seed % 3 == 0, memory=seed % 4 == 0)
        found = baselines(problem, Orders(None, cyclic_order(problem)))
        if found.cyclic is not None:
            assert not violations(problem, cyclic_order(problem))
        if found.random is not None:
            drawn = list(_random_orders(problem))
            assert not any(violations(problem, places) for places in drawn)
            assert found.random == pytest.approx(np.mean([cost_of(problem, places).total for places in drawn]))
        counted += (found.cyclic is not None) + (found.random is not None)
    assert counted > 32


@pytest.mark.slow
def test_random_mappings_are_as_likely_on_any_pair_of_nodes(monkeypatch):
    """Tests the mean over many draws against the mean distance of two nodes, for tasks of one level and of two."""
    monkeypatch.setattr(module, "DRAWS", 4000)
    apart = problem_of(nx.DiGraph([("a", "b")]), "grid:4", rule="one-to-one")
    free = problem_of(nx.DiGraph([("a", "b")]), "grid:4", rule="levels")
    assert baselines(apart, Orders(None, cyclic_order(apart))).random == pytest.approx(20 / 12, abs=0.06)
    assert baselines(free, Orders(None, cyclic_order(free))).random == pytest.approx(20 / 16, abs=0.06)


def test_forbidden_nodes_are_exchanged_on_full_hardware():
    """Tests that the task whose node is closed changes with the next, also where no node is left."""
    problem = line(4, 4, forbidden=[(1, 1), (2, 1)])
    assert cyclic_order(problem).tolist() == [0, 3, 2, 1]


def test_memory_is_kept_by_exchange():
    """Tests two large tasks that meet on the first node, which holds one of them."""
    graph, nodes = nx.path_graph(4), nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 6, 1: 1, 2: 6, 3: 1}, "memory")
    nx.set_node_attributes(nodes, 8, "memory")
    problem = problem_of(graph, nodes, slots=2)
    assert cyclic_order(problem).tolist() == [0, 1, 1, 0]


def test_an_order_that_cannot_be_mended_has_no_cost():
    """Tests a forbidden node, with exchanges and without."""
    problem = line(4, 4, forbidden=[(0, 0)])
    assert baselines(problem, Orders(None, cyclic_order(problem))).cyclic is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CELLS", 0)
        assert baselines(problem, Orders(None, cyclic_order(problem))) == Baselines()


def test_parts_of_the_hardware_without_a_way_between_them():
    """Tests that orders which tear traffic apart count for nothing."""
    problem = problem_of(nx.path_graph(4), nx.Graph([(0, 1), (2, 3)]), slots=2, pinned={0: 0})
    assert baselines(problem, Orders(None, cyclic_order(problem))) == Baselines()


def test_where_all_tasks_are_pinned_every_order_is_the_same(path_problem):
    """Tests that there is nothing to deal out."""
    pins = {"a": "x", "b": "y", "c": "z"}
    problem = Problem(tasks=path_problem.tasks, topology=path_problem.topology, rule="one-to-one", pinned=pins)
    order = launch_order(problem)
    cost = cost_of(problem, order).total
    found = baselines(problem, Orders(order, cyclic_order(problem), order))
    assert found == Baselines(start=cost, block=cost, cyclic=cost, random=cost)


def test_slots_without_end_are_not_listed():
    """Tests a ring of as many rounds as are needed."""
    assert len(_deal(line(10, 3, slots=2**40, pack=True)).ring) == 12
