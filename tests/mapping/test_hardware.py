"""The hardware of a call: a network, what is inside its nodes, and levels."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.hardware.composition import HostContents
from tiger.formats.slurm import read_network
from tiger.mapping.hardware import build_hardware
from tiger.mapping.options import HardwareArguments
from tiger.model.metrics import TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.text import FileText
from tiger.objectives.cost import cost_of
from tiger.objectives.shortest_paths import link_loads

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SWITCHES = str(EXAMPLES / "topology.conf")
CORES = EXAMPLES / "two_sockets.xml"
LEVELS = {"core": 1.0, "numa": 2.0, "socket": 4.0, "node": 20.0, "rack": 60.0}


def test_a_site_is_stated_by_its_files_and_levels():
    """Switches of Slurm around the cores of a machine, each level at its stated distance."""
    whole = build_hardware(HardwareArguments(SWITCHES, node_topology=CORES, levels=LEVELS))
    assert isinstance(whole.metric, TreeMetric)
    assert whole.metric.distances == (1, 2, 4, 20, 60, 90)
    assert whole.names[:2] == ("n00/core0", "n00/core1")


def test_levels_that_are_not_stated_follow_the_one_inside():
    """The nearest nodes are five times as far apart as the farthest two cores, and racks twice as far."""
    assert steps() == (1, 2, 4, 20, 40, 60)
    assert steps(socket=6) == (1, 2, 6, 30, 60, 90)
    assert steps(node=10) == (1, 2, 4, 10, 20, 30)


def steps(**levels):
    """Return the distances of the site, innermost first."""
    metric = build_hardware(HardwareArguments(SWITCHES, node_topology=CORES, levels=levels)).metric
    assert isinstance(metric, TreeMetric)
    return metric.distances


def test_uneven_switches_take_distances_by_the_height_at_which_hosts_meet():
    """The switch in the middle is a rack's, and the one at the top joins racks that are not equally deep."""
    uneven = "SwitchName=s0 Nodes=a,b\nSwitchName=s1 Nodes=c\nSwitchName=mid Switches=s[0-1]\nSwitchName=s2 Nodes=d\n"
    text = FileText("topology.conf", f"{uneven}SwitchName=top Switches=mid,s2\n")
    whole = build_hardware(HardwareArguments(text, levels={"node": 20.0, "rack": 60.0, "tier3": 100.0}))
    hosts = whole.hosts
    table = whole.metric.between(hosts[:, None], hosts[None, :])
    assert table.tolist() == [[0, 20, 60, 100], [20, 0, 60, 100], [60, 60, 0, 100], [100, 100, 100, 0]]


def draw_tree(seed):
    """Return a tree of Slurm's switches that is hardly ever regular, as text."""
    rng = np.random.default_rng(seed)
    below = [f"leaf{k}" for k in range(rng.integers(2, 8))]
    lines = [f"SwitchName={name} Nodes=n[{9 * k}-{9 * k + rng.integers(5)}]" for k, name in enumerate(below)]
    while len(below) > 1:
        cuts = np.sort(rng.choice(np.arange(1, len(below)), rng.integers(len(below) - 1), replace=False))
        groups = [group.tolist() for group in np.split(np.array(below), cuts)]
        below = [f"s{len(lines)}x{k}" for k in range(len(groups))]
        lines += [f"SwitchName={name} Switches={','.join(group)}" for name, group in zip(below, groups, strict=True)]
    return "\n".join(lines)


def draw_blocks(seed):
    """Return blocks of Slurm of different sizes, as text."""
    sizes = np.random.default_rng(seed).integers(1, 5, 6).tolist()
    return "\n".join(f"BlockName=b{k} Nodes=n[{9 * k}-{9 * k + size}]" for k, size in enumerate(sizes))


@cases(quick=60, long=2_000)
@given(seed=st.integers(0, 10**9), draw=st.sampled_from([draw_tree, draw_blocks]), stated=st.booleans())
def test_costs_and_loads_are_those_of_the_whole_site(seed, draw, stated):
    """Of the hosts of an allocation, at usual distances and stated ones; switches keep their names."""
    described = read_network(draw(seed))
    levels = {name: 3.0 * distance + k for k, (name, distance) in enumerate(described.distances.items())}
    rng = np.random.default_rng(seed)
    hosts = [name for name in described.names if name.startswith("n")]
    chosen = rng.permutation(hosts)[: rng.integers(1, len(hosts) + 1)].tolist()
    levels = levels if stated else {}
    whole = described.topology(levels).allocated(chosen)
    part = build_hardware(HardwareArguments(FileText("a.conf", draw(seed)), allocation=chosen, levels=levels))
    assert [part.names[k] for k in part.launch_hosts] == chosen
    tasks = TaskGraph(names=tuple(chosen), traffic=rng.random((len(chosen), len(chosen))))
    measured = [Problem(tasks=tasks, topology=each, rule="capacity") for each in (whole, part)]
    places = [np.array([problem.topology.names.index(name) for name in chosen]) for problem in measured]
    costs = [cost_of(*each).total for each in zip(measured, places, strict=True)]
    loads = [link_loads(*each) for each in zip(measured, places, strict=True)]
    assert costs[1] == pytest.approx(costs[0], rel=1e-12)
    busy = [load.list_busiest(problem.topology.link_ends, 999) for load, problem in zip(loads, measured, strict=True)]
    assert {(load.a, load.b): pytest.approx(load.load, rel=1e-9) for load in busy[0]} == {
        (load.a, load.b): load.load for load in busy[1]
    }


def test_limits_count_what_is_allocated():
    """Four hosts of a tree of 9,000 that is not regular, with what is between them and around what is named."""
    leaves = "".join(f"SwitchName=s{k} Nodes=n[{90 * k}-{90 * k + 88 + k % 2}]\n" for k in range(100))
    site = FileText("topology.conf", leaves + "SwitchName=top Switches=s[0-99]")
    with pytest.raises(InputError, match="at most 8192 hosts and switches, of an allocation where there is one, got"):
        build_hardware(HardwareArguments(site))
    part = build_hardware(HardwareArguments(site, allocation="n[0-1],n900:2"), {"n4", "n5/core0"})
    assert part.names == ("n0", "n1", "n4", "n5", "n900", "s0", "s10", "top")
    assert part.slots.tolist() == [1, 1, 0, 0, 2, 0, 0, 0]
    running = [("n88", "s0", 0.5), ("s7", "top", 0.25)]
    busy = build_hardware(HardwareArguments(site, allocation="n[0-1]", running=running))
    assert busy.names == ("n0", "n1", "n88", "s0", "s7", "top")
    units = build_hardware(
        HardwareArguments(site, node_topology={"n[0-88],n[900-988]": "ring:3"}, allocation="n1,n900")
    )
    assert [units.names[k] for k in units.hosts] == ["n1/0", "n1/1", "n1/2", "n900/0", "n900/1", "n900/2"]


def test_links_that_others_use_are_measured_between_what_is_allocated():
    """A regular tree has no table; of one with 10,000 hosts three and the ends of the link that is in use do."""
    asked = HardwareArguments("tree:100x100@1,9", allocation="0,0 0,1 1,0", running=[("0,1", "0,0..0,99", 0.5)])
    nodes = build_hardware(asked)
    assert (nodes.names, nodes.switches[:2]) == (("0,0", "0,1", "1,0"), ("0,0..0,99", "1,0..1,99"))
    assert nodes.metric.between(np.array([0, 0, 1]), np.array([1, 2, 2])).tolist() == [1.5, 9, 9.5]


def test_nodes_may_differ_inside():
    """Hosts are listed as an allocation is; those that hold no tasks need no inside."""
    insides = {"n[00-01]": "tree:2@1", "n02": "tree:3@1"}
    whole = build_hardware(HardwareArguments(SWITCHES, node_topology=insides, allocation="n[00-02]"))
    names = ["n00/0", "n00/1", "n01/0", "n01/1", "n02/0", "n02/1", "n02/2"]
    assert [whole.names[k] for k in whole.hosts] == names
    assert whole.metric.between(np.array([0, 0, 2]), np.array([1, 2, 4])).tolist() == [1, 5, 5]


def test_allocated_nodes_have_slots_on_all_their_units():
    """The others have none."""
    whole = build_hardware(HardwareArguments("tree:2x2@1,2", node_topology="tree:2@1", allocation="1,0"))
    assert [whole.names[k] for k in whole.hosts] == ["1,0/0", "1,0/1"]


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({"node_topology": {"n00": "tree:2@1"}}, r"node_topology: expected the inside of every node .* none for 'n01'"),
        ({"node_topology": {"n00,n00": "tree:2@1"}}, r"node_topology: expected different nodes, got 'n00' twice"),
        ({"node_topology": {"m00": "tree:2@1"}}, r"node_topology/0: expected nodes of the topology.* got 'm00'"),
        ({"node_topology": {"": "tree:2@1"}}, r"node_topology: expected hosts for each"),
        ({"node_topology": {}}, r"node_topology: expected what is inside the nodes, got nothing"),
        ({"node_topology": "tree:2"}, r"node_topology: "),
        ({"node_topology": "none.xml"}, r"node_topology: "),
        (
            {"node_topology": [HostContents(None, "tree:2@1")] * 2},
            r"node_topology: expected HOSTS=FILE for each of several",
        ),
        ({"levels": {"socket": 3.0}}, r"levels: expected levels out of node, rack, tier3, got 'socket'"),
        ({"levels": {"rack": 1.0}}, r"levels/rack: expected at least 2, the distance of node, got 1"),
        ({"levels": {"rack": float("inf")}}, r"levels/rack: expected a number from 0 to 1e\+300, got inf"),
        ({"levels": {"node": 1e308}}, r"levels/node: expected a number from 0 to 1e\+300, got 1e\+308"),
        ({"levels": {"node": 3.0}, "node_topology": CORES}, r"levels/node: expected at least 4, the farthest distance"),
    ],
)
def test_what_does_not_fit_is_named(stated, reason):
    """Tests insides and levels by field."""
    with pytest.raises(InputError, match=reason):
        build_hardware(HardwareArguments(SWITCHES, **stated))


def test_distances_that_are_no_numbers_are_errors_of_type():
    """True is no distance."""
    with pytest.raises(TypeError, match=r"levels\['node'\] as a number, got bool"):
        build_hardware(HardwareArguments(SWITCHES, levels={"node": True}))


def test_a_text_of_another_ending_is_refused():
    """There is no SPEC to guess then."""
    with pytest.raises(InputError, match=r"topology: expected a file ending in .*, got 'torus:4x4'"):
        build_hardware(HardwareArguments(FileText("torus:4x4", "")))
