"""Tests of dead ends that sizes, packing and matching decide: split hardware, memory that fits exactly, little time."""

import time
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of, topology_of
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.objectives.cost import violations
from tiger.topologies.spec import build


def chains(length):
    """Return two task chains, their tasks in turn, on two paths of nodes that are not connected."""
    graph = nx.Graph()
    graph.add_nodes_from(f"{name}{k}" for k in range(length) for name in "ab")
    graph.add_edges_from((f"{name}{k}", f"{name}{k + 1}") for name in "ab" for k in range(length - 1))
    hardware = nx.disjoint_union(nx.path_graph(length), nx.path_graph(length))
    return Problem(tasks=task_graph_of(graph), topology=topology_of(hardware), rule="one-to-one")


def islands(graph, size, count):
    """Return tasks on as many disconnected paths of nodes."""
    hardware = nx.disjoint_union_all([nx.path_graph(size)] * count)
    return Problem(tasks=task_graph_of(graph), topology=topology_of(hardware), rule="one-to-one")


def plant(tasks, nodes, most, seed):
    """Return tasks whose loads fill nodes to the byte, each with as many slots as there are tasks."""
    rng = np.random.default_rng(seed)
    loads, places = rng.integers(most // 100, most, tasks), rng.permutation(np.arange(tasks) % nodes)
    room = np.array([int(loads[places == node].sum()) for node in range(nodes)])
    graph = replace(task_graph_of(nx.gnm_random_graph(tasks, 2 * tasks, seed=seed)), memory=loads)
    hardware = replace(build(f"ring:{nodes}"), slots=np.full(nodes, tasks), memory=room)
    return Problem(tasks=graph, topology=hardware, rule="capacity")


@pytest.mark.slow
@pytest.mark.parametrize("length", [150, 1000])
def test_bug_two_chains_find_their_paths_at_once(length):
    """Tests that which chain goes where is decided by sizes, not task by task, which took a minute and more."""
    problem, begun = chains(length), time.process_time()
    places = launch_order(problem)
    assert not violations(problem, places)
    assert time.process_time() - begun < 5


@pytest.mark.slow
def test_many_equal_components_are_no_puzzle():
    """Tests 100 pairs on 50 paths of four, 2,000 single tasks on 200 of ten, and 60 triples that fit 50 times."""
    begun = time.process_time()
    pairs = islands(nx.disjoint_union_all([nx.path_graph(2)] * 100), 4, 50)
    assert not violations(pairs, launch_order(pairs))
    singles = islands(nx.empty_graph(2000), 10, 200)
    assert not violations(singles, launch_order(singles))
    found = launch_order(islands(nx.disjoint_union_all([nx.path_graph(3)] * 60), 4, 50))
    assert [violation.kind for violation in found] == ["disconnected"]
    assert "the largest with ('0', '1', '2')" in found[0].message
    assert time.process_time() - begun < 5


def test_a_component_too_large_for_any_part_is_named():
    """Tests a path of five tasks on parts of four nodes."""
    found = launch_order(islands(nx.path_graph(5), 4, 2))
    assert [violation.kind for violation in found] == ["disconnected"]
    assert "'0'" in found[0].message


def test_pinned_tasks_in_different_parts_are_named():
    """Tests two tasks that exchange traffic and are pinned to nodes without a way between them."""
    problem = islands(nx.path_graph(3), 4, 2)
    names = problem.topology.names
    pinned = Problem(
        tasks=problem.tasks, topology=problem.topology, rule="one-to-one", pinned={"0": names[0], "2": names[4]}
    )
    found = launch_order(pinned)
    assert [violation.kind for violation in found] == ["disconnected"]
    assert "'0'" in found[0].message
    assert "'2'" in found[0].message


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "nodes", "seed"), [(24, 4, 0), (24, 4, 1), (40, 5, 0)])
def test_bug_memory_that_fits_to_the_byte_is_found(tasks, nodes, seed):
    """Tests planted loads of up to 10**12 bytes, which ended undecided after half a minute."""
    problem = plant(tasks, nodes, 10**12, seed)
    places = launch_order(problem)
    assert isinstance(places, np.ndarray)
    assert not violations(problem, places)


def test_a_byte_too_little_is_never_called_a_mapping():
    """Tests planted loads with one byte less room: proved impossible, or undecided, but nothing that overflows."""
    problem = plant(10, 3, 10**12, 1)
    short = replace(problem.topology, memory=problem.topology.memory - np.array([1, 0, 0]))
    found = launch_order(Problem(tasks=problem.tasks, topology=short, rule="capacity"))
    assert isinstance(found, tuple)
    assert found[0].kind in ("memory", "undecided")


@pytest.mark.slow
def test_the_time_left_is_all_it_takes():
    """Tests that a hard packing gives up with the limit of the solve, and says how long it had."""
    problem, begun = plant(300, 20, 10**9, 0), time.monotonic()
    report = solve(problem, time_limit_s=0.5)
    assert time.monotonic() - begun < 5
    assert report.feasible or report.violations[0].kind == "undecided"
