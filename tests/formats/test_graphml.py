"""GraphML documents."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.graphml import read_task_graph

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = """<key id="w" for="node" attr.name="work" attr.type="double"><default>2</default></key>
<key id="m" for="node" attr.name="memory" attr.type="long"/><key id="c" for="node" attr.name="colour"/>
<key id="t" for="edge" attr.name="weight" attr.type="float"/>"""
NODES = '<node id="a"/><node id="b"><data key="w"> 3 </data><data key="m">8</data><data key="c">red</data></node>'
EDGE = '<edge source="a" target="b"><data key="t">1.5</data></edge>'
TEXT = f'{HEAD}{KEYS}<graph edgedefault="directed">{NODES}{EDGE}</graph></graphml>'


def test_attributes_and_defaults_are_read():
    """Values of a node win over the default of their key; other attributes are ignored."""
    tasks = read_task_graph(TEXT)
    assert (tasks.names, tasks.directed) == (("a", "b"), True)
    assert (tasks.work.tolist(), tasks.memory.tolist()) == ([2, 3], [0, 8])
    assert tasks.traffic.toarray().tolist() == [[0, 1.5], [0, 0]]


def test_parallel_edges_add_up():
    """Two edges between the same nodes are one volume."""
    tasks = read_task_graph(TEXT.replace(EDGE, EDGE * 2))
    assert tasks.traffic[0, 1] == 3


def test_no_namespace_is_fine():
    """Only the local names of elements count; an edge may repeat the graph's direction."""
    loop = '<edge source="a" target="a" directed="false"/>'
    tasks = read_task_graph(f'<graphml><graph edgedefault="undirected"><node id="a"/>{loop}</graph></graphml>')
    assert (tasks.traffic.toarray().tolist(), tasks.directed) == ([[1]], False)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("<graphml", '<!DOCTYPE g [<!ENTITY x "xxxx">]><graphml', "tasks"),
        ("<graphml", "<graphmm", "tasks"),
        ("graphml", "graphmm", "tasks"),
        ("</graphml>", "", "tasks"),
        ("<?xml", "\0<?xml", "tasks"),
        ("<graph ", '<graph edgedefault="directed"/><graph ', "tasks"),
        ('edgedefault="directed"', "", "tasks"),
        ('edgedefault="directed"', 'edgedefault="both"', "tasks"),
        ('<node id="a"/>', '<node id="a"><graph/></node>', "tasks"),
        ('<node id="a"/>', '<node id="a"/><hyperedge/>', "tasks"),
        ('<node id="a"/>', '<node id="b"/>', "tasks/nodes/1/id"),
        ('<node id="a"/>', "<node/>", "tasks/nodes/0/id"),
        ('key="m">8', 'key="x">8', "tasks/nodes/1"),
        ('key="m">8', ">8", "tasks/nodes/1"),
        ('key="m">8', 'key="m">8.5', "tasks/nodes/1/memory"),
        ("> 3 <", ">three<", "tasks/nodes/1/work"),
        ("> 3 <", "><", "tasks/nodes/1/work"),
        ("> 3 <", ">NaN<", "tasks/nodes/1/work"),
        ("> 3 <", ">-3<", "tasks/nodes/1/work"),
        (">2<", ">two<", "tasks/nodes/0/work"),
        ('"work" attr.type="double"', '"work" attr.type="string"', "tasks/nodes/0/work"),
        ('"work" attr.type="double"', '"work"', "tasks/nodes/0/work"),
        (">1.5<", ">1e999<", "tasks/edges/0/weight"),
        (">1.5<", ">0x10<", "tasks/edges/0/weight"),
        ('target="b"', 'target="c"', "tasks/edges/0/target"),
        ('source="a"', "", "tasks/edges/0/source"),
        ("<edge", '<edge directed="false"', "tasks/edges/0"),
    ],
)
def test_malformed_documents_are_pointed_at(old, new, field):
    """Faults of the document name the tasks, faults of a node or edge its place."""
    with pytest.raises(InputError) as caught:
        read_task_graph(TEXT.replace(old, new))
    assert caught.value.field == field


def test_entities_do_not_expand():
    """A document type is refused before anything is parsed."""
    bomb = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 40))
    with pytest.raises(InputError, match=r"^tasks: expected GraphML without a document type"):
        read_task_graph(f'<!DOCTYPE g [<!ENTITY e0 "x">{bomb}]><graphml>&e39;</graphml>')


@given(size=st.integers(1, 6), seed=st.integers(0, 2**32 - 1), directed=st.booleans())
def test_files_of_networkx_round_trip(size, seed, directed):
    """What networkx writes is read."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 3, (size, size))
    matrix = matrix if directed else np.triu(matrix)
    graph = nx.from_numpy_array(matrix, create_using=nx.DiGraph if directed else nx.Graph)
    tasks = read_task_graph("\n".join(nx.generate_graphml(graph)))
    assert tasks.traffic.toarray().tolist() == matrix.tolist()
    assert (tasks.names, tasks.directed) == (tuple(map(str, range(size))), directed)
