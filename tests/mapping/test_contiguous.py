"""The rule that the ranks of every host are consecutive: when it holds, and what comes of it."""

import json
import math
from dataclasses import replace
from itertools import combinations_with_replacement, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tiger.errors import InputError
from tiger.launchers.order import LaunchNodes, order_ranks
from tiger.mapping.blocks import place_blocks
from tiger.mapping.contiguous import is_contiguous
from tiger.mapping.explanation import explain_mapping
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import ENDING

HOSTS = nx.path_graph([f"n{k}" for k in range(4)])


def runs_of(report: tiger.Report) -> int:
    """Return how many runs of ranks on one host a report has."""
    return len(report.rank_order.runs)


def test_ranks_of_a_host_are_consecutive() -> None:
    """A halo costs more then, which the report sets beside the free order; the bound is that of the latter."""
    report = tiger.assign("halo:4x4", "tree:2x2@1,10", slots=4, contiguous_hosts=True)
    free = tiger.assign("halo:4x4", "tree:2x2@1,10", slots=4)
    assert (runs_of(report), report.free_cost, free.free_cost) == (4, free.cost, None)
    assert report.cost >= free.cost
    assert report.lower_bound == free.lower_bound
    assert report.baselines.cyclic is None
    assert report.stages[-1].name == "contiguous"


def test_the_explanation_says_what_it_costs() -> None:
    """As the command does."""
    report = tiger.assign("halo:4x4", "tree:2x2@1,10", slots=4, contiguous_hosts=True)
    dearer = explain_mapping(replace(report, free_cost=report.cost / 2)).write()
    assert "- Consecutive ranks on every host cost 100.0% more, 96 over 48 without that rule.\n" in dearer
    equal = explain_mapping(replace(report, free_cost=report.cost)).write()
    assert "- Consecutive ranks on every host cost nothing here.\n" in equal


def test_launchers_that_need_it_have_it() -> None:
    """Unless it is denied, and no other launcher."""
    emitted = {
        name: tiger.assign("halo:4x4", HOSTS, slots=4, emit=name).emitted.count("n") for name in ("mpich", "intel")
    }
    assert emitted["mpich"] == 4
    denied = tiger.assign("halo:4x4", HOSTS, slots=4, emit="mpich", contiguous_hosts=False)
    assert denied.free_cost is None
    assert runs_of(denied) == emitted["intel"]


def test_a_free_order_that_keeps_to_the_rule_is_taken() -> None:
    """Without a search of its own."""
    report = tiger.assign("ring:8", HOSTS, slots=2, contiguous_hosts=True)
    assert report.cost == report.free_cost
    assert "contiguous" not in [stage.name for stage in report.stages]


def test_ranks_are_those_of_numbered_names() -> None:
    """Whatever order the tasks come in."""
    graph = nx.relabel_nodes(nx.cycle_graph(8), {0: 5, 5: 0})
    report = tiger.assign(graph, HOSTS, slots=2, contiguous_hosts=True)
    assert runs_of(report) == 4


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"objective": "max-link-load"}, "another objective than the cost"),
        ({"pinned": {"0": "n1"}}, "pinned tasks"),
        ({"forbidden": [("0", "n1")]}, "forbidden pairs"),
        ({"start": {str(k): f"n{k % 4}" for k in range(8)}}, "a mapping as `start`"),
    ],
)
def test_what_it_does_not_go_with_is_refused_or_stands_above_it(options, what) -> None:
    """It is an error where both are asked for; a launcher that needs it has the order all the same."""
    with pytest.raises(InputError, match=f"^contiguous_hosts: expected it without {what}, got both$"):
        tiger.assign("ring:8", HOSTS, slots=2, contiguous_hosts=True, **options)
    assert tiger.assign("ring:8", HOSTS, slots=2, emit="mpich", **options).free_cost is None


def test_units_inside_hosts_are_searched() -> None:
    """Ranks that talk share a socket: four rings of four, each on a socket of its own."""
    tasks = nx.disjoint_union_all([nx.complete_graph([0, 2]), nx.complete_graph([1, 3])])
    report = tiger.assign(tasks, "tree:2@20", node_topology="tree:2x2@1,9", nodes=1, contiguous_hosts=True)
    assert report.cost == 2.0


def test_hardware_in_parts_may_have_no_such_order() -> None:
    """Ranks 0 and 2 have to be in one part, 1 and 3 in the other, each of one host."""
    tasks = nx.Graph([(0, 2), (1, 3)])
    tasks.add_nodes_from(sorted(tasks))
    report = tiger.assign(tasks, nx.empty_graph(["a", "b"]), slots=2, contiguous_hosts=True)
    assert (report.feasible, [violation.kind for violation in report.violations]) == (False, ["undecided"])
    assert report.headline == "no mapping found"


def test_one_machine_is_one_host() -> None:
    """Its cores are inside it."""
    from pathlib import Path

    machine = Path(__file__).resolve().parents[2] / "examples" / "topologies" / "gpu_node.xml"
    report = tiger.assign("ring:4", machine, emit="mpich")
    assert (report.emitted, report.free_cost) == ("g01:4\n", report.cost)
    assert order_ranks(report.mapping, LaunchNodes.of(report.problem.topology)).runs == [("g01", 4)]


def test_bug_the_free_cost_is_never_above_that_of_the_order() -> None:
    """Also where random mappings of blocks were better than those of ranks."""
    turns = "0,0 1,0 0,1 1,1 0,2 1,2 0,3 1,3"
    report = tiger.assign(
        "halo:8x3", "tree:2x4@1,10", allocation=turns, slots=3, contiguous_hosts=True, solver="random"
    )
    assert report.cost < report.baselines.block
    assert report.free_cost == report.cost


def test_bug_an_end_while_blocks_are_placed_is_said(monkeypatch) -> None:
    """As the same seed may then end elsewhere."""

    def end(problem, search):
        ENDING.set()
        yield from place_blocks(problem, search)

    monkeypatch.setattr("tiger.mapping.contiguous.place_blocks", end)
    try:
        report = tiger.assign("halo:4x4", "tree:2x2@1,10", slots=4, contiguous_hosts=True)
    finally:
        ENDING.clear()
    assert "ended as asked: the same seed may end elsewhere" in report.warnings


@pytest.mark.parametrize("options", [{"contiguous_hosts": True}, {"nodes": 3}])
def test_bug_samples_of_blocks_are_no_mappings_of_all_tasks(tmp_path, options) -> None:
    """So that those that are kept can all be decoded."""
    few = tiger.IsingParams(samples=str(tmp_path / "kept"))
    report = tiger.assign("halo:3x4", "tree:2x2@1,10", slots=5, solver="neal", ising=few, **options)
    kept = [json.loads(file.read_text())["info"]["mapping"] for file in (tmp_path / "kept").iterdir()]
    assert kept
    assert all(mapping.keys() == report.mapping.keys() for mapping in kept)


@given(seed=st.integers(0, 2**32 - 1))
def test_no_order_found_is_cheaper_than_all_that_keep_to_the_rule(seed, random_problem) -> None:
    """Five tasks on four nodes: every way of cutting the ranks, on every sequence of nodes."""
    problem = random_problem("capacity", seed, tasks=5, nodes=4)
    report = tiger.solve(problem, contiguous_hosts=True, seed=seed)
    best = math.inf
    for sequence in permutations(range(4)):
        for cuts in combinations_with_replacement(range(6), 3):
            places = np.repeat(sequence, np.diff((0, *cuts, 5)))
            if not violations(problem, places):
                best = min(best, cost_of(problem, places).total)
    if report.feasible:
        assert best * (1 - 1e-9) <= report.cost <= (report.baselines.block or math.inf)
        index = {name: k for k, name in enumerate(problem.topology.names)}
        assert is_contiguous(problem, np.array([index[node] for node in report.mapping.values()]))
    else:
        assert report.violations
