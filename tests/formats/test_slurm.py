"""Slurm's descriptions of switches and blocks."""

from contextlib import suppress
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_hardware
from tiger.formats.files import read_topology as read_file
from tiger.formats.slurm import read_network
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.text import FileText
from tiger.model.topology import Topology

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = Path(__file__).resolve().parents[1] / "data" / "slurm"
TREE = """# two levels
switchname=s0 NODES=n[1-2]
SwitchName=s1 Nodes=n3,n[4] LinkSpeed=10   # as many
SwitchName=top Switches=s[0-1]
"""
BLOCKS = "BlockName=a Nodes=n[0-1]\nBlockName=b Nodes=n[2-3]\nBlockName=c Nodes=n[4-5]\n"
RINGS = "RingName=a Nodes=n[01-05]\nringname=b Nodes=n[06-09]\n"
PRINTED_BLOCKS = """BlockName=a BlockIndex=0 Nodes=n[0-1] BlockSize=2
BlockName=b BlockIndex=1 Nodes=n[2-3] BlockSize=2
BlockName=c BlockIndex=2 Nodes=n[4-5] BlockSize=2
AggregatedBlock=a,b BlockIndex=3 Nodes=n[0-3] BlockSize=4
"""
UNEVEN = """SwitchName=s0 Nodes=n[0-2]
SwitchName=s1 Nodes=n[3-4]
SwitchName=mid Switches=s[0-1]
SwitchName=s2 Nodes=n5
SwitchName=top Switches=mid,s2
"""
VALID = [TREE, RINGS, BLOCKS + "BlockSizes=2,4\n", PRINTED_BLOCKS, UNEVEN] + [
    (EXAMPLES / name).read_text() for name in ("topology.conf", "blocks.conf", "scontrol.conf")
]


def read_topology(text: str) -> Topology:
    """Return what a file says, at its usual distances."""
    return read_network(text).topology({})


def table(topology: Topology) -> list[list[float]]:
    """Return the distances between all hosts."""
    hosts = topology.hosts
    return topology.metric.between(hosts[:, None], hosts[None, :]).tolist()


def test_a_regular_tree_is_its_hosts():
    """Keys in any case, comments, brackets: two links on a switch, four over the top."""
    topology = read_topology(TREE)
    assert (topology.names, topology.links, topology.metric) == (
        ("n1", "n2", "n3", "n4"),
        None,
        TreeMetric((2, 2), (2.0, 4.0)),
    )
    assert table(topology) == [[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]]


def test_a_regular_tree_knows_its_switches():
    """From the leaf switches up, in the order of their hosts; blocks, and groups of them, are switches likewise."""
    assert read_topology(TREE).switches == ("s0", "s1", "top")
    mixed = read_topology("SwitchName=t Switches=b,a\nSwitchName=a Nodes=n[2-3]\nSwitchName=b Nodes=n[0-1]\n")
    assert (mixed.names, mixed.switches) == (("n2", "n3", "n0", "n1"), ("a", "b", "t"))
    blocks = read_topology((EXAMPLES / "blocks.conf").read_text())
    assert blocks.switches == ("b0", "b1", "b2", "b3", "block2:0", "block2:1", "top")


def test_an_uneven_tree_keeps_its_switches():
    """Every host counts its own links, however deep it is."""
    topology = read_topology(UNEVEN)
    assert topology.names == ("n0", "n1", "n2", "n3", "n4", "n5", "s0", "s1", "mid", "s2", "top")
    assert topology.slots.tolist() == [1] * 6 + [0] * 5
    assert table(topology)[0] == [0, 2, 2, 4, 4, 5]
    assert len(topology.links.u) == 10


def test_hosts_keep_the_order_of_the_file():
    """A tree whose hosts are not listed switch by switch has switches and links."""
    text = "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\nSwitchName=c Nodes=n2\nSwitchName=d Nodes=n3\n"
    topology = read_topology(text + "SwitchName=x Switches=a,c\nSwitchName=y Switches=b,d\nSwitchName=z Switches=x,y")
    assert topology.names[:4] == ("n0", "n1", "n2", "n3")
    assert table(topology)[0] == [0, 6, 4, 6]


def test_leading_zeros_and_several_brackets_are_read():
    """As Slurm's host lists."""
    topology = read_topology("SwitchName=s Nodes=r[0-1]n[08-10],login")
    assert topology.names == ("r0n08", "r0n09", "r0n10", "r1n08", "r1n09", "r1n10", "login")


def test_separate_trees_do_not_reach_each_other():
    """Slurm allows several roots; jobs do not span them."""
    assert table(read_topology("SwitchName=a Nodes=n0,n1\nSwitchName=b Nodes=n2\n"))[0] == [0, 2, np.inf]


def test_bug_a_host_below_two_leaf_switches_was_refused():
    """Slurm warns of it; it counts below the first, wherever the second is."""
    topology = read_topology(UNEVEN.replace("n[3-4]", "n[2-4]"))
    assert table(topology) == table(read_topology(UNEVEN))
    assert topology.remarks == ("hosts below several leaf switches count below the first that lists them: n2",)
    hidden = UNEVEN.replace("s2 Nodes=n5", "s2 Nodes=n0")
    assert table(read_topology(hidden)) == [row[:5] for row in table(read_topology(UNEVEN))[:5]]
    regular = read_topology(TREE.replace("n3,n[4]", "n[1-4]"))
    assert (regular.metric, len(regular.remarks)) == (TreeMetric((2, 2), (2.0, 4.0)), 1)


def test_many_hosts_below_two_leaf_switches_are_counted():
    """The first five by name."""
    (remark,) = read_topology("SwitchName=a Nodes=n[0-9]\nSwitchName=b Nodes=n[0-9],m\n").remarks
    assert remark.endswith(": n0, n1, n2, n3, n4 and 5 more")


def test_hosts_of_a_ring_are_steps_apart():
    """Either way around; rings do not reach each other, as nothing says what joins them."""
    topology = read_topology(RINGS)
    assert table(topology)[0] == [0, 1, 2, 2, 1, np.inf, np.inf, np.inf, np.inf]
    assert table(topology)[5][5:] == [0, 1, 2, 1]


def test_a_ring_alone_is_a_grid():
    """As scontrol prints it, too."""
    topology = read_hardware(FileText("ring.txt", "RingName=a Nodes=n[1-8] RingSize=8\n")).topology({"node": 3.0})
    assert topology.metric == GridMetric((8,), (True,), 3.0)
    assert topology.names[:2] == ("n1", "n2")


def test_printed_switches_read_as_the_file_they_come_from():
    """What scontrol prints repeats the hosts of all leaves at every level."""
    printed = (EXAMPLES / "scontrol.conf").read_text()
    written = "SwitchName=s0 Nodes=tux[0-3]\nSwitchName=s1 Nodes=tux[4-6]\nSwitchName=s2 Switches=s[0-1]\n"
    assert read_topology(printed).names == read_topology(written).names
    assert table(read_topology(printed)) == table(read_topology(written))


@pytest.mark.parametrize(
    ("sizes", "row"),
    [
        ("BlockSizes=2,4", [0, 1, 2, 2, 3, 3]),
        ("BlockSizes=2", [0, 1, 2, 2, 2, 2]),
        ("BlockSizes=2,8", [0, 1, 2, 2, 2, 2]),
        ("", [0, 1, 2, 2, 3, 3]),
    ],
)
def test_blocks_aggregate_in_order(sizes, row):
    """Hosts of a block are 1 apart, and 1 more for each larger size; without sizes every power of two counts."""
    assert table(read_topology(BLOCKS + sizes))[0] == row


def test_what_scontrol_prints_may_be_called_text():
    """By the ending `.txt`, as other commands print too."""
    assert read_hardware(FileText("net.txt", PRINTED_BLOCKS)).topology({}).names == (
        "n0",
        "n1",
        "n2",
        "n3",
        "n4",
        "n5",
    )
    printed = read_file(str(DATA / "topology.txt"))
    written = "\n".join(
        [
            "SwitchName=leaf0 Nodes=n[00-03]\nSwitchName=leaf1 Nodes=n[04-06]\nSwitchName=leaf2 Nodes=n07",
            "SwitchName=mid Switches=leaf[1-2]\nSwitchName=top Switches=leaf0,mid LinkSpeed=100",
        ]
    )
    assert (printed.names, table(printed)) == (read_topology(written).names, table(read_topology(written)))


def test_printed_blocks_read_as_the_file_they_come_from():
    """The sizes of blocks and aggregated blocks are those of BlockSizes."""
    printed, written = read_topology(PRINTED_BLOCKS), read_topology(BLOCKS + "BlockSizes=2,4")
    assert (printed.names, table(printed)) == (written.names, table(written))
    assert isinstance(printed.metric, DenseMetric)


def test_equal_blocks_are_a_tree():
    """Sixteen hosts: in a block, in a pair of blocks, beyond."""
    assert read_file(str(EXAMPLES / "blocks.conf")).metric == TreeMetric((2, 2, 4), (1.0, 2.0, 3.0))
    assert read_topology("BlockName=b Nodes=n[0-2]").metric == TreeMetric((3,), (1.0,))


def test_ten_thousand_hosts_are_read():
    """A regular tree of any size has no matrix; an irregular one is refused above 8,192 nodes."""
    leaves = "".join(f"SwitchName=s{k} Nodes=n[{100 * k}-{100 * k + 99}]\n" for k in range(100))
    text = leaves + "SwitchName=top Switches=s[0-99]"
    topology = read_topology(text)
    assert (topology.size, topology.metric) == (10_000, TreeMetric((100, 100), (2.0, 4.0)))
    with pytest.raises(InputError, match=r"^topology: expected a regular tree, .* hosts and switches, .* got 10100 in"):
        read_topology(text.replace("-9999]", "-9998]"))
    with pytest.raises(InputError, match=r"^topology: expected a regular tree, .* 8192 units, .* got 9000"):
        read_topology("BlockName=a Nodes=a[1-8000]\nBlockName=b Nodes=b[1-1000]")


def switch_trees(draw: st.DrawFn) -> tuple[str, nx.Graph]:
    """Draw a tree of switches, as a file and as a graph."""
    count = draw(st.integers(1, 9))
    parents = [draw(st.integers(0, k - 1)) for k in range(1, count)]
    graph, lines = nx.Graph(), []
    graph.add_edges_from((f"s{k}", f"s{parent}") for k, parent in enumerate(parents, 1))
    for k in draw(st.permutations(range(count))):
        below = [f"s{child}" for child, parent in enumerate(parents, 1) if parent == k]
        hosts = [] if below else [f"h{k}x{host}" for host in range(draw(st.integers(1, 3)))]
        graph.add_edges_from((f"s{k}", host) for host in hosts)
        lines.append(f"SwitchName=s{k} {'Switches' if below else 'Nodes'}={','.join(below or hosts)}")
    return "\n".join(lines), graph


@given(drawn=st.composite(switch_trees)())
def test_distances_are_shortest_paths(drawn):
    """Tests that distances are symmetric and those of the graph of switches, regular or not."""
    text, graph = drawn
    topology = read_topology(text)
    hosts = [topology.names[host] for host in topology.hosts]
    paths = dict(nx.all_pairs_shortest_path_length(graph))
    assert table(topology) == [[paths[a][b] for b in hosts] for a in hosts]
    assert topology.metric.symmetric


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SwitchName=a Nods=n1", "line 1: expected a key out of SwitchName, Nodes, Switches, .*, got 'Nods'"),
        ("# c\nSwitchName=a Nodes", "line 2: expected KEY=VALUE, got 'Nodes'"),
        ("SwitchName=a Nodes=", "line 1: expected KEY=VALUE, got 'Nodes='"),
        ("SwitchName=a Nodes=n1 nodes=n2", "line 1: Nodes: expected it once in a line"),
        ("Nodes=n1", "line 1: expected one of SwitchName, .*, got Nodes alone"),
        ('SwitchName="" Nodes=n1', "line 1: SwitchName: expected a name, got an empty one"),
        ("BlockName=a Switches=b", "line 1: Switches: expected no such key beside BlockName"),
        ("SwitchName=a LinkSpeed=fast Nodes=n", "line 1: LinkSpeed: expected numbers, got 'fast'"),
        ("SwitchName=a", "line 1: SwitchName: expected Nodes or Switches below 'a', got neither"),
        (
            "SwitchName=a Nodes=n\nSwitchName=b Nodes=m Switches=a",
            "line 2: Nodes: expected Nodes or Switches, got both",
        ),
        ("SwitchName=a Nodes=n\n\nSwitchName=b Nodes=m,m", "line 3: Nodes: expected hosts once in a list"),
        ("BlockName=a Nodes=n\n\nBlockName=b Nodes=m,n", "line 3: Nodes: expected hosts once, got 'n' on line 1 too"),
        (RINGS + "RingName=c Nodes=n01", "line 3: Nodes: expected hosts once, got 'n01' on line 1 too"),
        (RINGS + "RingName=a Nodes=m", "line 3: RingName: expected different names, got 'a' on line 1 too"),
        ("RingName=a Nodes=n[1-17]", "line 1: Nodes: expected at most 16 hosts in a ring, got more"),
        ("RingName=a", "line 1: RingName: expected Nodes in 'a', got none"),
        (RINGS + "SwitchName=s Nodes=m", "line 3: SwitchName: expected either switches, blocks or rings in a file"),
        ("TorusName=t Dims=2x2x2 Nodes=n[1-8]", "line 1: TorusName: expected topology.yaml, as what scontrol prints"),
        ("SwitchName=a Nodes=n\nSwitchName=a Nodes=m", "line 2: SwitchName: .*, got 'a' on line 1 too"),
        (
            "SwitchName=a Nodes=n\nSwitchName=b Switches=a\nSwitchName=c Switches=a",
            "line 3: Switches: expected switches below one switch each, got 'a', which line 2 lists already",
        ),
        ("SwitchName=a \\\n Switches=b", "line 1: Switches: expected switches of the file, got 'b'"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a", "line 1: Switches: .*, got a cycle through 'a'"),
        ("SwitchName=x Nodes=n\nSwitchName=a Switches=a", "line 2: Switches: .*, got a cycle through 'a'"),
        (
            "SwitchName=s0 Nodes=n\n" + "".join(f"SwitchName=s{k} Switches=s{k - 1}\n" for k in range(1, 40)),
            "line 1: SwitchName: expected at most 32 levels of switches, got 40",
        ),
        ("SwitchName=a Nodes=b\nSwitchName=b Nodes=c", "line 1: Nodes: .*, got 'b', a switch on line 2"),
        ("SwitchName=a Nodes=n[0-3", "line 1: Nodes: expected names and brackets such as"),
        ("SwitchName=a Nodes=n[3-0]", "line 1: Nodes: expected brackets such as"),
        ("SwitchName=a Nodes=n[0-9][0-999999]", "line 1: Nodes: expected at most 1,048,576 names in all lists, got 10"),
        ("SwitchName=a Nodes=,", "line 1: Nodes: expected names, got ','"),
        ("SwitchName=a Nodes=n\nBlockName=b Nodes=m", "line 2: BlockName: expected either switches, blocks or"),
        ("# nothing", "expected lines SwitchName=.., BlockName=.. or RingName=.., got none"),
        ("BlockName=a", "line 1: BlockName: expected Nodes in 'a', got none"),
        (BLOCKS + "BlockSizes=2,6", "line 4: BlockSizes: expected a size and rising powers of two times it, got '2,6'"),
        (BLOCKS + "BlockSizes=4,2", "line 4: BlockSizes: expected a size and rising powers"),
        (BLOCKS + "BlockSizes=0", "line 4: BlockSizes: expected a size and rising powers"),
        (BLOCKS + "BlockSizes=2,x", "line 4: BlockSizes: expected numbers, got 'x'"),
        (BLOCKS + "BlockSizes=2\nBlockSizes=4", "line 5: BlockSizes: expected it once, got it on line 4 too"),
        (PRINTED_BLOCKS.replace("BlockSize=4", "BlockSize=6"), "line 4: BlockSize: expected a size and rising powers"),
    ],
)
def test_faults_are_found_at_their_lines(text, reason):
    """Each with the key at fault."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_topology(text)


def test_bug_numbers_of_names_with_thousands_of_digits_are_refused():
    """Brackets without number multiply beyond what can be printed."""
    with pytest.raises(InputError, match="line 1: Nodes: expected at most 1,048,576 names in all lists, got 4782969"):
        read_topology("SwitchName=a Nodes=" + "a[1-9]" * 10_000)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data):
    """Nothing but a topology or bad input comes of one."""
    text = data.draw(damaged(data.draw(st.sampled_from(VALID))))
    with suppress(InputError):
        assert read_topology(text).hosts.size > 0
