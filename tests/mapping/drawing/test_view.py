"""Tests of mappings as documents: what they show adds up to what reports say."""

import json
import time

import networkx as nx
import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.feasibility.start import launch_order
from tiger.mapping.drawing.view import MappingView, bin_distances, find_simple_order, view_mapping
from tiger.mapping.entry import problem_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of
from tiger.objectives.multipath import load_links


def first_view(problem: Problem) -> tuple[MappingView, np.ndarray]:
    """Return the view of the first mapping of a problem, and the nodes of its tasks."""
    places = launch_order(problem)
    assert not isinstance(places, tuple)
    return view_mapping(problem, problem.mapping(places)), places


def large_halo() -> tuple[Problem, np.ndarray]:
    """Return 20,000 tasks on a torus of 21,952 nodes, and a mapping."""
    problem = problem_of(nx.grid_graph([25, 25, 32]), "torus:28x28x28")
    places = launch_order(problem)
    assert not isinstance(places, tuple)
    return problem, places


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
@pytest.mark.parametrize("hardware", ["dense", "links", "grid", "torus", "tree"])
def test_sums_are_those_of_the_problem(random_problem, rule, hardware):
    """Tests volumes at all distances, cells of the matrix in both orders, work, costs and the worst link."""
    problem = random_problem(rule, 1, hardware=hardware)
    view, places = first_view(problem)
    traffic, work = problem.tasks.traffic, problem.tasks.work.sum()
    for order in view.orders:
        assert sum(order.volume) == pytest.approx(traffic.sum() - traffic.diagonal().sum())
        assert sum(order.value) == pytest.approx(traffic.sum())
        assert sum(order.node_load) == pytest.approx(work)
    after = view.orders[-1]
    assert after.cost == cost_of(problem, places).total
    loads = load_links(problem, places, "single")
    assert (after.link_load is None) == (loads is None)
    if loads is not None:
        widths = [1.0 if width is None else width for width in view.topology.bandwidth]
        worst = max((load / width for load, width in zip(after.link_load, widths, strict=True)), default=0.0)
        assert worst == pytest.approx(loads.worst)


@pytest.mark.slow
def test_loads_are_as_the_report_has_them():
    """Tests the largest load of a link under every routing."""
    for routing in ("single", "equal", "weighted"):
        report = tiger.assign(nx.grid_2d_graph(4, 4), "torus:2x2x4", seed=1, routing=routing)
        view = view_mapping(problem_of(nx.grid_2d_graph(4, 4), "torus:2x2x4"), report.mapping, routing)
        assert max(view.orders[-1].link_load) == pytest.approx(report.metrics["max_link_load"])


def test_the_matrix_of_undirected_traffic_is_symmetric():
    """Tests that half of it counts each way."""
    problem = problem_of(nx.path_graph(3), "grid:3")
    order = view_mapping(problem, {"0": "0", "1": "1", "2": "2"}).orders[-1]
    assert (order.row, order.column, order.value) == ((0, 1, 1, 2), (1, 0, 2, 1), (0.5, 0.5, 0.5, 0.5))


def test_the_matrix_is_in_the_order_of_the_nodes():
    """Tests a path that lies backwards on its nodes: still next to the diagonal."""
    problem = problem_of(nx.path_graph(4), "grid:4")
    order = view_mapping(problem, {str(k): str(3 - k) for k in range(4)}).orders[-1]
    assert all(abs(row - column) == 1 for row, column in zip(order.row, order.column, strict=True))


def test_a_large_matrix_has_cells_of_several_tasks():
    """Tests 1,024 tasks on 512 cells."""
    problem = problem_of(nx.path_graph(1024), "ring:1024")
    view = first_view(problem)[0]
    assert (view.matrix.size, view.matrix.tasks_per_cell) == (512, 2.0)
    assert max(view.orders[-1].row) == 511


def test_places_are_those_of_the_mapping(random_problem):
    """Tests a graph that is small enough for a vertex each."""
    problem = random_problem("one-to-one", 3, hardware="torus")
    view, places = first_view(problem)
    assert view.orders[-1].places == tuple(places.tolist())
    assert [view.topology.names[place] for place in view.orders[-1].places] == [
        problem.mapping(places)[name] for name in view.tasks.names
    ]


@pytest.mark.slow
def test_a_group_of_tasks_lies_where_most_of_it_does():
    """Tests a path of 2,500 tasks in groups of five, four of which share a node."""
    problem = problem_of(nx.path_graph(2500), "grid:2", slots=2500)
    mapping = {str(k): "1" if k % 5 else "0" for k in range(2500)}
    view = view_mapping(problem, mapping)
    assert view.orders[-1].places == (1,) * 500
    assert view.orders[-1].node_load == (500.0, 2000.0)
    assert (view.tasks.total, view.tasks.total_edges, len(view.tasks.a)) == (2500, 2499, 499)


@pytest.mark.parametrize(
    ("distances", "left", "width"),
    [
        ([[0.0, 2.0], [3.0]], [0, 1, 2, 3], 1),
        ([[], []], [0], 1),
        ([[0.5], [10.0]], [0.5, 10], 0),
        ([[100.0, 1.0], [10.0, 1.0]], [1, 10, 100], 0),
        ([np.linspace(0.5, 100, 30)], np.arange(0, 100, 5), 5),
    ],
)
def test_distances_have_bins_of_their_own_or_twenty(distances, left, width):
    """Tests whole hops, no traffic, parts of hops, levels of a tree, and many distances."""
    bins = bin_distances([np.array(some) for some in distances])
    assert (bins.left, bins.width) == (pytest.approx(np.array(left)), pytest.approx(width))
    every = np.concatenate([np.array(some) for some in distances])
    assert bins.sum(every, np.ones(len(every))).sum() == len(every)


def test_the_cheaper_simple_order_comes_first():
    """Tests a problem that has the tasks of pairs half of all apart."""
    graph = nx.empty_graph(4)
    graph.add_edges_from([(0, 2), (1, 3)])
    view = view_mapping(problem_of(graph, "grid:2", slots=2), {"0": "0", "2": "0", "1": "1", "3": "1"})
    assert [(order.name, order.cost) for order in view.orders] == [("cyclic", 0.0), ("TIGER", 0.0)]


def test_an_order_that_breaks_a_rule_is_none():
    """Tests three tasks for two nodes."""
    graph = nx.path_graph(3)
    problem = problem_of(graph, "ring:2")
    assert find_simple_order(problem) is not None
    alone = Problem(tasks=problem.tasks, topology=problem.topology, rule="one-to-one")
    assert find_simple_order(alone) is None
    assert [order.name for order in view_mapping(alone, dict.fromkeys("012", "0")).orders] == ["TIGER"]


@pytest.mark.long
@pytest.mark.parametrize("spec", ["torus:2x2x2", "tree:2x4@1,1", "fat-tree:4", "dragonfly:2,2,2", "complete:8"])
def test_documents_come_back_from_strict_json(spec):
    """Tests that every number is finite, and every member read as it was."""
    view = first_view(problem_of(nx.cycle_graph(8), spec))[0]
    text = json.dumps(view.to_dict(), allow_nan=False)
    assert MappingView.from_dict(json.loads(text)) == view


def test_unknown_nodes_are_refused():
    """Tests a mapping that does not belong to the problem."""
    with pytest.raises(InputError, match="mapping/0"):
        view_mapping(problem_of(nx.path_graph(2), "grid:2"), {"0": "9", "1": "0"})


@pytest.mark.long
def test_twenty_thousand_tasks_take_half_a_second():
    """Tests the seconds of the processor, and the bounds of what is shown."""
    problem, places = large_halo()
    mapping, seconds = problem.mapping(places), []
    for _ in range(3):
        begun = time.process_time()
        view = view_mapping(problem, mapping)
        seconds.append(time.process_time() - begun)
        if seconds[-1] <= 0.5:
            break
    assert min(seconds) <= 0.5
    assert max(len(view.tasks.x), len(view.topology.x)) <= 500
    assert max(len(view.tasks.a), len(view.topology.a)) <= 8000
    assert sum(view.tasks.counts) == 20_000
    assert sum(view.topology.counts) == 21_952
